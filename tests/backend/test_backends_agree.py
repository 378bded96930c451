"""Every backend against the reference: all operations of the protocol, on random small models.

Another backend is compared by its name in ``places.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from places import HOME, NEED_A_DEVICE, PLACES, Place
from program_cases import CASES, FAULTS, OFF
from random_graphs import larger_models, masks, small_models
from random_programs import ProgramText, programs
from random_regions import random_rows
from sliced_programs import sliced
from symmetric_programs import symmetric
from systems import FORMATS, random_pair
from test_cuda_regions import FIRST, Weights
from test_cuda_restrict import random_model

import galton
from galton.backend import CUDA, REFERENCE, Backend
from galton.backend.chain import Chain as RewardedChain
from galton.backend.components import Components
from galton.backend.limits import Limits
from galton.backend.protocol import OPTIMA, Span, Stop
from galton.backend.steps import Seen
from galton.device.errors import DeviceError
from galton.device.moving import moved, to_host
from galton.lang import GaltonError
from galton.lower.lowering import Lowered, lower
from galton.lower.slicing import Slices
from galton.lower.symmetry import Symmetries
from galton.model.sparse import Mask, Model
from galton.model.values import Values
from galton.solve.settings import Settings

SLACK = 8 * 2.0**-52
KINDS = ("dtmc", "ctmc", "mdp")


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.gpu if name in NEED_A_DEVICE else ()) for name in PLACES],
)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Every place."""
    backend, library = PLACES[request.param]
    with library() as xp:
        yield Place(backend, xp)


def close(found: Any, expected: Any, relative: float = 1e-12, absolute: float = 0.0) -> None:
    np.testing.assert_allclose(to_host(found), expected, rtol=relative, atol=absolute)


# Explorers.


def explored(backend: Backend, lowered: Lowered, transition_rewards: bool) -> Model | str:
    """The model, or why there is none."""
    how = {"threads": 1, "limits": Limits(max_states=5000), "transition_rewards": transition_rewards}
    try:
        return backend.explorer.explore(lowered, **how)
    except DeviceError:
        raise
    except GaltonError as error:
        return str(error)


def check_explorer(place: Place, lowered: Lowered) -> None:
    """The same states in the same order, matrix, labels and rewards; or the same complaint."""
    for transition_rewards in (False, True):
        try:
            found = explored(place.backend, lowered, transition_rewards)
        except DeviceError:
            continue  # what a device cannot do, it says
        expected = explored(REFERENCE, lowered, transition_rewards)
        if isinstance(found, str) or isinstance(expected, str):
            assert found == expected
            continue
        found.to_host().validate()
        expected.validate()
        assert list(found.differences(expected, tolerance=1e-13)) == []
        assert found.warnings == expected.warnings


@pytest.mark.parametrize("name", [name for name in (*CASES, *OFF, *FAULTS) if name not in ("long rows", "more values")])
def test_explorers_in_corners(place: Place, name: str) -> None:
    check_explorer(place, lower(galton.parse({**CASES, **OFF, **FAULTS}[name])))


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False)
@given(programs())
def test_explorers_on_random_programs(place: Place, text: ProgramText) -> None:
    check_explorer(place, lower(galton.parse(text)))


def test_explorers_leave_terminal_states_alone(place: Place) -> None:
    program = galton.parse('dtmc module m x : [0..9]; [] x<9 -> (x\'=x+1); endmodule label "end" = x=4;')
    check_explorer(place, lower(program, program.labels["end"]))


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 7, 10])
def test_explorers_visit_one_state_of_an_orbit(place: Place, seed: int) -> None:
    """Exchanges and rings, one initial state or several, shared variables, products and rewards."""
    program = galton.parse(str(symmetric(seed)))
    symmetry = Symmetries(program).keeping(list(program.labels.values()), range(len(program.rewards)))
    end = program.labels["goal"] if seed % 2 else None
    lowered = symmetry.lowered(end)
    assert lowered.orbits is not None
    check_explorer(place, lowered)
    found = explored(place.backend, lowered, False)
    assert isinstance(found, Model)
    assert found.stands_for() == program.build(terminal=end).n_states


