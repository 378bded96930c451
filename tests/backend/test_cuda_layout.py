"""Where entries lie on a device: every format holds the same matrix, and one that suits it is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from played.kernels import FileKernel
from systems import random_pair, to_host

from galton.backend.formats import FORMATS, ORDERS, Statistics, check_names, suitable
from galton.backend.protocol import Span, Stop
from galton.lang.source import GaltonError
from galton.solve.settings import Settings

ROW_ENDS, NO_ENTRY, COLUMN = 1 << 31, 1 << 30, (1 << 30) - 1
LANES = {"ell": 1, "sliced": 1, "half-sliced": 2}


def matrix(xp: Any, lengths: Any, groups: Any | None = None, *, size: int | None = None, seed: int = 1) -> Any:
    """A matrix with rows of these lengths and one-byte codes."""
    from galton.backend.cuda.layout import csr

    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    unknowns = size or (len(lengths) if groups is None else len(groups) - 1)
    columns = random.integers(0, unknowns, int(starts[-1])).astype(np.int32)
    codes = random.integers(0, 200, int(starts[-1])).astype(np.uint8)
    dictionary = np.sort(random.uniform(1e-5, 2e-4, 200))
    parts = (groups, starts, columns, codes, dictionary)
    return csr(*(None if part is None else xp.asarray(part) for part in parts))


def rows_in(layout: Any, name: str) -> Iterator[list[tuple[int, float]]]:
    """The columns and numbers of each row, read out of slices as their description says; a constant has no column."""
    words, codes, starts = (to_host(part).astype(np.int64) for part in (layout.columns, layout.codes, layout.starts))
    numbers = to_host(layout.codes) if layout.dictionary is None else to_host(layout.dictionary)[codes]
    words &= 0xFFFFFFFF
    groups = np.arange(layout.rows + 1) if layout.groups is None else to_host(layout.groups)
    lanes = LANES[name]
    for state in range(layout.size):
        slice_, place = divmod(state, 32 // lanes)
        line = (slice_ * 32 if name == "ell" else starts[slice_]) + place * lanes
        width = starts[0] if name == "ell" else 32
        for _ in range(groups[state + 1] - groups[state]):
            found: list[tuple[int, float]] = []
            ended = False
            while not ended:
                marks = {bool(word & ROW_ENDS) for word in words[line : line + lanes]}
                assert len(marks) == 1, "the lanes of a row end together"
                (ended,) = marks
                for place_ in range(line, line + lanes):
                    column = -1 if words[place_] & NO_ENTRY else int(words[place_] & COLUMN)
                    if column >= 0 or numbers[place_] != 0:
                        found.append((column, float(numbers[place_])))
                line += width
            yield found


@pytest.mark.parametrize("distinct", [3, 500, None])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("size", [1, 31, 32, 33, 100])
@pytest.mark.parametrize("name", LANES)
def test_slices_hold_the_equations(xp: Any, name: str, size: int, grouped: bool, distinct: int | None) -> None:
    """Entries times the scale of their row, then its constant; as codes of a byte, of two bytes, or as they are."""
    from galton.backend.cuda import layout as layouts

    random = np.random.default_rng(size)
    counts = random.integers(1, 5, size) if grouped else np.ones(size, dtype=np.int64)
    groups = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32) if grouped else None
    rows = int(counts.sum())
    source = matrix(xp, random.integers(0, 7, rows), groups)
    source = replace(source, codes=source.codes % (3 if distinct else 200), dictionary=source.dictionary)
    scale = random.choice(random.random(distinct or 10), rows) + 0.5 if distinct else None
    constant = np.where(random.random(rows) < 0.5, 0.0, random.choice([0.25, 3.0], rows))
    given = {"scale": None if scale is None else xp.asarray(scale), "constant": xp.asarray(constant)}
    layout = layouts.lay_out(source, name, **given)
    starts, columns, codes, dictionary = (
        to_host(part) for part in (source.starts, source.columns, source.codes, source.dictionary)
    )
    expected = []
    for row, (a, b) in enumerate(pairwise(starts)):
        factor = 1.0 if scale is None else scale[row]
        entries = list(zip(columns[a:b].tolist(), (factor * dictionary[codes[a:b]]).tolist(), strict=True))
        expected.append(entries + ([(-1, constant[row])] if constant[row] else []))
    assert list(rows_in(layout, name)) == expected
    assert layout.places == len(layout.columns)
    assert layout.dictionary is not None
    numbers = {number for row in expected for _, number in row} | {0.0}
    np.testing.assert_array_equal(to_host(layout.dictionary), sorted(numbers))
    assert layout.codes.itemsize == (1 if len(numbers) <= 256 else 2)
    if name == "sliced":
        places = layouts.measure(source, given["constant"]).places
        assert places == pytest.approx(layout.places / max(sum(map(len, expected)), 1))


def test_slices_of_many_numbers(xp: Any) -> None:
    """More than two bytes can tell apart."""
    from galton.backend.cuda.layout import lay_out
    from galton.backend.cuda.system import System

    source, size = matrix(xp, np.full(20_000, 4)), 20_000
    values, x = np.random.default_rng(1).random((2, 80_000))
    layout = lay_out(replace(source, codes=xp.asarray(values), dictionary=None), "sliced")
    assert layout.dictionary is None
    found = [number for row in rows_in(layout, "sliced") for _, number in row]
    np.testing.assert_array_equal(found, values)
    after = xp.asarray(x[:size].copy())
    System(layout, None, xp.zeros(size), 0, compact=True).jacobi(after, after.copy(), None, Span(0, size), Stop(1))
    expected = (values * x[to_host(source.columns)]).reshape(size, 4).sum(axis=1)
    np.testing.assert_allclose(to_host(after), expected, rtol=1e-14)


def test_only_sweeps_read_slices(xp: Any) -> None:
    """Slices with wrong numbers in them: sweeps go wrong, and nothing else does; nor sweeps whose constants change."""
    from galton.backend.cuda.layout import lay_out
    from galton.backend.cuda.system import System

    groups = np.arange(0, 201, 2).astype(np.int32)
    source, constant = matrix(xp, np.full(200, 3), groups), xp.asarray(np.full(200, 0.5))
    slices = lay_out(source, "sliced", constant=constant)
    assert slices.dictionary is not None
    wrong = replace(slices, dictionary=slices.dictionary * 2)
    x, chosen = xp.asarray(np.full(100, 0.5)), xp.asarray(groups[:-1])

    def asked(layout: Any, *, compact: bool) -> tuple[Any, Any]:
        system = System(layout, None, constant, 1, compact=compact)
        best, by_choice = x.copy(), x.copy()
        system.jacobi(best, x.copy(), None, Span(0, 100), Stop(1))
        system.jacobi(by_choice, x.copy(), chosen, Span(0, 100), Stop(1))
        values, product, weights, upper = xp.empty(200), xp.empty(100), xp.zeros(200), x * 2
        system.row_values(x, values, Span(0, 100))
        system.multiply(x, product, chosen, with_constant=True)
        system.weigh_rows(x, chosen, weights, Span(0, 100), near=0.5, share=0.2)
        FileKernel.launches = 0  # a sweep in place: played threads take turns in the same order each time
        system.propagate(x.copy(), upper, Span(0, 100), 1e-15)
        answers = [system.defect(x, Span(0, 100)), system.growth(x, x, Span(0, 100))]
        answers += [system.is_above(x * 1.02, Span(0, 100), 1e-15), system.is_below(x, Span(0, 100), 1e-15)]
        return to_host(best), [*map(to_host, (by_choice, values, product, weights, upper)), answers]

    best, others = asked(source, compact=True)
    for layout, compact in ((slices, True), (wrong, True), (wrong, False)):
        found, rest = asked(layout, compact=compact)
        assert np.allclose(found, best, rtol=1e-14) == (layout is slices or not compact)
        for mine, theirs in zip(rest, others, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_statistics(xp: Any) -> None:
    from galton.backend.cuda.layout import measure

    lengths = np.random.default_rng(3).integers(0, 50, 100_000)
    seen = measure(matrix(xp, lengths))
    assert (seen.rows, seen.entries, seen.longest) == (100_000, lengths.sum(), 49)
    assert seen.mean == pytest.approx(lengths.mean())
    assert seen.spread == pytest.approx(lengths.std())


@pytest.mark.parametrize(
    "lengths", ["one long", "long and empty", "all in one", "to the chunk", "empty at the end", "mixed"]
)
def test_segmented_sums(xp: Any, lengths: str) -> None:
    """Rows that many warps share, and warps that have many rows; rounded to either side of the truth."""
    from galton.backend.cuda.layout import lay_out
    from galton.backend.cuda.system import _Segmented

    random = np.random.default_rng(5)
    of_rows = {
        "one long": np.where(np.arange(300) == 77, 5000, random.integers(0, 4, 300)),
        "long and empty": np.where(random.random(200) < 0.05, 700, 0),
        "all in one": np.array([20_000]),
        "to the chunk": np.array([1024, 0, 1023, 1, 0, 2048, 1024, 1, 1023, 3000, 0]),
        "empty at the end": np.array([0, 0, 33, 15, 16, 17, 0, 0, 0] + [0] * 40),
        "mixed": random.choice([0, 1, 2, 5, 15, 16, 17, 32, 33, 200], 900),
    }[lengths]
    source = matrix(xp, of_rows, size=len(of_rows))
    segmented = _Segmented(lay_out(source, "segmented"))
    x = random.uniform(0.1, 1.0, len(of_rows))
    parts = (to_host(source.starts), to_host(source.columns), to_host(source.codes), to_host(source.dictionary))
    starts, columns, codes, dictionary = parts
    products = [Fraction(a) * Fraction(b) for a, b in zip(dictionary[codes], x[columns], strict=True)]
    exact = [sum(products[a:b], Fraction(0)) for a, b in pairwise(starts)]
    found = {}
    for rounding in (-1, 0, 1):
        segmented.run(xp.asarray(x), rounding)
        found[rounding] = to_host(segmented.sums).copy()
    np.testing.assert_allclose(found[0], [float(number) for number in exact], rtol=1e-12)
    assert all(low <= number for low, number in zip(found[-1], exact, strict=True))
    assert all(number <= high for number, high in zip(exact, found[1], strict=True))
    np.testing.assert_allclose(found[-1], found[1], rtol=1e-11)
    assert (found[-1] < found[1]).any()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("optimum", [0, 1])
def test_long_rows(xp: Any, name: str, optimum: int) -> None:
    """As many threads a row as there are: the same values."""
    from galton.backend.cuda.layout import csr, lay_out
    from galton.backend.cuda.system import System

    for length in (30, 100, 200):
        pair = random_pair(np.random.default_rng(2), size=70, optimum=optimum, values="1 byte", length=length)
        source = pair.reference.matrix
        parts = (source.groups, source.starts, source.columns, source.values, source.dictionary)
        scale, constant = xp.asarray(pair.reference.scale), xp.asarray(pair.reference.constant)
        rows = csr(*(None if part is None else xp.asarray(part) for part in parts))
        system = System(lay_out(rows, name, scale=scale, constant=constant), scale, constant, optimum, compact=True)
        x = np.random.default_rng(3).random(70)
        values, expected = xp.empty(pair.rows), np.empty(pair.rows)
        system.row_values(xp.asarray(x), values, Span(0, 70))
        pair.reference.row_values(x, expected, Span(0, 70))
        np.testing.assert_allclose(to_host(values), expected, rtol=1e-12)
        swept, expected = xp.asarray(x), x.copy()
        system.jacobi(swept, swept.copy(), None, Span(0, 70), Stop(1))
        pair.reference.jacobi(expected, x.copy(), None, Span(0, 70), Stop(1))
        np.testing.assert_allclose(to_host(swept), expected, rtol=1e-12)
        assert system.bytes_per_sweep >= 5 * len(source.columns) + 16 * 70


def test_bytes_of_a_sweep(xp: Any) -> None:
    """Counted by hand: 64 rows of two entries, and every second with a constant."""
    from galton.backend.cuda.layout import lay_out
    from galton.backend.cuda.system import System

    source, constant = matrix(xp, np.full(64, 2)), xp.asarray(np.arange(64) % 2 * 1.0)
    moved = {}
    for name in FORMATS:
        layout = lay_out(source, name, constant=constant)
        moved[name] = System(layout, None, constant, 0, compact=True).bytes_per_sweep
    vectors, entries, codes = 64 * 16, 128 * 5, 64
    assert moved["csr"] == moved["csr-vector"] == vectors + entries + codes + 65 * 4
    assert moved["sliced"] == vectors + 64 * 3 * 5 + 3 * 4
    assert moved["half-sliced"] == vectors + 64 * 4 * 5 + 5 * 4
    assert moved["ell"] == vectors + 64 * 3 * 5 + 2 * 4
    assert moved["segmented"] == moved["csr"] + 2 * (64 * 8 + 12)


def seen(**what: Any) -> Statistics:
    usual = {"rows": 10**6, "entries": 4 * 10**6, "mean": 4.0, "spread": 1.0, "longest": 6, "places": 1.1}
    return Statistics(**{**usual, **what})


def test_what_suits_a_matrix() -> None:
    name, why = suitable(seen())
    assert name == "sliced"
    assert why == "rows of 4.0 ± 1.0, the longest 6, 1.10 places a number in slices"
    assert suitable(seen(places=3.0))[0] == "csr"
    assert suitable(seen(mean=400.0, longest=3200))[0] == "csr-vector"
    assert suitable(seen(mean=400.0, longest=3201)) == ("segmented", "rows of 400.0 ± 1.0, the longest 3,201")


def test_one_is_chosen(xp: Any) -> None:
    from galton.backend.cuda.formats import in_format

    assert in_format(matrix(xp, np.full(100, 3))).name == "csr"
    assert in_format(matrix(xp, np.full(100, 30))).name == "csr-vector"
    assert in_format(matrix(xp, np.where(np.arange(3000) % 20, 1, 40))).name == "csr"
    assert in_format(matrix(xp, np.full(3000, 40))).name == "csr-vector"
    assert in_format(matrix(xp, np.where(np.arange(3000) % 20, 1, 900))).name == "segmented"
    chosen = in_format(matrix(xp, np.repeat([3, 5], 15_008)))
    assert chosen.name == "sliced"
    assert chosen.reason == "rows of 4.0 ± 1.0, the longest 5, 1.00 places a number in slices"
    assert str(chosen) == "slices of 32, 1-byte numbers of 201 values"
    asked = in_format(matrix(xp, np.full(100, 3)), "half-sliced")
    assert (asked.name, asked.reason) == ("half-sliced", "as asked")


def test_variants(xp: Any) -> None:
    """However many lines are read at a time, in whatever blocks."""
    from galton.backend.cuda.layout import Variant, lay_out
    from galton.backend.cuda.system import System

    groups = np.arange(0, 301, 3).astype(np.int32)
    source, constant = matrix(xp, np.arange(300) % 7, groups), xp.asarray(np.arange(300) % 4 / 8)
    found = []
    for variant in (Variant(), Variant(1, 128, True), Variant(8, 512)):
        layout = replace(lay_out(source, "sliced", constant=constant), variant=variant)
        x = xp.asarray(np.linspace(0.1, 0.9, 100))
        System(layout, None, constant, 1, compact=True).jacobi(x, x.copy(), None, Span(0, 100), Stop(3))
        found.append(to_host(x))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_names_that_nobody_has() -> None:
    for name in FORMATS:
        check_names(name, None)
    for name in ORDERS:
        check_names(None, name)
    with pytest.raises(GaltonError, match=r"there is no format 'slice'; did you mean 'sliced'\? \(there are csr, "):
        Settings(format="slice")
    with pytest.raises(GaltonError, match=r"there is no order 'dfs'"):
        Settings(order="dfs")


def test_orders() -> None:
    """A path that is numbered at random: both orders find it again."""
    from galton.reduce.renumbering import places

    random = np.random.default_rng(4)
    number = random.permutation(50)
    following = np.empty(50, dtype=np.int32)
    following[number[:-1]], following[number[-1]] = number[1:], number[-1]
    starts = np.arange(51, dtype=np.int32)
    bfs = places("bfs", None, starts, following, number[:1])
    np.testing.assert_array_equal(bfs[number], np.arange(50))
    rcm = places("rcm", None, starts, following, number[:1])
    assert (np.abs(np.diff(rcm[number].astype(np.int64))) == 1).all()
    # Begun in the middle, what comes before is not found, and keeps its order behind the rest.
    bfs = places("bfs", None, starts, following, number[20:21])
    np.testing.assert_array_equal(bfs[number[20:]], np.arange(30))
    np.testing.assert_array_equal(np.sort(bfs), np.arange(50))


def test_orders_of_rows_in_groups() -> None:
    from galton.reduce.renumbering import places

    groups, starts = np.array([0, 2, 3, 4], dtype=np.int32), np.array([0, 1, 3, 3, 4], dtype=np.int64)
    columns = np.array([2, 2, 0, 1], dtype=np.int32)  # 0 leads to 2, which leads to 1, which leads nowhere
    np.testing.assert_array_equal(places("bfs", groups, starts, columns, np.array([0])), [0, 2, 1])
    assert sorted(places("rcm", groups, starts, columns, np.array([0]))) == [0, 1, 2]
