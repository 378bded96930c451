"""CUDA kernels compiled by g++: each gets a function that runs its threads, one after the other.

It shows that the algorithms are right; not that threads at the same time do not disturb each other, which tests marked
``gpu`` are for. Threads run in an order that changes from launch to launch, so that nothing relies on one.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir

__all__ = ["KEPT", "library_of", "with_launchers"]

# Compiled kernels are kept under a hash of their text, for the next process too. A file appears as a whole or not at
# all, so that processes may compile the same at the same time.
KEPT = Path(gettempdir()) / f"galton-played-{os.getuid()}"

_THREADS = Path(__file__).with_name("threads.h")
_KERNEL = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\(\w+\) )?(\w+)\(([^)]*)\)')
_SHARED = re.compile(r"#define (\w+_PARAMETERS)((?:.*\\\n)*.*)\n")  # parameters that several kernels have


def with_launchers(text: str) -> str:
    """Kernels as C++, each with a function that runs all its threads; parameters that have a name are written out."""
    text = f"{_THREADS.read_text()}\n{text}"
    for name, parameters in _SHARED.findall(text):
        text = re.sub(rf"([(,]\s*){name}\b", rf"\1{' '.join(parameters.replace(chr(92), '').split())}", text)
    return text + "".join(_launcher(*found) for found in _KERNEL.findall(text))


def library_of(text: str, *defines: str) -> ctypes.CDLL:
    """The text compiled; the library is kept until the text changes."""
    key = sha256("\n".join([text, *defines]).encode()).hexdigest()
    library = KEPT / f"{key}.so"
    if not library.exists():
        KEPT.mkdir(exist_ok=True)
        unfinished = library.with_suffix(f".{os.getpid()}")  # others may be compiling the same
        options = ["-std=c++17", "-O1", "-shared", "-fPIC", "-x", "c++", *(f"-D{define}" for define in defines)]
        subprocess.run(["g++", *options, "-", "-o", unfinished], input=text, text=True, check=True)
        unfinished.rename(library)
    return ctypes.CDLL(str(library))


def _launcher(name: str, parameters: str) -> str:
    names = ", ".join(re.findall(r"(\w+)\s*(?:,|$)", parameters))
    return f"""
extern "C" void launch_{name}(long long kind_, long long blocks_, unsigned threads_, {parameters}) {{
    blockDim.x = threads_;
    gridDim.x = unsigned(blocks_);
    const long long total_ = blocks_ * threads_;
    for (long long i_ = 0; i_ < total_; ++i_) {{
        // Upwards, downwards, or the threads of all blocks in turn.
        const long long k_ = kind_ == 0 ? i_ : kind_ == 1 ? total_ - 1 - i_ : i_ % blocks_ * threads_ + i_ / blocks_;
        blockIdx.x = unsigned(k_ / threads_);
        threadIdx.x = unsigned(k_ % threads_);
        {name}({names});
    }}
}}
"""
