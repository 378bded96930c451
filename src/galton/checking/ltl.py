"""``P``, ``A`` and ``E`` of formulas of linear temporal logic: reachability in the product with an automaton.

A run of the product ends up in a bottom component of a chain and meets all of it infinitely often, so that the
component decides whether it is accepted. In an MDP a strategy can stay in an end component and meet all of it; for a
generalised Rabin pair these are the end components without the states that the pair forbids, which have all that it
asks for (de Alfaro, "Formal verification of probabilistic systems", 1997; Chatterjee, Gaiser and Křetínský, "Automata
with generalized Rabin pairs for probabilistic model checking and LTL synthesis", CAV 2013). The probability is that of
getting to such components, and least where that of the complement, which has the same automaton, is greatest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from ..automata import Automaton, Formula, translate
from ..automata.acceptance import Acceptance, complement
from ..automata.from_property import path_formula
from ..automata.verdicts import Verdicts, verdicts
from ..device.arrays import how_many, is_on_host, namespace
from ..device.errors import DeviceError
from ..graph import can_reach, zero_and_one
from ..lang.expressions import Expression
from ..lang.properties import AutomatonPath, Optimum, TimeBound
from ..lang.rendering import render
from ..lang.resolution import parts
from ..lang.source import LanguageError, UnsupportedError
from ..model.sparse import Int32s, Mask, Model, Rewards
from . import paths
from .automaton_files import automaton_from
from .automaton_product import Marks, Product, accepting_states, product
from .inspection import Terms
from .quantity import Quantity, Work
from .unbounded.rewards import reachability_reward
from .unbounded.until import until

if TYPE_CHECKING:
    from ..solve.settings import Settings
    from .automaton_reading import Reading
    from .evaluation import Evaluation

__all__ = [
    "Asked",
    "automaton_of",
    "linear_probability",
    "linear_reward",
    "linear_zero_one",
    "refuse_unless_cosafe",
    "some_path",
]


def linear_probability(
    evaluation: Evaluation, path: Expression, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound the probability of a path formula in the states that matter; elsewhere the bounds are 0 and 1."""
    asked = _asked(evaluation, evaluation.model, path, evaluation.focused_model.initial, settings)
    begun = time.perf_counter()
    aim = asked.aim(optimum)
    where = "components that are accepted" if aim.by_components else "what the automaton decides"
    accepted = Work("acceptance", f"{how_many(aim.goal):,} states, by {where}", seconds=time.perf_counter() - begun)
    value = until(asked.model, asked.everywhere, aim.goal, aim.optimum, settings, negated=aim.negated)
    work = (*asked.work, accepted, *value.work)
    if asked.starts is None:
        choices = value.choices
        if choices is not None and aim.by_components:
            staying = asked.accepting_choices(optimum)
            choices = np.where(staying < 0, choices, staying).astype(np.int32)
        return replace(value, choices=choices, work=work)
    there = asked.starts >= 0
    places = asked.starts[there]
    lower, upper = np.zeros(len(there)), np.ones(len(there))
    lower[there], upper[there] = value.lower[places], value.upper[places]
    if not value.proved:
        lower = upper
    return replace(value, lower=lower, upper=upper, work=work)


def linear_zero_one(evaluation: Evaluation, path: Expression, optimum: Optimum | None) -> tuple[Mask, Mask]:
    """The states where the probability of a path formula is exactly 0, and exactly 1."""
    asked = _asked(evaluation, evaluation.model, path)
    aim = asked.aim(optimum)
    zero, one = zero_and_one(asked.model, asked.everywhere, aim.goal, aim.optimum)
    if aim.negated:
        zero, one = one, zero
    return asked.lifted(zero), asked.lifted(one)


def settled_product(evaluation: Evaluation, path: Expression) -> tuple[Model, Mask, Mask]:
    """The product of a chain and the automaton of a formula, and its states where the formula is impossible, and sure.

    Its initial states are those of the chain.
    """
    asked = _asked(evaluation, evaluation.model, path)
    aim = asked.aim(None)
    zero, one = zero_and_one(asked.model, asked.everywhere, aim.goal, None)
    if aim.negated:
        zero, one = one, zero
    if asked.starts is None:
        return asked.model, zero, one
    return replace(asked.model, initial=np.unique(asked.starts[evaluation.model.initial])), zero, one


