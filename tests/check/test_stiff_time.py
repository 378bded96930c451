"""Time bounds by equations: proved bounds against matrix exponentials in 50 digits, and proposals that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import flint
import numpy as np
import numpy.typing as npt
import pytest
from played import played_device

import galton
from galton import GaltonError, Settings
from galton.checking.bounded import stiff_time
from galton.solve.stiff import effort, evolution
from galton.solve.stiff.open_chain import OpenChain
from galton.solve.stiff.pieces import Piece, Track
from galton.solve.stiff.weight import proved_growth
from galton.solve.stiff.window import Window

Floats = npt.NDArray[np.float64]
T = TypeVar("T")
EPS = 1e-6
BY_EQUATIONS = Settings(method="rational-krylov", eps=EPS)
DIGITS = 50
N = 12


def chain_of(rates: dict[tuple[int, int], float]) -> Floats:
    found = np.zeros((N, N))
    for (source, target), rate in rates.items():
        found[source, target] = rate
    return found


def cycle() -> Floats:
    return chain_of({(s, (s + 1) % N): 3.0 for s in range(N)} | {(1, 0): 2e5, (0, 1): 1e5})


def stages() -> Floats:
    return chain_of({(s, s + 1): 7.0 for s in range(N - 1)} | {(0, 1): 1e5, (1, 0): 1e5})


def queue(up: float, down: float) -> Floats:
    ups = {(s, s + 1): up for s in range(N - 1)}
    return chain_of(ups | {(s + 1, s): down * (s + 1) for s in range(N - 1)})


def blocks() -> Floats:
    inside = {(s, t): 3e3 * (1 + (s * t) % 3) for s in range(N) for t in range(N) if s != t and s // 4 == t // 4}
    return chain_of(inside | {(0, 4): 1e-3, (5, 8): 2e-3, (9, 3): 1e-2})


def drawn(seed: int) -> Floats:
    random = np.random.default_rng(seed)
    found = np.zeros((N, N))
    for s in range(N):
        for t in random.choice(N, 3, replace=False):
            found[s, t] = 10.0 ** random.uniform(-9, 6) if t != s else 0.0
        found[s, (s + 1) % N] = 10.0 ** random.uniform(-2, 4)
    return found


CASES: dict[str, tuple[Floats, float]] = {
    "cycle": (cycle(), 2.5),
    "stages": (stages(), 2.0),
    "queue": (queue(900.0, 1000.0), 30.0),
    "rare": (queue(1.0, 1e4), 10.0),  # about 1e-41
    "blocks": (blocks(), 100.0),
    "drawn": (drawn(1), 30.0),
    "long": (drawn(2), 3000.0),  # more jumps than doubles have digits for
}
REWARDS = np.arange(N) % 4 + 0.5


def exact(number: float) -> flint.arb:
    return flint.arb(flint.fmpq(*float(number).as_integer_ratio()))


def exponential(rates: Floats, time: float, kind: str) -> list[flint.arb]:
    """For each state, what is asked: the exponential of the generator, in balls of more than 50 digits."""
    flint.ctx.prec = 600
    matrix = flint.arb_mat(N + 1, N + 1)
    for s in range(N):
        if kind == "until" and s == N - 1:
            continue
        for t in range(N):
            if s != t:
                matrix[s, t] = exact(rates[s, t])
                matrix[s, s] -= exact(rates[s, t])
        if kind == "over":
            matrix[s, N] = exact(REWARDS[s])
    power = (matrix * exact(time)).exp()
    if kind == "over":
        return [power[s, N] for s in range(N)]
    worth = [exact(number) for number in ((np.arange(N) == N - 1) if kind == "until" else REWARDS)]
    found = [sum((power[s, t] * worth[t] for t in range(N)), flint.arb(0)) for s in range(N)]
    assert all(number.rel_accuracy_bits() > DIGITS * 3.33 for number in found)
    return found


def model_of(rates: Floats) -> galton.Model:
    return galton.Model.from_matrix("ctmc", rates, labels={"goal": [N - 1]}, rewards={"r": REWARDS})


QUESTIONS = {"until": 'P=? [ F<={!r} "goal" ]', "at": "R=? [ I={!r} ]", "over": "R=? [ C<={!r} ]"}


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("name", CASES)
def test_bounds_hold_what_a_matrix_exponential_says(name: str, kind: str) -> None:
    rates, time = CASES[name]
    truth = exponential(rates, time, kind)[0]
    found = galton.check(model_of(rates), QUESTIONS[kind].format(time), settings=BY_EQUATIONS)
    assert found.steps[-1].method == "rational-krylov"
    assert not exact(found.lower) > truth
    assert not exact(found.upper) < truth
    assert found.upper - found.lower <= 2 * EPS * found.upper
    assert found.upper > found.lower


# The proof does not ask where a polynomial comes from.


def equation(rates: Floats) -> OpenChain:
    keep = np.arange(N) != N - 1
    return OpenChain.of(model_of(rates), keep, (~keep).astype(np.float64), None, np.zeros(N - 1), 1)


def test_a_polynomial_that_is_anything_is_bounded_all_the_same() -> None:
    rates, time = queue(3.0, 4.0), 0.25
    truth = [float(number.mid()) for number in exponential(rates, time, "until")[:-1]]
    chain, w = equation(rates), np.ones(N - 1)
    random = np.random.default_rng(0)
    for degree in (0, 1, 5):
        piece = Piece(0.0, time, random.uniform(-0.1, 0.2, (degree + 1, N - 1)))
        track = Track(chain, w, proved_growth(chain, w), np.zeros(N - 1), np.zeros(N - 1))
        track.step(piece)
        lower, upper = track.bounds()
        assert (lower <= truth).all()
        assert (truth <= upper).all()
        assert track.error >= np.abs(piece.coefficients.sum(axis=0) - truth).max()


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0])
def test_the_error_of_a_disturbed_solution_is_at_least_the_disturbance(size: float) -> None:
    """One state, u' = 1 - u: a Taylor polynomial is proved, and what is put on top is seen."""
    model = galton.Model.from_matrix("ctmc", [[0.0, 1.0], [0.0, 0.0]], labels={"goal": [1]})
    keep = np.array([True, False])
    chain = OpenChain.of(model, keep, np.array([0.0, 1.0]), None, np.zeros(1), 1)
    taylor = [0.0, *(-((-1.0) ** k) / float(np.prod(np.arange(1, k + 1))) for k in range(1, 12))]
    half = np.polynomial.Polynomial(taylor)(np.polynomial.Polynomial([0.25, 0.25]))  # times from 0 to 1/2
    coefficients = np.polynomial.chebyshev.poly2cheb(half.coef)[:, None]
    truth = 1 - np.exp(-0.5)

    def error(given: Floats) -> float:
        track = Track(chain, np.ones(1), 0.0, np.zeros(1), np.zeros(1))
        track.step(Piece(0.0, 0.5, given))
        lower, upper = track.bounds()
        assert lower[0] <= truth <= upper[0]
        return track.error

    assert error(coefficients) < 1e-11
    disturbed = coefficients.copy()
    disturbed[3] += size
    assert error(disturbed) >= size


