"""Machine code of kernels: compiled with NVRTC, kept on disk, and compiled side by side where much is missing.

All kernels come from here: those of Galton's ``.cu`` files, the explorers of models, and CuPy's own
(:mod:`.cupy_kernels`). Code is kept under a hash of its text and options, so that another process loads it without
loading the compiler. ``GALTON_CACHE`` names another place to keep it. CuPy is not imported before it is needed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import DeviceError, first_lines
from .compilers import Compilers, Refused

__all__ = [
    "CompilationError",
    "Text",
    "architecture",
    "cache_directory",
    "compile_together",
    "compiled",
    "is_kept",
    "machine_code",
]

LONG_TEXT = 100_000  # characters that take seconds to compile


class CompilationError(DeviceError):
    """Kernels that the compiler did not take: a mistake in Galton, or a compiler that is too old."""


class Text:
    """What is compiled: the text of kernels, the options of the compiler, and what to call them in messages.

    ``large`` texts of many kernels may be compiled by several threads and, where they are long, with less care.
    """

    def __init__(self, text: str, options: tuple[str, ...], name: str, *, large: bool = False) -> None:
        self.text, self.options, self.name, self.large = text, options, name, large

    @cached_property
    def key(self) -> str:
        """Under which its code is kept."""
        import cupy as cp

        made_by = (cp.__version__, str(cp.cuda.runtime.runtimeGetVersion()))
        return hashlib.sha256("\0".join([self.text, *self.options, *made_by]).encode()).hexdigest()

    def all_options(self, version: tuple[int, int]) -> tuple[str, ...]:
        """With those that make compiling faster, of a compiler that has them."""
        together = ("--split-compile=0",) if self.large and version >= (12, 8) else ()
        long = self.large and len(self.text) > LONG_TEXT
        less = ("--Ofast-compile=mid",) if long and version >= (13, 0) else ()
        return (*self.options, *together, *less)

    def refused(self, log: str) -> CompilationError:
        """What to say of a compiler's complaints."""
        return CompilationError(f"{self.name} does not compile:\n{first_lines(log)}")


def machine_code(wanted: Text) -> bytes:
    """From the disk, or compiled and kept."""
    found = _kept(wanted.key)
    if found is None:
        found = compiled(wanted)
        _keep(wanted.key, found)
    return found


def is_kept(wanted: Text) -> bool:
    """Whether there is no need to compile it."""
    return _file(wanted.key).exists()


def compile_together(
    texts: Iterable[Text], then: Callable[[str], Iterable[Text]] = lambda key: ()
) -> Iterator[tuple[int, int]]:
    """Have other processes compile and keep what is not on disk; how many are done, of how many so far.

    ``then`` says what else to compile once a text, named by its key, is there. What a compiler does not take is left
    for whoever needs it, who will be told.
    """
    under_way: dict[Future[bytes], str] = {}
    asked: set[str] = set()
    compilers: Compilers | None = None

    def ask(texts: Iterable[Text]) -> None:
        nonlocal compilers
        for text in texts:
            if text.key not in asked and not is_kept(text):
                asked.add(text.key)
                options = text.all_options(_compiler().getVersion())
                compilers = compilers or Compilers.of_this_machine()
                under_way[compilers.submit(text.text, options)] = text.key

    ask(texts)
    try:
        while under_way:
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                key = under_way.pop(future)
                with suppress(Refused, OSError):
                    _keep(key, future.result())
                ask(then(key))
                yield len(asked) - len(under_way), len(asked)
    finally:
        if compilers is not None:
            compilers.close()


def architecture() -> str:
    """What code for the current device is compiled for, such as ``sm_90``."""
    import cupy as cp

    return f"sm_{cp.cuda.Device().compute_capability}"


def cache_directory() -> Path:
    """Where compiled kernels are kept."""
    if given := os.environ.get("GALTON_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "galton"


def compiled(wanted: Text) -> bytes:
    """By this process, whatever is on disk; needs no device."""
    nvrtc = _compiler()
    program = nvrtc.createProgram(wanted.text, "kernels.cu", (), ())
    try:
        nvrtc.compileProgram(program, wanted.all_options(nvrtc.getVersion()))
    except nvrtc.NVRTCError as error:
        raise wanted.refused(nvrtc.getProgramLog(program)) from error
    return bytes(nvrtc.getCUBIN(program))


def _compiler() -> Any:
    """NVRTC, whose library is loaded at the first call."""
    from cupy.cuda import nvrtc

    try:
        nvrtc.getVersion()
    except (RuntimeError, OSError, ImportError) as error:
        raise DeviceError(f"NVRTC, which compiles for the device, does not load: {error}") from error
    return nvrtc


def _file(key: str) -> Path:
    return cache_directory() / f"{key}.cubin"


def _kept(key: str) -> bytes | None:
    try:
        return _file(key).read_bytes()
    except OSError:
        return None


def _keep(key: str, code: bytes) -> None:
    """Others may read or write the same file: it appears as a whole, or not at all."""
    path = _file(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(code)
        os.replace(file.name, path)
    except OSError:
        pass  # a cache that cannot be written only costs time
