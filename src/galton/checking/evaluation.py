"""The value of a property in every state of a model.

Operators are solved one inside the other, innermost first: a formula gives each state a truth or a number, with bounds
(:mod:`.intervals`). Formulas about variables alone go to the core, a block of states at a time; what stands on top of
operators is array arithmetic. As in PRISM, an expression that has no value in some state (``mod(x, 0)``) is an error
only where that value is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..device.arrays import how_many, namespace, on_host
from ..lang.evaluation import fold
from ..lang.expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Unary
from ..lang.operations import BINARY, FUNCTIONS, UNARY, Operation
from ..lang.program import Program
from ..lang.properties import ExpectedTime, Filter, Multi, PathQuantifier, Probability, Quantile, Reward, SteadyState
from ..lang.rendering import render
from ..lang.resolution import BUILT_IN, is_state_formula, parts
from ..lang.source import GaltonError, LanguageError, Source, Span
from ..lang.wording import worded
from ..lower.reader import READER
from ..model.errors import NumericError
from ..model.sparse import Model
from ..model.states import PackedStates, State
from ..solve.methods import DEFAULT, MEANT_FOR
from ..solve.settings import Settings
from . import intervals
from .gate import admit
from .inspection import NOT_ALONE, QUANTILE_NOT_ALONE
from .intervals import Mask, Numbers, Truth
from .quantity import Quantity, Work

if TYPE_CHECKING:
    from .automaton_reading import Reading


class UndecidedError(GaltonError):
    """Bounds that do not tell whether a formula holds, where another one needs to know."""

    kind = "numeric"


class UndefinedError(LanguageError):
    """An expression without a value in some state."""

    kind = "model"


@dataclass(frozen=True, slots=True)
class Step:
    """An operator that was solved on the way, as text, and what came out."""

    formula: str
    quantity: Quantity


@dataclass(eq=False)
class Evaluation:
    """Formulas of one text over the states of one model.

    ``strategy_of`` is the operator whose strategy is wanted. ``steps`` are the operators solved so far, ``warnings``
    what a person should know about the answer. ``focus`` are the states whose values matter, and are to be precise: the
    initial ones (None), those of a filter, or all where another formula looks at them. ``reading`` is the automaton
    that was explored with the model, for the path formula of the one operator there is.
    """

    model: Model
    program: Program
    source: Source
    settings: Settings
    strategy_of: Expression | None = None
    reading: Reading | None = None
    steps: list[Step] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    listings: list[tuple[Filter, Mask, Truth | Numbers]] = field(default_factory=list)
    focus: Mask | None = None
    _known: dict[tuple[Expression, int], tuple[Truth | Numbers, Mask | None]] = field(default_factory=dict)

    # Values.

    def value(self, expression: Expression, where: Mask | None = None) -> Truth | Numbers:
        """What an expression is worth in every state; only its values ``where`` matters will be used."""
        match expression:
            case Literal(value):
                return _exactly(value)
            case Name(name):
                return self._named(name)
            case Label(name):
                return self._label(name, where)
            case Unary() | Binary() | Conditional() | Call():
                if (known := self._constant(expression)) is not None:
                    return known
                if self._for_the_core(expression):
                    return Truth.exactly(self._in_core(expression))
                return self._composed(expression, where)
        key = expression, id(self.focus)
        if key not in self._known:
            self._known[key] = self._solved_somehow(expression), self.focus  # which keeps its id its own
        return self._known[key][0]

    def truth(self, expression: Expression, where: Mask | None = None) -> Truth:
        """The value of an expression that is a ``bool``."""
        found = self.value(expression, where)
        assert isinstance(found, Truth)
        return found

    def numbers(self, expression: Expression, where: Mask | None = None) -> Numbers:
        """The value of an expression that is a number."""
        found = self.value(expression, where)
        assert isinstance(found, Numbers)
        return found

    def mask(self, expression: Expression) -> Mask:
        """The states in which a formula holds, for a formula around it that needs to know."""
        with self.focused(self._everywhere):
            truth = self.truth(expression)
        if how_many(truth.undecided):
            state = int(np.flatnonzero(self.everywhere(truth.undecided))[0])
            raise UndecidedError(
                f"whether {render(expression)} holds in {self.state_name(state)} cannot be decided{self._bounds(state)}"
            )
        must = truth.must
        return must if np.ndim(must) else namespace(self.model.columns).full(self.model.n_states, must)

    def everywhere(self, values: Any) -> Any:
        """One value per state, also where it is the same in all of them; not to be written to."""
        if np.ndim(values):
            return values
        xp = namespace(self.model.columns)
        return xp.broadcast_to(xp.asarray(values), self.model.n_states)

    def at(self, values: Any, states: Any) -> Any:
        """What values are in some states, on the host; one for each where they are all the same."""
        return on_host(values[states]) if np.ndim(values) else np.broadcast_to(values, len(states))

    def first_state_name(self) -> str:
        """The first initial state as people know it."""
        return self.state_name(int(self.model.initial[0]))

    @cached_property
    def _everywhere(self) -> Mask:
        return namespace(self.model.columns).ones(self.model.n_states, dtype=np.bool_)  # type: ignore[no-any-return]

    @contextmanager
    def focused(self, states: Mask | None) -> Iterator[None]:
        """Have values precise in these states for a while; None for the initial ones."""
        before, self.focus = self.focus, states
        try:
            yield
        finally:
            self.focus = before

    @property
    def focused_model(self) -> Model:
        """The model as solvers get it: they see to it that their bounds are narrow in its initial states."""
        if self.focus is None:
            return self.model
        return replace(self.model, initial=np.flatnonzero(self.focus).astype(np.int32))

    def settings_for(self, formula: Expression) -> Settings:
        """How to solve an operator.

        Where others only look at how a probability compares with a bound, small ones need no relative precision.
        """
        compared = isinstance(formula, (Probability, SteadyState)) and formula.comparison is not None
        relative = self.settings.relative and not (compared and self.focus is not None)
        return replace(self.settings, relative=relative, strategy=formula is self.strategy_of)

    def state_name(self, state: int) -> str:
        """A state as people know it."""
        if self.model.states is None:
            return f"state {state}"
        shown = self.model.states[state]
        if self.reading is not None and isinstance(shown, State):
            return f"state {State({name: value for name, value in shown.items() if name != READER})!r}"
        return f"state {self.model.states.describe(state)}"

    def _bounds(self, state: int) -> str:
        if not self.steps:
            return ""
        last = self.steps[-1]
        return f": {last.formula} is between {last.quantity.lower[state]!s} and {last.quantity.upper[state]!s}"

    def solved(self, expression: Expression, quantity: Quantity, *, signed: bool = False) -> Quantity:
        """Note what an operator came to, if it can be right, and where a method chosen by hand did nothing for it."""
        most = 1.0 if isinstance(expression, (Probability, SteadyState)) else np.inf
        quantity = admit(quantity, render(expression), most, signed=signed)
        chosen = self.settings.method or DEFAULT
        done_by = quantity.method
        if chosen != DEFAULT and quantity.work and not done_by.startswith((chosen, "graph analysis")):
            what = MEANT_FOR.get(chosen, "unbounded paths and rewards")
            note = Work("method", f"{chosen} is for {what}; here {done_by} was used")
            quantity = replace(quantity, work=(*quantity.work, note))
        asked = self.settings.format or self.settings.order or self.settings.single
        if asked and quantity.work and not self.model.on_device and not self.settings.stream:
            self.warnings.append(
                worded("--format, --order and --single are for a device, and this was answered on the CPU")
            )
        self.steps.append(Step(render(expression), quantity))
        return quantity

    # Expressions.

    def _named(self, name: str) -> Truth | Numbers:
        if name in self.program.constants:
            return _exactly(self.program.constants[name])
        assert self.model.states is not None
        column = self.model.states.column(name)
        if column.dtype == np.bool_:
            return Truth.exactly(column)
        return Numbers.exactly(column, integral=bool(np.issubdtype(column.dtype, np.integer)))

    def _label(self, name: str, where: Mask | None) -> Truth:
        if name in self.model.labels:
            return Truth.exactly(self.model.labels[name])
        return self.truth(self.program.labels[name], where)

    def _for_the_core(self, expression: Expression) -> bool:
        """Whether the core can tell where this holds: a formula about variables and the program's labels."""
        if not isinstance(self.model.states, PackedStates) or not _is_logical(expression):
            return False
        if not is_state_formula(expression):
            return False
        labels = [part.name for part in parts(expression) if isinstance(part, Label)]
        return all(name in self.program.labels and name not in BUILT_IN for name in labels)

    def _in_core(self, expression: Expression) -> Mask:
        from ..explore.evaluate import evaluate_states

        return evaluate_states(self.program, self.model, [expression], self.source, self.settings.n_threads)[0]

    def _constant(self, expression: Expression) -> Truth | Numbers | None:
        """The value of an expression of constants, computed exactly and rounded once; None if it has none."""
        folded = fold(expression, self.program.constants)
        return _exactly(folded.value) if isinstance(folded, Literal) else None

    def _composed(self, expression: Expression, where: Mask | None) -> Truth | Numbers:
        match expression:
            case Unary(operator, operand):
                return self._applied(UNARY[operator], [self.value(operand, where)], where, expression.span)
            case Binary(operator, left, right):
                operation, matters = BINARY[operator], where
                first = self.value(left, where)
                if operation.settled_by is not None:
                    assert isinstance(first, Truth)
                    matters = _both(where, ~first.must if operation.settled_by else first.may)
                return self._applied(operation, [first, self.value(right, matters)], where, expression.span)
            case Conditional(condition, then, otherwise):
                test = self.truth(condition, where)
                branches = self.value(then, _both(where, test.may)), self.value(otherwise, _both(where, ~test.must))
                return intervals.choose(test, *branches)
            case Call(function, arguments):
                operation, operands = FUNCTIONS[function], [self.value(a, where) for a in arguments]
                if not operation.chained:
                    return self._applied(operation, operands, where, expression.span)
                return reduce(lambda a, b: self._applied(operation, [a, b], where, expression.span), operands)
        raise TypeError(f"not an expression: {expression!r}")

    def _applied(
        self, operation: Operation, operands: list[Truth | Numbers], where: Mask | None, span: Span
    ) -> Truth | Numbers:
        fine = intervals.has_value(operation, operands)
        if fine is not None:
            assert operation.domain is not None
            self._insist(fine, where, span, operation.domain.complaint)
        return operation.apply(intervals.apply, *operands)

    def _insist(self, fine: Mask, where: Mask | None, span: Span, complaint: str) -> None:
        bad = self.everywhere(_both(where, ~fine))
        if bad.any():
            state = int(np.flatnonzero(bad)[0])
            raise UndefinedError(f"{complaint}, in {self.state_name(state)}", self.source, span)

    # Operators.

    def _solved_somehow(self, expression: Expression) -> Truth | Numbers:
        """An operator's value. Where no method is precise in all states that matter, wide bounds may still do."""
        try:
            return self._operator(expression)
        except GaltonError as error:
            if self.focus is None or error.kind != "numeric" or isinstance(error, UndecidedError):
                raise
        with self.focused(None):
            return self._operator(expression)

    def _operator(self, expression: Expression) -> Truth | Numbers:
        try:
            return self._solved(expression)
        except NumericError as error:
            if error.states is None or not len(error.states):
                raise
            named = ", ".join(self.state_name(int(state)) for state in on_host(error.states[:3]))
            more = ", …" if len(error.states) > 3 else ""
            raise NumericError(f"{error}. The states: {named}{more}") from error

    def _solved(self, expression: Expression) -> Truth | Numbers:
        from . import filters, operators

        match expression:
            case Probability():
                return operators.probability(self, expression)
            case Reward():
                return operators.reward(self, expression)
            case ExpectedTime():
                return operators.expected_time(self, expression)
            case SteadyState():
                return operators.steady_state(self, expression)
            case PathQuantifier():
                from .qualitative.path_quantifiers import quantified

                return Truth.exactly(quantified(self, expression))
            case Filter():
                return filters.filtered(self, expression)
            case Multi():
                raise LanguageError(NOT_ALONE, self.source, expression.span)
            case Quantile():
                raise LanguageError(QUANTILE_NOT_ALONE, self.source, expression.span)
        raise TypeError(f"not a property: {expression!r}")


def _exactly(value: bool | int | float) -> Truth | Numbers:
    if isinstance(value, bool):
        return Truth.exactly(value)
    return Numbers.exactly(value, integral=isinstance(value, int))


def _both(where: Mask | None, also: Mask) -> Mask:
    """Where both hold; an array, which may be on a device, stands on the left of a number of NumPy."""
    if where is None:
        return also
    return also & where if np.ndim(also) else where & also


def _is_logical(expression: Expression) -> bool:
    """Whether an expression of the modelling language is a ``bool`` for certain."""
    match expression:
        case Unary("!", _) | Label():
            return True
        case Binary(operator, _, _):
            return BINARY[operator].gives == "bool"
        case Conditional(_, then, _):
            return isinstance(then, (Unary, Binary, Conditional)) and _is_logical(then)
    return False
