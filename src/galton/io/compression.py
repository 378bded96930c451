"""Compressed files: what comes out of them may not grow beyond what the worst of ordinary files would."""

from __future__ import annotations

import lzma
import zlib
from pathlib import Path
from typing import IO, Any

from .errors import FileError

__all__ = ["decompressed", "packed", "unpacked"]

GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
BEST_RATIO = 1032  # of deflate, to what it makes of zeros; xz has none, so this is its limit too
FEW_BYTES = 1 << 26  # that a file of any length may grow to
MOST_XZ_MEMORY = 1 << 28
_CHUNK = 1 << 22


def unpacked(path: Path, data: bytes) -> bytes | bytearray:
    """The bytes of a file, decompressed if they are compressed."""
    if data.startswith(GZIP):
        return _inflated(path, data)
    if data.startswith(XZ):
        return decompressed(path, data, lzma.LZMADecompressor(memlimit=MOST_XZ_MEMORY))
    return data


def _inflated(path: Path, data: bytes) -> bytearray:
    """All members of a gzip file, one after the other."""
    out = bytearray()
    while data.startswith(GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        out += decompressed(path, data, unpacker)
        data = unpacker.unused_data
    return out


def decompressed(path: Path, data: bytes, unpacker: Any) -> bytearray:
    """What comes out of a decompressor, as long as it stays in proportion."""
    most = max(FEW_BYTES, BEST_RATIO * len(data))
    out = bytearray()
    try:
        chunk = unpacker.decompress(data, _CHUNK)
        while True:
            out += chunk
            if len(out) > most:
                raise FileError(f"{len(data):,} bytes become more than {most:,}; that is no model", path)
            if unpacker.eof:
                return out
            rest = getattr(unpacker, "unconsumed_tail", b"")
            chunk = unpacker.decompress(rest, _CHUNK)
            if not chunk and not unpacker.eof and not getattr(unpacker, "unconsumed_tail", b""):
                raise FileError("the compressed file ends early", path)
    except (zlib.error, lzma.LZMAError, EOFError, ValueError) as error:
        raise FileError(f"cannot be decompressed: {error}", path) from None


def packed(file: IO[bytes], compression: str | None) -> IO[Any]:
    """A file to write to that compresses into another; that file itself where nothing is compressed."""
    if compression == "gzip":
        import gzip

        return gzip.GzipFile("", "wb", compresslevel=4, fileobj=file, mtime=0)  # type: ignore[return-value]
    if compression == "xz":
        return lzma.LZMAFile(file, "wb", preset=1)
    return file