def some_path(evaluation: Evaluation, free: Model, path: Expression, *, negated: bool) -> Mask:
    """The states where some path satisfies a path formula or, ``negated``, does not.

    ``free`` is the model with each transition as a choice, so that its end components are where paths may stay.
    """
    asked = _asked(evaluation, free, path)
    goal = asked.components("min" if negated else "max")
    return asked.lifted(can_reach(asked.model, asked.everywhere, goal))


def linear_reward(
    evaluation: Evaluation, path: Expression, structure: Rewards, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound the reward that is collected until a co-safe formula is sure to hold, in every state.

    As in PRISM the formula has to be read to be sure: ``X true`` takes a step.
    """
    asked = _asked(evaluation, evaluation.model, path, settings=settings, counting=True)
    goal = asked.surely
    if asked.product is None:
        value = reachability_reward(evaluation.focused_model, structure, goal, optimum, settings)
        return replace(value, work=(*asked.work, *value.work))
    product, starts = asked.product, asked.product.starts
    rewards = Rewards(
        state=None if structure.state is None else structure.state[product.states],
        choice=None if structure.choice is None else structure.choice[product.rows],
    )
    model = replace(asked.model, initial=np.unique(starts[evaluation.focused_model.initial]))
    value = reachability_reward(model, rewards, goal, optimum, settings)
    lower, upper = value.lower[starts], value.upper[starts]
    infinite = None if value.infinite is None else value.infinite[starts]
    return replace(value, lower=lower, upper=upper, infinite=infinite, work=(*asked.work, *value.work))


@dataclass(frozen=True, eq=False)
class _Aim:
    """The states to come to, with the greatest or least probability; ``negated``, what is asked for is not to.

    ``by_components`` says whether there is still something to do in these states, for ever.
    """

    goal: Mask
    optimum: Optimum | None
    negated: bool
    by_components: bool = False


@dataclass(frozen=True, eq=False)
class Asked:
    """A product of model and automaton, with what was done for it.

    ``product`` is None where the model was explored with the automaton, and is the product itself. ``accepted`` finds
    the components of the model that some marks accept: :func:`.automaton_product.accepting_states`, but for the model.
    """

    automaton: Automaton
    verdicts: Verdicts
    model: Model
    marks: Marks
    after: Marks
    product: Product | None
    work: tuple[Work, ...]
    accepted: Callable[..., Mask]

    @classmethod
    def of(cls, reading: Reading, model: Model, accepted: Callable[..., Mask]) -> Asked:
        """What was explored with the automaton that reads it."""
        begun = time.perf_counter()
        marks, after = reading.read(model)
        work = (reading.work, Work("product", f"{_size(model)}, is the model", seconds=time.perf_counter() - begun))
        return cls(reading.automaton, reading.verdicts, model, marks, after, None, work, accepted)

    @property
    def everywhere(self) -> Mask:
        return namespace(self.model.columns).ones(self.model.n_states, dtype=np.bool_)  # type: ignore[no-any-return]

    @property
    def surely(self) -> Mask:
        """The states that the automaton accepts whatever follows, once it has read them."""
        automaton = self.automaton
        return self._in(np.array([automaton.accepts_everything(state) for state in range(automaton.n_states)]))

    @property
    def starts(self) -> Int32s | None:
        """The state of the product for each state of the evaluation's model; None where they are the same."""
        return None if self.product is None else self.product.starts

    def lifted(self, mask: Mask) -> Mask:
        """A mask over the product as one over the states where words begin."""
        return mask if self.starts is None else mask[self.starts]

    def aim(self, optimum: Optimum | None) -> _Aim:
        """What the probability of the formula is the probability of.

        Where an automaton is sure to come to a state that accepts everything if it accepts at all, or to one that
        rejects everything if it rejects, no component has to be looked at.
        """
        found = self.verdicts
        if found.cosafe:
            return _Aim(self._in(found.accepting), optimum, False)
        if found.safe:
            dual: Optimum | None = optimum and ("min" if optimum == "max" else "max")
            return _Aim(self._in(found.rejecting), dual, True)
        return _Aim(self.components(optimum), optimum and "max", optimum == "min", True)

    def components(self, optimum: Optimum | None) -> Mask:
        """The states from which the formula is sure or, for a minimum, its negation, by some strategy."""
        found = self.accepted(self.marks, self._condition(optimum), within=self._undecided)
        sure = self.verdicts.rejecting if optimum == "min" else self.verdicts.accepting
        return found | self._in(sure) if sure.any() else found

    def accepting_choices(self, optimum: Optimum | None) -> Int32s:
        """The choices of a best strategy in end components."""
        from .strategies.accepting_choices import accepting_choices

        return accepting_choices(self.model, self.marks, self._condition(optimum), self._undecided)

    def _condition(self, optimum: Optimum | None) -> Acceptance:
        return complement(self.automaton.acceptance) if optimum == "min" else self.automaton.acceptance

    @cached_property
    def _undecided(self) -> Mask | None:
        """The states after which it matters what is read; None for all."""
        return ~self._in(self.verdicts.decided) if self.verdicts.decided.any() else None

    def _in(self, states: Mask) -> Mask:
        """Where the automaton is in some states when it has read the state of the model."""
        return namespace(self.model.columns).asarray(states)[self.after]  # type: ignore[no-any-return]


def _asked(
    evaluation: Evaluation,
    model: Model,
    path: Expression,
    starts: Int32s | None = None,
    settings: Settings | None = None,
    counting: bool = False,
) -> Asked:
    """The product of a model, with the states of the evaluation, and the automaton of a formula."""
    if evaluation.reading is not None:
        return Asked.of(evaluation.reading, model, partial(accepting_states, model))
    if settings is not None and settings.strategy:
        message = "there is no strategy for a formula with more than one temporal operator (LTL) here"
        hint = "it has to be the whole property, of a program and about its variables alone"
        raise UnsupportedError(message, evaluation.source, path.span, hint)
    if not is_on_host(model.columns):
        message = "a formula with more than one temporal operator (LTL) that is not the whole property, or is about "
        raise DeviceError(f"{message}more than variables, is not checked on a device")
    begun = time.perf_counter()
    terms = Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source)
    automaton, states = automaton_of(path, terms, counting=counting)
    masks = [evaluation.mask(part) for part in states]
    made = time.perf_counter()
    every = np.arange(model.n_states, dtype=np.int32)
    found = product(model, automaton, masks, every if starts is None else starts)
    work = (
        Work("automaton", f"{automaton.n_states:,} states, {automaton.n_marks} marks", seconds=made - begun),
        Work("product", f"{_size(found.model)}, of the model", seconds=time.perf_counter() - made),
    )
    accepted = partial(accepting_states, found.model)
    return Asked(automaton, verdicts(automaton), found.model, found.marks, found.after, found, work, accepted)


