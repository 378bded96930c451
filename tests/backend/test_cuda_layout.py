"""Where entries lie on a device: every format holds the same matrix, and one that suits it is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from device import WHERE
from systems import random_pair

from galton.backend.formats import FORMATS, ORDERS, Statistics, candidates, check_names
from galton.lang.source import GaltonError
from galton.solve.settings import Settings

ROW_ENDS, NO_ENTRY, COLUMN = 1 << 31, 1 << 30, (1 << 30) - 1
LANES = {"ell": 1, "sliced": 1, "half-sliced": 2}


@pytest.fixture(scope="module", params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> Iterator[Any]:
    with WHERE[request.param]() as found:
        yield found


def taken(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array


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


def rows_in(layout: Any, name: str) -> Iterator[tuple[list[int], list[int]]]:
    """The columns and codes of each row, read out of slices as their description says."""
    words, codes, starts = (taken(part).astype(np.int64) for part in (layout.columns, layout.codes, layout.starts))
    words &= 0xFFFFFFFF
    groups = np.arange(layout.rows + 1) if layout.groups is None else taken(layout.groups)
    lanes = LANES[name]
    for state in range(layout.size):
        slice_, place = divmod(state, 32 // lanes)
        line = (slice_ * 32 if name == "ell" else starts[slice_]) + place * lanes
        width = starts[0] if name == "ell" else 32
        for _ in range(groups[state + 1] - groups[state]):
            found: tuple[list[int], list[int]] = ([], [])
            ended = False
            while not ended:
                marks = {bool(word & ROW_ENDS) for word in words[line : line + lanes]}
                assert len(marks) == 1, "the lanes of a row end together"
                (ended,) = marks
                for place_ in range(line, line + lanes):
                    if not words[place_] & NO_ENTRY:
                        found[0].append(int(words[place_] & COLUMN))
                        found[1].append(int(codes[place_]))
                line += width
            yield found


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("size", [1, 31, 32, 33, 100])
@pytest.mark.parametrize("name", LANES)
def test_slices_hold_the_rows(xp: Any, name: str, size: int, grouped: bool) -> None:
    from galton.backend.cuda.layout import lay_out, measure

    random = np.random.default_rng(size)
    counts = random.integers(1, 5, size) if grouped else np.ones(size, dtype=np.int64)
    groups = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32) if grouped else None
    source = matrix(xp, random.integers(0, 7, int(counts.sum())), groups)
    layout = lay_out(source, name)
    starts, columns, codes = (taken(part) for part in (source.starts, source.columns, source.codes))
    expected = [(list(columns[a:b]), list(codes[a:b])) for a, b in pairwise(starts)]
    assert list(rows_in(layout, name)) == expected
    assert measure(source).places[name] == pytest.approx(layout.places / max(len(columns), 1))
    assert layout.places == len(layout.columns)


def test_statistics(xp: Any) -> None:
    from galton.backend.cuda.layout import measure

    lengths = np.random.default_rng(3).integers(0, 50, 100_000)
    seen = measure(matrix(xp, lengths))
    assert (seen.rows, seen.entries, seen.longest) == (100_000, lengths.sum(), 49)
    assert seen.mean == pytest.approx(lengths.mean())
    assert seen.spread == pytest.approx(lengths.std())


@pytest.mark.parametrize("lengths", ["one long", "long and empty", "all in one", "empty at the end"])
def test_merged_sums(xp: Any, lengths: str) -> None:
    """Rows that many threads share, and threads that have many rows; rounded to either side of the truth."""
    from galton.backend.cuda.layout import lay_out
    from galton.backend.cuda.system import _Merged

    random = np.random.default_rng(5)
    of_rows = {
        "one long": np.where(np.arange(300) == 77, 5000, random.integers(0, 4, 300)),
        "long and empty": np.where(random.random(200) < 0.05, 700, 0),
        "all in one": np.array([20_000]),
        "empty at the end": np.array([0, 0, 33, 15, 16, 17, 0, 0, 0] + [0] * 40),
    }[lengths]
    source = matrix(xp, of_rows, size=len(of_rows))
    merged = _Merged(lay_out(source, "merge"))
    x = random.uniform(0.1, 1.0, len(of_rows))
    parts = (taken(source.starts), taken(source.columns), taken(source.codes), taken(source.dictionary))
    starts, columns, codes, dictionary = parts
    products = [Fraction(a) * Fraction(b) for a, b in zip(dictionary[codes], x[columns], strict=True)]
    exact = [sum(products[a:b], Fraction(0)) for a, b in pairwise(starts)]
    found = {}
    for rounding in (-1, 0, 1):
        merged.run(xp.asarray(x), rounding)
        found[rounding] = taken(merged.sums).copy()
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
        layout = lay_out(csr(*(None if part is None else xp.asarray(part) for part in parts)), name)
        numbers = (xp.asarray(pair.reference.scale), xp.asarray(pair.reference.constant))
        system = System(layout, *numbers, optimum, compact=True)
        x = np.random.default_rng(3).random(70)
        values, expected = xp.empty(pair.rows), np.empty(pair.rows)
        system.row_values(xp.asarray(x), values, 0, 70, 1)
        pair.reference.row_values(x, expected, 0, 70, 1)
        np.testing.assert_allclose(taken(values), expected, rtol=1e-12)
        assert system.bytes_per_sweep >= 5 * len(source.columns) + 16 * 70


def test_bytes_of_a_sweep(xp: Any) -> None:
    """Counted by hand: 64 rows of two entries."""
    from galton.backend.cuda.layout import lay_out
    from galton.backend.cuda.system import System

    source = matrix(xp, np.full(64, 2))
    moved = {}
    for name in FORMATS:
        constant = xp.zeros(64)
        moved[name] = System(lay_out(source, name), None, constant, 0, compact=True).bytes_per_sweep
    vectors, entries, codes = 64 * 16, 128 * 5, 64
    assert moved["csr"] == moved["csr-vector"] == vectors + entries + codes + 65 * 4
    assert moved["sliced"] == vectors + entries + codes + 3 * 4
    assert moved["half-sliced"] == vectors + entries + codes + 5 * 4
    assert moved["ell"] == vectors + entries + codes + 2 * 4
    assert moved["merge"] == moved["csr"] + 2 * (64 * 8 + 12 * 12)


def seen(**what: Any) -> Statistics:
    usual = {"rows": 10**6, "entries": 4 * 10**6, "mean": 4.0, "spread": 1.0, "longest": 6}
    places = {"sliced": 1.1, "half-sliced": 1.3, "ell": 1.5}
    return Statistics(**{**usual, "places": places, **what})


def test_what_suits_a_matrix() -> None:
    assert candidates(seen())[0] == ("sliced", "csr")
    even = {"sliced": 1.0, "half-sliced": 1.05, "ell": 1.01}
    assert candidates(seen(places=even))[0] == ("ell", "sliced")
    assert candidates(seen(places={**even, "ell": 1.2}))[0] == ("sliced", "half-sliced")
    assert candidates(seen(places={"sliced": 3.0, "half-sliced": 2.5, "ell": 9.0}))[0] == ("csr", "merge")
    assert candidates(seen(mean=20.0))[0] == ("csr-vector", "half-sliced")
    assert candidates(seen(mean=400.0))[0] == ("csr-vector",)
    names, why = candidates(seen(longest=10**6))
    assert names[0] == "merge"
    assert "uneven rows of 4.0 ± 1.0, the longest 1,000,000" in why


def test_one_is_chosen(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from galton.backend.cuda import formats

    assert formats.in_format(matrix(xp, np.full(100, 3))).name == "csr"
    assert formats.in_format(matrix(xp, np.full(100, 30))).name == "csr-vector"
    chosen = formats.in_format(matrix(xp, np.full(30_000, 3)))
    assert (chosen.name, chosen.places) == ("ell", 30_016 * 3)
    chosen = formats.in_format(matrix(xp, np.repeat([3, 5], 15_008)))
    assert chosen.name == "sliced"
    assert "rows of 4.0 ± 1.0, the longest 5, 1.00 places an entry in slices" in chosen.reason
    assert str(chosen) == "slices of 32, 1-byte numbers of 200 values"
    asked = formats.in_format(matrix(xp, np.full(100, 3)), "half-sliced")
    assert (asked.name, asked.reason) == ("half-sliced", "as asked")
    monkeypatch.setattr(formats, "LARGE", 1000)
    monkeypatch.setattr(formats, "seconds_per_sweep", lambda layout: {"ell": 2e-5, "sliced": 1e-5}[layout.name])
    chosen = formats.in_format(matrix(xp, np.full(30_000, 3)))
    assert chosen.name == "sliced"
    assert chosen.reason.endswith("; 10 µs a sweep, ELL 20")


def test_sweeps_are_timed(xp: Any) -> None:
    from galton.backend.cuda.formats import seconds_per_sweep
    from galton.backend.cuda.layout import lay_out

    groups = np.arange(0, 3001, 3).astype(np.int32)
    for source in (matrix(xp, np.full(3000, 3)), matrix(xp, np.full(3000, 3), groups)):
        for name in FORMATS:
            assert 0 < seconds_per_sweep(lay_out(source, name)) < 1


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
    from galton.solve.order import places

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
    from galton.solve.order import places

    groups, starts = np.array([0, 2, 3, 4], dtype=np.int32), np.array([0, 1, 3, 3, 4], dtype=np.int64)
    columns = np.array([2, 2, 0, 1], dtype=np.int32)  # 0 leads to 2, which leads to 1, which leads nowhere
    np.testing.assert_array_equal(places("bfs", groups, starts, columns, np.array([0])), [0, 2, 1])
    assert sorted(places("rcm", groups, starts, columns, np.array([0]))) == [0, 1, 2]
