"""The arrays of a NumPy archive from anywhere.

What a file says of its sizes is believed only as far as the file is long: NumPy itself makes room for what a header
promises before it looks whether that is there. Nothing is unpickled.
"""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib import format as npy

BROKEN = (
    *(zipfile.BadZipFile, EOFError, ValueError, ArithmeticError, NotImplementedError),
    *(zlib.error, struct.error, TokenError, SyntaxError),
)
"""What a file that is no archive, or a broken one, makes Python raise."""
BEST_RATIO = 1032  # of deflate, to what it makes of zeros
HEADER = 1 << 16  # bytes, at most

__all__ = ["BROKEN", "read_arrays"]


def read_arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """All arrays of an archive, by name; one of :data:`BROKEN` where something is wrong with it."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name in arrays or name == member.filename:
                raise ValueError(f"{member.filename!r} is no array, or there twice")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or member.flag_bits & 1:
                raise ValueError(f"{name} is packed in a way that NumPy does not write")
            if member.file_size > BEST_RATIO * member.compress_size + HEADER:
                raise ValueError(f"{name} claims to be longer than the file can hold")
            arrays[name] = _array(archive, member, name)
    return arrays


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> np.ndarray[Any, Any]:
    with archive.open(member) as file:
        version = npy.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{name} has version {version} of NumPy's format")
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(file)
        if dtype.hasobject or dtype.fields is not None or dtype.subdtype is not None or (fortran and len(shape) > 1):
            raise ValueError(f"{name} holds {dtype}, which is no plain array")
        size = math.prod(shape) * dtype.itemsize
        if any(length < 0 for length in shape) or size != member.file_size - file.tell():
            raise ValueError(f"{name} claims {shape} numbers, and its part of the file has another length")
        data = file.read()  # to the end, where the check sum is compared
        if len(data) != size:
            raise ValueError(f"{name} ends early")
        if size == 0:
            return np.empty(shape, dtype)
        native = np.frombuffer(data, dtype).reshape(shape)
        return native if dtype.isnative else native.astype(dtype.newbyteorder("="))
