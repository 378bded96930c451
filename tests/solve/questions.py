"""Equations of questions, as the planner makes them, for tests of what solves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from galton.backend.reference import equations as reference
from galton.checking.unbounded import rewards as expected
from galton.checking.unbounded import until
from galton.model.sparse import Model, Rewards
from galton.model.values import Floats
from galton.solve import Settings
from galton.solve.equations import Equations, Optimum
from galton.solve.solution import Solution


class CaughtError(Exception):
    """Carries equations out of the planner."""

    def __init__(self, equations: Equations) -> None:
        super().__init__()
        self.equations = equations


def _caught(planner: ModuleType, plan: Callable[[], object]) -> Equations:
    def catch(equations: Equations, settings: Settings) -> Solution:
        raise CaughtError(equations)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planner, "solve", catch)
        with pytest.raises(CaughtError) as caught:
            plan()
    return caught.value.equations


def _mask(model: Model, states: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    mask = np.zeros(model.n_states, dtype=np.bool_)
    mask[np.asarray(states)] = True
    return mask


def reachability(model: Model, goal: npt.ArrayLike, optimum: Optimum | None = None) -> Equations:
    """The equations of P [ F goal ]; ``goal`` is a list of states."""
    everywhere = np.ones(model.n_states, dtype=np.bool_)
    return _caught(until, lambda: until.until(model, everywhere, _mask(model, goal), optimum, Settings()))


def reward(model: Model, rewards: Floats, goal: npt.ArrayLike, optimum: Optimum | None = None) -> Equations:
    """The equations of R [ F goal ] with a reward for each state."""
    given = Rewards(state=rewards)
    return _caught(
        expected, lambda: expected.reachability_reward(model, given, _mask(model, goal), optimum, Settings())
    )


class OnReference(Equations):
    """Equations whose primitives are those written in NumPy."""

    @classmethod
    def of(cls, equations: Equations) -> OnReference:
        return cls(**{field.name: getattr(equations, field.name) for field in fields(equations)})

    @cached_property
    def matrix(self) -> Any:
        rows = (self.groups, self.starts, self.columns, self.values, self.scale, self.constant)
        return reference.matrix(*rows, format=None, devices=())
