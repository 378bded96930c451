"""Everything that computes an operation of the language, asked for the same operation on the same operands.

An operand is a Python value: a bool, an int or a float. A case says what an operation of the table makes of some;
``NO_VALUE`` where it makes nothing of them. Each evaluator is given conditions that ought to hold, as text, and gives
back those that do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import played_explorer

import galton
from galton.lang import Value
from galton.lang.operations import Operation
from galton.lower import vectorised
from galton.lower.lowering import ExpressionLowering, lower
from galton.model.states import PackedStates

NO_VALUE = "no value"
LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Case:
    """An operation on some operands."""

    operation: Operation
    operands: tuple[Value, ...]
    name: str  # one of the ways to write it

    @property
    def whole(self) -> bool:
        """Whether it is computed in integers."""
        return self.operation.integers is not None and not any(isinstance(value, float) for value in self.operands)

    @property
    def expected(self) -> Value | str:
        """What the table says, in a state, where integers end at 2^53."""
        operation, operands = self.operation, self.operands
        if operation.lacks_value(operands):
            return NO_VALUE
        if self.whole:
            value = operation.integers(*operands)
            return value if abs(value) < 2**53 or not operation.lengthens else NO_VALUE
        mixed = any(isinstance(value, float) for value in operands)
        return operation.doubles(*(float(v) if mixed and type(v) is int else v for v in operands))

    def text(self, written: Sequence[str]) -> str:
        """The operation on operands that are written so."""
        if self.name == "?:":
            return "({}) ? ({}) : ({})".format(*written)
        if self.name.isidentifier():
            return f"{self.name}({', '.join(written)})"
        return f"({written[0]}) {self.name} ({written[1]})" if len(written) == 2 else f"{self.name}({written[0]})"

    @property
    def constant(self) -> str:
        """The operation on constants."""
        return self.text([text_of(value) for value in self.operands])

    @property
    def in_state(self) -> str:
        """The operation on what depends on the state."""
        return self.text([in_state(value) for value in self.operands])

    @property
    def condition(self) -> str:
        """That it has its value where x is 0, the sign of a zero included."""
        expected = self.expected
        assert not isinstance(expected, str)
        return says(self.in_state, expected)


def says(expression: str, expected: Value) -> str:
    """A condition that an expression has a value, the sign of a zero included; an integer has no -0."""
    if isinstance(expected, bool):
        return f"({expression}) = {text_of(expected)}"
    if math.isnan(expected):
        return f"({expression}) != ({expression})"
    value = text_of(float(expected))
    return f"({expression}) = ({value})" + (f" & 1/({expression}) = 1/({value})" if expected == 0 else "")


def text_of(value: Value) -> str:
    """An expression whose value is exactly this."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "0/0"
    if math.isinf(value):
        return "1/0" if value > 0 else "-1/0"
    digits = format(Decimal(abs(value)), "f")
    if len(digits) > 900:  # longer literals are rounded as they are read
        exponent = max(math.frexp(value)[1] - 53, -1074)
        digits = f"({math.ldexp(abs(value), -exponent):.1f} * pow(2.0, {exponent}))"
    digits = digits if "." in digits else f"{digits}.0"
    return f"-{digits}" if math.copysign(1, value) < 0 else digits


def in_state(value: Value) -> str:
    """An expression of the same type that depends on the state, and has the value where x is 0."""
    if isinstance(value, bool):
        return f"(x=0) = {text_of(value)}"
    if isinstance(value, float):
        return f"(x=0 ? {text_of(value)} : 0.25)"
    if abs(value) > LARGEST:  # no literal is as long, but a product may be
        times, rest = divmod(abs(value), LARGEST)
        sign = "" if value > 0 else "-"
        return f"({sign}((x=0 ? {LARGEST} : 0)*{times} + {rest}))"
    return f"(x=0 ? {value} : 1)"


def one_by_one(condition: str) -> str:
    """The same condition as part of one that may have no value, so that the core looks at single states."""
    return f"(x=1 ? mod(1, x)=0 : {condition})"


def program_of(conditions: Sequence[str]) -> galton.Program:
    """A program with a label for each condition; x is 0 in the initial state."""
    labels = " ".join(f'label "l{k}" = {condition};' for k, condition in enumerate(conditions))
    return galton.parse(f"dtmc module m x : [0..1] init 0; [] x=0 -> (x'=1); [] x=1 -> true; endmodule {labels}")


def wrong_in_core(conditions: Sequence[str]) -> list[str]:
    """By the tapes of the core, and one state at a time."""
    conditions = [*conditions, *map(one_by_one, conditions)]
    labels = program_of(conditions).build(threads=1).labels
    return [condition for k, condition in enumerate(conditions) if not labels[f"l{k}"][0]]


def wrong_in_graph(conditions: Sequence[str]) -> list[str]:
    """By the folding of the graph: z never changes."""
    frozen = [condition.replace("x=0", "z=0") for condition in conditions]
    text = " ".join(f'label "l{k}" = {condition};' for k, condition in enumerate(frozen))
    lowered = lower(galton.parse(f"dtmc module m z : [0..1]; [] true -> true; endmodule {text}"))
    return [c for k, c in enumerate(frozen) if lowered.graph.constant(lowered.labels[f"l{k}"]) != 1.0]


def wrong_in_arrays(conditions: Sequence[str]) -> list[str]:
    """By arrays, where they can do it."""
    program = program_of(conditions)
    model = program.build(threads=1)
    assert isinstance(model.states, PackedStates)
    lowering = ExpressionLowering(program)
    wrong = []
    for condition, expression in zip(conditions, program.labels.values(), strict=True):
        node = lowering.node(expression)
        if not vectorised.possible(lowering.graph, node):
            continue
        if not vectorised.evaluate(lowering.graph, node, model.states.fields, model.states.words)[0]:
            wrong.append(condition)
    return wrong


def wrong_in_cuda(conditions: Sequence[str]) -> list[str]:
    """By the text for a device, which g++ compiles."""
    labels = played_explorer.explore(lower(program_of(conditions))).labels
    return [condition for k, condition in enumerate(conditions) if not labels[f"l{k}"][0]]
