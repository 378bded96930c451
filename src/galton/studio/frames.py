"""What goes through the pipe between the server and a worker: a length, a kind, and JSON.

The server passes on what a worker sends as it is, without reading it.
"""

from __future__ import annotations

import struct
from typing import Literal

__all__ = ["END", "HEAD", "NEWS", "READY", "Kind", "frame", "read_head"]

Kind = Literal[b"r", b"n", b"e"]
READY: Kind = b"r"  # the worker can be asked
NEWS: Kind = b"n"  # progress, or a part of an answer
END: Kind = b"e"  # the last message of an ask
HEAD = struct.Struct(">Ic")


def frame(kind: Kind, body: bytes) -> bytes:
    """A message as it is sent."""
    return HEAD.pack(len(body), kind) + body


def read_head(head: bytes) -> tuple[int, bytes]:
    """How long a message is, and its kind."""
    length, kind = HEAD.unpack(head)
    return length, kind