@pytest.mark.parametrize(
    "spoil",
    [
        lambda c: c * (1 + 1e-4),  # all a little too large
        lambda c: np.concatenate([c[:3], 0 * c[3:]]),  # too short
        lambda c: c[:, ::-1].copy(),  # the numbers of other states
    ],
)
def test_a_wrong_proposal_is_refused(monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Floats], Floats]) -> None:
    propose = evolution.Proposal.run

    def wrong(self: evolution.Proposal) -> Window:
        found = propose(self)
        assert found is not None
        return replace(found, pieces=[replace(p, coefficients=spoil(p.coefficients)) for p in found.pieces])

    monkeypatch.setattr(evolution.Proposal, "run", wrong)
    rates, time = CASES["drawn"]
    with pytest.raises(GaltonError, match=r"rational-krylov finds no answer.*without"):
        galton.check(model_of(rates), QUESTIONS["until"].format(time), settings=BY_EQUATIONS)


def always_tried(monkeypatch: pytest.MonkeyPatch, worth: float = 1e9, share: float = 1e9) -> None:
    """Equations are tried, whatever they cost, and may spend so much: in all, and before they get anywhere."""
    monkeypatch.setattr(effort.Budget, "pays", lambda *given: True)
    monkeypatch.setattr(effort, "WORTH", worth)
    monkeypatch.setattr(effort, "SHARE", share)
    monkeypatch.setattr(effort, "PROSPECTS", 1e9)