@pytest.mark.parametrize("seed", [0, 1, 2, 16])
def test_explorers_build_slices(place: Place, seed: int) -> None:
    """Variables left out, one initial state or several, and in a CTMC commands left out."""
    text = str(sliced(seed))
    if seed == 16:
        text += "init place=0 & c<2 & note=0 & tally=3 & copy=1 & hidden=0 & d=0 & !e endinit"
        text = re.sub(r" init \w+;", ";", text)
    program = galton.parse(text)
    found = Slices(program).keeping([program.labels["goal"]], [], timed=True)
    assert {"tally", "copy"} <= found.lowering.left_out
    check_explorer(place, found.lowered(program.labels["goal"] if seed % 2 else None))


def test_explorers_stop_at_the_limit(place: Place) -> None:
    check_explorer(place, lower(galton.parse("dtmc module m x : [0..9999]; [] x<9999 -> (x'=x+1); endmodule")))


# Graphs.

SEARCHES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
GRAPHS = st.one_of(small_models(7), larger_models(60))


@pytest.fixture(params=["as it is", "pushing"])
def searching(place: Place, request: pytest.FixtureRequest) -> Iterator[Place]:
    """As it is, a device sweeps over small graphs; with other limits it takes every way there is."""
    with ExitStack() as stack:
        if request.param == "pushing":
            if place.backend is not CUDA:
                pytest.skip("there is one way to search")
            from galton.backend.cuda.graph import components, reachability, search

            stack.enter_context(patch.multiple(search, FAIR_PART=1, CHASE=2, WIDE=2, MANY_ENTRIES=2))
            stack.enter_context(patch.object(reachability, "ROUNDS", 0))
            stack.enter_context(patch.multiple(components, PATIENCE=2, FEW_PART=1))
        yield place


@SEARCHES
@given(GRAPHS, st.data(), st.sampled_from([0.05, 0.3]))
def test_reachability(searching: Place, model: Model, data: st.DataObject, goals: float) -> None:
    graph, there = searching.backend.graph, searching.give(model)
    through, goal = data.draw(masks(model.n_states, 0.9)), data.draw(masks(model.n_states, goals))
    given = searching.give((through, goal))
    some = REFERENCE.graph.reach_some(model, through, goal)
    assert to_host(graph.reach_some(there, *given)).tolist() == some.tolist()
    expected = REFERENCE.graph.reach_every(model, through, goal)
    assert to_host(graph.reach_every(there, *given)).tolist() == expected.tolist()
    sure = REFERENCE.graph.reach_surely(model, through, goal, some)
    if model.has_choices:
        assert to_host(graph.reach_surely(there, *given, searching.give(some))).tolist() == sure.tolist()
    within = data.draw(st.none() | masks(model.n_states, 0.9))
    expected = REFERENCE.graph.reach_forward(model, goal, within)
    assert to_host(graph.reach_forward(there, given[1], searching.give(within))).tolist() == expected.tolist()
    check_strategy(searching, model, through, goal, None, some)
    check_strategy(searching, model, through, goal, sure, sure)


def check_strategy(place: Place, model: Model, through: Mask, goal: Mask, staying: Mask | None, reached: Mask) -> None:
    """Choices need not be the same, but have to reach what can be reached; nothing else is written."""
    for where in (place, HOME):
        strategy = where.xp.full(model.n_states, -1, dtype=np.int32)
        given = where.give((through, goal, staying))
        where.backend.graph.reach_by(where.give(model), *given, strategy)
        chosen = to_host(strategy)
        assert (chosen >= 0).tolist() == (reached & ~goal).tolist()
        used = np.isin(np.arange(model.n_choices), chosen)
        assert staying is None or REFERENCE.rows.every_successor_in(model, staying)[used].all()
        induced = REFERENCE.graph.reach_every(
            only(model, np.where(chosen < 0, model.row_groups[:-1], chosen)), through, goal
        )
        assert (induced >= reached).all()


