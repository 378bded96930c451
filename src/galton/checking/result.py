"""What a property came to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ..device.placement import Placement
from ..lang.source import GaltonError
from ..model.sparse import HERE
from .as_number import AsNumber
from .quantity import Work

DIGITS = 12  # that people get to see
LONG_FRACTION = 40  # characters of one that people get to see in full
FEW = 20  # lines of a listing that a notebook shows

if TYPE_CHECKING:
    from fractions import Fraction

    from ..verifier.certificate import Certificate
    from .as_number import Real
    from .multi.mixtures import Mixture
    from .quantity import Quantity
    from .state_values import Everywhere, StateValues
    from .strategies.strategy import Strategy

Number = float | int


@dataclass(frozen=True, slots=True)
class Solved:
    """An operator that was solved on the way to an answer, and the work it took."""

    formula: str
    method: str
    work: tuple[Work, ...]


@dataclass(frozen=True, slots=True)
class ParetoSet:
    """The best that strategies of an MDP can do for several objectives: the corners of a surface, by the first one.

    What lies between corners is attained too, by choosing one of their strategies at random. No strategy is further
    above a facet than ``gap``, relative to the size of its corners.

    Attributes
    ----------
    points
        A number for each objective: the middle of its bounds.
    bounds
        For each point and each objective, numbers that hold what its strategy attains for certain.
    half_spaces
        Weights and a limit each: no strategy has a weighted sum above the limit. A weight is negative where the
        objective is to be small.
    objectives, maximise
        The objectives as they were asked for, and for each whether more is better.
    """

    points: tuple[tuple[float, ...], ...]
    gap: float
    bounds: tuple[tuple[tuple[float, float], ...], ...] = ()
    half_spaces: tuple[tuple[tuple[float, ...], float], ...] = ()
    objectives: tuple[str, ...] = ()
    maximise: tuple[bool, ...] = ()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(AsNumber):
    """The answer to a property.

    A result can be used as the truth value or the number that it holds: ``if result:``, ``result * 6``,
    ``f"{result:.3f}"``, ``result < 0.5``. Numbers that are not exact compare by their value, the middle of the bounds.
    :attr:`values` has the values in all states.

    Attributes
    ----------
    value
        A truth value, a number, or a pair where a number is asked for in several states: the smallest and the largest.
        A :class:`ParetoSet` for several objectives at once. None where the bounds do not decide.
    lower, upper
        Bounds that hold the number for certain, rounding included; None for a truth value. They are equal where the
        number is exact, and where ``proved`` is false, because a method was chosen that gives no bounds.
    about
        The states that the value is about, in words.
    method, steps
        How it was found, and the operators solved for it, innermost first.
    placement
        Where, and why.
    strategy
        For an MDP, a strategy that attains the value, where it was asked for and there is one such value. For several
        objectives, a :class:`~galton.checking.multi.mixtures.Mixture`.
    exact
        The number itself, where exact numbers were asked for: a ``Fraction``, or a pair where the value is one.
        Infinity is a ``float``.
    quantity, certificate
        The bounds in all states, and what proves them, where a certificate was asked for.
    behind
        For a threshold, the number that was compared with it, where that was needed.
    listing
        Lines of ``filter(print, …)`` and its like.
    name
        The name that a file of properties gives the property; None for none.

    Examples
    --------
    >>> import galton
    >>> chain = galton.Model.from_matrix("dtmc", [[0, 0.75, 0.25], [0, 1, 0], [0, 0, 1]], labels={"won": [2]})
    >>> result = galton.check(chain, 'P=? [ X "won" ]')
    >>> result.value, result.proved, result.about
    (0.25, True, 'the initial state 0')
    >>> result * 4, f"{result:.3f}", result < 0.3
    (1.0, '0.250', True)
    >>> result.values.array
    array([0.25, 0.  , 1.  ])
    >>> bool(galton.check(chain, 'P>=1 [ F "won" ]'))
    False
    """

    formula: str
    value: bool | Number | tuple[Number, Number] | ParetoSet | None
    lower: Number | None = None
    upper: Number | None = None
    about: str = ""
    method: str = ""
    placement: Placement = HERE
    steps: tuple[Solved, ...] = ()
    proved: bool = True
    warnings: tuple[str, ...] = ()
    listing: tuple[str, ...] = ()
    strategy: Strategy | Mixture | None = None
    quantity: Quantity | None = None
    certificate: Certificate | None = None
    exact: Fraction | float | tuple[Fraction | float, Fraction | float] | None = None
    seconds: float = 0.0
    behind: Result | None = None
    name: str | None = None
    everywhere: Everywhere | None = field(default=None, repr=False)  # how to find the values in all states

    @cached_property
    def values(self) -> StateValues:
        """The values in all states of the model, labelled by the states: asked when this is looked at, and then kept.

        Bounds are as close as ``eps`` asks for in every state, not in the initial ones alone. All states of a program
        are built for it, also those that the answer did not need.

        >>> import galton
        >>> program = galton.parse("dtmc  module m  x : [0..2];  [] x<2 -> 0.5:(x'=x+1) + 0.5:(x'=0);  endmodule")
        >>> galton.check(program, "P=? [ F<=2 x=2 ]").values.to_pandas()
           value  lower  upper
        x
        0   0.25   0.25   0.25
        1   0.50   0.50   0.50
        2   1.00   1.00   1.00
        """
        if self.everywhere is None:
            raise GaltonError(
                "this result does not know its model, as those of experiments; galton.check(model, property).values "
                "has the values in all states"
            )
        return self.everywhere.values()

    def with_number(
        self, value: Number | tuple[Number, Number] | None, lower: Number | None, upper: Number | None
    ) -> Result:
        """Return a copy with another number, in a tenth of the time of ``replace``: curves have many."""
        other = object.__new__(Result)
        other.__dict__.update(self.__dict__, value=value, lower=lower, upper=upper)
        return other

    @property
    def device(self) -> str:
        """Where it was found: ``"cpu"`` or ``"cuda"``."""
        return self.placement.backend

    @property
    def work(self) -> tuple[Work, ...]:
        """All steps of the plan."""
        return tuple(work for step in self.steps for work in step.work)

    @property
    def iterations(self) -> int:
        """Sweeps over the matrix, all steps together."""
        return sum(step.iterations for step in self.work)

    def __bool__(self) -> bool:
        if isinstance(self.value, bool):
            return self.value
        if self.value is None:
            raise TypeError(f"{self.formula} is undecided: its value is None, neither true nor false")
        raise TypeError(f"{self.formula} is no question of true or false; look at its value")

    def number(self) -> Real:
        """The one number that this is: a ``Fraction`` where it is exact."""
        if self.value is None or isinstance(self.value, (bool, tuple, ParetoSet)):
            raise TypeError(f"{self.formula} has no single number: it is {self.text}")
        if self.exact is not None and not isinstance(self.exact, tuple) and not isinstance(self.value, int):
            return self.exact
        return self.value

    @property
    def is_number(self) -> bool:
        """Whether the value is one number, so that one can compute with it."""
        return isinstance(self.value, (int, float)) and not isinstance(self.value, bool)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Result):
            return self is other or (self.is_number and other.is_number and self.number() == other.number())
        if isinstance(other, bool) or not self.is_number:
            return self.value == other if isinstance(other, (bool, tuple)) else NotImplemented
        return self.number() == other

    def __hash__(self) -> int:
        return hash(self.number()) if self.is_number else hash(self.value)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if isinstance(self.value, tuple):  # over several initial states
            return " to ".join(format(part, spec) for part in self.value)
        number = self.value
        return format(number if self.is_number and isinstance(number, (int, float)) else self.text, spec)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.formula} = {self.text}{self.margin}>"

    def _repr_html_(self) -> str:
        from ..lang.markup import facts

        how = [self.method] + ([f"{self.iterations:,} sweeps"] if self.iterations else [])
        rows = [
            ("property", self.formula if self.name is None else f"{self.name}: {self.formula}"),
            ("value", self.text),
            (
                "bounds" if self.exact is None else "about",
                self.margin.strip().removeprefix("in ").removeprefix("about "),
            ),
            ("for", self.about),
            ("found by", f"{', '.join(how)}, {self.seconds:.3f} s{'' if self.proved else '; without a guarantee'}"),
            *(("warning", warning) for warning in self.warnings),
            *(("", line) for line in self.listing[:FEW]),
            ("", f"… and {len(self.listing) - FEW:,} more lines" if len(self.listing) > FEW else ""),
        ]
        return facts(rows)

    @property
    def digits(self) -> int:
        """How many digits of the value the bounds vouch for, about; of a range, those of its ends."""
        return max((_digits(low, high) for _, low, high in self._numbers), default=DIGITS)

    @property
    def _numbers(self) -> list[tuple[Number, Number, Number]]:
        """The number, or both ends of a range, each with its bounds; none where there are no bounds."""
        value = self.value
        if self.lower is None or self.upper is None or not self.proved or value is None:
            return []
        if isinstance(value, tuple):
            # The bounds around an end are as far away on its other side.
            least, most = value
            return [(least, self.lower, 2 * least - self.lower), (most, 2 * most - self.upper, self.upper)]
        return [] if isinstance(value, (bool, ParetoSet)) else [(value, self.lower, self.upper)]

    @property
    def text(self) -> str:
        """The value for people: of all numbers within the bounds one with few digits, so that 0.5 is 0.5."""
        if self.exact is not None:
            return " to ".join(map(fraction_text, self.exact if isinstance(self.exact, tuple) else (self.exact,)))
        texts = dict.fromkeys(concise(*number) for number in self._numbers)
        return " to ".join(texts) if texts else shown(self.value)

    @property
    def margin(self) -> str:
        """The bounds, where they say more than the value; of a fraction, its first digits."""
        if self.exact is not None:
            decimal = shown(self.value, 10)
            return "" if decimal == self.text else f"  about {decimal}"
        if self.lower is None or self.upper is None or self.lower == self.upper or not self.proved:
            return ""
        lower = outward(self.lower, "ROUND_FLOOR", self.digits + 2)
        return f"  in [{lower}, {outward(self.upper, 'ROUND_CEILING', self.digits + 2)}]"


def shown(value: bool | Number | tuple[Number, Number] | ParetoSet | None, digits: int = DIGITS) -> str:
    """A value for people."""
    match value:
        case None:
            return "undecided"
        case bool():
            return str(value).lower()
        case ParetoSet(points):
            return ", ".join(f"({', '.join(shown(number, digits) for number in point)})" for point in points)
        case (low, high):
            return f"{shown(low, digits)} to {shown(high, digits)}"
        case int():
            return str(value)
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return f"{value:.{digits}g}"


def concise(value: Number, lower: Number, upper: Number) -> str:
    """A number in few digits, rounded no further than its bounds allow.

    >>> concise(0.4999999871, 0.49999995, 0.50000002), concise(1 / 6, 0.1666665, 0.1666668)
    ('0.5', '0.1666667')
    >>> concise(1199.9999, 1199.9997, 1200.0002)
    '1200'
    """
    if isinstance(value, int) or not math.isfinite(value):
        return shown(value)
    for digits in range(3, DIGITS):
        text = shown(value, digits)
        # A probability that is not known to be 0 or 1 is not shown as that: there its bounds end.
        certain = lower == upper or lower < float(text) < upper or float(text) not in (0.0, 1.0)
        if certain and lower <= float(text) <= upper:
            return shown(float(text))  # so few digits may have come with a power of ten
    return shown(value)


def _digits(lower: Number, upper: Number) -> int:
    if not lower < upper < math.inf:
        return DIGITS
    width = (upper - lower) / max(abs(lower), abs(upper))
    return min(max(1 - math.floor(math.log10(width)), 3), DIGITS) if width > 0 else DIGITS


def fraction_text(value: Fraction | float) -> str:
    """A fraction for people: in full where it is short, else how long it is.

    >>> from fractions import Fraction
    >>> fraction_text(Fraction(1, 6)), fraction_text(Fraction(2**300, 3**300))
    ('1/6', '20370359763344860862…/13689147905858837599…, 91 and 144 digits')
    """
    if isinstance(value, float):
        return shown(value)
    full = full_fraction(value)
    if len(full) <= LONG_FRACTION:
        return full
    parts = [part.lstrip("-") for part in full.split("/")]
    short = "/".join(f"{part[:20]}…" if len(part) > 20 else part for part in parts)
    return f"{'-' * (value < 0)}{short}, {' and '.join(str(len(part)) for part in parts)} digits"


def full_fraction(value: Fraction | float) -> str:
    """A fraction with all its digits, however many; Python's own ``str`` gives up after a few thousand."""
    if isinstance(value, float):
        return shown(value)
    from decimal import Decimal

    above, below = (f"{Decimal(part):f}" for part in (value.numerator, value.denominator))
    return above if below == "1" else f"{above}/{below}"


def outward(bound: Number, rounding: str, digits: int) -> str:
    """A bound in few digits that is still one: rounded away from the value."""
    if not math.isfinite(bound):
        return shown(bound)
    from decimal import Context, Decimal

    short = Context(prec=digits, rounding=rounding).create_decimal(Decimal(bound))
    return f"{short.normalize():g}"
