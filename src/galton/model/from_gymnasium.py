"""Models from the toy-text environments of Gymnasium, which know all their transitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .from_edges import Edges, model_of_edges
from .sparse import Model, ModelError

__all__ = ["from_gymnasium"]


def from_gymnasium(
    env: Any, *, actions: Sequence[str] | None = None, initial: int | Sequence[int] | None = None
) -> Model:
    """Make an MDP from a toy-text environment of Gymnasium, such as FrozenLake, CliffWalking and Taxi.

    The environment has a table ``env.unwrapped.P``: for each state and action, where they lead. A transition that ends
    an episode leads to a state that is ``done`` and is not left.

    Parameters
    ----------
    env
        The environment.
    actions
        Names for the actions; their numbers if not given.
    initial
        The state, or states, that episodes begin in; those of the environment if not given.

    Returns
    -------
    Model
        An MDP with the variables ``state`` and ``done``; state s of the environment, not done, has the number s. There
        is a label ``"done"``. Rewards above zero are the structure ``reward``, those below are ``penalty``, without
        their sign.

    Examples
    --------
    >>> import gymnasium
    >>> import galton
    >>> lake = galton.Model.from_gymnasium(gymnasium.make("FrozenLake-v1"))
    >>> round(galton.check(lake, "Pmax=? [ F state=15 ]"), 4)
    0.8235
    """
    table = getattr(getattr(env, "unwrapped", env), "P", None)
    if not isinstance(table, Mapping) or not table:
        raise ModelError(
            "the environment has no table P of its transitions; toy-text environments such as FrozenLake, "
            "CliffWalking and Taxi do"
        )
    if set(table) != set(range(len(table))):
        raise ModelError("the states of the table P are not numbered from 0")
    names = {action for choices in table.values() for action in choices}
    if actions is not None and len(actions) != len(names):
        raise ModelError(f"the environment has {len(names)} actions, and {len(actions)} names are given")
    entries = [
        (state, action, *entry)
        for state in range(len(table))
        for action in table[state]
        for entry in table[state][action]
    ]
    rewards = np.array([float(reward) for _, _, _, _, reward, _ in entries])
    edges = Edges(
        [(state, False) for state, *_ in entries],
        [(int(target), bool(done)) for _, _, _, target, _, done in entries],
        np.array([float(value) for _, _, value, *_ in entries]),
        [str(action) if actions is None else actions[int(action)] for _, action, *_ in entries],
        {
            name: part
            for name, part in (("reward", np.maximum(rewards, 0)), ("penalty", np.maximum(-rewards, 0)))
            if part.any()
        },
    )
    if initial is None:
        starts = getattr(getattr(env, "unwrapped", env), "initial_state_distrib", None)
        initial = [0] if starts is None else np.flatnonzero(np.asarray(starts)).tolist()
    begin = [initial] if isinstance(initial, int) else list(initial)
    return model_of_edges(
        edges,
        "mdp",
        [(state, False) for state in begin],
        {"done": lambda state: state[1]},
        {name: name for name in edges.rewards},
        ("state", "done"),
        False,
        known=[(state, False) for state in range(len(table))],
    )
