"""States that are Python objects, with names for their parts, so that properties can ask about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..lang.lexer import KEYWORDS
from .sparse import ModelError
from .states import ListedStates

__all__ = ["named_states", "text_labels", "usable_name"]

NAMED = 1000  # states with texts for names that become labels; a label has a byte for every state
MADE = ("init", "deadlock", "unexplored")  # labels with a meaning of their own
_NAME = re.compile("[A-Za-z_][A-Za-z_0-9]*")


def usable_name(name: str) -> bool:
    """Whether properties can use a name for a variable."""
    return _NAME.fullmatch(name) is not None and name not in KEYWORDS


def named_states(states: Sequence[Any], variables: Sequence[str] | None = None, argument: str = "x") -> ListedStates:
    """States with the names of their parts.

    Parameters
    ----------
    states
        The states, in the order of their numbers.
    variables
        Names for the parts; otherwise the fields of dataclasses and named tuples name them, or ``argument`` does.
    argument
        The name of a state that is a number; the parts of a tuple are numbered after it.

    >>> named_states([(0, 1), (2, 3)]).variables, named_states([5, 7], argument="euros").variables
    (('x0', 'x1'), ('euros',))
    """
    if variables is None:
        return ListedStates(_names(states, argument), states)
    size = _size(states)
    if size is None:
        raise ModelError(
            f"names are for states that are whole numbers, or tuples of one length, and the first is {states[0]!r}"
        )
    if len(variables) != size or len(set(variables)) != size:
        raise ModelError(f"a state has {size} part{'s' * (size != 1)}, and the names are {', '.join(variables)}")
    for name in variables:
        if not usable_name(name):
            raise ModelError(f"{name!r} is no name that properties can use: letters, digits and _, and no keyword")
    return ListedStates(tuple(variables), states)


def _names(states: Sequence[Any], argument: str) -> tuple[str, ...] | None:
    """Names for the parts of states; None where they have no parts, or differ in kind."""
    kinds = set(map(type, states))
    kind = kinds.pop() if len(kinds) == 1 else object
    if is_dataclass(kind):
        return tuple(part.name for part in fields(kind))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple(kind._fields)
    size = _size(states)
    if size is None:
        return None
    return tuple(f"{argument}{place}" for place in range(size)) if issubclass(kind, tuple) else (argument,)


def _size(states: Sequence[Any]) -> int | None:
    """How many parts states have that are whole numbers or tuples; None for others."""
    kinds = set(map(type, states))
    kind = kinds.pop() if len(kinds) == 1 else object
    if issubclass(kind, (int, np.integer, np.bool_)):
        return 1
    sizes = set(map(len, states)) if issubclass(kind, tuple) else set()
    return sizes.pop() if len(sizes) == 1 else None


def text_labels(states: Sequence[Any]) -> dict[str, npt.NDArray[np.bool_]]:
    """A label for each state that is a text, in models of up to :data:`NAMED` states.

    >>> {name: mask.tolist() for name, mask in text_labels(["sun", "rain", 3]).items()}
    {'sun': [True, False, False], 'rain': [False, True, False]}
    """
    if len(states) > NAMED:
        return {}
    texts = [(number, state) for number, state in enumerate(states) if isinstance(state, str)]
    own = [(number, text) for number, text in texts if text.isidentifier() and text not in MADE]
    return {text: np.arange(len(states)) == number for number, text in own}
