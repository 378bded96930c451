"""What Galton asks of CuPy, and which of its own kernels it needs: found out on a played device.

    python -m tests.played.recording        # from the root of the repository, in some minutes

writes ``src/galton/device/cuda/beforehand.txt``, by which a device's first question has its kernels compiled side by
side (:mod:`galton.device.cuda.beforehand`). A line is a statement about small arrays, or a file and its macros. What
most questions need comes first, and what only one of them needs is left out.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import galton
from galton.device.cuda import beforehand, kernels
from played import arrays, played_device
from played.arrays import ndarray

__all__ = ["QUESTIONS", "recorded"]

MODELS = Path(__file__).resolve().parents[2] / "models"
NAME = re.compile(r"(?<![.\w])[bifu][1248](?:_\w+)?")
# What only larger models need, and models that an H200 was asked about first.
LARGER = [
    "i4.sum(dtype=np.int64)",
    "backend/cuda/graph/together.cu\tOFFSET=int",
    "backend/cuda/slices.cu\tOFFSET=int\tCODE=unsigned char\tLANES=1",
]
# Every kind of question and of model, each with some hundred states.
QUESTIONS: list[tuple[str, dict[str, float], tuple[str, ...]]] = [
    ("die", {}, ("P=? [ F d=6 ]", "P=? [ F<=3 d=6 ]", "P=? [ X node=1 ]", 'R=? [ F "done" ]', 'P>=1 [ F "done" ]')),
    ("brp", {"N": 16, "MAX": 2}, ('P=? [ F "unsure" ]', 'P=? [ G !"unsure" ]', "R=? [ F report!=0 ]")),
    ("herman", {"N": 5}, ('filter(max, R=? [ F "stable" ], "init")', 'filter(min, P=? [ F<=5 "stable" ], "init")')),
    ("crowds", {"TotalRuns": 3, "CrowdSize": 5}, ('P=? [ F "sender_seen_twice" ]', 'R=? [ F "over" ]')),
    ("leader_sync", {"N": 3, "K": 4}, ('R=? [ F "elected" ]', 'P>=1 [ F "elected" ]')),
    (
        "consensus",
        {"N": 2, "K": 4},
        (
            'Pmin=? [ F "finished" & "all_heads" ]',
            'Pmax=? [ F "finished" & !"agree" ]',
            'Rmin=? [ F "finished" ]',
            'Rmax=? [ F "finished" ]',
            'Pmax=? [ F<=50 "finished" ]',
            'Pmax=? [ G F "all_heads" ]',
        ),
    ),
    ("csma", {"N": 2, "K": 2}, ('Pmin=? [ F "all_delivered" ]', 'R{"time"}max=? [ F "all_delivered" ]')),
    (
        "wlan",
        {"MAX_BACKOFF": 1, "COL": 2},
        ('Pmax=? [ F "collided" ]', 'R{"time"}max=? [ F "both_sent" ]', 'R{"time"}min=? [ F "both_sent" ]'),
    ),
    (
        "cluster",
        {"N": 4},
        (
            'P=? [ F<=10 !"minimum" ]',
            'P=? [ F[2,2] !"minimum" ]',
            'P=? [ "minimum" U<=2 "premium" ]',
            'S=? [ "premium" ]',
            'R{"percent_op"}=? [ S ]',
            'R{"time_not_min"}=? [ C<=5 ]',
            'R{"percent_op"}=? [ I=5 ]',
        ),
    ),
    ("tandem", {"c": 15}, ('R{"customers"}=? [ S ]', 'P=? [ F[0.1,0.2] "full" ]', 'R{"customers"}=? [ I=0.2 ]')),
    ("polling", {"N": 4}, ('S=? [ "waiting1" ]', 'P=? [ !"served2" U "served1" ]', "P=? [ F<=0.1 at=1 & works=0 ]")),
    ("kanban", {"t": 1}, ('R{"throughput"}=? [ S ]', "S=? [ work4=0 ]")),
]


def recorded() -> Counter[str]:
    """Each line, and how many questions needed it."""
    found: Counter[str] = Counter()
    with played_device_that_records() as heard:
        for name, constants, properties in QUESTIONS:
            program = galton.load(MODELS / f"{name}.prism", **constants)
            for text in properties:
                heard.clear()
                kernels.kernels.cache_clear()
                try:
                    galton.check(program, text, device="cuda")
                except galton.GaltonError as error:
                    raise SystemExit(f"{name}: {text}: {error}") from error
                found.update(heard)
                print(f"{name}: {text}: {len(heard)} lines", file=sys.stderr)
    return found


def name_of(array: ndarray) -> str:
    """What stands for an array of this kind in :func:`galton.device.cuda.beforehand.small_arrays`."""
    host = array._host
    base = host.dtype.str[1:]
    if host.ndim == 0:
        return f"{base}_0"
    if host.ndim == 1:
        return f"{base}_one" if host.size == 1 else base if host.flags.c_contiguous else f"{base}_apart"
    if not host.flags.c_contiguous:
        return f"{base}_2_apart"
    return f"{base}_column" if host.shape[1] == 1 else f"{base}_2"


def _of_several(line: str) -> str:
    """Where arrays have one number each, they have several in larger models; beside several, one has its own kernel."""
    names = NAME.findall(line)
    return line.replace("_one", "") if names and all(name.endswith("_one") for name in names) else line


def written(value: Any, *, places: bool = False) -> str:
    """A parameter of a statement; numbers are 1, because CuPy fills with 0 without a kernel."""
    if isinstance(value, ndarray):
        return name_of(value)
    if isinstance(value, tuple):
        inner = ", ".join(written(part, places=places) for part in value)
        return inner if places else f"({inner},)"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, slice):
        return ":"
    if value is None or value is Ellipsis or isinstance(value, (str, bool)):
        return "..." if value is Ellipsis else repr(value)
    if isinstance(value, (type, np.dtype)):
        return f"np.{np.dtype(value).name}".replace("np.bool", "np.bool_")
    if isinstance(value, np.generic):
        return f"{written(value.dtype)}(1)"
    return "1.0" if isinstance(value, float) else "1"


@contextmanager
def played_device_that_records() -> Iterator[set[str]]:
    """A played device, and a set that everything is added to that is asked of it."""
    heard: set[str] = set()
    depth = 0

    def listening(function: Callable[..., Any], line: Callable[..., str]) -> Callable[..., Any]:
        @wraps(function)
        def wrapped(*args: Any, **options: Any) -> Any:
            nonlocal depth
            text = line(*args, **options) if depth == 0 else ""
            depth += 1
            try:
                found = function(*args, **options)
            finally:
                depth -= 1
            if text and all(part.size for part in args if isinstance(part, ndarray)):
                heard.add(_of_several(text))
            return found

        return wrapped

    def called(name: str) -> Callable[..., str]:
        def line(*args: Any, **options: Any) -> str:
            given = [written(part) for part in args]
            if name in ("zeros", "ones", "full", "empty", "arange"):  # the shape
                given[:1] = ["(SIZE, 2)" if isinstance(args[0], tuple) and len(args[0]) == 2 else "SIZE"]
                if name == "arange":
                    given[1:] = []
            return f"cp.{name}({', '.join([*given, *(f'{key}={written(part)}' for key, part in options.items())])})"

        return line

    def method(name: str) -> Callable[..., str]:
        def line(array: ndarray, *args: Any, **options: Any) -> str:
            given = [*map(written, args), *(f"{key}={written(part)}" for key, part in options.items())]
            return f"{name_of(array)}.{name}({', '.join(given)})"

        return line

    def computed(ufunc: np.ufunc, *args: Any, **options: Any) -> str:
        return called(ufunc.__name__)(*args, **options)

    def got(array: ndarray, where: Any) -> str:
        parts = where if isinstance(where, tuple) else (where,)
        return f"{name_of(array)}[{written(where, places=True)}]" if any(isinstance(p, ndarray) for p in parts) else ""

    def put(array: ndarray, where: Any, value: Any) -> str:
        return f"{name_of(array)}[{written(where, places=True)}] = {written(value)}"

    def file_of(path: Path, *defines: str) -> str:
        return "\t".join([str(path.relative_to(beforehand.ROOT)), *defines])

    with ExitStack() as stack:
        functions = {
            name: listening(function, called(name))
            for name, function in arrays.FUNCTIONS.items()
            if callable(function)
            and name not in ("asarray", "array", "asnumpy", "shape", "ndim", "empty")
            and not isinstance(function, arrays.Ufunc)
        }
        stack.enter_context(patch.dict(arrays.FUNCTIONS, functions))
        stack.enter_context(patch.object(arrays, "_computed", listening(arrays._computed, computed)))
        for name in ("astype", "copy", "fill", "max", "min", "sum", "any", "all", "argmax", "argmin", "nonzero"):
            stack.enter_context(patch.object(ndarray, name, listening(getattr(ndarray, name), method(name))))
        stack.enter_context(patch.object(ndarray, "__getitem__", listening(ndarray.__getitem__, got)))
        stack.enter_context(patch.object(ndarray, "__setitem__", listening(ndarray.__setitem__, put)))
        text = kernels.kernels_text
        stack.enter_context(patch.object(kernels, "kernels_text", listening(text, file_of)))
        stack.enter_context(played_device())
        yield heard


def main() -> None:
    """Record, and write."""
    found = recorded()
    often = [line for line, times in found.items() if times > 1]
    lines = sorted({*often, *LARGER}, key=lambda line: (-found[line], line))
    beforehand.FILE.write_text("".join(f"{line}\n" for line in lines))
    print(f"{len(lines)} lines in {beforehand.FILE.name}")


if __name__ == "__main__":
    main()
