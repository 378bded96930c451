"""A parametric chain without what a question does not see: states that behave alike become one.

States are in one block if they are marked alike, by the formulas and rewards that the question mentions, and if their
rates into every other block are the same polynomials (Buchholz 1994: ordinary lumpability, at every point of the
parameters at once). The blocks are split by their rates until that holds. For a question about one part of a system
this leaves that part alone, whatever else the states tell.

Rates into a block are sums of floating-point numbers. States whose sums differ in their last digits stay apart; sums
that were rounded to the same number are as far from the truth as those of the steps, which the bounds allow for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .parametric_ctmc import ParametricModel
from .polynomials import Floats
from .transitions import Int32s, Ints, Multiples

Words = npt.NDArray[np.uint64]

WORTH_IT = 1 / 8  # of the states may be left, or the chain stays as it is
MOST_ENTRIES = 1e8  # to be gone over before giving up: about ten seconds

__all__ = ["lumped"]


def lumped(model: ParametricModel, marks: Sequence[npt.NDArray[Any]]) -> ParametricModel:
    """The chain of blocks, or the chain itself where the blocks are not much fewer than the states.

    Parameters
    ----------
    marks
        ``(states,)`` arrays of what the question sees of a state.
    """
    entries = _Entries.of(model)
    block, count = _numbered(np.zeros(model.n_states, dtype=np.int64), *marks)
    done = 0
    while True:
        into = entries.into(block)
        finer, n_finer = _numbered(block, into.hashed(1), into.hashed(2))
        if n_finer == count:
            break
        block, count, done = finer, n_finer, done + len(model.columns) + model.n_states
        if count > WORTH_IT * model.n_states or done > MOST_ENTRIES:
            return model
    # In the order of their first states, so that neighbours stay neighbours.
    first = np.full(count, model.n_states, dtype=np.int64)
    np.minimum.at(first, block, np.arange(model.n_states))
    order = np.argsort(first)
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    block, first = rank[block], first[order]
    into = entries.into(block)
    if count > WORTH_IT * model.n_states or not into.same_as(first[block]):
        return model
    return _quotient(model, block, first, into)


@dataclass(frozen=True, eq=False)
class _Into:
    """For each state its rates into other blocks: ``coefficients * terms``, sorted by block and term."""

    starts: Ints
    blocks: Ints
    terms: Ints
    coefficients: Floats

    def hashed(self, seed: int) -> Words:
        """``(states,)`` a number that is the same for the same rates, and another for others but by rare chance."""
        mixed = _mixed(self.blocks.astype(np.uint64) + np.uint64(seed << 40))
        mixed = _mixed(mixed + self.terms.astype(np.uint64))
        mixed = _mixed(mixed + self.coefficients.view(np.uint64))
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        found: Words = sums[self.starts[1:]] - sums[self.starts[:-1]]
        return found

    def same_as(self, other: Ints) -> bool:
        """Whether each state has the very rates of another one."""
        lengths = np.diff(self.starts)
        if not (lengths == lengths[other]).all():
            return False
        shift = np.repeat(self.starts[other] - self.starts[:-1], lengths)
        there = np.arange(len(self.blocks)) + shift
        return all((of == of[there]).all() for of in (self.blocks, self.terms, self.coefficients))


@dataclass(frozen=True, eq=False)
class _Entries:
    """The transitions, those of a row with the least coefficients first: sums do not depend on their order then."""

    rows: Ints
    columns: Int32s
    terms: Int32s
    coefficients: Floats
    n_states: int
    n_terms: int

    @classmethod
    def of(cls, model: ParametricModel) -> _Entries:
        rows = np.repeat(np.arange(model.n_states), np.diff(model.row_starts))
        order = np.lexsort((model.rates.coefficients, rows))
        rates = model.rates
        sorted_ones = model.columns[order], rates.terms[order], rates.coefficients[order]
        return cls(rows, *sorted_ones, model.n_states, len(model.terms))

    def into(self, block: Ints) -> _Into:
        target = block[self.columns]
        leaving = target != block[self.rows]
        rows, terms = self.rows[leaving], self.terms[leaving].astype(np.int64)
        inner = target[leaving] * self.n_terms + terms
        order = np.lexsort((inner, rows))
        rows, inner = rows[order], inner[order]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (np.diff(rows) != 0) | (np.diff(inner) != 0)
        begins = np.flatnonzero(new)
        coefficients = np.add.reduceat(self.coefficients[leaving][order], begins) if len(begins) else np.empty(0)
        starts = np.searchsorted(rows[begins], np.arange(self.n_states + 1))
        return _Into(starts, inner[begins] // self.n_terms, inner[begins] % self.n_terms, coefficients)


def _quotient(model: ParametricModel, block: Ints, first: Ints, into: _Into) -> ParametricModel:
    """The chain whose states are the blocks, each with the rates of its first state."""
    lengths = np.diff(into.starts)[first]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    chosen = np.repeat(into.starts[first] - starts[:-1], lengths) + np.arange(starts[-1])
    rates = Multiples(into.terms[chosen].astype(np.int32), into.coefficients[chosen])
    state, total = (
        {name: Multiples(of.terms[first], of.coefficients[first]) for name, of in rewards.items()}
        for rewards in (model.state_rewards, model.total_rewards)
    )
    return replace(
        model,
        row_starts=starts.astype(np.int64),
        columns=into.blocks[chosen].astype(np.int32),
        rates=rates,
        state_rewards=state,
        total_rewards=total,
        initial=block[model.initial].astype(np.int32),
        representatives=first,
        longest=model.longest,
    )


def _numbered(*marks: npt.NDArray[Any]) -> tuple[Ints, int]:
    """Numbers for states that are the same where their marks are, and how many there are."""
    order = np.lexsort(marks)
    new = np.zeros(len(order), dtype=bool)
    for mark in marks:
        new[1:] |= mark[order][1:] != mark[order][:-1]
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.cumsum(new)
    return found, int(new.sum()) + 1


def _mixed(numbers: Words) -> Words:
    """Bits well stirred (Steele, Lea and Flood 2014, the end of SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    stirred: Words = numbers ^ (numbers >> np.uint64(31))
    return stirred
