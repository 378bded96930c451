"""The kernels of a first question, compiled side by side before it comes to them.

A question needs about a hundred kernels, most of them CuPy's, each compiled at its first use: ten seconds, one after
the other. :file:`beforehand.txt` lists what questions need. Who uses a device first on a machine has all of it compiled
by as many processes as there are cores. A line is a statement about :func:`small_arrays`, which makes CuPy ask for its
kernels, or a file of Galton's own with macros. ``tests/played/recording.py`` writes the list.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ...progress import task
from .code import Text, architecture, cache_directory, compile_together
from .cupy_kernels import Missing, only_noted
from .kernels import kernels_text

__all__ = ["FILE", "ROOT", "compile_beforehand", "is_compiled", "small_arrays"]

FILE = Path(__file__).with_name("beforehand.txt")
ROOT = Path(__file__).parents[2]
TYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
SIZES = (4, 1 << 12)  # of arrays: CuPy has other kernels for those that one block of threads does not go over


def is_compiled() -> bool:
    """Whether everything on the list has been compiled on this machine, for this CuPy and this kind of device."""
    return _mark().exists()


def compile_beforehand() -> None:
    """Everything on the list that is not compiled yet."""
    import cupy

    lines = FILE.read_text(encoding="utf-8").splitlines()
    files = [_text_of_file(line) for line in lines if _is_file(line)]
    statements = _Statements(cupy)
    first = statements.run((line, size) for line in lines if not _is_file(line) for size in SIZES)
    with task() as shown:
        for done, count in compile_together([*files, *first], statements.after):
            shown.tell(f"compiling kernels for this device, once: {done} of {count}")
    mark = _mark()
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()


def small_arrays(cupy: Any, size: int) -> dict[str, Any]:
    """Arrays of every type by the names that the list has for them.

    ``i4`` has so many numbers, ``i4_0`` has no dimension, ``i4_one`` has one number, ``i4_2`` has two dimensions and
    ``i4_column`` only one number in the second; ``_apart`` says that there are gaps between the numbers. All are zero.
    """
    found: dict[str, Any] = {"cp": cupy, "np": np}
    for name in TYPES:
        flat = cupy.zeros(2 * size, dtype=name)
        found |= {
            name: flat[:size],
            f"{name}_0": flat[0],
            f"{name}_one": flat[:1],
            f"{name}_2": flat.reshape(size, 2),
            f"{name}_column": flat[:size].reshape(size, 1),
            f"{name}_apart": flat[::2],
            f"{name}_2_apart": flat.reshape(2, size).T,
        }
    return found


class _Statements:
    """Statements that are run as far as there are kernels for them: CuPy may need one after another."""

    def __init__(self, cupy: Any) -> None:
        self._names = {size: small_arrays(cupy, size) for size in SIZES}
        self._waiting: dict[str, list[tuple[str, int]]] = {}  # for the kernel with this key

    def run(self, statements: Iterable[tuple[str, int]]) -> list[Text]:
        """What they need next; those that need nothing are done."""
        found = []
        for statement, size in statements:
            try:
                with only_noted():
                    exec(statement.replace("SIZE", str(size)), self._names[size])
            except Missing as missing:
                waiting = self._waiting.setdefault(missing.text.key, [])
                if (statement, size) not in waiting:
                    waiting.append((statement, size))
                    found.append(missing.text)
            except (TypeError, ValueError, IndexError, AttributeError, NotImplementedError):
                pass  # another version of CuPy, which does not have it
        return found

    def after(self, key: str) -> list[Text]:
        """What those need that have waited for a kernel. One that did not compile is not waited for again."""
        return self.run(self._waiting.pop(key, ()))


def _is_file(line: str) -> bool:
    return line.partition("\t")[0].endswith(".cu")


def _text_of_file(line: str) -> Text:
    path, *defines = line.split("\t")
    return kernels_text(ROOT / path, *defines)


def _mark() -> Path:
    import cupy

    what = "\0".join([FILE.read_text(encoding="utf-8"), cupy.__version__, architecture()])
    return cache_directory() / f"{hashlib.sha256(what.encode()).hexdigest()}.done"
