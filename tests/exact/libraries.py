"""Both libraries of rational numbers, one after the other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from galton.checking.exact import numbers

LIBRARIES = ("python-flint", "fractions")
each_library = pytest.mark.parametrize("library", LIBRARIES)


@contextmanager
def using(library: str) -> Iterator[None]:
    """Compute with a library; that of the standard library is taken where ``flint`` cannot be imported."""
    with pytest.MonkeyPatch.context() as patch:
        if library == "fractions":
            patch.setitem(sys.modules, "flint", None)
        _forget()
        assert numbers.name_of_arithmetic() == library
        try:
            yield
        finally:
            _forget()


def _forget() -> None:
    numbers._constructor.cache_clear()
    numbers.integer_type.cache_clear()
