"""Compile CUDA C++ texts that come as lines of JSON; a program of its own, which knows NVRTC and nothing else.

    python compiler_process.py LIBNVRTC

Each line is ``{"text": …, "options": […]}``. The answer is a line with a number of bytes and 1 or 0, and then so many
bytes: machine code, or what the compiler complains about.
"""

from __future__ import annotations

import ctypes
import json
import sys


def compiled(nvrtc: ctypes.CDLL, text: str, options: list[str]) -> tuple[bytes, bool]:
    """Machine code and True, or complaints and False."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None)
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    fine = nvrtc.nvrtcCompileProgram(program, len(options), given) == 0
    kind = "CUBIN" if fine else "ProgramLog"
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
    room = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{kind}")(program, room)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return (room.raw, True) if fine else (room.value, False)


def main() -> None:
    """Until the input ends."""
    nvrtc = ctypes.CDLL(sys.argv[1])
    answers = sys.stdout.buffer
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        found, fine = compiled(nvrtc, asked["text"], asked["options"])
        answers.write(b"%d %d\n" % (len(found), fine))
        answers.write(found)
        answers.flush()


if __name__ == "__main__":
    main()
