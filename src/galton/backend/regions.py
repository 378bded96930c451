"""Rows of a parametric chain as every backend takes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..model.sparse import Int32s
from ..model.values import Floats

__all__ = ["GroupedRows", "Int64s"]

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """The rows of the states that change, whose entries are coefficients times terms; those of one term are a group.

    Attributes
    ----------
    states
        The state of each row, ascending.
    starts
        ``(rows + 1,)`` where the groups of each row begin.
    terms
        ``(groups,)`` the term of each group.
    group_starts
        ``(groups + 1,)`` where the entries of each group begin.
    columns, coefficients
        ``(entries,)`` the state that an entry reads, and its factor.
    n_states, n_terms
        How many there are in the whole chain.
    forward
        Whether entries are of masses as they are, and not of differences to the value of the row's own state.
    """

    states: Int32s
    starts: Int64s
    terms: Int32s
    group_starts: Int64s
    columns: Int32s
    coefficients: Floats
    n_states: int
    n_terms: int
    forward: bool = False

    @cached_property
    def entries_of_rows(self) -> Int64s:
        """``(rows + 1,)`` where the entries of each row begin."""
        found: Int64s = self.group_starts[self.starts]
        return found
