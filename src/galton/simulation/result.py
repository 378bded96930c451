"""What random paths said about a property."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..checking.as_number import AsNumber
from ..lang.markup import facts
from ..lang.wording import counted

if TYPE_CHECKING:
    from ..checking.as_number import Real

__all__ = ["Estimate"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Estimate(AsNumber):
    """An answer from random paths: with a confidence, and never a proof.

    It can be used as the truth value or the number that it holds: ``if estimate:``, ``estimate * 6``,
    ``f"{estimate:.3f}"``.

    Attributes
    ----------
    value
        The number, or the truth value of a property with a threshold; None where the paths do not decide.
    lower, upper
        An interval that holds the number with probability ``confidence``, over all seeds; None for a sequential test.
    confidence
        How likely it is that the answer is right.
    paths, steps, cut
        How many paths were followed, how many steps they took together, and how many of them were cut.
    method, assumption
        How the interval or the answer was found, and what has to be true for the confidence to be.
    seed
        The seed that gives the same answer again.
    name
        The name that a file of properties gives the property; None for none.

    Examples
    --------
    >>> import galton
    >>> coin = galton.parse("dtmc  module coin  s : [0..2];  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);  endmodule")
    >>> estimate = galton.estimate(coin, "P=? [ F s=2 ]", confidence=0.99, width=0.01)
    >>> estimate.lower <= 0.5 <= estimate.upper, estimate.paths
    (True, 70531)
    >>> abs(estimate * 2 - 1) < 0.02
    True
    """

    formula: str
    value: bool | float | None
    lower: float | None
    upper: float | None
    confidence: float
    paths: int
    steps: int
    cut: int
    method: str
    assumption: str
    about: str
    seed: int
    seconds: float
    device: str = "cpu"
    warnings: tuple[str, ...] = ()
    proved: bool = False
    name: str | None = None

    def __bool__(self) -> bool:
        if isinstance(self.value, bool):
            return self.value
        if self.value is None:
            raise TypeError(f"{self.formula} is undecided: its value is None, neither true nor false")
        raise TypeError(f"{self.formula} is no question of true or false; look at its value")

    def number(self) -> Real:
        """The one number that this is."""
        if self.value is None or isinstance(self.value, bool):
            raise TypeError(f"{self.formula} has no single number: it is {self.text}")
        return self.value

    def __format__(self, spec: str) -> str:
        plain = self.value is None or isinstance(self.value, bool) or not spec
        return format(self.text if plain else self.value, spec)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return facts(
            [
                ("property", self.formula if self.name is None else f"{self.name}: {self.formula}"),
                ("about", self.text),
                ("sure", self.margin.strip(" ,")),
                ("for", self.about),
                (
                    "found by",
                    f"{counted(self.paths, 'random path')}, {counted(self.steps, 'step')}, "
                    f"seed {self.seed}; {self.method}",
                ),
                ("assumes that", self.assumption),
                *(("warning", warning) for warning in self.warnings),
            ]
        )

    def __repr__(self) -> str:
        return f"<{self.formula} {'is' if isinstance(self.value, bool) else '≈'} {self.text}{self.margin}>"

    @property
    def text(self) -> str:
        """The value for people, with as many digits as mean something."""
        if self.value is None:
            return "undecided"
        if isinstance(self.value, bool):
            return str(self.value).lower()
        if math.isinf(self.value):
            return "infinity"
        return f"{self.value:.{self._digits}g}"

    @property
    def margin(self) -> str:
        """The interval and the confidence, in words."""
        sure = f"with confidence {self.confidence:g}"
        if self.lower is None or self.upper is None:
            return f", {sure}"
        return f"  in [{_outward(self.lower, self._digits, -1)}, {_outward(self.upper, self._digits, 1)}] {sure}"

    @property
    def _digits(self) -> int:
        if self.lower is None or self.upper is None or not self.lower < self.upper < math.inf:
            return 6
        width = (self.upper - self.lower) / max(abs(self.lower), abs(self.upper))
        return min(max(2 - math.floor(math.log10(width)), 3), 12)


def _outward(bound: float, digits: int, direction: int) -> str:
    """A bound in few digits that is still one: rounded away from the value."""
    from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

    if not math.isfinite(bound):
        return "infinity" if bound > 0 else "-infinity"
    rounding = ROUND_CEILING if direction > 0 else ROUND_FLOOR
    return f"{Context(prec=digits, rounding=rounding).create_decimal(Decimal(bound)).normalize():g}"
