"""Between states and their choices: numbers of states spread over choices, and what all successors have in common."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..model.sparse import Int32s, Mask, Model
from . import of

__all__ = ["best_choice", "every_successor_in", "owners", "spread"]

Number = TypeVar("Number", bound=np.generic)


def spread(model: Model, numbers: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """``(choices,)`` what ``(states,)`` numbers are in the state of each choice.

    >>> import numpy as np
    >>> mdp = Model.from_matrix("mdp", [[1, 0], [0, 1], [0, 1]], row_groups=[0, 2, 3])
    >>> spread(mdp, np.array([5, 7])).tolist()
    [5, 5, 7]
    """
    return of(model.columns).rows.spread(model, numbers)


def owners(model: Model) -> Int32s:
    """``(choices,)`` the state of each choice."""
    return of(model.columns).rows.owners(model)


def every_successor_in(model: Model, states: Mask) -> Mask:
    """``(choices,)`` mask of the choices all of whose successors are among the states.

    >>> import numpy as np
    >>> chain = Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]])
    >>> every_successor_in(chain, np.array([False, True])).tolist()
    [False, True]
    """
    return of(model.columns).rows.every_successor_in(model, states)


def best_choice(model: Model, numbers: npt.NDArray[Number], *, maximise: bool) -> npt.NDArray[Number]:
    """``(states,)`` the greatest, or the least, of the ``(choices,)`` numbers of each state's choices.

    Of truth values, the greatest is whether some are true, the least whether all are.

    >>> import numpy as np
    >>> mdp = Model.from_matrix("mdp", [[1, 0], [0, 1], [0, 1]], row_groups=[0, 2, 3])
    >>> best_choice(mdp, np.array([5.0, 7.0, 1.0]), maximise=True).tolist()
    [7.0, 1.0]
    """
    return of(model.columns).rows.best_choice(model, numbers, maximise=maximise)