def only(model: Model, strategy: Any) -> Model:
    """The chain that a strategy leaves."""
    rows = [model.columns[model.row_starts[c] : model.row_starts[c + 1]] for c in strategy]
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    parts = {"row_starts": starts, "columns": np.concatenate(rows), "values": Values(plain=np.ones(starts[-1]))}
    return replace(model, type="dtmc", choice_starts=None, **parts)


@SEARCHES
@given(GRAPHS, st.data())
def test_components(searching: Place, model: Model, data: st.DataObject) -> None:
    graph, there = searching.backend.graph, searching.give(model)
    within = data.draw(st.none() | masks(model.n_states, 0.8))
    choices = data.draw(st.none() | masks(model.n_choices, 0.8))
    given = searching.give((within, choices))
    found = to_host(graph.strong_components(there, *given))
    expected = REFERENCE.graph.strong_components(model, within, choices)
    assert partition(found) == partition(expected)
    for components in (found, expected):
        check_order(components, model, choices)
    ends, expected_ends = graph.end_components(there, *given), REFERENCE.graph.end_components(model, within, choices)
    assert ends.count == expected_ends.count
    assert to_host(ends.component).tolist() == expected_ends.component.tolist()
    assert to_host(ends.staying).tolist() == expected_ends.staying.tolist()


def partition(found: Components) -> dict[frozenset[int], tuple[bool, bool]]:
    return {
        frozenset(found.states(number).tolist()): (bool(found.trivial[number]), bool(found.bottom[number]))
        for number in range(found.count)
    }


