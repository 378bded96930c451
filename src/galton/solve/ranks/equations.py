"""From one rank's part of a model to its part of the equations.

Unknowns are numbered rank after rank. States of an end component that must not be solved through are one unknown, on
the rank of its root: rows that leave the component from other ranks move there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...backend.cpu.matrix import matrix_of
from ...backend.petsc.graph import Parts
from ...backend.petsc.halo import Halo, halo_of
from ...backend.protocol import OPTIMA, Optimum, Span
from ...device.arrays import members, offsets
from ...model.rounding import SPACING
from ...model.sparse import Mask
from ...model.values import Floats

if TYPE_CHECKING:
    from ...backend.petsc.model import RankModel
    from ...backend.petsc.world import World

__all__ = ["RankEquations", "rank_equations"]

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]


class _Rows(NamedTuple):
    """Rows of unknowns, with columns that are numbers among the unknowns of all ranks."""

    unknown: Int64s
    lengths: Int64s
    columns: Int64s
    values: Floats
    scale: Floats
    constant: Floats
    exits: Mask


@dataclass(frozen=True, eq=False)
class RankEquations:
    """``x[s] = opt over rows r of s: scale[r] · Σ values·x[columns] + constant[r]`` for the unknowns of a rank.

    Attributes
    ----------
    halo
        Of unknowns: vectors have those of this rank, then those of others that its rows lead to.
    exits
        ``(rows,)`` which may lead to a state whose value is known.
    number
        ``(states,)`` the place in vectors of what stands for each own state; -1 where its value is known.
    """

    halo: Halo
    groups: Int32s | None
    starts: npt.NDArray[np.int32] | Int64s
    columns: Int32s
    values: Any
    dictionary: Floats | None
    scale: Floats | None
    constant: Floats
    exits: Mask
    optimum: Optimum | None
    slack: float
    number: Int64s
    known: Floats

    @property
    def world(self) -> World:
        """All ranks."""
        return self.halo.world

    def span(self, threads: int) -> Span:
        """All unknowns of this rank."""
        return Span(0, self.halo.n, threads)

    @cached_property
    def matrix(self) -> _core.Matrix:
        """The rows as the core takes them."""
        return _core.Matrix(self.groups, self.starts, self.columns, self.values, self.dictionary)

    def system(self, constant: Floats, optimum: Optimum | None) -> _core.System:
        """Equations with these constants."""
        return _core.System(self.matrix, self.scale, constant, OPTIMA[optimum])

    @property
    def n_rows(self) -> int:
        """Rows of this rank."""
        return len(self.constant)

    def entries(self, rows: npt.NDArray[np.integer] | None) -> tuple[Int64s, Int32s, Floats]:
        """Lengths, columns and values, scale included, of some rows or of all."""
        if rows is None:
            lengths = np.diff(self.starts).astype(np.int64)
            places: slice | Int64s = slice(None)
            scale = self.scale
        else:
            places, lengths = members(self.starts, rows)
            scale = None if self.scale is None else self.scale[rows]
        raw = self.values[places]
        numbers = np.asarray(raw if self.dictionary is None else self.dictionary[raw], dtype=np.float64)
        if scale is not None:
            numbers = numbers * np.repeat(scale, lengths)
        return lengths, self.columns[places], numbers

    def lift(self, values: Floats) -> Floats:
        """``(states,)`` values of own states, given those of unknowns and ghosts."""
        return np.where(self.number >= 0, values[np.maximum(self.number, 0)] if len(values) else 0.0, self.known)


def rank_equations(
    model: RankModel,
    maybe: Mask,
    known: Floats,
    *,
    optimum: Optimum | None = None,
    reward: Floats | None = None,
    keep: Mask | None = None,
    merge: Parts | None = None,
    threads: int = 1,
) -> RankEquations:
    """The equations of some states, given the values of the others; see :func:`galton.reduce.restriction.restrict`."""
    halo, world = model.halo, model.world
    root = np.full(halo.size, -1, dtype=np.int64) if merge is None else merge.root
    own_root = root[: halo.n]
    stands = maybe & ((own_root < 0) | (own_root == np.arange(halo.first, halo.first + halo.n)))
    count = int(stands.sum())
    bounds = offsets(np.array(world.gathered(count), dtype=np.int64))
    first = int(bounds[world.rank])
    name = np.full(halo.n, -1, dtype=np.int64)  # of each own state: its unknown among those of all ranks
    name[stands] = np.arange(first, first + count)
    aliases = np.flatnonzero(maybe & ~stands)
    if merge is not None:
        name[aliases] = _asked(world, halo, own_root[aliases], name)
        keep = ~merge.staying if keep is None else keep & ~merge.staying
    names = halo.extended(name)
    # Rows of members whose unknown is another rank's are written for unknowns past all others, and sent there.
    away = aliases[(name[aliases] < first) | (name[aliases] >= first + count)]
    home = np.concatenate([np.flatnonzero(stands), np.setdiff1d(aliases, away)])
    home = home[np.argsort(name[home], kind="stable")]
    sizes = np.bincount(name[home] - first, minlength=count)
    grouped = merge is not None
    listed = np.concatenate([home, away]).astype(np.int32)
    groups = offsets(np.concatenate([sizes, np.ones(len(away), dtype=np.int64)]), np.int32) if grouped else None
    mine = (names >= first) & (names < first + count)
    outside = np.unique(names[(names >= 0) & ~mine])
    base = count + len(away)
    number = np.full(halo.size, -1, dtype=np.int32)
    number[mine] = names[mine] - first
    foreign = (names >= 0) & ~mine
    number[foreign] = base + np.searchsorted(outside, names[foreign])
    found = _core.restrict(
        matrix_of(model),
        rates=model.has_rates,
        number=number,
        known=halo.extended(known),
        reward=reward,
        keep=keep,
        members=listed,
        starts=groups,
        threads=threads,
    )
    staying = np.zeros(model.n_choices, dtype=bool)
    if optimum == "min":
        _core.stay_among(matrix_of(model), names >= 0, staying)
    longest = int(world.greatest(found["longest"]))
    numbers = np.concatenate([np.arange(first, first + count), np.full(len(away), -1), outside])
    equations = _Part(found, ~staying[found["rows"]], model.values.dictionary, count, numbers)
    if merge is not None and world.any(len(away)):
        equations.exchange(world, bounds, name[away])
    return equations.finish(
        world, bounds, optimum if model.has_choices else None, (2 * longest + 4) * SPACING, name, known
    )


def _asked(world: World, halo: Halo, roots: Int64s, name: Int64s) -> Int64s:
    """The unknowns of roots, which their ranks know."""
    owner = np.searchsorted(halo.bounds, roots, side="right") - 1
    asked = world.swap([roots[owner == rank] - halo.bounds[rank] for rank in range(world.size)])
    told = world.swap([name[states] for states in asked])
    found = np.empty(len(roots), dtype=np.int64)
    for rank, part in enumerate(told):
        found[owner == rank] = part
    return found


class _Part:
    """Rows of a rank on their way to equations."""

    def __init__(
        self, found: dict[str, np.ndarray], exits: Mask, dictionary: Floats | None, count: int, numbers: Int64s
    ) -> None:
        self.exits = exits
        self.groups, self.starts, self.columns = found["groups"], found["starts"], found["columns"]
        self.values, self.dictionary = found["values"], dictionary
        self.scale, self.constant = found["scale"], found["constant"]
        self.count, self.numbers = count, numbers  # unknowns, and what columns are among the unknowns of all ranks

    def exchange(self, world: World, bounds: Int64s, names: Int64s) -> None:
        """Rows of other ranks' unknowns go there, and theirs come here."""
        owner = np.searchsorted(bounds, names, side="right") - 1
        groups = self.groups
        rows = np.arange(groups[self.count], groups[-1])
        owners = np.repeat(np.arange(len(names)), np.diff(groups[self.count :]))
        kept = self._rows(
            np.arange(groups[self.count]), np.repeat(np.arange(self.count), np.diff(groups[: self.count + 1]))
        )
        parts = [
            self._rows(rows[owner[owners] == r], names[owners[owner[owners] == r]] - bounds[r])
            for r in range(world.size)
        ]
        coming = zip(*(world.swap(list(column)) for column in zip(*parts, strict=True)), strict=True)
        joined = _Rows(*(np.concatenate(column) for column in zip(kept, *coming, strict=True)))
        order = np.argsort(joined.unknown, kind="stable")
        starts = offsets(joined.lengths)
        entries, lengths = members(starts, order)
        everywhere = joined.columns[entries]
        first = int(bounds[world.rank])
        mine = (everywhere >= first) & (everywhere < first + self.count)
        outside = np.unique(np.concatenate([self.numbers[self.numbers >= 0], everywhere[~mine]]))
        outside = outside[(outside < first) | (outside >= first + self.count)]
        self.numbers = np.concatenate([np.arange(first, first + self.count), outside])
        self.columns = np.where(mine, everywhere - first, self.count + np.searchsorted(outside, everywhere)).astype(
            np.int32
        )
        self.values, self.dictionary = joined.values[entries], None
        self.scale, self.constant, self.exits = joined.scale[order], joined.constant[order], joined.exits[order]
        self.starts = offsets(lengths)
        self.groups = offsets(np.bincount(joined.unknown, minlength=self.count), np.int32)

    def _rows(self, rows: Int64s, unknown: Int64s) -> _Rows:
        places, lengths = members(self.starts, rows)
        raw = self.values[places]
        values = np.asarray(raw if self.dictionary is None else self.dictionary[raw], dtype=np.float64)
        scale = np.ones(len(rows)) if self.scale is None else self.scale[rows]
        return _Rows(
            np.asarray(unknown, dtype=np.int64),
            np.asarray(lengths, dtype=np.int64),
            self.numbers[self.columns[places]],
            values,
            scale,
            self.constant[rows],
            self.exits[rows],
        )

    def finish(
        self, world: World, bounds: Int64s, optimum: Optimum | None, slack: float, name: Int64s, known: Floats
    ) -> RankEquations:
        """The equations, with the halo of their unknowns."""
        first, count = int(bounds[world.rank]), self.count
        outside = self.numbers[len(self.numbers) - (len(self.numbers) - count) :]
        outside = outside[outside >= 0]
        shift = len(self.numbers) - count - len(outside)  # places of unknowns whose rows have moved away
        columns = self.columns
        if shift:
            columns = np.where(columns >= count, columns - shift, columns).astype(np.int32)
        owner = np.searchsorted(bounds, outside, side="right") - 1
        halo = halo_of(world, count, [outside[owner == rank] - bounds[rank] for rank in range(world.size)])
        mine = (name >= first) & (name < first + count)
        place = count + np.searchsorted(outside, np.maximum(name, 0))
        number = np.where(name < 0, -1, np.where(mine, name - first, place))
        groups = None if optimum is None else self.groups
        if optimum is not None and groups is None:
            groups = np.arange(count + 1, dtype=np.int32)
        return RankEquations(
            halo,
            groups,
            self.starts,
            columns,
            self.values,
            self.dictionary,
            self.scale,
            self.constant,
            self.exits,
            optimum,
            slack,
            number,
            known,
        )
