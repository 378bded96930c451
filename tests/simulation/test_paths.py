"""Random paths go where the model leads, as often as it says, and do not depend on who follows them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

import galton
from galton.model.random_paths import Batch, ModelPaths, PathQuestion
from galton.simulation.program_paths import ProgramPaths

MODELS = Path(__file__).parents[2] / "models"
INSTANCES = [
    ("die", {}),
    ("brp", {"N": 8, "MAX": 2}),
    ("herman", {"N": 5}),
    ("leader_sync", {"N": 3, "K": 2}),
    ("consensus", {"N": 2, "K": 2}),
    ("csma", {"N": 2, "K": 2}),
    ("tandem", {"c": 3}),
    ("kanban", {"t": 1}),
    ("polling", {"N": 3}),
]


@pytest.mark.parametrize(("name", "constants"), INSTANCES, ids=lambda value: str(value))
def test_every_step_of_a_trace_is_a_transition_of_the_model(name: str, constants: dict) -> None:
    """Of paths through the program and through the model; by the explorer's states, actions and rewards."""
    program = galton.load(MODELS / f"{name}.prism", **constants)
    model = program.build()
    known = {tuple(state.items()): number for number, state in enumerate(model.states)}
    for traces in (program.simulate(steps=30, paths=20, seed=3), model.simulate(steps=30, paths=20, seed=3)):
        numbers = [known[tuple(traces.state(row).items())] for row in range(len(traces))]
        moved = 0
        for row in range(len(traces) - 1):
            if traces.path[row] != traces.path[row + 1]:
                assert numbers[row + 1] in model.initial
                continue
            moved += 1
            fitting = {
                target
                for action, branches in model.transitions(numbers[row])
                for _, target in branches
                if not model.has_choices or action == traces.actions[row]
            }
            assert numbers[row + 1] in fitting
        assert moved > 20
        for reward, values in traces.state_rewards.items():
            expected = model.rewards[reward].state
            assert np.array_equal(values, np.zeros(len(traces)) if expected is None else expected[numbers])


# Weights of several kinds at once: overlapping commands, products of several factors with several commands each, and
# probabilities that depend on the state.
CORNERS = {
    "dtmc": """dtmc
        module a x : [0..3];
          [] x<2 -> 0.25 : (x'=1) + 0.75 : (x'=2);
          [] x=0 -> (x'=3);
          [go] true -> x/4 : (x'=0) + 1-x/4 : (x'=min(x+1, 3));
          [go] x=0 -> (x'=2);
        endmodule
        module b y : [0..2];
          [go] true -> 0.5 : (y'=0) + 0.3 : (y'=1) + 0.2 : (y'=2);
          [go] y=0 -> (y'=2);
        endmodule""",
    "ctmc": """ctmc
        module a x : [0..3];
          [] x<2 -> 2 : (x'=1) + x+1 : (x'=2);
          [go] x<3 -> x+0.5 : (x'=x+1) + 1 : (x'=0);
          [go] x=0 -> 3 : (x'=2);
        endmodule
        module b y : [0..2];
          [go] true -> y : (y'=0) + 1 : (y'=min(y+1, 2));
          [] y>0 -> 0.7 : (y'=0);
        endmodule""",
}


@pytest.mark.parametrize("kind", CORNERS)
def test_steps_are_as_likely_as_the_rows_of_the_model_say(kind: str) -> None:
    program = galton.parse(CORNERS[kind])
    model = program.build()
    rows = model.matrix.toarray()
    rows /= rows.sum(axis=1, keepdims=True)
    for traces in (program.simulate(steps=20, paths=2000, seed=11), model.simulate(steps=20, paths=2000, seed=11)):
        numbers = np.array([model.states.find(traces.state(row)) for row in range(0, len(traces), 1)][:20_000])
        path = traces.path[: len(numbers)]
        inside = path[1:] == path[:-1]
        steps = Counter(zip(numbers[:-1][inside].tolist(), numbers[1:][inside].tolist(), strict=True))
        tested = 0
        for state in range(model.n_states):
            seen = np.array([steps[state, target] for target in range(model.n_states)])
            expected = rows[state] * seen.sum()
            assert (seen[expected == 0] == 0).all()
            if (possible := expected > 5).sum() > 1 and expected[~possible].sum() == 0:
                tested += 1
                assert chisquare(seen[possible], expected[possible]).pvalue > 1e-5
        assert tested > 3


