"""States with very many rows on a device: what blocks find together is what one thread finds alone, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from scipy.sparse import csr_array
from test_cuda_restrict import moved
from test_cuda_steps import device_part

import galton
from galton.backend.formats import MANY_ROWS, Statistics, suitable
from galton.backend.protocol import Span, Stop
from galton.backend.reference import steps as reference_steps
from galton.backend.reference import system as reference
from galton.backend.steps import Bellman
from galton.checking.strategies.strategy_file import read_memory, read_strategy, write_strategy
from galton.device.moving import to_host
from galton.explore import build
from galton.model.sparse import Model
from galton.model.values import Values
from galton.reduce.restriction import restrict

SIZE, GIVEN = 60, 12  # unknowns; all rows refer to the first of them, which have one row each
MANY = {15: 257, 16: 256, 20: 3000, 21: 300, 37: 2048, 38: 2049, 59: 700}  # rows of some; the others have up to three
SLACK = 8 * 2.0**-52
OPTIMA = {"min": -1, "max": 1}
CASES = [
    ("csr", "1 byte", "min", 2048),
    ("csr", "plain", "max", 64),
    ("csr-vector", "2 bytes", "max", 64),
    ("segmented", "1 byte", "min", 2048),
]


def counts_of(random: np.random.Generator) -> Any:
    counts = random.integers(1, 4, SIZE)
    counts[:GIVEN] = 1
    counts[list(MANY)] = list(MANY.values())
    return counts


@contextmanager
def wide_from(rows: int, chunk: int = 2048) -> Iterator[None]:
    """Unknowns with more rows than that are wide, and blocks have so many."""
    with patch.multiple("galton.backend.cuda.wide", MANY_ROWS=rows, CHUNK_ROWS=chunk):
        yield


@dataclass(frozen=True)
class Case:
    """Equations whose numbers are so few, and so short, that many rows are worth exactly the same."""

    layout: str
    values: str
    optimum: int
    chunk: int
    xp: ModuleType

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        """The matrix, the scales and the constants."""
        random = np.random.default_rng(self.chunk)
        groups = np.concatenate([[0], np.cumsum(counts_of(random))]).astype(np.int32)
        lengths = random.integers(0, 3, groups[-1])
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64 if self.values == "plain" else np.int32)
        columns = random.integers(0, GIVEN, starts[-1]).astype(np.int32)
        dictionary = np.array([0.125, 0.25])
        codes = random.integers(0, 2, starts[-1]).astype(np.uint16 if self.values == "2 bytes" else np.uint8)
        scale = random.choice([0.5, 1.0], groups[-1])
        # The third differs by less than is a reason to leave a row.
        constant = random.choice([0.0, 0.25, 0.25 * (1 + 2.0**-48), 0.5], groups[-1], p=[0.4, 0.2, 0.2, 0.2])
        plain = (dictionary[codes], None) if self.values == "plain" else (codes, dictionary)
        return groups, starts, columns, *plain, scale, constant

    @cached_property
    def reference(self) -> reference.System:
        *matrix, scale, constant = self.parts
        return reference.System(reference.Matrix(*matrix), scale, constant, self.optimum)

    def system(self, many: int = MANY_ROWS) -> Any:
        """On the device; wide from so many rows on."""
        from galton.backend.cuda.layout import csr, lay_out
        from galton.backend.cuda.system import System

        groups, starts, columns, codes, dictionary, scale, constant = map(self.give, self.parts)
        with wide_from(many, self.chunk):
            layout = lay_out(csr(groups, starts, columns, codes, dictionary), self.layout)
            assert (layout.wide is None) == (many > 3000)  # from here on it stays as it is
            if layout.wide is not None and many == MANY_ROWS:
                assert layout.wide.unknowns == len(MANY) - 1
        return System(layout, scale, constant, self.optimum, compact=self.values != "plain")

    @cached_property
    def both(self) -> tuple[Any, Any]:
        """With blocks for the wide states, and without."""
        return self.system(), self.system(10**6)

    def give(self, array: Any) -> Any:
        return None if array is None else self.xp.asarray(array)

    def x(self) -> Any:
        return np.random.default_rng(2).choice([0.5, 1.0], SIZE)

    def some_rows(self) -> Any:
        groups = self.parts[0]
        return (groups[:-1] + np.random.default_rng(3).integers(0, np.diff(groups))).astype(np.int32)

    def same(self, ask: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
        """What both answer, asked twice: blocks leave nothing behind for the next launch."""
        wide, narrow = self.both
        first, second, alone = (to_host(ask(system)) for system in (wide, wide, narrow))
        for found in (first, second):
            for mine, theirs in zip(found, alone, strict=True):
                np.testing.assert_array_equal(mine, theirs)
        return tuple(first)


@pytest.fixture(params=CASES, ids=lambda given: " ".join(map(str, given)))
def case(request: pytest.FixtureRequest, xp: Any) -> Case:
    layout, values, optimum, chunk = request.param
    return Case(layout, values, OPTIMA[optimum], chunk, xp)


SPANS = [Span(0, SIZE), Span(16, 38)]


def test_there_are_ties(case: Case) -> None:
    """Or the others would not show which row is taken."""
    groups, values = case.parts[0], np.empty(case.parts[0][-1])
    case.reference.row_values(case.x(), values, Span(0, SIZE))
    best = np.minimum if case.optimum < 0 else np.maximum
    tied = [int((part == best.reduce(part)).sum()) for part in np.split(values, groups[1:-1])]
    assert sum(tied[unknown] > 1 for unknown in MANY) > 3
    apart = abs(values - 0.25)
    assert ((apart > 0) & (apart < 1e-14)).any()


def test_sweeps(case: Case) -> None:
    dtype = np.float32 if case.values == "plain" else np.float64
    for span, omega in zip(SPANS, (1.0, 0.75), strict=True):
        for chosen in (None, case.some_rows()):

            def swept(system: Any, span: Span = span, chosen: Any = chosen, omega: float = omega) -> Any:
                x = case.give(case.x().astype(dtype))
                done, change = system.jacobi(x, x.copy(), case.give(chosen), span, Stop(2), omega=omega)
                return x, done, change

            x, *_ = case.same(swept)
            expected = case.x()
            case.reference.jacobi(expected, expected.copy(), chosen, span, Stop(2), omega=omega)
            np.testing.assert_allclose(x, expected, rtol=1e-15 if dtype == np.float64 else 1e-6)


def test_sweeps_in_place(case: Case) -> None:
    """No row refers to an unknown of the span: whose turn it is makes no difference."""

    def swept(system: Any) -> Any:
        x = case.give(case.x())
        return x, *system.gauss_seidel(x, None, None, Span(GIVEN, SIZE), Stop(3))

    case.same(swept)


def test_improve(case: Case) -> None:
    """The first best row is taken, and the one that was taken before kept where it is as good."""
    groups, span = case.parts[0], Span(GIVEN, SIZE)
    for before in (groups[:-1], groups[1:] - 1, case.some_rows()):

        def improved(system: Any, before: Any = before) -> Any:
            x, chosen = case.give(case.x()), case.give(before.astype(np.int32))
            changed, change = system.improve(x, None, chosen, span)
            return x, chosen, bool(changed), change

        x, chosen, changed, change = case.same(improved)
        expected, rows = case.x(), before.astype(np.int32)
        known, moved_by = case.reference.improve(expected, expected.copy(), rows, span)
        np.testing.assert_array_equal(chosen, rows)
        np.testing.assert_allclose(x, expected, rtol=1e-15)
        assert (changed, change) == (known > 0, pytest.approx(moved_by, rel=1e-12))


def test_looks(case: Case) -> None:
    """Whatever only looks, over all unknowns and some."""
    x, w = case.x(), 3 * case.x()[::-1].copy()
    groups, first = case.parts[0], case.parts[0][:-1].astype(np.int32)
    free = np.where(np.arange(SIZE) % 4 == 0, x, 0.0)
    free[:GIVEN] = 0.0  # so that rows without a constant are worth nothing
    for span in SPANS:

        def looked(system: Any, span: Span = span) -> Any:
            values, weights = (case.xp.zeros(int(n)) for n in (groups[span.last] - groups[span.first], groups[-1]))
            system.row_values(case.give(x), values, span)
            system.weigh_rows(case.give(x), case.give(first), weights, span, near=0.5, share=0.2)
            left = system.left_to_delta(case.give(x), case.give(w), weights, span, share=0.2)
            chosen = case.give(np.full(SIZE, -1, dtype=np.int32))
            system.take_free_rows(case.give(free), chosen, span)
            growth = system.growth(case.give(w), case.give(x), span)
            return values, weights, left, chosen, growth, system.defect(case.give(x), span)

        values, weights, left, chosen, growth, defect = case.same(looked)
        expected, constants = np.empty(len(values)), np.zeros(groups[-1])
        rows = np.full(SIZE, -1, dtype=np.int32)
        case.reference.row_values(x, expected, span)
        np.testing.assert_allclose(values, expected, rtol=1e-15)
        case.reference.weigh_rows(x, first, constants, span, near=0.5, share=0.2)
        np.testing.assert_array_equal(weights, constants)
        case.reference.take_free_rows(free, rows, span)
        np.testing.assert_array_equal(chosen, rows)
        assert (rows[list(MANY)] > first[list(MANY)]).any()
        assert left == pytest.approx(case.reference.left_to_delta(x, w, constants, span, share=0.2), rel=1e-12)
        assert growth == pytest.approx(case.reference.growth(w, x, span), rel=1e-12)
        assert defect == pytest.approx(case.reference.defect(x, span), rel=1e-12)


def test_proofs(case: Case) -> None:
    """Bounds rounded outward have the same bits; they are proved, and one bit less of a wide state is not."""
    span = Span(GIVEN, SIZE)
    x = case.x()
    case.reference.jacobi(x, x.copy(), None, span, Stop(1))
    below, above = x.copy(), x.copy()
    below[span.part], above[span.part] = x[span.part] / 2, x[span.part] * 2

    def propagated(system: Any) -> Any:
        lower, upper = case.give(below), case.give(above)
        system.propagate(lower, upper, span, SLACK)
        return lower, upper

    lower, upper = case.same(propagated)
    assert (lower <= x).all()
    assert (x <= upper).all()
    np.testing.assert_allclose(lower, upper, rtol=1e-13)

    def proved(system: Any, lower: Any, upper: Any) -> Any:
        return system.is_below(case.give(lower), span, SLACK), system.is_above(case.give(upper), span, SLACK)

    assert case.same(lambda system: proved(system, lower, upper)) == (True, True)
    for unknown in (*MANY, SIZE - 2):
        less, more = upper.copy(), lower.copy()
        less[unknown], more[unknown] = np.nextafter(upper[unknown], -9), np.nextafter(lower[unknown], 9)
        assert case.same(lambda system, less=less, more=more: proved(system, more, less)) == (False, False)
    for wrong in (np.inf, np.nan, -1.0):
        assert not case.same(lambda system, wrong=wrong: proved(system, np.full(SIZE, wrong), upper))[0]
    assert not case.same(lambda system: proved(system, lower, np.full(SIZE, np.nan)))[1]


def test_a_row_that_is_no_number_proves_nothing(case: Case) -> None:
    """Wherever among the rows of a wide state it is: an entry of 0 times infinity."""
    groups, starts, columns, codes, dictionary, *rest = case.parts
    unknown, high = 20, np.full(SIZE, 100.0)
    high[3] = np.inf
    for row in (groups[unknown], groups[unknown] + 1700, groups[unknown + 1] - 1):
        inserted, at = starts.copy(), starts[row]
        inserted[row + 1 :] += 1
        values = codes if dictionary is None else dictionary[codes]
        parts = (groups, inserted, np.insert(columns % 3, at, 3), np.insert(values, at, 0.0), None, *rest)
        other = Case(case.layout, "plain", case.optimum, case.chunk, case.xp)
        vars(other)["parts"] = parts
        assert other.system().is_above(case.give(np.full(SIZE, 100.0)), Span(unknown, unknown + 1), SLACK)
        assert not other.system().is_above(case.give(high), Span(unknown, unknown + 1), SLACK)


def test_solutions(xp: Any) -> None:
    """Rows that refer to all unknowns, sweeps in place and better rows until nothing changes: against the core."""
    from galton import _core
    from galton.backend.cuda.layout import csr
    from galton.backend.cuda.system import System

    random = np.random.default_rng(5)
    groups = np.concatenate([[0], np.cumsum(counts_of(random))]).astype(np.int32)
    starts = np.arange(0, 2 * groups[-1] + 1, 2, dtype=np.int32)
    columns = random.integers(0, SIZE, starts[-1]).astype(np.int32)
    values, constant = random.uniform(0.1, 0.45, starts[-1]), random.random(groups[-1])
    for optimum in OPTIMA.values():
        core = _core.System(_core.Matrix(groups, starts, columns, values, None), None, constant, optimum)
        expected, span = np.zeros(SIZE), Span(0, SIZE)
        core.gauss_seidel(expected, expected.copy(), None, span, Stop(2000, 1e-15))
        with wide_from(MANY_ROWS, 500):
            layout = csr(*map(xp.asarray, (groups, starts, columns, values)), None)
            system = System(layout, None, xp.asarray(constant), optimum, compact=True)
            x, y, chosen = xp.zeros(SIZE), xp.zeros(SIZE), xp.asarray(groups[:-1].copy())
            assert system.gauss_seidel(x, None, None, span, Stop(2000, 1e-14))[1] <= 1e-14
            for _ in range(500):
                changed, change = system.improve(y, None, chosen, span)
                if not changed and change <= 1e-14:
                    break
        assert not changed
        np.testing.assert_allclose(to_host(x), expected, rtol=1e-12)
        np.testing.assert_allclose(to_host(y), expected, rtol=1e-12)
        rows = np.empty(groups[-1])
        core.row_values(expected, rows, span)
        np.testing.assert_allclose(rows[to_host(chosen)], expected, rtol=1e-12)


def test_parts(xp: Any) -> None:
    """Each part has its own wide unknowns; a device may have two parts."""
    from galton.backend.cuda.split.equations import matrix

    case = Case("csr", "plain", 1, 64, xp)
    groups, starts, columns, values, _, scale, constant = map(case.give, case.parts)
    given = (groups, starts, columns, Values(plain=values), scale, constant)
    rows, span = matrix(*given, format=None, devices=(0, 0)), Span(0, SIZE)
    x, expected = case.give(case.x()), case.x()
    rows.system(constant, "max", compact=True).jacobi(x, None, None, span, Stop(2))
    case.reference.jacobi(expected, expected.copy(), None, span, Stop(2))
    np.testing.assert_allclose(to_host(x), expected, rtol=1e-15)
    rows.system(constant, "max", compact=True).gauss_seidel(x, None, None, span, Stop(300, 1e-14))
    prover, solution = rows.prover(constant, "max"), to_host(x)
    assert prover.is_above(case.give(solution * (1 + 1e-9) + 1e-12), span, SLACK)
    for unknown in MANY:
        wrong = solution * (1 + 1e-9) + 1e-12
        wrong[unknown] *= 1 - 1e-6
        assert not prover.is_above(case.give(wrong), span, SLACK)


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("single", [False, True])
def test_steps(xp: Any, maximise: bool, single: bool) -> None:
    """Of a model with a state of three thousand choices, with the choices of each step, and what is watched."""
    random = np.random.default_rng(6)
    groups = np.concatenate([[0], np.cumsum(counts_of(random))])
    rows, columns = np.repeat(np.arange(groups[-1]), 2), random.integers(0, SIZE, 2 * groups[-1])
    matrix = csr_array((np.full(len(rows), 0.5), (rows, columns)), shape=(int(groups[-1]), SIZE))
    model = Model.from_matrix("mdp", matrix, row_groups=groups)
    assert model.choice_starts is not None
    start = random.choice([0.25, 0.5, 1.0], SIZE)
    given = (model.to_scipy(), model.choice_starts, np.zeros(groups[-1]), maximise, 5, start)
    x, chosen, expected = reference_steps.bellman_steps(*given)
    with wide_from(MANY_ROWS, 500):
        part = device_part(model, None, xp).in_format(None, single=single)
        step = Bellman(part, xp.array(start.astype(np.float32 if single else np.float64)), None, maximise)
        found = np.empty(5 * SIZE, dtype=np.int32)
        extremes = step.advance(5, found)
    np.testing.assert_array_equal(to_host(step.x), x)  # all numbers are short
    np.testing.assert_array_equal(found.reshape(5, SIZE), chosen)
    np.testing.assert_allclose(extremes, expected, rtol=1e-12)


def test_formats(xp: Any) -> None:
    """Nobody lays a state of three thousand rows beside others, and this is said."""
    from galton.backend.cuda.formats import in_format
    from galton.backend.cuda.layout import csr
    from galton.backend.cuda.steps import StepMatrix

    usual = {"rows": 10**6, "entries": 4 * 10**6, "mean": 4.0, "spread": 1.0, "longest": 6, "places": 1.1}
    why = "rows of 4.0 ± 1.0, the longest 6, 7 unknowns with more than 256 rows"
    assert suitable(Statistics(**usual, wide=7)) == ("csr", why)  # type: ignore[arg-type]
    groups = np.concatenate([[0], np.cumsum(counts_of(np.random.default_rng(1)))]).astype(np.int32)
    starts = np.arange(0, 9 * groups[-1] + 1, 9, dtype=np.int32)
    entries = (np.zeros(starts[-1], dtype=np.int32), np.full(starts[-1], 0.1))
    parts = tuple(map(xp.asarray, (groups, starts, *entries)))
    rows = csr(*parts, None)
    chosen = in_format(rows)
    assert chosen.name == "csr"
    assert chosen.reason == "rows of 9.0 ± 0.0, the longest 9, 6 unknowns with more than 256 rows"
    for name in ("ell", "sliced", "half-sliced"):
        asked = in_format(rows, name)
        assert (asked.name, asked.reason) == ("csr", "6 unknowns with more than 256 rows, no slices")
        steps = StepMatrix(*parts, None, format=name)
        assert steps.layout.reason == asked.reason
    assert in_format(rows, "segmented").name == "segmented"


def test_progress(xp: Any) -> None:
    """Equations of components with three hundred rows, of which one leads to the component before, and at last out."""
    from galton.backend.cuda import restrict as device

    # Ten components of 100 states, each a round, from which all other rows lead to the component behind, or back to the
    # one before the last.
    out, way, here = 1000, 57, np.arange(1000)
    following = np.where(here % 100 == 99, here - 99, here + 1)
    behind = np.where(here < 900, here + 100, here - 100)
    before = np.where(here % 100 == way, np.where(here < 100, out, here - 100), behind)
    columns = np.append(np.stack([following, behind, behind, before], axis=1).ravel(), out)
    groups = np.append(np.arange(0, 4 * out + 1, 4), 4 * out + 1)
    matrix = csr_array((np.ones(len(columns)), (np.arange(len(columns)), columns)), shape=(len(columns), out + 1))
    model = Model.from_matrix("mdp", matrix, row_groups=groups)
    component = np.append(here // 100, -1).astype(np.int32)
    open_states, known = component >= 0, np.zeros(out + 1)
    keep = np.append(np.arange(4 * out) % 4 > 0, True)
    members, parts = here.astype(np.int32), np.arange(0, out + 1, 100, dtype=np.int32)
    expected = restrict(model, members, known, keep=keep, groups=parts)
    number, unknowns = device.number_states(*map(xp.asarray, (open_states, component)))
    found = device.restrict(moved(model, xp), number, unknowns, xp.asarray(known), None, xp.asarray(keep))
    for name in ("groups", "starts", "columns", "rows"):
        np.testing.assert_array_equal(to_host(getattr(found, name)), getattr(expected, name), err_msg=name)
    assert np.diff(to_host(found.groups)).tolist() == [300] * 10
    taken = to_host(found.rows)[to_host(found.progress)]
    assert taken[:9].tolist() == [4 * (100 * unknown + way) + 3 for unknown in range(9)]
    assert component[taken[9] // 4] == 9


# A walker may go round for ever, or leave anywhere, for good or to come back: right with 0.96 where that is best.
ROUND = """
mdp
module walker
  x : [0..31]; y : [0..31]; s : [0..2]; tries : [0..3];
  [east]  s=0 -> (x'=mod(x+1,32));
  [north] s=0 -> (y'=mod(y+1,32));
  [leave] s=0 -> mod(7*x+11*y,97)/100 : (s'=1) + (1-mod(7*x+11*y,97)/100) : (s'=2);
  [again] s=0 & tries<3 -> mod(5*x+3*y,41)/200 : (s'=1) + 1/2 : (tries'=tries+1)
                           + (1/2-mod(5*x+3*y,41)/200) : (s'=2);
  [] s>0 -> true;
endmodule
"""


ANSWERS = {"Pmax=? [ F s=1 ]": 0.96, "Pmax=? [ F (s=1 & tries=2) ]": 0.24, "Pmax=? [ (F s=1) & (F x=9) ]": 0.96}


@pytest.mark.parametrize("question", ANSWERS)
def test_answers(xp: Any, question: str, tmp_path: Path) -> None:
    """Four end components of a thousand states, each with up to two thousand ways out; and the strategy is worth it."""
    program = galton.parse(ROUND)
    home = galton.check(program, question, strategy=True, device="cpu")
    with patch("galton.backend.cuda.layout.wide_unknowns", side_effect=wide_unknowns()) as asked:
        there = galton.check(program, question, strategy=True, device="cuda")
    assert asked.called
    assert there.device == "cuda", there.warnings
    assert there.warnings == home.warnings
    assert home.value == pytest.approx(ANSWERS[question], rel=1e-6)
    assert there.value == pytest.approx(home.value, rel=1e-6)
    assert there.strategy is not None
    file = tmp_path / "best.json"
    write_strategy(file, there.strategy, formula=question)
    memory = read_memory(file, program)
    strategy, _ = read_strategy(file, build(program, reader=memory), memory)
    worth = galton.check(strategy.induced(), question.replace("max", ""))
    assert worth.value == pytest.approx(home.value, rel=1e-6)


def wide_unknowns() -> Callable[[Any], Any]:
    """As it is, but for who asks for none."""
    from galton.backend.cuda.wide import wide_unknowns

    def found(groups: Any) -> Any:
        wide = wide_unknowns(groups)
        assert wide is not None
        return wide

    return found
