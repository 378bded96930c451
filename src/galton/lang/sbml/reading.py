"""An SBML file as a network. What a Markov chain of molecules cannot mean is refused, by its name and the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..lexer import KEYWORDS
from ..source import GaltonError
from .bounds import greatest
from .laws import Law, NotALawError, Term, expanded, rendered, written
from .mass_action import propensities
from .network import Channel, Constant, Network, Species

__all__ = ["read_network"]

Element = Any  # libsbml has no types


def read_network(path: Path) -> Network:
    """The network of a file."""
    try:
        import libsbml
    except ImportError:
        raise GaltonError(
            f"{path} is read with python-libsbml, which is not installed: pip install 'galton[sbml]'"
        ) from None
    document = libsbml.readSBMLFromString(path.read_text(encoding="utf-8", errors="replace"))
    for place in range(document.getNumErrors()):
        error = document.getError(place)
        if error.getSeverity() >= libsbml.LIBSBML_SEV_ERROR:
            told = " ".join(error.getMessage().split())
            raise GaltonError(f"{path}:{error.getLine()}: error: {told}")
    model = document.getModel()
    if model is None:
        raise GaltonError(f"{path}: error: there is no model in it")
    document.expandFunctionDefinitions()
    return _Reader(path, model).network()


@dataclass
class _Reader:
    """One file; ``names`` are those of the program."""

    path: Path
    model: Element
    names: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    constants: list[Constant] = field(default_factory=list)
    fixed: dict[str, int] = field(default_factory=dict)  # species whose amounts never change
    rules: dict[str, Element] = field(default_factory=dict)
    assigned: dict[str, Element] = field(default_factory=dict)

    def network(self) -> Network:
        self._refuse()
        self.rules = {rule.getVariable(): rule.getMath() for rule in _all(self.model, "Rule")}
        self.assigned = {given.getSymbol(): given.getMath() for given in _all(self.model, "InitialAssignment")}
        for compartment in _all(self.model, "Compartment"):
            self._compartment(compartment)
        for parameter in _all(self.model, "Parameter"):
            self._parameter(parameter)
        species = list(self._species())
        channels = [channel for reaction in _all(self.model, "Reaction") for channel in self._channels(reaction)]
        initial = {one.name: one.initial for one in species}
        changes = [channel.changes for channel in channels]
        bounded = [replace(one, bound=greatest(one.name, initial, changes)) for one in species]
        formulas = [(self._name(name), self._rendered(name, math)) for name, math in self.rules.items()]
        title = f"The reaction network {self.model.getId() or self.path.stem}, from {self.path.name}"
        return Network(title, tuple(self.constants), tuple(bounded), tuple(channels), tuple(formulas))

    # What is refused.

    def _wrong(self, what: str, name: str, reason: str) -> GaltonError:
        return GaltonError(f"{self.path}: error: the {what} '{name}' {reason}")

    def _refuse(self) -> None:
        for event in _all(self.model, "Event"):
            raise self._wrong("event", event.getId() or "without a name", "has no place in a Markov chain")
        for rule in _all(self.model, "Rule"):
            if not rule.isAssignment():
                kind = "rate rule" if rule.isRate() else "algebraic rule"
                raise self._wrong(kind, rule.getVariable(), "changes amounts continuously: write reactions instead")
        for constraint in _all(self.model, "Constraint"):
            raise self._wrong("constraint", constraint.getId() or "without a name", "is not checked; take it away")
        if not self.model.getNumReactions():
            raise GaltonError(f"{self.path}: error: the model has no reactions")

    # Constants.

    def _compartment(self, compartment: Element) -> None:
        name = compartment.getId()
        if name in self.rules or (compartment.isSetConstant() and not compartment.getConstant()):
            raise self._wrong("compartment", name, "changes its size, and laws are for one that does not")
        size = compartment.getSize() if compartment.isSetSize() else None
        self._constant(self._name(name), size, "the size of the compartment", self.assigned.get(name))

    def _parameter(self, parameter: Element) -> None:
        name = parameter.getId()
        if name in self.rules:
            return
        value = parameter.getValue() if parameter.isSetValue() else None
        self._constant(self._name(name), value, "a parameter", self.assigned.get(name))

    def _constant(self, name: str, value: float | None, what: str, assigned: Element | None = None) -> None:
        text = None if value is None else written(Fraction(repr(value)))
        if assigned is not None:
            text = self._rendered(name, assigned, constant=True)
        self.constants.append(Constant(name, text, what))

    def _name(self, id: str) -> str:
        """The name in the program of something in the file: the same, unless it is a keyword there."""
        if id not in self.names:
            self.names[id] = self._new(id)
        return self.names[id]

    def _new(self, wish: str) -> str:
        """A name that nothing has yet."""
        while wish in KEYWORDS or wish in self.taken:
            wish += "_"
        self.taken.add(wish)
        return wish

    def _rendered(self, id: str, math: Element, *, constant: bool = False) -> str:
        def known(name: str) -> Law:
            law = self._known(name)
            if constant and any(term.amounts for term in law):
                raise NotALawError(f"it depends on the amount of {name}")
            return law

        try:
            return rendered(math, known)
        except NotALawError as error:
            raise self._wrong("definition of", id, f"is not understood: {error}") from None

    # Species.

    def _species(self) -> Iterator[Species]:
        for element in _all(self.model, "Species"):
            id = element.getId()
            if id in self.rules:
                raise self._wrong("species", id, "has a rule and cannot be counted; make it a parameter")
            if id in self.assigned:
                raise self._wrong("species", id, "has an initial assignment; give its amount as a number")
            if element.isSetConversionFactor() or self.model.isSetConversionFactor():
                raise self._wrong("species", id, "has a conversion factor, and molecules are counted one by one")
            amount = self._amount(element)
            if element.getConstant() or element.getBoundaryCondition():
                self.fixed[id] = amount
            else:
                yield Species(self._name(id), id, amount, self._new(f"{id}_max"))

    def _amount(self, element: Element) -> int:
        id = element.getId()
        if element.isSetInitialAmount():
            amount = Fraction(repr(element.getInitialAmount()))
        elif element.isSetInitialConcentration():
            compartment = self.model.getCompartment(element.getCompartment())
            if not compartment.isSetSize():
                raise self._wrong("species", id, f"has a concentration, and '{compartment.getId()}' has no size")
            amount = Fraction(repr(element.getInitialConcentration())) * Fraction(repr(compartment.getSize()))
        else:
            raise self._wrong("species", id, "has no initial amount")
        whole = round(amount)
        if amount < 0 or abs(amount - whole) > Fraction(1, 10**9) * max(1, whole):
            raise self._wrong(
                "species", id, f"begins with {float(amount):g}, which is no number of molecules; give amounts in items"
            )
        return whole

    # Reactions.

    def _channels(self, reaction: Element) -> Iterator[Channel]:
        id = reaction.getId()
        try:
            consumed = self._counts(reaction, "Reactant")
            produced = self._counts(reaction, "Product")
            ahead, back = propensities(
                self._law(reaction),
                self._changing(consumed),
                self._changing(produced),
                reversible=reaction.getReversible(),
            )
        except NotALawError as error:
            raise self._wrong("reaction", id, f"is refused: {error}") from None
        changing = [name for name in dict.fromkeys((*consumed, *produced)) if name not in self.fixed]
        change = {self._name(name): produced[name] - consumed[name] for name in changing}
        reverse = {name: -count for name, count in change.items()}
        for base, directions, changes in ((id, ahead, change), (f"{id}_back", back, reverse)):
            for number, direction in enumerate(directions, 1):
                name = base if number == 1 else f"{base}_{number}"
                yield Channel(self._new(name), name, *direction, changes)

    def _counts(self, reaction: Element, side: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for one in _all(reaction, side):
            count = one.getStoichiometry() if one.isSetStoichiometry() else 1.0
            if one.isSetStoichiometryMath() or count != int(count) or count < 0:
                raise NotALawError(f"{one.getSpecies()} is not counted in whole molecules")
            found[one.getSpecies()] += int(count)
        return found

    def _changing(self, counts: Counter[str]) -> dict[str, int]:
        return {self._name(name): count for name, count in counts.items() if count and name not in self.fixed}

    def _law(self, reaction: Element) -> Law:
        law = reaction.getKineticLaw()
        if law is None or law.getMath() is None:
            raise NotALawError("it has no law")
        if reaction.isSetFast() and reaction.getFast():
            raise NotALawError("it is fast, which laws of mass action are not")
        own = {one.getId(): one for kind in ("LocalParameter", "Parameter") for one in _all(law, kind)}
        local = {}
        for name, one in own.items():
            local[name] = self._new(f"{reaction.getId()}_{name}")
            self._constant(local[name], one.getValue() if one.isSetValue() else None, f"{name} of {reaction.getId()}")

        def known(name: str) -> Law:
            return [Term(Fraction(1), (local[name],))] if name in local else self._known(name)

        return expanded(law.getMath(), known)

    def _known(self, id: str) -> Law:
        """What a name stands for: an amount, over the size of its compartment if that is what is meant; a constant."""
        species = self.model.getSpecies(id)
        if species is not None:
            size = () if species.getHasOnlySubstanceUnits() else (self._name(species.getCompartment()),)
            if id in self.fixed:
                return [Term(Fraction(self.fixed[id]), (), size)]
            return [Term(Fraction(1), (), size, ((self._name(id), 1),))]
        if id in self.rules:
            return expanded(self.rules[id], self._known)
        if self.model.getParameter(id) is None and self.model.getCompartment(id) is None:
            raise NotALawError(f"nothing is called '{id}'")
        return [Term(Fraction(1), (self._name(id),))]


def _all(owner: Element, kind: str) -> list[Element]:
    """The elements of a kind; owners of old levels do not know all of them."""
    count = getattr(owner, f"getNum{kind.removesuffix('s')}s", None)
    return [] if count is None else [getattr(owner, f"get{kind}")(place) for place in range(count())]