def test_where_it_finds_no_answer_uniformisation_does(monkeypatch: pytest.MonkeyPatch) -> None:
    always_tried(monkeypatch, worth=0.0, share=0.0)
    rates, time = CASES["stages"]
    text = QUESTIONS["until"].format(time)
    found = galton.check(model_of(rates), text)
    assert found.steps[-1].method == "uniformisation"
    assert any(work.step == "rational-krylov" and "given up with " in work.detail for work in found.work)
    always_tried(monkeypatch)
    other = galton.check(model_of(rates), text)
    assert other.steps[-1].method == "rational-krylov"
    assert max(found.lower, other.lower) <= min(found.upper, other.upper)


def ring(size: int, back: float) -> galton.Model:
    rates = np.zeros((size, size))
    for s in range(size):
        rates[s, (s + 1) % size], rates[(s + 1) % size, s] = 10.0, back
    rates[0, 1] = rates[1, 0] = 1e5
    return galton.Model.from_matrix("ctmc", rates, rewards={"r": np.arange(size) % 7})


@pytest.mark.parametrize(("back", "why"), [(0.0, "swing"), (10.0, None)])
def test_what_swings_is_left_to_uniformisation(monkeypatch: pytest.MonkeyPatch, back: float, why: str | None) -> None:
    """A ring that is gone round one way goes on swinging; both ways it settles."""
    always_tried(monkeypatch)
    found = galton.check(ring(60, back), "R=? [ I=10 ]")
    assert found.steps[-1].method == ("rational-krylov" if why is None else "uniformisation")
    assert any("its numbers swing for long" in work.detail for work in found.work) == (why is not None)


def stages_in_a_row(count: int) -> galton.Model:
    rates = np.diag(np.full(count, 10.0), 1)
    rates[0, 1] = rates[1, 0] = 1e5
    return galton.Model.from_matrix("ctmc", rates, labels={"goal": [count]})


@pytest.mark.parametrize(("count", "why"), [(300, "its numbers are too small"), (12, "")])
def test_numbers_that_are_small_beside_their_weight_are_noticed_at_once(
    monkeypatch: pytest.MonkeyPatch, count: int, why: str
) -> None:
    """300 stages are as good as never gone through while 30 are, but often while some exponential time is.

    The weight, the mean over such a time, is not small, and does not tell; a look at it let all windows be made.
    """
    always_tried(monkeypatch)
    monkeypatch.setattr(evolution, "Proposal", evolution.Proposal if not why else None)
    found = galton.check(stages_in_a_row(count), 'P=? [ F<=3 "goal" ]')
    assert found.steps[-1].method == ("uniformisation" if why else "rational-krylov")
    assert [work.detail.partition(": ")[2] for work in found.work if "given up with" in work.detail] == [why] * bool(
        why
    )


