"""Long-run averages of MDPs that can be worked out by hand; random ones are in ``tests/oracle`` and ``tests/fuzz``."""

from __future__ import annotations

import numpy as np
import pytest
from asking import GAMBLE, ask, assert_number
from hypothesis import given, settings
from hypothesis import strategies as st

import galton
from galton.checking.best_long_run.components import inside_of
from galton.checking.best_long_run.proof import Proof
from galton.device.arrays import is_on_host
from galton.graph import maximal_end_components
from galton.model.sparse import Rewards

# From 0 to a ring of two or to a pair that can be made to earn; from the ring back, or from 0 to an end.
PLACES = """
mdp
module places
  s : [0..5] init 0;
  [go] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=3);
  [end] s=0 -> (s'=5);
  [] s=1 -> (s'=2);
  [] s=2 -> (s'=1);
  [back] s=2 -> (s'=0);
  [] s=3 -> 0.3 : (s'=4) + 0.7 : (s'=3);
  [slow] s=4 -> 0.9 : (s'=3) + 0.1 : (s'=4);
  [fast] s=4 -> 0.2 : (s'=3) + 0.8 : (s'=4);
  [] s=5 -> true;
endmodule
rewards "r" s=1 : 3; s=4 : 2; [fast] true : 0.25; s=5 : 1.2; endrewards
"""
# The ring earns 1.5, the pair 1.35 or 0.5, the end 1.2.
IN_PLACES = {
    'R{"r"}max=? [ S ]': 0.5 * 1.5 + 0.5 * 1.35,
    'R{"r"}min=? [ S ]': 0.5,  # back from the ring until it is the pair
    'R{"r"}max=? [ LRA ]': 1.425,
    "Smax=? [ s=4 ]": 0.6,
    "Smin=? [ s=4 ]": 0.0,
    "Smax=? [ s=1 ]": 0.25,
    "Smax=? [ s=5 ]": 1.0,
    "Smin=? [ s=5 ]": 0.0,
    "LRAmax=? [ s=1 | s=4 ]": 0.6,
    "Smin=? [ s!=3 ]": 0.25,
    'filter(max, R{"r"}max=? [ S ], s=1)': 1.5,
    'filter(max, R{"r"}min=? [ S ], s=4)': 0.5,
    "filter(max, Smax=? [ s=3 ], s=2)": 0.75,
}


@pytest.mark.parametrize(("prop", "value"), IN_PLACES.items(), ids=list(IN_PLACES))
def test_several_end_components(prop: str, value: float) -> None:
    assert_number(ask(PLACES, prop), value)


def test_components_that_cannot_be_left_stopped_a_device() -> None:
    """Where only transient states are open there is no end component to stay in."""
    model = galton.parse(ENDS).build()
    assert_number(galton.check(model, 'R{"r"}max=? [ S ]'), 2.5)
    assert_number(galton.check(model, 'R{"r"}min=? [ S ]'), 2.0)


ENDS = """
mdp
module ends
  s : [0..2];
  [] s=0 -> 0.25 : (s'=1) + 0.75 : (s'=2);
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s>0 -> true;
endmodule
rewards "r" s=0 : 9; s=1 : 1; s=2 : 3; endrewards
"""


@pytest.mark.parametrize(
    ("prop", "holds"),
    [("S<=0.6001 [ s=4 ]", True), ("S<0.59 [ s=4 ]", False), ("S>=0.01 [ s=4 ]", False), ('R{"r"}>=0.4 [ S ]', True)],
)
def test_a_threshold_is_meant_for_all_strategies(prop: str, holds: bool) -> None:
    assert ask(PLACES, prop).value is holds


@pytest.mark.parametrize("prop", [prop for prop in IN_PLACES if "filter" not in prop])
def test_the_strategy_is_worth_the_answer(prop: str) -> None:
    model = galton.parse(PLACES).build()
    found = galton.check(model, prop, strategy=True)
    assert found.strategy is not None
    chain = found.strategy.induced()
    worth = galton.check(chain, prop.replace("min=?", "=?").replace("max=?", "=?"), device="cpu")
    assert_number(worth, IN_PLACES[prop])


def ring(size: int, *, leave: float = 1.0) -> galton.Model:
    """States one after the other, for ever; every one may stay where it is instead, for a smaller reward."""
    rows, groups = [], [0]
    for s in range(size):
        step, stay = np.zeros(size), np.zeros(size)
        step[(s + 1) % size], stay[s] = leave, 1.0
        step[s] += 1 - leave
        rows += [step, stay]
        groups.append(len(rows))
    earned = np.array([1.0 if s == 0 else 0.0 for s in range(size)])
    choice = np.array([0.5 / size, 0.25 / size] * size)
    return galton.Model.from_matrix(
        "mdp", np.array(rows), row_groups=groups, rewards={"r": Rewards(state=earned, choice=choice)}, labels={"a": [0]}
    )


@pytest.mark.parametrize("size", [2, 3, 7, 64])
def test_rings_are_periodic(size: int) -> None:
    model = ring(size)
    # The greatest average is to stay in the state that earns, the least to stay in another.
    assert_number(galton.check(model, 'R{"r"}max=? [ S ]'), 1 + 0.25 / size)
    assert_number(galton.check(model, 'R{"r"}min=? [ S ]'), 0.25 / size)
    bare = galton.Model.from_matrix(
        "mdp", np.roll(np.eye(size), 1, axis=1), row_groups=range(size + 1), labels={"a": [0]}
    )
    for optimum in ("min", "max"):
        assert_number(galton.check(bare, f'S{optimum}=? [ "a" ]'), 1 / size)


