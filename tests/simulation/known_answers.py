"""Questions with exact answers, of every kind that is estimated, on models of every type.

The answers are Galton's own proved ones, but for those that somebody else has published.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import galton
from galton.lang.program import Program

MODELS = Path(__file__).parents[2] / "models"


@dataclass(frozen=True)
class Known:
    """A question, and where its answer comes from."""

    model: str
    prop: str
    constants: dict[str, Any] = field(default_factory=dict)
    strategy: str | None = None  # the property whose best strategy is followed
    published: float | None = None

    def __str__(self) -> str:
        given = ",".join(f"{name}={value}" for name, value in self.constants.items())
        return f"{self.model} {given} {self.prop}"

    @cached_property
    def program(self) -> Program:
        return galton.load(MODELS / f"{self.model}.prism", **self.constants)

    @cached_property
    def chooser(self) -> Any:
        return None if self.strategy is None else galton.check(self.program, self.strategy, strategy=True).strategy

    @cached_property
    def exact(self) -> float:
        if self.published is not None:
            return self.published
        return float(galton.check(self.program, self.strategy or self.prop))

    def estimate(self, **options: Any) -> galton.Estimate:
        return galton.estimate(self.program, self.prop, strategy=self.chooser, **options)


SIR = {"S0": 20, "I0": 2, "R0": 0, "ki": 0.01, "kr": 0.1}
BEST = 'Pmax=? [ F "finished" & "all_heads" ]'
KNOWN = [
    Known("die", "P=? [ F d=6 ]", published=1 / 6),
    Known("die", "P=? [ F<=5 d=6 ]"),
    Known("die", "P=? [ G<=4 d=0 ]"),
    Known("die", "P=? [ X node=1 ]", published=0.5),
    Known("die", "P=? [ node<3 U[2,4] node=7 | node=3 ]"),
    Known("die", "P=? [ (F d=6) | (F G d=2) ]", published=1 / 3),
    Known("die", 'R{"tosses"}=? [ F "done" ]', published=11 / 3),
    Known("tandem", 'P=? [ F<=0.2 "first_full" ]', {"c": 5}, published=0.335261),
    Known("tandem", 'R{"customers"}=? [ I=0.2 ]', {"c": 5}, published=3.576668),
    Known("tandem", 'R{"departures"}=? [ C<=2 ]', {"c": 5}),
    Known("tandem", 'P=? [ true U[0.1,0.3] "first_full" ]', {"c": 5}),
    Known("sir", "P=? [ G<=15 ill>0 ]", SIR),
    Known("sir", 'R{"ill"}=? [ F ill=0 ]', SIR),
    Known("consensus", 'P=? [ F "finished" & "all_heads" ]', {"N": 2, "K": 2}, BEST, published=5 / 9),
    Known("consensus", "P=? [ F<=20 walk>8 ]", {"N": 2, "K": 2}, "Pmax=? [ F<=20 walk>8 ]"),
]
