"""CuPy's own kernels, compiled and kept in the way of Galton's.

CuPy compiles a kernel for every operation on arrays of other types: about a hundred for one question, a tenth of a
second each. It keeps them on disk as well, but to find them there it loads the compiler and compiles empty texts. Here
the function that it compiles with is replaced by one that asks :mod:`.code`, where Galton's kernels are. A version of
CuPy that has no such function works as it always does, and takes longer for its first question.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

from ..errors import DeviceError
from .code import Text, architecture, is_kept, machine_code

__all__ = ["Missing", "keep_cupy_kernels", "only_noted"]

FUNCTION = "_compile_module_with_cache"
PARAMETERS = {"source", "options", "arch", "extra_source", "backend", "log_stream", "jitify", "name_expressions"}
# What CuPy adds to the options by itself.
ADDED = ("-ftz=true", "--device-as-default-execution-space")
JITIFY = "-DCUPY_USE_JITIFY"  # asks for another way of compiling

_thread = local()


class Missing(Exception):
    """A kernel that is not compiled yet, for who only wants to know which are not."""

    def __init__(self, text: Text) -> None:
        super().__init__(text.name)
        self.text = text


@contextmanager
def only_noted() -> Iterator[None]:
    """In this thread, an operation whose kernel would have to be compiled raises :class:`Missing`."""
    _thread.only_noted = True
    try:
        yield
    finally:
        _thread.only_noted = False


def keep_cupy_kernels(cupy: Any) -> bool:
    """From now on; False where they are already, or cannot be."""
    compiler = cupy.cuda.compiler
    original = getattr(compiler, FUNCTION, None)
    if original is None or hasattr(original, "replaced"):
        return False
    there = inspect.signature(original).parameters
    known = set(there) >= PARAMETERS and "cache_dir" not in there
    if known:
        setattr(compiler, FUNCTION, _ours(cupy, original))
    return known


def _ours(cupy: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    def compiled(source: str, options: tuple[str, ...] = (), **others: Any) -> Any:
        special = {name: value for name, value in others.items() if name != "extra_source" and value}
        if JITIFY in options or special not in ({}, {"backend": "nvrtc"}):
            return original(source, options, **others)
        target = f"--gpu-architecture={architecture()}"
        text = Text(source, (*options, *ADDED, target), "a kernel of CuPy")
        if getattr(_thread, "only_noted", False) and not is_kept(text):
            raise Missing(text)
        try:
            code = machine_code(text)
        except DeviceError:  # who has another way, or other words for it
            return original(source, options, **others)
        module = cupy.cuda.function.Module()
        module.load(code)
        return module

    compiled.replaced = original  # type: ignore[attr-defined]
    return compiled
