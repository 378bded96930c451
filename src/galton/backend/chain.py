"""An irreducible chain with a reward: what long-run averages are computed of."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .. import _core
from ..device.arrays import namespace, repeated
from ..model.values import Floats, Values

__all__ = ["Chain"]


@dataclass(frozen=True, eq=False)
class Chain:
    """An irreducible chain and a reward: arrays as in :class:`galton.model.sparse.Model`.

    ``devices`` are those that share its rows, if there are several. It may be an MDP, whose choices are grouped by
    state: ``groups`` says where those of each state begin.
    """

    row_starts: npt.NDArray[np.int32] | npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    values: Values
    state: Floats | None
    choice: Floats | None
    devices: tuple[int, ...] = field(default=(), kw_only=True)
    groups: npt.NDArray[np.int32] | None = field(default=None, kw_only=True)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.row_starts if self.groups is None else self.groups) - 1

    @property
    def n_rows(self) -> int:
        """The number of choices; one for each state of a chain."""
        return len(self.row_starts) - 1

    @cached_property
    def owners(self) -> npt.NDArray[np.int32] | None:
        """``(choices,)`` the state of each choice; None for a chain."""
        if self.groups is None:
            return None
        xp = namespace(self.columns)
        return repeated(xp.arange(self.n_states, dtype=np.int32), xp.diff(self.groups))  # type: ignore[no-any-return]

    @cached_property
    def matrix(self) -> _core.Matrix:
        """The rates as a matrix of the core; the arrays are shared."""
        entries = self.values.plain if self.values.dictionary is None else self.values.index
        return _core.Matrix(self.groups, self.row_starts, self.columns, entries, self.values.dictionary)

    @cached_property
    def reward(self) -> Floats:
        """The reward of each state, rounded."""
        parts = [part for part in (self.state, self.choice) if part is not None]
        xp = namespace(self.columns)
        return xp.array(sum(parts), dtype=np.float64) if parts else xp.zeros(self.n_states)  # type: ignore[no-any-return]
