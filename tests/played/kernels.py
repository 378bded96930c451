"""The compilers and launchers that CuPy brings, played by g++: threads run one after the other.

Everything goes through ``nvrtc`` and ``function.Module``, as on a device. Explorers bring a loop over their threads
themselves; kernels of Galton's files get one. What a kernel is given is compared with what it declares: a pointer to
numbers of another size, which a device would read without a word, is refused.
"""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import galton

from .arrays import ndarray
from .compiling import library_of, with_launchers

__all__ = ["CompileException", "FileKernel", "Module", "NVRTCError", "Refusing", "nvrtc_functions", "version"]

SERIAL = Path(__file__).with_name("device.cuh").read_text()
DEVICE = (Path(galton.__file__).parent / "backend/cuda/explorer/device.cuh").read_text()
COMPILER = ["g++", "-std=c++17", "-O0", "-x", "c++", "-fPIC", "-shared", "-ffp-contract=off", "-w"]
NAME = re.compile(r"launch_(\w+)\(long long kind_, long long blocks_, unsigned threads_, ([^)]*)\)")
PARAMETER = re.compile(r"(?:const )?([\w ]+?)\s*(\*?)\s*(?:__restrict__ )?(\w+)$")
SIZES = {"byte": 1, "bool": 1, "int": 4, "unsigned": 4, "double": 8, "unsigned long long": 8, "long long": 8}


OF_A_FILE = b"text:"  # what machine code of kernels of files begins with


class CompileException(Exception):
    """``cupy.cuda.compiler.CompileException``."""


class NVRTCError(RuntimeError):
    """``cupy.cuda.nvrtc.NVRTCError``."""


@cache
def _compiled(text: str, *defines: str) -> tuple[ctypes.CDLL, dict[str, list[tuple[str, int]]]]:
    """The library, and for each kernel the name of its parameters and the bytes that a pointer points to."""
    whole = with_launchers(text)
    types = SIZES | {"code_t": 0, "offset_t": 0}
    for define in defines:
        name, _, meaning = define.partition("=")
        if name in ("CODE", "OFFSET"):
            types[f"{name.lower()}_t"] = SIZES.get(meaning, {"unsigned char": 1, "unsigned short": 2}.get(meaning, 0))
    parameters: dict[str, list[tuple[str, int]]] = {}
    for kernel, listed in NAME.findall(whole):
        found = []
        for parameter in listed.split(","):
            match = PARAMETER.match(" ".join(parameter.split()))
            assert match is not None, parameter
            found.append((match[3], types.get(match[1], 0) if match[2] else -1))
        parameters[kernel] = found
    return library_of(whole, *defines), parameters


class FileKernel:
    """``cupy.cuda.function.Function`` of a kernel of one of Galton's files."""

    launches = 0
    ptr = 0
    fault: ClassVar[Exception | None] = None  # what a launch ends with

    def __init__(self, function: Any, name: str, parameters: list[tuple[str, int]]) -> None:
        self._function, self._name, self._parameters = function, name, parameters

    def __call__(
        self, grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...], enable_cooperative_groups: bool = False
    ) -> None:
        if len(arguments) != len(self._parameters):
            raise TypeError(f"{self._name} takes {len(self._parameters)} arguments, not {len(arguments)}")
        if FileKernel.fault is not None:
            raise FileKernel.fault
        FileKernel.launches += 1
        order = ctypes.c_longlong(FileKernel.launches % 3)
        given = [_argument(self._name, *pair) for pair in zip(self._parameters, arguments, strict=True)]
        self._function(order, ctypes.c_longlong(grid[0]), block[0], *given)


def _argument(kernel: str, parameter: tuple[str, int], value: Any) -> Any:
    name, size = parameter
    if isinstance(value, ndarray):
        if size < 0:
            raise TypeError(f"{kernel} takes a number for {name}, not an array")
        if size and value.itemsize != size:
            raise TypeError(f"{kernel} takes {size} bytes a number for {name}, not {value.dtype}")
        value._here()
        return ctypes.c_void_p(value.data.ptr)
    if isinstance(value, np.uintp) and value == 0 and size >= 0:
        return ctypes.c_void_p(0)
    if size >= 0 or not isinstance(value, (float, np.int64)):
        raise TypeError(f"{kernel} cannot take {value!r} for {name}")
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_longlong(int(value))


class Program:
    """``cupy.cuda.nvrtc.createProgram``."""

    def __init__(self, text: str) -> None:
        device = DEVICE.replace("#pragma once\n", "")
        self.explores = device in text
        self.text = text.replace(device, SERIAL.replace("#pragma once\n", ""))
        self.code, self.log = b"", ""


class Refusing:
    """Whether explorers, or kernels of files, do not compile."""

    explorers = False
    files = False


def _compile(program: Program, options: tuple[str, ...]) -> None:
    if Refusing.explorers if program.explores else Refusing.files:
        program.log = "kernels.cu(1): error: the compiler is told to refuse"
        raise NVRTCError("NVRTC_ERROR_COMPILATION")
    if not program.explores:  # compiled when it is loaded, and kept by its text
        defines = [option[2:] for option in options if option.startswith("-D")]
        program.code = OF_A_FILE + json.dumps([program.text, *defines]).encode()
        return
    with tempfile.TemporaryDirectory() as directory:
        library = Path(directory) / "explore.so"
        made = subprocess.run([*COMPILER, "-o", library, "-"], input=program.text, text=True, stderr=subprocess.PIPE)
        program.log = made.stderr
        if made.returncode:
            raise NVRTCError("NVRTC_ERROR_COMPILATION")
        program.code = library.read_bytes()


def nvrtc_functions() -> dict[str, Any]:
    """``cupy.cuda.nvrtc``; machine code is a shared library."""
    return {
        "NVRTCError": NVRTCError,
        "getVersion": lambda: (0, 0),
        "createProgram": lambda text, name, headers, names: Program(text),
        "compileProgram": _compile,
        "getProgramLog": lambda program: program.log,
        "getCUBIN": lambda program: program.code,
    }


def version() -> str:
    """Part of the key under which compiled kernels are kept."""
    return f"played {sha256(' '.join([SERIAL, *COMPILER]).encode()).hexdigest()[:8]}"


def _loaded(code: bytes) -> ctypes.CDLL:
    """Anew each time: every module has arrays of its own."""
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(code)
        file.flush()
        return ctypes.CDLL(file.name)


class Module:
    """``cupy.cuda.function.Module``."""

    def load(self, code: bytes) -> None:
        """A library of kernels, of which one thread does all."""
        self._parameters: dict[str, list[tuple[str, int]]] | None = None
        if code.startswith(OF_A_FILE):
            self._library, self._parameters = _compiled(*json.loads(code[len(OF_A_FILE) :]))
        else:
            self._library = _loaded(code)

    def get_global_var(self, name: str) -> int:
        """Where an array of an explorer's text is."""
        return ctypes.addressof(ctypes.c_uint64.in_dll(self._library, name))

    def get_function(self, name: str) -> Function | FileKernel:
        """A kernel."""
        if self._parameters is None:
            return Function(self._library[name])
        return FileKernel(self._library[f"launch_{name}"], name, self._parameters[name])


class Function:
    """``cupy.cuda.function.Function`` of an explorer."""

    ptr = 1

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(
        self, grid: Any, block: Any, arguments: list[np.uint64], enable_cooperative_groups: bool = False
    ) -> None:
        self._function(*(ctypes.c_uint64(int(argument)) for argument in arguments))
