"""Types of properties: what can be asked of them and how they combine.

``P=?`` is a ``double`` and ``P>=0.5`` a ``bool``, so both mix with ordinary expressions; a label is a ``bool``, and a
reference to another property has that property's type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .expressions import Expression, Label, Name, Type
from .properties import (
    AutomatonPath,
    BinaryPath,
    Comparison,
    Cumulative,
    CumulativeBudget,
    ExpectedTime,
    Filter,
    Given,
    Instantaneous,
    LongRun,
    Multi,
    PathQuantifier,
    Probability,
    Quantile,
    Reward,
    SteadyState,
    TimeBound,
    UnaryPath,
)
from .source import LanguageError
from .stream import suggestion
from .types import Scope

_WORD = re.compile(r'"\w*"|\b[A-Za-z_]\w*')
_STRUCTURE = re.compile(r"\bR\{([A-Za-z_]\w*)\}")
_OPERATORS = frozenset("ACEFGIPRSTUWX")


@dataclass(frozen=True)
class PropertyScope(Scope):
    """A scope that also knows labels (``bool``) and other properties by name (with their types)."""

    labels: Mapping[str, Type] = field(default_factory=dict)

    def _meant(self, name: str) -> str | None:
        if name not in self.labels:
            return super()._meant(name)
        return f'it is a label, which stands in double quotes: "{name}"' + self._in_a_shell()

    def _in_a_shell(self) -> str:
        """What to write on a command line, where the shell has taken all double quotes of a property away."""
        text = " ".join(self.source.text.split())
        if not self.source.name.startswith("--") or "'" in text:
            return ""
        text = _WORD.sub(self._quoted, _STRUCTURE.sub(self._structure, text))
        return f"; the shell leaves them where the property stands in single ones: '{text}'"

    def _quoted(self, word: re.Match[str]) -> str:
        """A word of a text, in double quotes where it is a label and nothing else."""
        name = word[0]
        return name if name in _OPERATORS or self._knows(name) or name not in self.labels else f'"{name}"'

    def _structure(self, found: re.Match[str]) -> str:
        """A reward structure, in double quotes where it is no number."""
        return found[0] if self._knows(found[1]) else f'R{{"{found[1]}"}}'

    def _knows(self, name: str) -> bool:
        return name in self.types or name in self.variables

    def _infer(self, expression: Expression) -> Type:
        match expression:
            case Label(name):
                return self._label(name, expression)
            case Probability(path, _, comparison) | ExpectedTime(path, _, comparison):
                self.require(path, "bool", "the formula between the brackets")
                return self._asked(comparison)
            case Reward(objective, structure, _, comparison):
                if isinstance(structure, Name) and not self._knows(structure.name):
                    hint = f'a reward structure stands in double quotes: R{{"{structure.name}"}}' + self._in_a_shell()
                    raise self._error(f"unknown name '{structure.name}'", structure, hint)
                if isinstance(structure, Expression):
                    self.require(structure, "int", "the number of a reward structure")
                self.require(objective, "bool", "the formula between the brackets")
                return self._asked(comparison)
            case SteadyState(states, _, comparison):
                self.require(states, "bool", "the formula between the brackets")
                return self._asked(comparison)
            case PathQuantifier(_, path):
                self.require(path, "bool", "the formula between the brackets")
                return "bool"
            case Filter(operator, operand, states):
                return self._filter(operator, operand, states)
            case Multi(objectives):
                types = [self.type_of(objective) for objective in objectives]
                return "double" if "double" in types else "bool"
            case Quantile(_, name, formula):
                inner = replace(self, types={**self.types, name: "int"}, _known={})
                inner.require(formula, "bool", "the formula of a quantile")
                return "int"
        return self._path(expression)

    def _path(self, expression: Expression) -> Type:
        match expression:
            case UnaryPath(operator, operand, bound):
                self.require(operand, "bool", f"the operand of '{operator}'")
                self._bound(bound)
                return "bool"
            case BinaryPath(operator, left, right, bound):
                for operand in (left, right):
                    self.require(operand, "bool", f"an operand of '{operator}'")
                self._bound(bound)
                return "bool"
            case AutomatonPath(_, propositions):
                for name, states in propositions:
                    self.require(states, "bool", f'the proposition "{name}"')
                return "bool"
            case Cumulative(bound):
                if bound is not None:
                    self.require(bound, "double", "the bound of 'C'")
                return "bool"
            case CumulativeBudget(budget):
                self._bound(budget)
                return "bool"
            case Given(path, condition):
                for part in (path, condition):
                    self.require(part, "bool", "a formula beside '||'")
                return "bool"
            case Instantaneous(time):
                self.require(time, "double", "the time of 'I'")
                return "bool"
            case LongRun():
                return "bool"
        return super()._infer(expression)

    def _label(self, name: str, expression: Expression) -> Type:
        if name in ("init", "deadlock"):
            return "bool"
        if name not in self.labels:
            hint = suggestion(name, self.labels, "labels", '"')
            if name in self.types:
                hint = f"'{name}' without quotes is a variable or constant"
            raise LanguageError(f'unknown label "{name}"', self.source, expression.span, hint)
        return self.labels[name]

    def _asked(self, comparison: Comparison | None) -> Type:
        if comparison is None:
            return "double"
        self.require(comparison.bound, "double", f"what follows '{comparison.operator}'")
        return "bool"

    def _bound(self, bound: TimeBound | None) -> None:
        for part in bound.all if bound else ():
            for limit in (part.low, part.high):
                if limit is not None:
                    self.require(limit, "double", "a bound")

    def _filter(self, operator: str, operand: Expression, states: Expression | None) -> Type:
        if states is not None:
            self.require(states, "bool", "the states of a filter")
        match operator:
            case "forall" | "exists" | "count":
                self.require(operand, "bool", f"what '{operator}' filters")
                return "int" if operator == "count" else "bool"
            case "min" | "max" | "argmin" | "argmax" | "sum" | "avg" | "range":
                self.require(operand, "double", f"what '{operator}' filters")
                if operator in ("argmin", "argmax"):
                    return "bool"
                return "double" if operator in ("avg", "range") else self.type_of(operand)
        return self.type_of(operand)
