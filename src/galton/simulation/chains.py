"""The chain that a strategy leaves of an MDP: random paths need to know who chooses."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ..checking.strategies.strategy import Strategy
from ..explore import build
from ..lang.expressions import Expression
from ..lang.program import Program
from ..model.random_paths import SimulationError
from ..model.sparse import Model, Rewards
from ..model.values import Values

__all__ = ["UNIFORM", "applied", "chain_of", "needs_strategy", "uniform_chain"]

UNIFORM = "uniform"
HOW = (
    "an MDP has no single value without a strategy: give strategy=galton.check(…, strategy=True).strategy, the file of "
    "one, or 'uniform', which takes each choice of a state with the same probability"
)


def needs_strategy() -> SimulationError:
    """What to tell who asks about an MDP and gives no strategy."""
    return SimulationError(HOW)


def applied(program: Program, file: str | Path, *, terminal: Expression | None = None, **building: object) -> Model:
    """The chain that a strategy, from a file that Galton wrote, leaves of a program."""
    from ..checking.strategies.applying import strategy_for

    if not program.nature.has_choices:
        raise SimulationError(f"a strategy needs choices, and this model is a {program.type}")
    strategy, _ = strategy_for(program, file, terminal, partial(build, **building))  # type: ignore[arg-type]
    return strategy.induced()


def chain_of(model: Model, strategy: Strategy | str | Path | None) -> Model:
    """The chain that a strategy leaves of a model that is built; a chain itself needs none."""
    if not model.has_choices:
        if strategy is not None:
            raise SimulationError(f"a strategy needs choices, and this model is a {model.type}")
        return model
    if strategy is None:
        raise needs_strategy()
    if isinstance(strategy, Strategy):
        return strategy.induced()
    if str(strategy) == UNIFORM:
        return uniform_chain(model)
    from ..checking.strategies.applying import strategy_of

    return strategy_of(model, strategy).induced()


def uniform_chain(model: Model) -> Model:
    """The chain in which each choice of a state is as likely as the others.

    >>> import galton
    >>> step = lambda x: [("left", [(1.0, 0)]), ("right", [(1.0, 2)])] if x == 1 else [("stay", [(1.0, x)])]
    >>> chain = uniform_chain(galton.Model.from_function(step, 1, "mdp"))
    >>> chain.transitions(int(chain.initial[0]))
    [('', [(0.5, 1), (0.5, 2)])]
    """
    from scipy.sparse import csr_array

    model = model.to_host()
    assert model.choice_starts is not None
    starts = model.choice_starts.astype(np.int64)
    counts = np.diff(starts)
    each = np.repeat(1.0 / counts, counts)
    mean = csr_array((each, np.arange(model.n_choices), starts), shape=(model.n_states, model.n_choices))
    matrix = csr_array(mean @ model.to_scipy())
    matrix.sum_duplicates()
    matrix.sort_indices()
    rewards = {}
    for name, found in model.rewards.items():
        earned = None if found.choice is None or not found.choice.size else np.asarray(mean @ found.choice)
        rewards[name] = Rewards(found.state, earned)
    return replace(
        model,
        type="dtmc",
        choice_starts=None,
        row_starts=matrix.indptr.astype(np.int64),
        columns=matrix.indices.astype(np.int32),
        values=Values(plain=matrix.data),
        rewards=rewards,
        choice_actions=None,
    )