def _size(model: Model) -> str:
    whole = model.whole
    return f"{whole['states']:,} states, {whole['transitions']:,} transitions"


def automaton_of(path: Expression, terms: Terms, *, counting: bool = False) -> tuple[Automaton, tuple[Expression, ...]]:
    """Return the automaton of a path formula, and the state formulas that its propositions are.

    ``counting`` says whether ``X true`` takes a step.
    """
    if isinstance(path, AutomatonPath):
        if path.text is None:
            raise UnsupportedError("automata from files are not supported here", terms.source, path.span)
        return automaton_from(path.text, path.file), tuple(states for _, states in path.propositions)
    formula, states = _formula_of(path, terms, counting)
    return translate(formula, [render(part) for part in states]), states


def refuse_unless_cosafe(path: Expression, terms: Terms) -> None:
    """Raise an error for a formula that no finite path makes true for certain, as far as syntax shows it."""
    if isinstance(path, AutomatonPath):
        cosafe = verdicts(automaton_of(path, terms)[0]).cosafe
    else:
        cosafe = _formula_of(path, terms, counting=True)[0].is_cosafe
    if not cosafe:
        message = "this is not co-safe: no finite path makes it true, so rewards until then mean nothing"
        raise LanguageError(message, terms.source, path.span)


def _formula_of(path: Expression, terms: Terms, counting: bool) -> tuple[Formula, tuple[Expression, ...]]:
    def steps(bound: TimeBound) -> tuple[int, int | None]:
        limit = bound.low if bound.high is None else bound.high
        assert limit is not None
        if bound.is_budget:
            message = "paths within budgets, F^{rew{…}<=k}, beside other temporal operators are not supported"
            raise UnsupportedError(message, terms.source, limit.span)
        if terms.nature.is_continuous:
            message = "a bound on time beside other temporal operators (LTL) is not supported"
            hint = "without bounds, a formula of a CTMC is about the order of its states"
            raise UnsupportedError(message, terms.source, limit.span, hint)
        return paths.steps(bound, terms.constants, terms.source)

    inner = next((part for part in parts(path) if isinstance(part, AutomatonPath)), None)
    if inner is not None:
        message = "an automaton has to be all that stands between the brackets, as in P=? [ HOA: {…} ]"
        raise UnsupportedError(message, terms.source, inner.span)
    return path_formula(path, terms.source, steps, counting=counting)
