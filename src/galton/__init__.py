"""Galton: a probabilistic model checker.

>>> import galton
>>> program = galton.load("models/die.prism")           # doctest: +SKIP
>>> model = program.build()                             # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .programs import load as load
    from .programs import parse as parse

_HOME = {"load": "programs", "parse": "programs"}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value