@pytest.mark.parametrize("case", ["stages", "drawn", "long"])
def test_a_try_may_be_given_up_anywhere(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """While the weight is sought, prospects are looked at, and vectors are found; again and again."""
    rates, time = CASES[case]
    text = QUESTIONS["until"].format(time)
    always_tried(monkeypatch)
    at_once = galton.check(model_of(rates), text)
    spend, calls = effort.Budget.spend, iter(range(1_000_000))

    def stopped(self: effort.Budget, work: float) -> None:
        spend(self, work)
        if (call := next(calls)) < 600 and call % 29 == 28:
            raise effort.TooMuchWorkError("it is the turn of others")

    monkeypatch.setattr(effort.Budget, "spend", stopped)
    monkeypatch.setattr(stiff_time.Stiff, "_tried", lambda self, find, left=0: tried_until_it_ends(find))
    found = galton.check(model_of(rates), text)
    assert next(calls) > 100
    assert found.steps[-1].method == at_once.steps[-1].method == "rational-krylov"
    assert max(found.lower, at_once.lower) <= min(found.upper, at_once.upper)
    assert found.upper - found.lower <= EPS * found.lower


def tried_until_it_ends(find: Callable[[], T]) -> T:
    while True:
        with suppress(effort.TooMuchWorkError):
            return find()


def test_a_try_goes_on_where_the_last_one_was_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """And its bounds are the same as those that are found in one go."""
    rates, time = CASES["stages"]
    text = QUESTIONS["until"].format(time)
    always_tried(monkeypatch)
    at_once = galton.check(model_of(rates), text)
    windows = []
    come_to = effort.Budget.come_to

    def stopped(self: effort.Budget, progress: float, before: float) -> None:
        come_to(self, progress, before)
        windows.append(progress)
        if len(windows) == 2:
            raise effort.TooMuchWorkError("enough for now")

    monkeypatch.setattr(effort.Budget, "come_to", stopped)
    found = galton.check(model_of(rates), text)
    assert windows == sorted(set(windows))
    assert len(windows) > 2
    assert (found.lower, found.upper) == (at_once.lower, at_once.upper)
    assert sum("enough for now" in work.detail for work in found.work) == 1


def test_what_may_be_spent_grows_with_the_progress() -> None:
    least = effort.Least(prospects=2.0, beginning=3.0, window=4.0)
    assert effort.Budget(steps=100.0).pays(least)
    assert not effort.Budget(steps=49.0).pays(least)  # 2 is more than 4 %
    assert not effort.Budget(steps=99.0).pays(least)  # 7 is more than 7 %
    assert not effort.Budget(steps=100.0, spent=3.5).pays(least)  # a fifth more is more than 4 %
    budget = effort.Budget(steps=100.0)
    budget.spend(3.5)
    with pytest.raises(effort.TooMuchWorkError):
        budget.spend(1.0)
    budget = effort.Budget(steps=100.0, spent=2.0)
    budget.trust()
    assert budget.limit == pytest.approx(9.0)
    budget.spend(6.0)
    budget.come_to(0.5, before=2.0)  # 14 in all
    assert budget.limit == pytest.approx(30.5)
    with pytest.raises(effort.TooMuchWorkError):
        budget.come_to(0.1, before=2.0)  # 62 in all
    again = effort.Budget(steps=100.0, spent=40.0)
    again.come_to(0.5, before=35.0)  # another time the whole way, with smaller errors
    assert again.limit == pytest.approx(63.5)


def test_little_is_spent_on_small_questions() -> None:
    """Until they get anywhere: many end before it pays."""
    budget = effort.Budget(steps=1e9, made=1e6)
    assert budget.limit == effort.LITTLE
    budget.trust()
    assert budget.limit == effort.LITTLE
    budget.spend(1e6)
    budget.come_to(0.1, before=0.0)
    assert budget.limit > effort.LITTLE
    assert effort.Budget(steps=1e10, made=effort.SMALL).limit == pytest.approx(4e8)


@pytest.mark.parametrize("text", ['P=? [ F[2,9] "goal" ]', 'P=? [ G<=9 !"goal" ]', 'P=? [ F[9,9] "goal" ]'])
def test_other_questions_about_time(text: str) -> None:
    model = model_of(CASES["queue"][0])
    ours = galton.check(model, text, settings=BY_EQUATIONS)
    others = galton.check(model, text, settings=replace(BY_EQUATIONS, method="uniformisation"))
    assert max(ours.lower, others.lower) <= min(ours.upper, others.upper)
    assert "windows of time" in ours.work[-1].detail


def test_an_absolute_eps() -> None:
    rates, time = CASES["rare"]
    found = galton.check(
        model_of(rates), QUESTIONS["until"].format(time), settings=replace(BY_EQUATIONS, relative=False)
    )
    assert 0 <= found.lower <= float(exponential(rates, time, "until")[0].mid()) <= found.upper <= 2 * EPS


CURVE = """ctmc
module queue
  n : [0..11] init 0;
  [] n<11 -> 900 : (n'=n+1);
  [] n>0 -> 1000*n : (n'=n-1);
endmodule
label "goal" = n=11;
rewards true : n; endrewards
"""


@pytest.mark.parametrize("text", ['const double T; P=? [ F<=T "goal" ]', "const double T; R=? [ C<=T ]"])
def test_a_curve(text: str) -> None:
    program = galton.parse(CURVE)
    times = [0.01, 1.0, 5.0, 20.0]
    ours = galton.experiment(program, text, settings=BY_EQUATIONS, T=times)
    others = galton.experiment(program, text, settings=Settings(method="uniformisation"), T=times)
    assert not ours.errors
    for mine, other in zip((row.result for row in ours), (row.result for row in others), strict=True):
        assert mine.steps[-1].method == "rational-krylov"
        assert max(mine.lower, other.lower) <= min(mine.upper, other.upper)
        assert mine.upper - mine.lower <= 2 * EPS * mine.upper


def test_it_is_for_time_bounds_only() -> None:
    with pytest.raises(GaltonError, match=r"rational-krylov.* does nothing for"):
        galton.check(galton.parse(CURVE), 'P=? [ F "goal" ]', settings=BY_EQUATIONS)


# On a device: played, since what is asked is where, why, and whether it is the same.


STAGES = """ctmc
module stages
  n : [0..11] init 0;
  [] n=0 -> 1e5 : (n'=1);
  [] n=1 -> 1e5 : (n'=0);
  [] n>0 & n<11 -> 7 : (n'=n+1);
endmodule
label "goal" = n=11;
rewards true : n; endrewards
"""


def on_both(text: str, settings: Settings | None = None) -> tuple[galton.Result, galton.Result]:
    """The answers about one model on the CPU and on a played device."""
    program = galton.parse(STAGES)
    here = galton.check(program.build(device="cpu"), text, settings=settings)
    with played_device():
        return here, galton.check(program.build(device="cuda"), text, settings=settings)


@pytest.mark.parametrize(
    "text", ['P=? [ F<=2 "goal" ]', "P=? [ G<=2 n<10 ]", "R=? [ C<=2 ]", "R=? [ I=2 ]", 'P=? [ F<=2 "goal" ] * 2']
)
def test_a_model_on_a_device_is_brought_home_where_that_is_quicker(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    always_tried(monkeypatch)
    here, there = on_both(text)
    assert there.placement.backend == "cuda"
    assert there.steps[-1].method == here.steps[-1].method == "rational-krylov"
    assert (there.lower, there.upper) == (here.lower, here.upper)
    assert "on the CPU, because steps on the device are estimated to take longer" in there.work[-1].detail


def test_all_states_of_a_model_on_a_device_have_the_bounds_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    always_tried(monkeypatch)
    for what in ("min", "max", "sum"):
        here, there = on_both(f'filter({what}, P=? [ n<11 U<=2 "goal" ], n>=3)')
        assert "on the CPU" in there.work[-1].detail
        assert (there.lower, there.upper) == pytest.approx((here.lower, here.upper), rel=1e-15)


@pytest.mark.parametrize("method", [None, "uniformisation"])
def test_steps_stay_on_the_device_where_they_are_quicker_or_asked_for(
    monkeypatch: pytest.MonkeyPatch, method: str | None
) -> None:
    if method:
        always_tried(monkeypatch)
    _, there = on_both(f"R=? [ I={2 if method else 0.05} ]", Settings(method=method))
    assert there.steps[-1].method == "uniformisation"
    assert there.placement.backend == "cuda"
    assert not any("rational-krylov" in work.step for work in there.work)


def test_equations_that_are_asked_for_are_solved_on_the_cpu() -> None:
    here, there = on_both("R=? [ I=2 ]", BY_EQUATIONS)
    assert there.placement.backend == "cpu"
    assert "rational-krylov does not run on a device" in there.placement.reason
    assert (there.lower, there.upper) == (here.lower, here.upper)


def test_what_fails_at_home_is_answered_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    always_tried(monkeypatch, worth=0.0, share=0.0)
    _, there = on_both("R=? [ I=2 ]")
    assert there.steps[-1].method == "uniformisation"
    assert there.placement.backend == "cuda"
    assert any(work.step == "rational-krylov" and "given up with " in work.detail for work in there.work)


def test_the_estimate_for_a_device() -> None:
    """A thousand states: 10⁸ steps of 3 µs are longer than few equations. 10⁷ states: 10⁴ steps of 100 µs are not."""

    def pays(entries: int, states: int, steps: float) -> bool:
        least = effort.Least.of(entries, states, effort.work_of_steps(1_500, entries, 0))
        brought = effort.work_of_bringing(entries, states)
        least = least._replace(prospects=least.prospects + brought)
        return effort.Budget(effort.work_of_device_steps(steps, entries, states)).pays(least)

    assert pays(4_000, 1_000, 1e8)
    assert not pays(4_000, 1_000, 1e4)
    assert not pays(4 * 10**7, 10**7, 1e4)