def check_order(found: Components, model: Model, choices: Mask | None) -> None:
    """States are sorted by component, and edges lead to components with smaller numbers."""
    assert found.component[found.order].tolist() == np.repeat(np.arange(found.count), found.sizes).tolist()
    owner = REFERENCE.rows.owners(model)
    for choice in range(model.n_choices) if choices is None else np.flatnonzero(choices):
        if found.component[owner[choice]] >= 0:
            targets = model.columns[model.row_starts[choice] : model.row_starts[choice + 1]]
            assert (found.component[targets] <= found.component[owner[choice]]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_rows(place: Place, kind: str) -> None:
    random = np.random.default_rng(1)
    model = random_model(random, kind)
    rows, there = place.backend.rows, place.give(model)
    states, numbers = random.random(40) < 0.8, random.random(model.n_choices)
    assert to_host(rows.owners(there)).tolist() == REFERENCE.rows.owners(model).tolist()
    for spread in (states, numbers[:40]):
        assert to_host(rows.spread(there, place.give(spread))).tolist() == REFERENCE.rows.spread(model, spread).tolist()
    inside = REFERENCE.rows.every_successor_in(model, states)
    assert to_host(rows.every_successor_in(there, place.give(states))).tolist() == inside.tolist()
    for choices in (numbers, numbers < 0.5):
        for maximise in (False, True):
            best = REFERENCE.rows.best_choice(model, choices, maximise=maximise)
            found = to_host(rows.best_choice(there, place.give(choices), maximise=maximise))
            assert found.dtype == best.dtype
            assert found.tolist() == best.tolist()


# Equations.


@dataclass(frozen=True)
class Both:
    """The same equations by a backend and by the reference; ``solution`` is theirs."""

    place: Place
    system: Any
    prover: Any
    reference: Any
    size: int
    edges: Any  # where the rows of each unknown begin
    strategy: Any
    solution: Any

    def each(self, name: str, *given: Any, **how: Any) -> tuple[Any, Any]:
        """What a primitive returns and its arguments afterwards, on the host; by both."""
        mine, theirs = self.place.give(given), moved(given, np.array)
        system = self.prover if name in ("is_above", "is_below", "propagate") else self.system
        found = getattr(system, name)(*mine, **how), to_host(mine)
        return found, (getattr(self.reference, name)(*theirs, **how), theirs)


@pytest.fixture(params=zip(FORMATS, OPTIMA, strict=True), ids=str)
def both(request: pytest.FixtureRequest, place: Place) -> Both:
    values, optimum = request.param
    pair = random_pair(
        np.random.default_rng(3),
        optimum=OPTIMA[optimum],
        values=values,
        wide=optimum == "max",
        scaled=values != "1 byte",
    )
    rows, reference = pair.reference.matrix, pair.reference
    coded = rows.dictionary is not None
    stored = Values(dictionary=rows.dictionary, index=rows.values) if coded else Values(plain=rows.values)
    parts = place.give((rows.groups, rows.starts, rows.columns, stored, reference.scale, reference.constant))
    matrix = place.backend.equations.matrix(*parts, format=None, devices=())
    constant = place.give(reference.constant)
    solution = np.ones(pair.size)
    reference.gauss_seidel(solution, solution.copy(), None, Span(0, pair.size), Stop(400))
    return Both(
        place,
        matrix.system(constant, optimum, compact=True),
        matrix.prover(constant, optimum),
        reference,
        pair.size,
        np.arange(pair.size + 1) if pair.groups is None else pair.groups,
        pair.strategy(np.random.default_rng(2)),
        solution,
    )


SPANS = pytest.mark.parametrize("span", [Span(0, 60), Span(13, 44)], ids=["all", "some"])


@SPANS
def test_sweeps(both: Both, span: Span) -> None:
    """Of Jacobi's method one by one; those in place may go in any order, but have to come to the same solution."""
    x = np.random.default_rng(1).random(both.size) + 0.1
    for chosen in (None, both.strategy):
        for stop, omega in ((Stop(1), 1.0), (Stop(4), 0.7), (Stop(3, relative=False), 1.0)):
            (told, (mine, *_)), (known, (theirs, *_)) = both.each("jacobi", x, x, chosen, span, stop, omega=omega)
            assert told == (known[0], pytest.approx(known[1], rel=1e-8))
            close(mine, theirs, 1e-11)
        for name, how in (("jacobi", {}), ("gauss_seidel", {}), ("gauss_seidel", {"forward": False, "omega": 0.9})):
            (told, (mine, *_)), (known, (theirs, *_)) = both.each(name, x, x, chosen, span, Stop(2000, 1e-14), **how)
            assert max(told[1], known[1]) <= 1e-14
            close(mine, theirs, 1e-12, 1e-200)


@SPANS
def test_strategies_and_direct_solutions(both: Both, span: Span) -> None:
    x = np.random.default_rng(1).random(both.size) + 0.1
    everything = Span(0, both.size)
    rows = np.arange(both.size) if both.strategy is None else both.strategy
    solution = x.copy()
    both.reference.solve_induced(solution, rows, everything, 0.0)
    begin = np.where(solution > 1e-15, x, 0.0)  # what is 0 must be so from the beginning: residuals are relative
    for (done, residual), (found, *_) in both.each("bicgstab", begin, both.strategy, everything, 500, 1e-12):
        assert residual <= 1e-12
        assert done < 500
        close(found, solution, 1e-10, 1e-15)
    if both.strategy is None:
        return
    (_, (mine, *_)), (_, (theirs, *_)) = both.each("solve_induced", x, both.strategy, everything, 1e-12)
    close(mine, theirs, 1e-10, 1e-15)
    if both.place.xp is np:  # devices do not offer it
        (_, (mine, *_)), (_, (theirs, *_)) = both.each("solve_induced", x, both.strategy, everything, 1e-15, fine=True)
        close(mine, theirs, 4e-16)
    for system, give in ((both.system, both.place.give), (both.reference, np.array)):
        values, chosen = give(x), give(both.strategy)
        for _ in range(300):
            changed, change = system.improve(values, give(x), chosen, span)
            if not changed and change <= 1e-14:
                break
        assert not changed
        values, chosen = to_host((values, chosen))
        for unknown in range(span.first, span.last):
            best, _ = both.reference.optimum_of(unknown, values)
            assert both.reference.row(int(chosen[unknown]), values) == pytest.approx(best, rel=1e-12)
    free = np.where(np.arange(both.size) % 2, x, 0.0)
    (_, (_, mine, _)), (_, (_, theirs, _)) = both.each(
        "take_free_rows", free, np.full(both.size, -1, dtype=np.int32), span
    )
    assert mine.tolist() == theirs.tolist()


@SPANS
def test_looks_at_equations(both: Both, span: Span) -> None:
    x = np.random.default_rng(1).random(both.size) + 0.1
    w = 3 * x[::-1]
    (mine, _), (theirs, _) = both.each("defect", x, span)
    assert mine == pytest.approx(theirs, rel=1e-12)
    room = np.zeros(both.edges[span.last] - both.edges[span.first])
    (_, (_, mine, _)), (_, (_, theirs, _)) = both.each("row_values", x, room, span)
    close(mine, theirs)
    first = None if both.strategy is None else both.edges[:-1]
    constants = np.zeros(both.edges[-1])
    (_, (*_, mine, _)), (_, (*_, theirs, _)) = both.each("weigh_rows", x, first, constants, span, near=0.5, share=0.2)
    close(mine, theirs, 0.0)
    (mine, _), (theirs, _) = both.each("left_to_delta", x, w, theirs, span, share=0.2)
    assert mine == pytest.approx(theirs, rel=1e-9)
    (mine, _), (theirs, _) = both.each("growth", w, x, span)
    assert mine == pytest.approx(theirs, rel=1e-9)


@SPANS
def test_proofs(both: Both, span: Span) -> None:
    """What the reference proves with its wide rounding, all prove; what is wrong, nobody."""
    x = both.solution
    upper, lower = x * (1 + 1e-9) + 1e-12, np.maximum(x * (1 - 1e-9) - 1e-12, 0)
    for vector in (x, np.nextafter(x, 2), np.nextafter(x, 0), upper, lower):
        for name in ("is_above", "is_below"):
            (mine, _), (theirs, _) = both.each(name, vector, span, SLACK)
            assert mine >= theirs
    for name, vector in (("is_above", upper), ("is_below", lower)):
        assert both.each(name, vector, span, SLACK)[0][0]
        assert both.each(name, vector, span, SLACK)[1][0]
    wrong = {
        "is_above": (lower * (1 - 1e-9) - 1e-12, np.full_like(x, np.nan)),
        "is_below": (upper * 2 + 1, np.full_like(x, np.inf), x - 2),
    }
    for name, vectors in wrong.items():
        for vector in vectors:
            (mine, _), (theirs, _) = both.each(name, vector, span, SLACK)
            assert (mine, theirs) == (False, False)
    (_, (mine, above, *_)), (_, (theirs, below, *_)) = both.each("propagate", lower, upper, span, SLACK)
    close(mine, theirs, 1e-8, 1e-11)  # whose turn it is first differs
    close(above, below, 1e-8, 1e-11)


# Steps.

DISTINCT = {"bytes": 4, "shorts": 1000, "plain": None}


def numbered(model: Model, distinct: int | None) -> Model:
    """The model with so many different numbers in its matrix, of any size up to 1."""
    random = np.random.default_rng(4)
    known = random.random(distinct or model.n_transitions)
    if distinct is None:
        return replace(model, values=Values(plain=known))
    code = np.uint8 if distinct <= 256 else np.uint16
    index = random.integers(0, distinct, model.n_transitions).astype(code)
    return replace(model, values=Values(dictionary=np.sort(known), index=index))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", DISTINCT)
def test_steps(place: Place, values: str, kind: str) -> None:
    random = np.random.default_rng(1)
    model = numbered(random_model(random, kind, 60), DISTINCT[values])
    if kind == "mdp":
        model = replace(model, row_starts=model.row_starts.astype(np.int64))
    x, stay, weights, constant = random.random(60), random.random(60), random.random(7), random.random(model.n_choices)
    kept, watched = random.random(60) < 0.7, np.array([3, 17], dtype=np.int32)
    for count, loops, keep in ((1, True, None), (2, False, kept), (7, True, kept), (4, False, np.ones(60, dtype=bool))):
        inside = np.flatnonzero(np.ones(60, dtype=bool) if keep is None else keep)
        rows = np.isin(REFERENCE.rows.owners(model), inside)
        results = []
        for where in (place, HOME):
            steps, there = where.backend.steps, where.give(model)
            part = (None, None, steps.matrix_of(there), None, None)
            if keep is not None:
                part = steps.part_of(there, where.give(keep), loops, 1)
                assert to_host(part[0]).tolist() == inside.tolist()
            shape = [None if each is None else to_host(each).tolist() for each in (part[1], part[3])], part[4]
            matrix, found = part[2].in_format(None), []
            for scale, staying in ((1.0, None), (0.25, stay[inside])) if kind != "mdp" else ():
                chain = matrix.chain(scale, where.give(staying))
                vectors, total = [where.give(x[inside]), where.give(x[inside])], where.give(np.zeros(len(inside)))
                swapped, *seen = chain.run(
                    count, weights[:count], *vectors, total, 1, where.give(watched), record := np.empty(count * 2)
                )
                found += [to_host(vectors[swapped]), to_host(total), Seen(*seen), record]
            for added, maximise in ((None, True), (constant[rows], False)):
                step = matrix.bellman(where.give(added), maximise)
                vectors, chosen = (
                    [where.give(x[inside]), where.give(x[inside])],
                    np.zeros(count * len(inside), np.int32),
                )
                record = np.empty(count * 2)
                swapped, *seen = step.run(count, *vectors, chosen, 1, where.give(watched), record)
                found += [to_host(vectors[swapped]), Seen(*seen), record, *((chosen,) if kind == "mdp" else ())]
            results.append((shape, found))
        (shape, found), (known_shape, known) = results
        assert shape == known_shape
        for mine, theirs in zip(found, known, strict=True):
            close(mine, theirs, 1e-12, 1e-14)
    products = place.backend.steps.row_products(place.give(model), place.give(x), 1)
    close(products, REFERENCE.steps.row_products(model, x, 1), 1e-14)


@pytest.mark.parametrize("loops", [False, True])
def test_exit_rates_are_exact_to_more_than_a_double(place: Place, loops: bool) -> None:
    sizes = Model.from_matrix("ctmc", [[5.0, 1.0, 2.0**-60], [1e16, 0.0, 1.0], [0.1, 0.2, 0.3]])
    for model in (sizes, numbered(random_model(np.random.default_rng(2), "ctmc"), None)):
        found = to_host(place.backend.steps.exit_rates(place.give(model), loops, 1))
        high, low = REFERENCE.steps.exit_rates(model, loops, 1)
        assert found[0].tolist() == high.tolist()
        close(found[1], low, 1e-12, 1e-30)


# Long-run averages.


@pytest.mark.parametrize("seed", range(2))
def test_long_run(place: Place, seed: int) -> None:
    """Bounds on the drift hold the exact one; a bias that a backend says to have found makes it constant."""
    random = np.random.default_rng(seed)
    rates = np.where(random.random((40, 40)) < 0.05, random.choice([1.0, 0.1, 3.7, 1e-3], (40, 40)), 0.0)
    rates += np.roll(np.diag(random.choice([1.0, 2.0, 1e-2], 40)), 1, axis=1)
    model = Model.from_matrix("ctmc", rates)
    chain = RewardedChain(
        model.row_starts, model.columns, model.values, random.random(40), random.random(40) if seed % 2 else None
    )
    there, kernels = place.give(chain), place.backend.long_run
    high, low = random.random(40) * 1e3, random.random(40) * 1e-9
    for second in (None, low):
        lower, upper = to_host(kernels.drift_bounds(there, there.state, there.choice, *place.give((high, second)), 1))
        least, most = REFERENCE.long_run.drift_bounds(chain, chain.state, chain.choice, high, second, 1)
        assert ((lower <= most) & (least <= upper)).all()
        assert (upper - lower <= 1e-12 * np.abs(upper).max()).all()
    known = REFERENCE.long_run.bias(chain, Settings())
    exact = np.zeros(40)
    assert known.improve(chain.reward, exact, relative=1e-9, absolute=0.0, patience=1)
    gain = REFERENCE.long_run.drift_bounds(chain, chain.state, chain.choice, exact, None, 1)
    solved = 0
    bias = kernels.bias(there, Settings())
    close(bias.exit_rates, known.exit_rates)
    for _, prepare, patience in bias.preconditioners:
        h = place.give(np.zeros(40))
        if not (prepare() and bias.improve(there.reward, h, relative=1e-8, absolute=0.0, patience=patience)):
            continue  # each is for other chains
        solved += 1
        least, most = REFERENCE.long_run.drift_bounds(chain, chain.state, chain.choice, to_host(h), None, 1)
        assert most.max() - least.min() <= 1e-7 * most.max()
        assert least.min() <= gain[1].max()
        assert gain[0].min() <= most.max()
    assert solved


@pytest.mark.parametrize("seed", range(3))
def test_drift_of_choices(place: Place, seed: int) -> None:
    """In an MDP every choice has bounds on its own drift; they hold the exact one, and are as close as rounding."""
    random = np.random.default_rng(seed)
    model = numbered(random_model(random, "mdp"), None)
    n, rows = model.n_states, model.n_choices
    chain = RewardedChain(
        model.row_starts,
        model.columns,
        model.values,
        random.random(n) if seed != 1 else None,
        random.random(rows) if seed else None,
        groups=model.choice_starts,
    )
    there = place.give(chain)
    high, low = random.random(n) * 1e3, random.random(n) * 1e-9
    for second in (None, low):
        given = place.give((high, second))
        lower, upper = to_host(place.backend.long_run.drift_bounds(there, there.state, there.choice, *given, 1))
        least, most = REFERENCE.long_run.drift_bounds(chain, chain.state, chain.choice, high, second, 1)
        assert len(lower) == len(least) == rows
        assert ((lower <= most) & (least <= upper)).all()
        assert (upper - lower <= 1e-12 * max(np.abs(upper).max(), 1e3)).all()


# Regions.


class BoxWeights(Weights):
    def between(self, first: int, last: int) -> Any:
        return np.stack([self.at(step) for step in range(first, last)])


@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_regions(place: Place, seed: int, forward: bool) -> None:
    pattern, steps, boxes = random_rows(seed, 20, 4, forward=forward), 5, 3
    try:
        kernel = place.backend.regions.rows(pattern)
    except DeviceError:
        assert forward  # which a backend need not have
        return
    width = kernel.width(boxes)
    assert width >= boxes
    random = np.random.default_rng(seed)
    least = random.uniform(0, 0.05, (4, 1, width))
    rates = np.concatenate([least, least + random.uniform(0, 0.05, least.shape)], axis=1)
    x = np.sort(random.uniform(0, 1, (20, 2, width)), axis=1)
    watched = np.array([3, 0, 11], dtype=np.int32)
    weights = BoxWeights(steps, width)
    results = []
    for rows in (kernel, REFERENCE.regions.rows(pattern)):
        vectors = [rows.array(x), rows.array(x)]
        sums, changes = rows.place(np.zeros(3 * 2 * width)), np.empty(2 * width)
        swapped = rows.steps(rows.array(rates), weights).run(FIRST, steps, *vectors, watched, sums, changes, 1)
        results.append([*(to_host(rows.view(array, width)) for array in (vectors[swapped], sums)), changes])
    for mine, theirs in zip(*results, strict=True):
        close(mine, theirs, 1e-9)
