"""Properties of models: the function :func:`galton.check.api.check`, and what it is made of."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checking import check as check
    from .resolution import Question as Question
    from .resolution import resolve as resolve
    from .result import Result as Result

# Imported on first use: who verifies certificates needs the names of properties settled, and no solver.
_HOME = {"Question": "resolution", "Result": "result", "check": "checking", "resolve": "resolution"}
__all__ = ["Question", "Result", "check", "resolve"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


class _Callable(ModuleType):
    """This package is also what a user calls: ``galton.check(model, "P=? [ F done ]")``."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from .api import check as ask

        return ask(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
