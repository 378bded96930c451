"""Many random models and properties: ``--exact`` beside the exact checker, in every reachable state.

    python tests/oracle/exact_campaign.py [--seconds 600] [--seed 0] [--without-flint]

It prints how many fractions were compared, and the first model and property where they differ.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
import warnings
from collections import Counter
from fractions import Fraction
from typing import Any

from exact import Number
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from queries import Query
from random_models import RandomModel, models
from random_queries import queries

import galton
from galton.checking.exact import equations, long_run, program_numbers
from galton.checking.exact.constants import ExactConstants
from galton.checking.exact.evaluation import ExactEvaluation
from galton.checking.exact.limits import Watchman
from galton.checking.exact.model import ExactModel
from galton.checking.exact.numbers import as_fraction, name_of_arithmetic
from galton.checking.exact.program_numbers import NumbersOfProgram
from galton.checking.exact.rows_at_once import rows_at_once
from galton.lang import Source, parse_properties
from galton.lang.resolution import resolve

TOGETHER = 40  # examples that Hypothesis draws at a time
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def timed(kind: str, query: Query) -> bool:
    """Whether a query asks about time, which has no fractions."""
    if kind != "ctmc":
        return False
    if any(timed(kind, threshold.query) for threshold in query.inner):
        return True
    path = getattr(query, "path", None)
    return (path is not None and path.bound is not None) or getattr(query, "objective", "") in ("C<=", "I=")


class Asked:
    """A random model, explored once."""

    def __init__(self, made: RandomModel) -> None:
        self.program = galton.parse(made.text)
        self.model = self.program.build()

    def values(self, query: Query) -> list[Number]:
        """What Galton says in all states."""
        file = parse_properties(Source("property", query.text()))
        context, (question,) = resolve(file, self.program, {})
        constants = ExactConstants(context, question.source)
        numbers = NumbersOfProgram(context, self.model, constants)
        numbers.require(self.model.labels["init"] | True)
        exact = ExactModel(self.model, numbers)
        evaluation = ExactEvaluation(exact, context, question.source, constants, Watchman())
        found = evaluation.value(question.prop.expression, evaluation.everywhere)
        return [value if isinstance(value, float) else as_fraction(value) for value in found.values]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without-flint", action="store_true")
    given_options = parser.parse_args()
    if given_options.without_flint:
        sys.modules["flint"] = None  # type: ignore[assignment]
    warnings.simplefilter("ignore")
    end, count = time.monotonic() + given_options.seconds, Counter[str]()
    source = random.Random(given_options.seed)

    def compare(kind: str, data: Any) -> None:
        made = data.draw(models([kind], largest=data.draw(st.sampled_from([6, 9, 20]))))
        asked = Asked(made)
        # Both ways to solve, and both ways to find rows.
        equations.FEW = long_run.FEW = data.draw(st.sampled_from([1, 12]))
        program_numbers.rows_at_once = data.draw(st.sampled_from([rows_at_once, lambda *_: None]))
        for _ in range(6):
            query: Query = data.draw(queries(kind, nested=data.draw(st.sampled_from([False, False, True]))))
            if timed(kind, query):
                continue
            expected, found = query.exact(made.exact), asked.values(query)
            for state, (one, other) in enumerate(zip(expected, found, strict=True)):
                same = one == other and isinstance(other, Fraction) != math.isinf(one)
                assert same, f"{made.text}\n{query.text()} is {one}, not {other}, in state {state}"
            count[f"{kind} {query.kind.split()[0]}"] += len(expected)

    while time.monotonic() < end:
        for kind in ("dtmc", "mdp", "ctmc"):
            how = settings(max_examples=TOGETHER, deadline=None, database=None, suppress_health_check=SLOW)
            seed(source.getrandbits(60))(how(given(kind=st.just(kind), data=st.data())(compare)))()
    for name, number in sorted(count.items()):
        print(f"{name:12} {number:9,}")
    print(f"{count.total():,} fractions compared with {name_of_arithmetic()}, none differs")


if __name__ == "__main__":
    main()
