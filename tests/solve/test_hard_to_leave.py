"""Components that are hard to leave: answers that were wrong once, and the arithmetic that makes them right.

The exact values come from products and sums of fractions along a walk, which share nothing with the solvers.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import galton
from galton import _core
from galton.backend.cpu.matrix import matrix_of
from galton.checking.gate import ImpossibleAnswerError, admit
from galton.checking.quantity import Quantity
from galton.model.errors import NumericError
from galton.model.sparse import Model

WELL = """
{kind}
module walk
  s : [-1..{top}] init {middle};
  [] s>0 & s<{middle} -> 1/8:(s'=s+1) + 7/8:(s'=s-1);
  [] s>={middle} & s<{top} -> 7/8:(s'=s+1) + 1/8:(s'=s-1);
  [] s=0 -> 1e-9:(s'=-1) + 1-1e-9:(s'=1);
  [] s=-1 | s={top} -> true;
  {more}
endmodule
rewards s>=0 & s<{top} : 1; endrewards
"""


def well(folder: Path, top: int, kind: str = "dtmc", more: str = "") -> Model:
    file = folder / "well.prism"
    file.write_text(WELL.format(kind=kind, top=top, middle=top // 2, more=more))
    return galton.load(file).build()


def exits(model: Model, rows: dict[int, int] | None = None) -> tuple[list[Fraction], list[Fraction]]:
    """Of a walk on a line, by state: the exact probability to leave it at the top, and the expected number of steps.

    The first and the last state are the ends. ``rows`` are the choices of states that do not take their first.
    """
    matrix, n = model.matrix.tocsr(), model.n_states
    up, down = [], []
    for s in range(1, n - 1):
        first = s if model.choice_starts is None else int(model.choice_starts[s])
        row = first + (rows or {}).get(s, 0)
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        rates = {int(t): Fraction(float(p)) for t, p in zip(matrix.indices[part], matrix.data[part], strict=True)}
        total = sum(rates.values())
        up.append(rates.get(s + 1, Fraction(0)) / total)
        down.append(rates.get(s - 1, Fraction(0)) / total)
    # p(s+1) - p(s) = (p(s) - p(s-1)) · down/up, and likewise for the steps with -1/up.
    rise, slope, slopes, offset, offsets = Fraction(1), [Fraction(1)], [Fraction(1)], Fraction(0), [Fraction(0)]
    for u, d in zip(up, down, strict=True):
        rise *= d / u
        slope.append(rise)
        slopes.append(slopes[-1] + rise)
        offset = offset * d / u - 1 / u
        offsets.append(offsets[-1] + offset)
    begin = -offsets[-1] / slopes[-1]
    reach = [Fraction(0), *(part / slopes[-1] for part in slopes)]
    return reach, [Fraction(0), *(begin * part + more for part, more in zip(slopes, offsets, strict=True))]


def assert_holds(answer: galton.Result, exact: Fraction, eps: float = 1e-6) -> None:
    assert answer.lower is not None
    assert answer.upper is not None
    assert answer.proved
    assert Fraction(answer.lower) <= exact <= Fraction(answer.upper)
    assert answer.upper - answer.lower <= 2 * eps * float(exact)
    assert not answer.warnings


@pytest.mark.parametrize("top", [20, 120, 170, 200, 1000, 5000])
def test_a_well_was_left_with_probability_minus_zero(tmp_path: Path, top: int) -> None:
    """Of 200 states both ways out came to -0; of 120 and 170 the bounds were as wide as they can be, without a word."""
    model = well(tmp_path, top)
    reach, steps = exits(model)
    middle = top // 2 + 1
    assert_holds(galton.check(model, f"P=? [ F s={top} ]"), reach[middle])
    assert_holds(galton.check(model, "P=? [ F s=-1 ]"), 1 - reach[middle])
    assert_holds(galton.check(model, f"R=? [ F s=-1|s={top} ]"), steps[middle])
    assert galton.check(model, f"P>=0.5 [ F s={top} ]").value is True


@pytest.mark.parametrize("top", [60, 200, 1500])
def test_a_well_with_a_choice_had_different_values_for_min_and_max(tmp_path: Path, top: int) -> None:
    """Another chance in one state: the maximum was -0, the minimum 0.875."""
    at = top // 4
    model = well(tmp_path, top, "mdp", f"[b] s={at} -> 1/4:(s'=s+1) + 3/4:(s'=s-1);")
    found = [exits(model, {at + 1: choice}) for choice in (0, 1)]
    middle = top // 2 + 1
    for letter, best in (("min", min), ("max", max)):
        reach, steps = (best(values[k][middle] for values in found) for k in (0, 1))
        assert_holds(galton.check(model, f"P{letter}=? [ F s={top} ]"), reach)
        assert_holds(galton.check(model, f"R{letter}=? [ F s=-1|s={top} ]"), steps)


def test_the_better_of_two_choices_deep_in_a_well_is_found(tmp_path: Path) -> None:
    """The values differ in the fortieth digit, the ways out by half."""
    model = well(tmp_path, 200, "mdp", "[b] s=50 -> 1/4:(s'=s+1) + 3/4:(s'=s-1);")
    answer = galton.check(model, "Pmax=? [ F s=200 ]", strategy=True)
    assert answer.strategy is not None
    induced = answer.strategy.induced()
    bottom = galton.check(induced, "filter(min, P=? [ F s=200 ], s=0)")
    assert_holds(bottom, exits(model, {51: 1})[0][1])


def test_bounds_of_a_birth_and_death_process_were_in_the_wrong_order(tmp_path: Path) -> None:
    """[47492.2, -infinity], so that R<=1 and R>=100 were both true."""
    file = tmp_path / "queue.prism"
    file.write_text(
        """
        ctmc
        module queue
          s : [0..300] init 0;
          [] s<300 -> 1/8 + 16*mod(s, 2) : (s'=s+1);
          [] s>0 -> 16 - 15.5*mod(s, 3)/2 : (s'=s-1);
        endmodule
        rewards true : 1; endrewards
        """
    )
    model = galton.load(file).build()
    dense = model.matrix.toarray()
    up = [Fraction(dense[s, s + 1]) for s in range(300)]
    down = [Fraction(0), *(Fraction(dense[s, s - 1]) for s in range(1, 300))]
    time = total = Fraction(0)
    for rise, fall in zip(up, down, strict=True):  # the time from each state to the next
        time = (1 + fall * time) / rise
        total += time
    answer = galton.check(model, "R=? [ F s=300 ]")
    assert_holds(answer, total)
    assert_holds(galton.check(model, "T=? [ F s=300 ]"), total)
    assert galton.check(model, "R<=1 [ F s=300 ]").value is False
    assert galton.check(model, "R>=100 [ F s=300 ]").value is True


def test_what_no_double_holds_is_refused_with_its_states(tmp_path: Path) -> None:
    """It takes some 7^600 steps to get out of the middle of a well."""
    file = tmp_path / "deep.prism"
    text = WELL.format(kind="dtmc", top=800, middle=700, more="").replace("1e-9", "0").replace("1-0", "1")
    file.write_text(text.replace("0:(s'=-1) + ", ""))
    with pytest.raises(NumericError, match="larger than any double") as refused:
        galton.check(galton.load(file).build(), "R=? [ F s=800 ]")
    assert "state (s=" in str(refused.value)


def test_easy_decision_processes_were_refused(tmp_path: Path) -> None:
    """Rows within a thousandth of the best led round in circles when they were weighed as the best."""
    file = tmp_path / "easy.prism"
    file.write_text(
        """
        mdp
        module m
          s : [0..2] init 0;
          [] s=0 -> 1/16:true + 15/16:(s'=1);
          [] s=0 -> true;
          [] s=1 -> 1/1024:(s'=2) + 1023/1024:(s'=0);
          [] s=1 -> (s'=0);
          [] s=2 -> true;
        endmodule
        rewards s=0 : 1; endrewards
        """
    )
    model = galton.load(file).build()
    assert_holds(galton.check(model, "Rmin=? [ F s=2 ]"), Fraction(16, 15) * 1024)
    there = galton.check(model, "filter(max, Rmin=? [ F s=2 ], s=2)")
    assert (there.lower, there.upper) == (0, 0)


def test_a_constant_that_underflowed_made_a_probability_exactly_zero() -> None:
    """1e-200 of 1e200 is 1e-400: no double, but not nothing."""
    rates = [[0, 1e-200, 1e200], [0, 1, 0], [0, 0, 1]]
    chain = Model.from_matrix("ctmc", rates, labels={"goal": [False, True, False]})
    answer = galton.check(chain, 'P=? [ F "goal" ]')
    assert answer.lower is not None
    assert answer.upper is not None
    assert 0 <= answer.lower <= answer.upper
    assert 0 < answer.upper < 1e-290
    with pytest.raises(NumericError, match="leave method away"):
        galton.check(chain, 'P=? [ F "goal" ]', method="interval")


# The arithmetic.


@settings(deadline=None, max_examples=200)
@given(
    st.integers(2, 7).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.tuples(
                    st.integers(0, n - 1),
                    st.integers(0, n),
                    st.one_of(st.floats(1e-300, 1e-200), st.floats(1e-12, 1), st.floats(1e200, 1e290)),
                ),
                min_size=n,
                max_size=3 * n,
            ),
        )
    )
)
def test_elimination_is_as_exact_as_it_says(case: tuple[int, list[tuple[int, int, float]]]) -> None:
    """Rates between 1e-300 and 1e290, compared with fractions; the last state is the way out."""
    n, edges = case
    rates = [dict[int, float]() for _ in range(n)]
    for source, target, rate in edges:
        if source != target:
            rates[source][target] = rate
    for source in range(n):  # a way out for everybody
        rates[source].setdefault(source + 1, 1.0)
    matrix = np.zeros((n + 1, n + 1))
    for source, row in enumerate(rates):
        for target, rate in row.items():
            matrix[source, target] = rate
    model = Model.from_matrix("ctmc", matrix + np.eye(n + 1))
    number = np.append(np.arange(n), -1).astype(np.int32)
    known, reward = np.append(np.zeros(n), 3.0), np.append(np.full(n, 0.5), 0.0)
    lower, upper = np.zeros(n), np.zeros(n)
    rows = np.arange(n, dtype=np.int32)
    elimination = _core.Elimination.of_rows(
        matrix_of(model),
        rates=True,
        number=number,
        known=known,
        reward=reward,
        rows=rows,
        first=0,
        lower=lower,
        upper=upper,
    )
    while elimination.advance(1) == 0:
        pass
    elimination.solve(lower, upper)
    exact = solved([{t: Fraction(r) for t, r in row.items()} for row in rates], n)
    for low, value, high in zip(lower.tolist(), exact, upper.tolist(), strict=True):
        assert Fraction(low) <= value
        assert value <= Fraction(high) if high < np.inf else value > 10**307
        if 1e-280 < value < 1e300:
            assert high - low <= 1e-12 * low


def solved(rates: list[dict[int, Fraction]], n: int) -> list[Fraction]:
    """x = (1/2 + Σ rate · x) / Σ rate with x = 3 behind the way out, by Gauss and Jordan's method."""
    rows = []
    for s, row in enumerate(rates):
        line = [-row.get(t, Fraction(0)) for t in range(n)] + [Fraction(1, 2) + 3 * row.get(n, Fraction(0))]
        line[s] += sum(row.values())
        rows.append(line)
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def test_elimination_sees_what_is_never_left() -> None:
    model = Model.from_matrix("dtmc", [[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    number, known = np.array([0, 1, -1], dtype=np.int32), np.zeros(3)
    rows, bounds = np.array([0, 1], dtype=np.int32), np.zeros(2)
    closed = 2
    elimination = _core.Elimination.of_rows(
        matrix_of(model),
        rates=False,
        number=number,
        known=known,
        reward=None,
        rows=rows,
        first=0,
        lower=bounds,
        upper=bounds,
    )
    assert elimination.advance(1000) == closed


# The gate.


@pytest.mark.parametrize(
    ("lower", "upper", "infinite", "complaint"),
    [
        (0.5, 0.25, False, "out of order"),
        (np.nan, 0.25, False, "out of order"),
        (0.25, np.nan, False, "out of order"),
        (-0.0, 0.0, False, "below zero"),
        (0.0, -0.0, False, "below zero"),
        (-1e-300, 0.5, False, "below zero"),
        (0.5, 1.0 + 2**-52, False, "more than 1"),
        (0.5, np.inf, False, "infinite"),
        (np.inf, np.inf, False, "infinite"),
        (0.5, 0.5, True, "infinite"),
    ],
)
def test_the_gate_lets_no_impossible_answer_pass(lower: float, upper: float, infinite: bool, complaint: str) -> None:
    most = np.inf if complaint == "infinite" else 1.0
    # The first state is fine, and infinite where the other should be.
    first = np.inf if infinite else 0.25
    quantity = Quantity(
        np.array([first, lower]), np.array([first, upper]), "magic", infinite=np.array([infinite, infinite])
    )
    with pytest.raises(ImpossibleAnswerError, match=complaint):
        admit(quantity, "P=? [ … ]", most)


def test_the_gate_lets_answers_pass() -> None:
    quantity = Quantity(np.array([0.0, np.inf]), np.array([0.5, np.inf]), "", infinite=np.array([False, True]))
    assert admit(quantity, "R=? [ … ]", np.inf) is quantity
