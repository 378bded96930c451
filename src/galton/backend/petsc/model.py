"""One rank's part of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.sparse import Model
from .halo import Halo
from .world import World

__all__ = ["RankModel"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RankModel(Model):
    """The rows of the states that belong to a rank; columns past these states are its ghosts.

    All arrays are about the rank's own states and choices. What is about the whole model says so.

    Attributes
    ----------
    halo
        The ghosts, and who has this rank's states as theirs.
    totals
        Of the whole model: states, choices and transitions.
    """

    halo: Halo = field()
    totals: Mapping[str, int] = field(default_factory=dict)

    @property
    def world(self) -> World:
        """All ranks."""
        return self.halo.world

    @property
    def on_device(self) -> bool:
        """Ranks use their own processors, and arrays are NumPy's."""
        return False

    @property
    def is_shared(self) -> bool:
        """Always."""
        return True

    @property
    def whole(self) -> Mapping[str, int]:
        """The sizes of the whole model."""
        return self.totals

    def stands_for(self, states: npt.NDArray[Any] | None = None) -> int:
        """How many states of the program some states, or all, of all ranks stand for."""
        return self.world.total(super().stands_for(states))

    def first_of(self, mask: npt.NDArray[Any]) -> object:
        """The first state of the masks of all ranks, whose states are in order."""
        mine = super().first_of(mask) if mask.any() else None
        return next(found for found in self.world.gathered(mine) if found is not None)

    def __repr__(self) -> str:
        return f"<{self.type}: {self.n_states:,} of {self.totals['states']:,} states, rank {self.world.rank}>"


def counted(world: World, states: int, choices: int, transitions: int) -> dict[str, int]:
    """The sizes of a model, given those of this rank's part."""
    found = np.array([states, choices, transitions], dtype=np.int64)
    world.comm.Allreduce(world.mpi.IN_PLACE, found, op=world.mpi.SUM)
    return dict(zip(("states", "choices", "transitions"), found.tolist(), strict=True))
