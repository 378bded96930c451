"""Properties of models: the function :func:`galton.check.api.check`, and what it is made of."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .checking import check
from .resolution import Question, resolve
from .result import Result

__all__ = ["Question", "Result", "check", "resolve"]


class _Callable(ModuleType):
    """This package is also what a user calls: ``galton.check(model, "P=? [ F done ]")``."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from .api import check as ask

        return ask(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