def test_times_are_exponential() -> None:
    program = galton.parse("ctmc module m x : bool; [] !x -> 3 : (x'=true); [] x -> 0.5 : (x'=false); endmodule")
    traces = program.simulate(steps=20_000, seed=2)
    stays = np.diff(traces.time)
    for value, mean in ((False, 1 / 3), (True, 2.0)):
        mine = stays[traces.column("x")[:-1] == value]
        assert abs(mine.mean() - mean) < 5 * mean / np.sqrt(len(mine))
        assert abs((mine > mean).mean() - np.exp(-1)) < 0.02


@pytest.mark.parametrize("name", ["die", "tandem"])
def test_paths_are_the_same_on_any_number_of_threads_and_in_any_order(name: str) -> None:
    program = galton.load(MODELS / f"{name}.prism", **({"c": 3} if name == "tandem" else {}))
    for paths in (ProgramPaths(program, rewards=program.rewards[:1], find_loops=4), ModelPaths(program.build())):
        question = PathQuestion("cumulative", high=40.0)
        whole = paths.sample(question, Batch(seed=9, count=5000, threads=1))
        shared = paths.sample(question, Batch(seed=9, count=5000, threads=3))
        late = paths.sample(question, Batch(seed=9, first=4000, count=1000, threads=2))
        for part in ("verdicts", "values", "steps"):
            assert np.array_equal(getattr(whole, part), getattr(shared, part))
            assert np.array_equal(getattr(whole, part)[4000:], getattr(late, part))
        other = paths.sample(question, Batch(seed=10, count=5000))
        assert (
            not np.array_equal(whole.steps, other.steps)
            or not np.array_equal(whole.values, other.values)
            or name == "die"
        )


def test_one_path_of_many_is_the_path_alone() -> None:
    program = galton.load(MODELS / "die.prism")
    many, one = program.simulate(paths=7, seed=4), program.simulate(paths=1, seed=4)
    mine = many.path == 0
    assert [many.state(int(row)) for row in np.flatnonzero(mine)] == [one.state(row) for row in range(len(one))]


def test_programs_without_an_end_and_of_any_size() -> None:
    """An unbounded counter, and 60 modules that move together: 2^60 successors of every state."""
    walk = galton.parse("dtmc module m x : int init 0; [] true -> 0.5 : (x'=x+1) + 0.5 : (x'=x-1); endmodule")
    traces = walk.simulate(steps=10_000, seed=1)
    assert set(np.abs(np.diff(traces.column("x"))).tolist()) == {1}
    modules = "".join(
        f"module m{k} x{k} : [0..3]; [go] true -> 0.5 : (x{k}'=1) + 0.5 : (x{k}'=mod(x{k}+1, 4)); endmodule "
        for k in range(60)
    )
    many = galton.parse(f"dtmc {modules}")
    found = galton.estimate(many, "P=? [ F<=1 x0=1 & x1=1 & x59=1 ]", confidence=0.999)
    assert found.lower <= 1 <= found.upper
    found = galton.estimate(many, "P=? [ F=2 x0=1 & x30=2 ]", confidence=0.9999)
    assert found.lower <= 0.25 <= found.upper


def test_mistakes_of_a_program_are_told_with_their_place() -> None:
    program = galton.parse("dtmc module m x : [0..2]; [] true -> 0.5 : (x'=x+1) + 0.5 : true; endmodule")
    with pytest.raises(galton.GaltonError, match="x"):
        program.simulate(steps=1000)


def test_several_initial_states_begin_equally_often() -> None:
    program = galton.parse("dtmc module m x : [0..3]; [] true -> (x'=x); endmodule init x<3 endinit")
    for traces in (program.simulate(paths=3000, steps=0), program.build().simulate(paths=3000, steps=0)):
        seen = Counter(traces.column("x").tolist())
        assert set(seen) == {0, 1, 2}
        assert min(seen.values()) > 850


def test_traces_as_tables() -> None:
    pandas = pytest.importorskip("pandas")
    program = galton.load(MODELS / "die.prism")
    frame = program.simulate(steps=3, paths=2).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns)[:4] == ["path", "step", "node", "d"]
    assert len(frame) == 8
    assert "<table>" in program.simulate(steps=3)._repr_html_()


def test_models_of_functions_and_matrices_have_paths() -> None:
    def gambler(euros: int) -> list[tuple[float, int]]:
        return [] if euros in (0, 10) else [(0.5, euros - 1), (0.5, euros + 1)]

    traces = galton.Model.from_function(gambler, initial=5).simulate(steps=1000, paths=50)
    ends = [traces.state(row) for row in range(len(traces) - 1) if traces.path[row] != traces.path[row + 1]]
    assert len(ends) == 49
    chain = galton.Model.from_matrix("dtmc", [[0, 1], [1, 0]])
    assert chain.simulate(steps=4).column("state").tolist() == [0, 1, 0, 1, 0]
