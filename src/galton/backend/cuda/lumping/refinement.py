"""States that behave alike, on the device: blocks are split by hashes of signatures, as the C++ core does it.

A state and its hash find their block in a table. What a chance collision has left together is found in the end, when
every state is compared exactly with the first of its block; the work is then given up, for the CPU to do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ....device.arrays import offsets, repeated
from ....device.cuda.kernels import Kernels, kernels
from ...lumping import NO_LIMITS, LumpLimits, LumpRows, Partition
from ..graph.pattern import edges_of
from ..graph.search import OPEN, Step, turned_round

__all__ = ["HASH_BITS", "refine", "split"]

FILE = Path(__file__).with_name("lump.cu")
HASH_BITS = 64  # tests take fewer, so that hashes collide
PART = 4  # below a part of 1/PART of the states that moved, their predecessors are looked up
MOST_ROUNDS = 4096  # beyond that many, small ones, the CPU is quicker
MOST_PRIMES = 4  # of plain values, of which each needs 8 bytes an entry
BITS_OF_A_PRIME = 63
SHORT_ROW = 32  # entries of rows that are compared without sorting them, which takes no memory
# The largest primes below 2^64, by what they lack of it; those of src/core/lump/residues.hpp.
LACKING = (
    *(59, 83, 95, 179, 189, 257, 279, 323, 353, 363, 425, 453, 503, 743, 825, 843, 845, 897, 899, 935, 945, 1023, 1025),
    *(1077, 1079, 1235, 1275, 1323, 1379, 1469, 1475, 1487, 1505, 1517, 1569),
)


def split(keys: Any, block: Any) -> int:
    """Split blocks, in place, by numbers that their members have; how many there are then."""
    order = cp.argsort(keys, kind="stable")
    order = order[cp.argsort(block[order], kind="stable")]
    keys, old = keys[order], block[order]
    fresh = cp.zeros(len(keys), dtype=np.int32)
    fresh[1:] = (keys[1:] != keys[:-1]) | (old[1:] != old[:-1])
    numbers = cp.cumsum(fresh, dtype=np.int32)
    block[order] = numbers
    return int(numbers[-1]) + 1 if len(numbers) else 0


def refine(rows: LumpRows, block: Any, limits: LumpLimits = NO_LIMITS, threads: int = 1) -> Partition:
    """The coarsest stable partition that is finer than the one given; without first states where it was given up."""
    if rows.kinds is not None or rows.leaving:
        raise NotImplementedError("kinds of weights, and weights that do not count, are for the CPU")
    weights = _weights(rows)
    if weights is None:
        return Partition(block, None, 0, 0)
    return _Refinement.of(rows, block, weights).run(limits)


@dataclass(frozen=True, eq=False)
class _Weights:
    """Residues of values, modulo one prime after the other."""

    table: Any  # (primes, values)
    codes: Any | None
    lacking: Any  # (primes,)
    longest: int  # row

    @property
    def count(self) -> int:
        return int(self.table.shape[1])


def _weights(rows: LumpRows) -> _Weights | None:
    """The residues of all values modulo enough primes; None where that would take too much memory."""
    stored = rows.values.plain if rows.values.dictionary is None else rows.values.dictionary
    assert stored is not None
    program = _program(rows)
    bits = stored.view(np.uint64)
    reach = cp.asarray(np.array([2100, 0], dtype=np.int32))
    program.launch("reach", len(bits), bits, reach, len(bits))
    low, high = reach.get().tolist()
    longest = int(cp.diff(rows.row_starts).max())
    primes = (max(high - low, 0) + longest.bit_length() + 1) // BITS_OF_A_PRIME + 1
    if rows.values.dictionary is None and primes > MOST_PRIMES:
        return None
    table = cp.empty((primes, len(bits)), dtype=np.uint64)
    for prime in range(primes):
        program.launch("weigh", len(bits), bits, _powers(prime), table[prime], LACKING[prime], len(bits))
    return _Weights(table, rows.values.index, cp.asarray(np.array(LACKING[:primes], dtype=np.uint64)), longest)


def _powers(prime: int) -> Any:
    return cp.asarray(_powers_of_two(LACKING[prime]))


@cache
def _powers_of_two(lacking: int) -> Any:
    """Those that the last bits of doubles stand for, from 2^-1074 on, modulo a prime."""
    modulus = 2**64 - lacking
    found, power = [], pow(2, -1074, modulus)
    for _ in range(2046):
        found.append(power)
        power = 2 * power % modulus
    return np.array(found, dtype=np.uint64)


def _program(rows: LumpRows) -> Kernels:
    code = "unsigned short" if rows.values.index is not None and rows.values.index.itemsize == 2 else "unsigned char"
    return kernels(FILE, "OFFSET=int" if rows.row_starts.itemsize == 4 else "OFFSET=long long", f"CODE={code}")


def _room(size: int, dtype: Any) -> Any:
    return cp.zeros(size, dtype=dtype)


@dataclass(eq=False)
class _Refinement:
    """A partition on its way: of each block its size and the hash of its states, and room for a table."""

    rows: LumpRows
    weights: _Weights
    began: Any
    block: Any
    count: Any  # of blocks
    sizes: Any
    hashes: Any
    seen: Any
    largest: Any
    waiting: Any
    moved: Any
    listed: Any
    row_hashes: Any
    before: tuple[Any, Any] | None = None
    rounds: int = 0
    entries: float = 0.0
    tail: Any = field(default_factory=lambda: _room(1, np.uint64))

    @classmethod
    def of(cls, rows: LumpRows, block: Any, weights: _Weights) -> _Refinement:
        n, n_rows = rows.n_states, len(rows.row_starts) - 1
        sizes = _room(n, np.int32)
        known = cp.bincount(block).astype(np.int32)
        sizes[: len(known)] = known
        return cls(
            rows,
            weights,
            block,
            block.copy(),
            cp.asarray(np.array([len(known)], dtype=np.int32)),
            sizes,
            _room(n, np.uint64),
            _room(n, np.int32),
            _room(n, np.uint64),
            _room(n // 32 + 1, np.uint32),
            cp.empty(n, dtype=np.int32),
            cp.empty(n, dtype=np.int32),
            _room(n_rows if rows.choice_starts is not None else 1, np.uint64),
        )

    def run(self, limits: LumpLimits) -> Partition:
        looked_at = self.rows.n_states
        everything = True
        while looked_at:
            self._split(looked_at, everything)
            moved = int(self.tail[0])
            given_up = self.rounds >= MOST_ROUNDS and not everything
            most = min(limits.blocks, self.rows.n_states)
            if given_up or int(self.count[0]) > most or self.entries > limits.entries:
                return Partition(self.block, None, self.rounds, int(self.entries))
            looked_at, everything = self._next(moved)
        first = self._first()
        return Partition(self.block, first, self.rounds, int(self.entries))

    @property
    def _arrays(self) -> tuple[Any, ...]:
        """The first arguments of kernels that look at rows."""
        weights = self.weights
        return (*edges_of(self.rows), weights.codes, weights.table, weights.count, self.rows.marks, self.block)

    def _split(self, count: int, everything: bool) -> None:
        """Split blocks by the hashes of the states looked at; ``tail`` says how many moved."""
        program = _program(self.rows)
        n_slots = 1 << max(6, (2 * count - 1).bit_length())
        keys, signatures = _room(n_slots, np.uint64), cp.empty(n_slots, dtype=np.uint64)
        owners, numbers = cp.empty(n_slots, dtype=np.int32), cp.empty(n_slots, dtype=np.int32)
        counts, slots = _room(n_slots, np.int32), cp.empty(count, dtype=np.int32)
        listed = None if everything else self.listed
        table = (keys, signatures, owners, counts, self.seen, slots, n_slots - 1)
        hashing = (self.row_hashes, LACKING[0], HASH_BITS, listed, self.waiting)
        program.launch("look", count, *self._arrays, *hashing, *table, count)
        program.launch("find_largest", n_slots, keys, owners, counts, self.seen, self.sizes, self.largest, n_slots)
        groups = (keys, signatures, owners, counts, self.largest, self.hashes, self.sizes, numbers, self.count)
        program.launch("number_groups", n_slots, *groups, self.rows.n_states, n_slots)
        self.tail.fill(0)
        moving = (owners, numbers, self.seen, self.largest, self.moved, self.tail)
        program.launch("move_states", count, self.block, listed, slots, *moving, count)
        self.rounds += 1
        self.entries += count / max(self.rows.n_states, 1) * len(self.rows.columns)

    def _next(self, moved: int) -> tuple[int, bool]:
        """How many states to look at next, and whether these are all."""
        n = self.rows.n_states
        if moved * PART >= n:
            return n, True
        if not moved:
            return 0, False
        if self.before is None:
            status = cp.full(n, OPEN, dtype=np.uint8)
            before, sources, _ = turned_round(self.rows, Step.EVERY_ENTRY, status, None)
            self.before = before, sources
            self.entries += len(self.rows.columns)
        self.tail.fill(0)
        arguments = (*self.before, self.moved, self.block, self.sizes, self.waiting, self.listed, self.tail)
        _program(self.rows).launch("list_before", moved, *arguments, moved)
        return int(self.tail[0]), False

    def _first(self) -> Any | None:
        """The first state of each block, by which blocks are numbered; None where states of one block differ."""
        n = self.rows.n_states
        count = int(self.count[0])
        program = _program(self.rows)
        first = cp.full(count, n, dtype=np.int32)
        program.launch("find_first", n, self.block, first, n)
        wrong = _room(1, np.int32)
        if self.weights.longest > SHORT_ROW:
            self._compare_merged(first, wrong)
        else:
            primes = (self.weights.lacking, len(self.weights.lacking))
            program.launch("compare", n, *self._arrays, self.began, first, *primes, wrong, n)
        self.entries += len(self.rows.columns)
        if int(wrong[0]):
            return None
        order = cp.argsort(first)
        rank = cp.empty(count, dtype=np.int32)
        rank[order] = cp.arange(count, dtype=np.int32)
        self.block = rank[self.block]
        return first[order]

    def _compare_merged(self, first: Any, wrong: Any) -> None:
        """Compare rows that are too long to go through them for each entry: sorted by blocks, and added up."""
        rows, weights, program = self.rows, self.weights, _program(self.rows)
        starts, n_entries = rows.row_starts, len(rows.columns)
        owners = repeated(cp.arange(len(starts) - 1, dtype=np.int64), cp.diff(starts))
        keys = ((owners << 32) | self.block[rows.columns].astype(np.int64)).view(np.uint64)
        del owners
        order = cp.argsort(keys)
        keys = keys[order]
        heads = cp.ones(n_entries, dtype=np.bool_)
        cp.not_equal(keys[1:], keys[:-1], out=heads[1:])
        places = offsets(heads, np.int64)
        n_sums, primes = int(places[-1]), len(weights.lacking)
        blocks, sums = cp.empty(n_sums, dtype=np.int32), cp.empty((primes, n_sums), dtype=np.uint64)
        sources = (keys, order, places, weights.codes, weights.table, weights.count)
        program.launch("add_runs", n_entries, *sources, weights.lacking, primes, blocks, sums, n_sums, n_entries)
        merged = (places[starts], blocks, sums, n_sums, primes, rows.choice_starts, rows.marks)
        n = rows.n_states
        program.launch("compare_merged", n, *merged, self.block, self.began, first, wrong, n)
