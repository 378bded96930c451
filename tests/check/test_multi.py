"""Several objectives at once: cases worked out by hand, and random MDPs against a linear program."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from asking import COIN, GAMBLE, ask, assert_number
from scipy.optimize import linprog

import galton
from galton.checking.multi.exact_programs import best_mixture, maximise
from galton.checking.result import ParetoSet
from galton.lang.source import GaltonError
from galton.model.sparse import Rewards

# Three ways to go: to 1 and 0, half and half, to 2 and 0; and a place to stay, which can be left.
FORK = """
mdp
module fork
  s : [0..4];
  [a] s=0 -> 0.75 : (s'=1) + 0.25 : (s'=3);
  [b] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [c] s=0 -> 0.75 : (s'=2) + 0.25 : (s'=3);
  [wait] s=0 -> true;
  [] s>0 -> true;
endmodule
rewards "fee" [a] true : 1; [b] true : 4; [c] true : 1; endrewards
rewards "waiting" [wait] true : 1; endrewards
rewards "prize" [b] true : 8; [a] true : 2; endrewards
"""

# It may circle between 1 and 2, for ever or not; 3 is the end.
CIRCLE = """
mdp
module circle
  s : [0..3];
  [] s=0 -> (s'=1);
  [left] s=1 -> (s'=2);
  [right] s=2 -> (s'=1);
  [out] s=1 -> (s'=3);
  [] s=3 -> true;
endmodule
rewards "turns" [left] true : 1; endrewards
"""


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("P>=0.75 [ F s=1 ], P>=0 [ F s=2 ]", True),
        ("P>=0.5 [ F s=1 ], P>=0.5 [ F s=2 ]", True),
        ("P>=0.5 [ F s=1 ], P>=0.51 [ F s=2 ]", False),
        ("P>=0.6 [ F s=1 ], P>=0.3 [ F s=2 ]", True),  # only mixed: six tenths of one, four of the other
        ("P>=0.6 [ F s=1 ], P>=0.31 [ F s=2 ]", False),
        ("P>=0.6 [ F s=1 ], P>=0.3 [ F s=2 ], P<=0.1 [ F s=3 ]", True),
        ("P>=0.6 [ F s=1 ], P>=0.3 [ F s=2 ], P<=0.09 [ F s=3 ]", False),
        ('P>=0.5 [ F s=1 ], R{"fee"}<=1 [ C ]', True),
        ('P>=0.5 [ F s=1 ], P>=0.4 [ F s=2 ], R{"fee"}<=2.79 [ C ]', False),
        ('P>=0.5 [ F s=1 ], P>=0.4 [ F s=2 ], R{"fee"}<=2.81 [ C ]', True),
        ('P>=0.1 [ G s=0 ], R{"waiting"}<=100 [ C ]', False),  # who waits for ever pays for ever
        ('P>=0.1 [ G s=0 ], R{"fee"}<=0.9 [ C ]', True),
        ("P>=0.4 [ G F s=0 ], P>=0.4 [ F G s=1 ]", True),
        ("P>=0.4 [ G F s=0 ], P>=0.5 [ F G s=1 ]", False),
        ("P>=1 [ true ]", True),
        ("P>=0 [ false ], R>=0 [ C ]", True),
    ],
)
def test_bounds_that_one_strategy_meets_together(bounds: str, expected: bool) -> None:
    assert ask(FORK, f"multi({bounds})").value is expected


@pytest.mark.parametrize(
    ("objectives", "expected"),
    [
        ("Pmax=? [ F s=1 ]", 0.75),
        ("Pmax=? [ F s=1 ], P>=0.3 [ F s=2 ]", 0.6),
        ("Pmin=? [ F s=3 ], P>=0.6 [ F s=1 ]", 0.1),
        ("Pmin=? [ F s=3 ], P>=0.6 [ F s=1 ], P>=0.3 [ F s=2 ]", 0.1),
        ('R{"fee"}min=? [ C ], P>=0.75 [ F s=1 ]', 1.0),
        ('R{"fee"}min=? [ C ], P>=0.6 [ F s=1 ], P>=0.25 [ F s=2 ]', 2.2),
        ('R{"prize"}max=? [ C ], P>=0.7 [ F s=1 ]', 3.2),
        ('R{"prize"}max=? [ C ], R{"fee"}<=2.5 [ C ]', 5.0),
        ('R{"fee"}min=? [ C ], R{"prize"}>=5 [ C ], R{"waiting"}<=3 [ C ]', 2.5),
        ('R{"prize"}max=? [ C ], R{"fee"}<=2.5 [ C ], P>=0.5 [ F s=2 ]', 4.4),
        ('R{"prize"}max=? [ C<=0 ], P>=0.7 [ F s=1 ]', 0.0),
        ('R{"waiting"}min=? [ C ], P>=0.1 [ G s=0 ]', math.inf),
        ('R{"waiting"}max=? [ C<=3 ], P>=0.25 [ F<=2 s=1 ]', 7 / 3),
    ],
)
def test_the_best_under_bounds(objectives: str, expected: float) -> None:
    assert_number(ask(FORK, f"multi({objectives})"), expected)


@pytest.mark.parametrize("asked", ["Pmax=? [ F s=2 ]", 'R{"fee"}min=? [ C ]', 'R{"waiting"}min=? [ C ]'])
def test_bounds_that_cannot_be_met_leave_no_best(asked: str) -> None:
    found = ask(FORK, f"multi({asked}, P>=0.8 [ F s=1 ])")
    assert math.isnan(float(found))
    assert "no strategy meets all bounds of multi(…), so there is no best one" in found.warnings


def test_bounds_that_are_met_just_so_by_doubles_that_are_not_exact_stay_open() -> None:
    assert ask(GAMBLE, "multi(P>=0.6 [ F s=3 ], P>=0.4 [ F s=4 ])").value in (True, None)
    assert ask(GAMBLE, "multi(P>=0.6 [ F s=3 ], P>=0.400001 [ F s=4 ])").value is False


def test_a_pareto_set() -> None:
    found = ask(FORK, "multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ])")
    assert isinstance(found.value, ParetoSet)
    assert np.allclose(found.value.points, [(0, 0.75), (0.5, 0.5), (0.75, 0)], atol=1e-9)
    assert found.value.gap <= 1e-6
    assert found.text == "(0, 0.75), (0.5, 0.5), (0.75, 0)"
    with pytest.raises(TypeError, match="no single number"):
        float(found)


def test_a_pareto_set_of_what_is_to_be_small() -> None:
    found = ask(FORK, 'multi(R{"fee"}min=? [ C ], Pmin=? [ G s=0 ])')
    assert isinstance(found.value, ParetoSet)
    assert np.allclose(found.value.points, [(1, 0), (0, 1)], atol=1e-9)


def test_points_that_others_reach_are_no_corners() -> None:
    found = ask(FORK, 'multi(R{"prize"}max=? [ C ], Pmax=? [ F s>0 ])')
    assert isinstance(found.value, ParetoSet)
    assert np.allclose(found.value.points, [(8, 1)], atol=1e-9)


def test_a_pareto_set_leaves_infinite_costs_out_and_says_so() -> None:
    found = ask(FORK, 'multi(R{"waiting"}min=? [ C ], Pmax=? [ G s=0 ])')
    assert isinstance(found.value, ParetoSet)
    assert found.value.points == ((0.0, 0.0),)
    assert "strategies whose reward is infinite are left out of the Pareto set" in found.warnings


@pytest.mark.parametrize(
    ("text", "prop", "kind", "message"),
    [
        (
            COIN,
            "multi(P>=0.5 [ F heads ])",
            "input",
            "multi(…) is about the strategies of an MDP, and a chain has none",
        ),
        (FORK, "multi(P>0.5 [ F s=1 ])", "input", "bounds in multi(…) cannot be strict"),
        (
            FORK,
            "multi(Pmax>=0.5 [ F s=1 ])",
            "input",
            "a bound in multi(…) is about one strategy, so there is no Pmax>=",
        ),
        (FORK, "multi(s=1)", "input", "the objectives of multi(…) are P, R and S, with a bound or =?"),
        (FORK, "multi(P>=1.5 [ F s=1 ])", "input", "a probability lies between 0 and 1, and this bound is 1.5"),
        (
            FORK,
            "!multi(P>=0.5 [ F s=1 ])",
            "input",
            "multi(…) is about the initial state, so it has to be the whole property",
        ),
        (
            FORK,
            "multi(R>=5 [ F s=1 ])",
            "unsupported",
            "some strategy misses the goal of this reward, which is infinite then; multi(…) does not support it",
        ),
        (FORK, "multi(R<=5 [ I=3 ])", "unsupported", "rewards at a moment, I=k, are not supported in multi(…)"),
        (FORK, "multi(Pmax=? [ F s=1 ], P=? [ F s=2 ])", "input", "P=? does not say what is better"),
        (
            FORK,
            "multi(R<=5 [ C<=5000 ])",
            "unsupported",
            "rewards of more than 1,000 steps are not supported in multi(…)",
        ),
        (
            CIRCLE,
            'multi(R{"turns"}>=5 [ C ], P>=0.5 [ F s=3 ])',
            "unsupported",
            "this reward can be collected for ever, so it may be infinite, which multi(…) does not support",
        ),
        (
            FORK,
            f"multi({', '.join(['Pmax=? [ F s=1 ]'] * 7)})",
            "unsupported",
            "Pareto sets of more than 6 objectives are not supported",
        ),
        (
            FORK,
            "multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ], P>=0.5 [ F s=3 ])",
            "unsupported",
            "a Pareto set under further bounds is not supported",
        ),
    ],
)
def test_what_is_refused(text: str, prop: str, kind: str, message: str) -> None:
    with pytest.raises(GaltonError) as caught:
        ask(text, prop)
    assert (caught.value.kind, getattr(caught.value, "message", str(caught.value))) == (kind, message)


def test_a_method_by_name_is_refused() -> None:
    with pytest.raises(GaltonError, match="is not for multi"):
        ask(FORK, "multi(P>=0.5 [ F s=1 ])", method="jacobi")


def test_exact_programs_meet_bounds_with_equality() -> None:
    tenth = Fraction(1, 10)
    above, weights, shares = best_mixture([(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))], (tenth, 9 * tenth))
    assert (above, sum(weights), shares) == (0, 1, (tenth, 9 * tenth))
    assert maximise([Fraction(1)], [[Fraction(1)], [Fraction(-1)]], [Fraction(1), Fraction(-2)]) is None


def test_a_model_that_is_shared_with_other_properties_is_not_cut_at_their_targets(tmp_path: Path) -> None:
    model = tmp_path / "circle.nm"
    model.write_text(CIRCLE)
    asked = ["Pmax=? [ F s=1 ]", "multi(P>=1 [ F s=3 ], P>=1 [ F s=2 ])"]
    done = subprocess.run(
        [sys.executable, "-m", "galton", "check", model, "--json", *(word for prop in asked for word in ("-p", prop))],
        capture_output=True,
        text=True,
    )
    assert [json.loads(line)["value"] for line in done.stdout.splitlines()] == [1.0, True]


def _random_with_end_components(seed: int) -> galton.Model:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    rows, groups = [], [0]
    for _ in range(n):
        for _ in range(int(rng.integers(1, 4))):
            row = np.zeros(n)
            targets = rng.choice(n, size=int(rng.integers(1, 3)), replace=False)
            row[targets] = rng.integers(1, 4, size=len(targets))
            rows.append(row / row.sum())
        groups.append(len(rows))
    labels = {name: np.flatnonzero(rng.random(n) < 0.4) for name in ("a", "b")}
    paid = np.where(rng.random(len(rows)) < 0.4, 0.0, rng.integers(1, 4, size=len(rows)))
    return galton.Model.from_matrix(
        "mdp", np.array(rows), row_groups=groups, labels=labels, rewards={"r": Rewards(choice=paid)}
    )


LINEAR = [
    'G F "a"',
    'F G "a"',
    '(G F "a") & (F G !"b")',
    '(F "a") & (G F "b")',
    '"a" U "b"',
    '(G F "a") => (G F "b")',
    'X "a"',
]


@pytest.mark.parametrize("seed", range(60))
def test_one_objective_alone_is_the_question_without_multi(seed: int) -> None:
    model = _random_with_end_components(seed)
    path = LINEAR[seed % len(LINEAR)]
    for prop in (f"Pmax=? [ {path} ]", f"Pmin=? [ {path} ]", 'R{"r"}min=? [ C ]', 'R{"r"}max=? [ C<=4 ]'):
        alone, found = galton.check(model, prop), galton.check(model, f"multi({prop})")
        assert float(found) == pytest.approx(float(alone), rel=1e-5, abs=1e-9), prop


@pytest.mark.parametrize("seed", range(60))
def test_two_paths_sure_together_are_their_conjunction(seed: int) -> None:
    model = _random_with_end_components(500 + seed)
    one, other = LINEAR[seed % len(LINEAR)], LINEAR[(seed // 7) % len(LINEAR)]
    sure = galton.check(model, f"Pmax=? [ ({one}) & ({other}) ]").value == 1
    assert galton.check(model, f"multi(P>=1 [ {one} ], P>=1 [ {other} ])").value is sure
    assert galton.check(model, f"multi(P<=0 [ !({one}) ], P>=1 [ {other} ])").value is sure


# Random MDPs.


class _Random:
    """A small MDP without end components but those of its last three states, with two rewards."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n = n = int(rng.integers(5, 9))
        self.ends = [n - 3, n - 2, n - 1]
        rows, self.owner = [], []
        for state in range(n):
            for _ in range(1 if state in self.ends else int(rng.integers(1, 4))):
                row = np.zeros(n)
                if state in self.ends:
                    row[state] = 1
                else:
                    targets = rng.choice(n, size=int(rng.integers(1, 4)), replace=False)
                    row[targets] = rng.integers(1, 8, size=len(targets))
                    row[rng.choice(self.ends)] += 1  # each choice may end the run
                rows.append(row / row.sum())
                self.owner.append(state)
        self.matrix = np.array(rows)
        self.open = np.array([state not in self.ends for state in self.owner])
        self.rewards = [np.where(self.open, rng.integers(0, 4, size=len(rows)), 0).astype(float) for _ in range(2)]
        self.model = galton.Model.from_matrix(
            "mdp",
            self.matrix,
            row_groups=np.concatenate(([0], np.cumsum(np.bincount(self.owner, minlength=n)))),
            labels={f"end{i}": [state] for i, state in enumerate(self.ends)},
            rewards={f"r{i}": Rewards(choice=reward) for i, reward in enumerate(self.rewards)},
        )

    def gains(self, what: str) -> np.ndarray:
        """What each choice earns for an objective."""
        if what.startswith("end"):
            return np.where(self.open, self.matrix[:, self.ends[int(what[3:])]], 0.0)
        return self.rewards[int(what[1:])]

    def best(self, asked: str, sign: int, bounds: list[tuple[str, int, float]]) -> float | None:
        """The greatest (or, with sign -1, least) value under bounds, by occupation measures; None where none."""
        flow = np.zeros((self.n, len(self.owner)))
        for row, state in enumerate(self.owner):
            flow[state, row] += 1
            flow[:, row] -= self.matrix[row]
        keep = [state for state in range(self.n) if state not in self.ends]
        start = np.zeros(self.n)
        start[0] = 1
        found = linprog(
            -sign * self.gains(asked)[self.open],
            A_ub=np.array([-way * self.gains(what)[self.open] for what, way, _ in bounds]) if bounds else None,
            b_ub=[-way * bound for _, way, bound in bounds] or None,
            A_eq=flow[keep][:, self.open],
            b_eq=start[keep],
        )
        return sign * -float(found.fun) if found.status == 0 else None


def _formula(what: str, suffix: str) -> str:
    return f'P{suffix} [ F "{what}" ]' if what.startswith("end") else f'R{{"{what}"}}{suffix} [ C ]'


@pytest.mark.parametrize("seed", range(60))
def test_random_mdps_against_a_linear_program(seed: int) -> None:
    mdp = _Random(seed)
    rng = np.random.default_rng([7, seed])
    names = list(rng.permutation(["end0", "end1", "end2", "r0", "r1"])[: int(rng.integers(2, 5))])
    signs = [int(rng.choice([-1, 1])) for _ in names]
    asked, sign = names[0], signs[0]
    bounds = []
    for name, way in zip(names[1:], signs[1:], strict=True):
        low, high = mdp.best(name, -1, []), mdp.best(name, 1, [])
        if high - low > 0.01:  # what all strategies have in common would be met just so
            bounds.append((name, way, round(low + float(rng.uniform(0.1, 0.9)) * (high - low), 3)))
    if not bounds:
        return
    met = ", ".join(_formula(name, f"{'>=' if way > 0 else '<='}{bound}") for name, way, bound in bounds)
    expected = mdp.best(asked, sign, bounds)
    found = galton.check(mdp.model, f"multi({_formula(asked, 'max=?' if sign > 0 else 'min=?')}, {met})")
    if expected is None:
        assert math.isnan(float(found))
    else:
        assert found.lower - 1e-7 <= expected <= found.upper + 1e-7
        assert found.upper - found.lower <= 2e-6 * abs(found.upper) + 1e-12
    assert galton.check(mdp.model, f"multi({met})").value is (expected is not None)
    for distance in (-1e-4, 1e-4) if expected is not None else ():  # a little easier, and a little too hard
        bound = expected + sign * distance
        if 0 < bound < (1 if asked.startswith("end") else math.inf):
            own = _formula(asked, f"{'>=' if sign > 0 else '<='}{bound!r}")
            assert galton.check(mdp.model, f"multi({own}, {met})").value is (distance < 0)


@pytest.mark.parametrize("seed", range(30))
def test_random_pareto_sets_against_a_linear_program(seed: int) -> None:
    mdp = _Random(1000 + seed)
    first, second = "end0", ("end1", "r0")[seed % 2]
    signs = (1, (1, -1)[seed // 2 % 2])
    words = [
        _formula(name, "max=?" if sign > 0 else "min=?") for name, sign in zip((first, second), signs, strict=True)
    ]
    found = galton.check(mdp.model, f"multi({', '.join(words)})").value
    assert isinstance(found, ParetoSet)
    for x, y in found.points:  # no strategy has more of the second with as much of the first
        best = mdp.best(second, signs[1], [(first, signs[0], x - 1e-9)])
        assert best == pytest.approx(y, rel=1e-5, abs=1e-6)
    for (x, y), (u, v) in zip(found.points, found.points[1:], strict=False):  # nor between two corners
        best = mdp.best(second, signs[1], [(first, signs[0], (x + u) / 2)])
        assert best == pytest.approx((y + v) / 2, rel=1e-5, abs=1e-6)
    assert max(signs[0] * x for x, _ in found.points) == pytest.approx(signs[0] * mdp.best(first, signs[0], []))
    assert max(signs[1] * y for _, y in found.points) == pytest.approx(signs[1] * mdp.best(second, signs[1], []))