def test_what_is_never_or_always_is_exact() -> None:
    model = ring(3)
    for prop, value in (('Smax=? [ "a" ]', 1.0), ('Smin=? [ "a" ]', 0.0), ("Smin=? [ true ]", 1.0)):
        found = galton.check(model, prop)
        assert (found.lower, found.upper) == (value, value)


def walk(size: int, up: float, away: float) -> galton.Model:
    """A walk that is driven to both ends, from the middle on; every state may choose how strongly."""
    rows, groups = [], [0]
    for s in range(size):
        for p in (up, away):
            row = np.zeros(size)
            right = p if 2 * s >= size else 1 - p
            row[min(s + 1, size - 1)] += right
            row[max(s - 1, 0)] += 1 - right
            rows.append(row)
        groups.append(len(rows))
    return galton.Model.from_matrix("mdp", np.array(rows), row_groups=groups, labels={"left": range(size // 2)})


@pytest.mark.parametrize("size", [10, 100, 200])
def test_ends_that_are_hard_to_leave(size: int) -> None:
    """To cross takes up to 1e36 steps, and how the time is shared hangs on the ratio of the two ways."""
    model = walk(size, 0.7, 0.75)
    # Strongest in one half and weakest in the other: stationary weights by detailed balance.
    weak, strong = 0.7 / 0.3, 0.75 / 0.25
    half = size // 2
    # Between the halves: from the left one up with 0.25, from the right one down with 0.3.
    left, right = 0.3 * sum(strong**k for k in range(half)), 0.25 * sum(weak**k for k in range(half))
    assert_number(galton.check(model, 'Smax=? [ "left" ]'), left / (left + right))


# From 0 the better end is reached with probability 1, though hardly ever.
RARE = """
mdp
module rare
  s : [0..2];
  [] s=0 -> 0.001 : (s'=1) + 1e-30 : (s'=2) + 0.999 : (s'=0);
  [stay] s=0 -> true;
  [] s=1 -> 0.05 : (s'=1) + 0.95 : (s'=0);
  [] s=2 -> true;
endmodule
rewards "r" s=0 : 1.5; s=2 : 3; endrewards
"""


def test_means_above_one_were_bounded_by_one_where_steps_are_rare() -> None:
    """Interval iteration began with 1 from above; this was 1.5."""
    assert_number(ask(RARE, 'R{"r"}max=? [ S ]'), 3.0)


anything = st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1e-300, 1 / 3, 1e100])


@settings(deadline=None)
@given(st.data())
def test_bounds_hold_the_gain_for_any_h(data: st.DataObject) -> None:
    """The pair of PLACES earns 1.35 at best and 0.5 at least, whatever is tried to prove it."""
    model = galton.parse(PLACES).build(device="cpu")
    ends = maximal_end_components(model)
    wanted = np.zeros(ends.count, dtype=bool)
    wanted[ends.component[3]] = True
    inside = inside_of(model, model.rewards["r"], ends, wanted)
    for optimum, gain in (("max", 1.35), ("min", 0.5)):
        proof = Proof(inside, optimum, galton.Settings())  # type: ignore[arg-type]
        for _ in range(2):
            high, low = (np.array(data.draw(st.lists(anything, min_size=2, max_size=2))) for _ in range(2))
            proof.attempt(high, low)
            lower, upper = proof.bounds()
            assert lower[0] <= gain <= upper[0]


WALK = """
mdp
module walk
  x : [0..39];
  [] x<20 -> 0.3 : (x'=x+1) + 0.7 : (x'=max(x-1, 0));
  [] x<20 -> 0.25 : (x'=x+1) + 0.75 : (x'=max(x-1, 0));
  [] x>=20 -> 0.7 : (x'=min(x+1, 39)) + 0.3 : (x'=x-1);
endmodule
"""


def test_a_slow_component_goes_home_from_a_device() -> None:
    model = galton.parse(WALK).build()
    found = galton.check(model, "Smax=? [ x<20 ]")
    if not is_on_host(model.columns):
        assert found.device == "cpu"
        assert found.warnings == (
            "the long-run average of an end component is more than value iteration can find in time; "
            "answered on the CPU",
        )
    weights = [(0.75 / 0.25) ** k * 0.3 for k in range(20)], [(0.7 / 0.3) ** k * 0.25 for k in range(20)]
    assert_number(found, sum(weights[0]) / sum(map(sum, weights)))


def test_negative_rewards_are_refused() -> None:
    text = PLACES.replace("s=5 : 1.2", "s=5 : -1.2")
    with pytest.raises(galton.GaltonError, match="negative rewards"):
        ask(text, 'R{"r"}max=? [ S ]')


def test_methods_of_balance_equations_are_for_chains() -> None:
    with pytest.raises(galton.GaltonError, match="asks about long-run averages of MDPs"):
        ask(GAMBLE, 'Smax=? [ "good" ]', method="jacobi")


def test_sweeps_may_be_limited() -> None:
    with pytest.raises(galton.GaltonError, match="not converged within 5 sweeps; raise max_iterations"):
        ask(PLACES, 'R{"r"}max=? [ S ]', settings=galton.Settings(max_iterations=5))
