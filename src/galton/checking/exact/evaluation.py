"""The exact value of a formula, in every state that matters.

An expression around operators is evaluated state by state: operators, and labels that the model has of its own, are
variables of it. An operator needs the value of what is inside it in all states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...explore.evaluate import evaluate_states
from ...lang.expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Type, Unary
from ...lang.program import Program
from ...lang.properties import ExpectedTime, Filter, PathQuantifier, Probability, Reward, SteadyState, map_children
from ...lang.rendering import render
from ...lang.resolution import is_state_formula, parts
from ...lang.source import LanguageError, Source, UnsupportedError
from ...model.sparse import Mask, Model
from ...model.states import PackedStates
from ..evaluation import Evaluation
from ..quantity import Work
from ..result import Solved
from .expressions import Compiler, Exactly, is_whole
from .limits import Watchman
from .model import ExactModel
from .proposals import SETTINGS

__all__ = ["ExactEvaluation", "Values"]

_OPERATORS = (Probability, Reward, ExpectedTime, SteadyState, PathQuantifier, Filter)
_PLAIN = (Literal, Name, Label, Unary, Binary, Conditional, Call)


@dataclass(frozen=True, eq=False)
class Values:
    """A value for each state, or one that is the same in all; None in states that nobody asked about.

    Numbers are integers, rationals or infinity, which is a float.
    """

    kind: Type
    values: Sequence[Any]
    alone: bool = False

    def __getitem__(self, state: int) -> Any:
        return self.values[0 if self.alone else state]


class _Masks(Evaluation):
    """The evaluation that graph analysis asks for states."""

    exact: ExactEvaluation

    def mask(self, expression: Expression) -> Mask:
        return self.exact.mask(expression)


class ExactEvaluation:
    """Formulas of one text over the states of one model.

    Attributes
    ----------
    steps
        The operators solved so far.
    warnings
        What a person should know about the answer.
    listings
        What ``filter(print, …)`` and its like show.
    """

    def __init__(
        self, model: ExactModel, program: Program, source: Source, constants: Mapping[str, Exactly], watchman: Watchman
    ) -> None:
        self.exact, self.program, self.source = model, program, source
        self.constants, self.watchman = constants, watchman
        self.steps: list[Solved] = []
        self.warnings: list[str] = []
        self.listings: list[tuple[Filter, list[int], Values]] = []
        self._known: dict[Expression, Values] = {}

    @property
    def model(self) -> Model:
        """The model of doubles."""
        return self.exact.model

    @cached_property
    def graph(self) -> Evaluation:
        """What functions about the graph ask: the same model, and masks that were decided exactly."""
        found = _Masks(self.model, self.program, self.source, SETTINGS)
        found.exact = self
        return found

    @cached_property
    def everywhere(self) -> list[int]:
        """All states."""
        return list(range(self.model.n_states))

    def state_name(self, state: int) -> str:
        """A state as people know it."""
        return self.graph.state_name(state)

    # Values.

    def value(self, expression: Expression, states: Sequence[int]) -> Values:
        """What an expression is worth in some states."""
        if isinstance(expression, _OPERATORS):
            return self._operator(expression)
        if not isinstance(expression, _PLAIN):
            raise UnsupportedError("there is no exact answer to this", self.source, expression.span)
        names: dict[str, Expression] = {}

        def opened(part: Expression) -> Expression:
            special = isinstance(part, _OPERATORS) or (isinstance(part, Label) and self._is_given(part.name))
            if not special:
                return map_children(part, opened)
            name = next((n for n, other in names.items() if other == part), f"#{len(names)}")
            names[name] = part
            return Name(name, span=part.span)

        bare = opened(expression)
        inner = {name: self._special(part) for name, part in names.items()}
        for name, values in inner.items():
            for state in states[:1] if values.alone else states:
                if isinstance(values[state], float):
                    message = f"{render(names[name])} is infinite, and there is no exact arithmetic on that"
                    raise UnsupportedError(message, self.source, names[name].span)
        types: dict[str, Type] = dict(self._variables)
        types |= {name: values.kind for name, values in inner.items()}
        compiler = Compiler(self.source, types, self.constants, self.program.labels)
        kind, function = compiler.typed(bare)
        fixed = not any(isinstance(part, Name) and part.name in self._variables for part in _parts(bare, self.program))
        if fixed and all(values.alone for values in inner.values()):
            return Values(kind, [function([*[0] * len(self._variables), *(v[0] for v in inner.values())])], alone=True)
        found: list[Any] = [None] * self.model.n_states
        for state in states:
            found[state] = function([*self._state(state), *(values[state] for values in inner.values())])
        return Values(kind, found)

    def mask(self, expression: Expression) -> Mask:
        """The states in which a formula holds."""
        if self._for_the_core(expression):
            return evaluate_states(self.program, self.model, [expression], self.source)[0]
        values = self.value(expression, self.everywhere)
        assert values.kind == "bool"
        if values.alone:
            return np.full(self.model.n_states, values[0], dtype=np.bool_)
        return np.array(values.values, dtype=np.bool_)

    def _for_the_core(self, expression: Expression) -> bool:
        """Whether the core evaluates a formula exactly: one about the integers of a program's states."""
        if not isinstance(self.model.states, PackedStates) or not self.program.modules:
            return False
        if not is_state_formula(expression) or not is_whole(expression, self.program.constants, self.program.labels):
            return False
        return not any(isinstance(part, Label) and self._is_given(part.name) for part in parts(expression))

    def _is_given(self, label: str) -> bool:
        """Whether the model knows itself where a label holds."""
        return label not in self.program.labels

    def _special(self, part: Expression) -> Values:
        if isinstance(part, Label):
            return Values("bool", self.model.labels[part.name].tolist())
        return self._operator(part)

    @cached_property
    def _variables(self) -> dict[str, Type]:
        return {variable.name: variable.type for variable in self.program.variables}

    @cached_property
    def _columns(self) -> list[list[int]]:
        states = self.model.states
        return [] if states is None else [states.column(name).astype(int).tolist() for name in self._variables]

    def _state(self, state: int) -> list[int]:
        return [column[state] for column in self._columns]

    # Operators.

    def _operator(self, expression: Expression) -> Values:
        if expression not in self._known:
            self._known[expression] = self._solved(expression)
        return self._known[expression]

    def _solved(self, expression: Expression) -> Values:
        from . import filters, operators

        match expression:
            case Filter():
                return filters.filtered(self, expression)
            case PathQuantifier():
                from ..qualitative.path_quantifiers import quantified

                return Values("bool", quantified(self.graph, expression).tolist())
            case Probability() | Reward() | ExpectedTime() | SteadyState():
                return operators.solved(self, expression)
        raise LanguageError("there is no exact answer to this", self.source, expression.span)

    def note(self, formula: Expression, work: Sequence[Work]) -> None:
        """Note what was done for an operator."""
        self.steps.append(Solved(render(formula), "exact arithmetic", tuple(work)))


def _parts(expression: Expression, program: Program) -> list[Expression]:
    """An expression and everything in it, labels opened."""
    found = []
    for part in parts(expression):
        found.append(part)
        if isinstance(part, Label) and part.name in program.labels:
            found += _parts(program.labels[part.name], program)
    return found
