"""Models beyond 2^31 states, or whose matrix fits nowhere, on one device without a matrix (docs/gpu/beyond.md).

    python bench/beyond.py coin [--n 10] [--k 2] [--only c1,c2] [--seconds 200]
    python bench/beyond.py FILE -c mrec=1 [-p 'filter(max, R=? [ F rec=mrec ], "init")'] [--seconds 200]
    python bench/beyond.py coin --propose [--small]

``coin`` is the shared coin of the gallery, in full: no symmetry, no slice. With ``--propose`` the numbers of its orbits
are lifted to all states, and proved there by one sweep; without, sweeps over all states find them. A file is any model,
with its own properties. It prints as it goes, and stops by itself: each property gets ``--seconds`` from its start, and
is then told with the bounds it has, which hold at any time. A line of JSON for each property comes last.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

from galton.backend.limits import Limits
from galton.checking.asking import Asked, Inquiry
from galton.checking.matrix_free import answer
from galton.device.cuda.runtime import import_cupy
from galton.lang import GaltonError, Source, parse_model, parse_properties
from galton.lang.source import read_source
from galton.solve.settings import Settings

MODELS = Path(__file__).resolve().parent.parent / "models"
EVERY = 5.0  # seconds between lines
SMALL = {"N": "2", "K": "2"}


class TimeUp(Exception):
    """The time is over before there are bounds."""


class Progress:
    """Prints what is going on, now and then, and keeps the least free memory that was seen."""

    def __init__(self, until: float) -> None:
        self.cupy = import_cupy()
        self.start = self.last = time.monotonic()
        self.until = until
        self.free = self.cupy.cuda.runtime.memGetInfo()[0]
        self.least = self.free
        self.stage = ""
        self.sweeps = 0
        self.first_sweep = 0.0

    def states(self, found: int, transitions: int, rows: int) -> None:
        """Of the explorer."""
        self._look(f"{found:,} states")

    def solver(self, news: dict[str, Any]) -> None:
        """Of the solver."""
        now = time.monotonic()
        if news["method"] != self.stage:
            self.stage, self.sweeps, self.first_sweep = news["method"], 0, now
            self.last = 0.0
        self.sweeps += 1
        told = ", ".join(f"{key} {value:.9g}" for key, value in news.items() if key != "method")
        each = (now - self.first_sweep) / (self.sweeps - 1) if self.sweeps > 1 else 0.0
        self._look(f"{self.stage}: {told}, {each:.3f} s each")

    def _look(self, text: str) -> None:
        self.least = min(self.least, self.cupy.cuda.runtime.memGetInfo()[0])
        now = time.monotonic()
        if now > self.until + 60 and "iteration" not in self.stage:
            raise TimeUp(text)
        if now - self.last >= EVERY:
            self.last = now
            used = (self.free - self.least) / 1e9
            print(f"  {now - self.start:8.1f} s  {used:6.1f} GB  {text}", flush=True)


def asked_of(path: Path, texts: list[Source], constants: dict[str, str]) -> list[Asked]:
    """The properties of a file or of a text, for these values of constants."""
    files = [parse_properties(text) for text in texts]
    selected = [(f, i) for f, file in enumerate(files) for i in range(len(file.properties))]
    inquiry = Inquiry(
        subject=parse_model(read_source(path)), files=files, selected=selected, of_model=constants, reads=False
    )
    (row,) = inquiry.rows()
    return row.all_asked


def measure(asked: Asked, seconds: float, eps: float, device: str, *, propose: bool) -> dict[str, Any]:
    """One property: its bounds, and what they took."""
    cupy = import_cupy()
    cupy.get_default_memory_pool().free_all_blocks()
    start = time.monotonic()
    progress = Progress(start + seconds)
    settings = Settings(eps=eps, watch=progress.solver)
    name = asked.question.prop.name or asked.question.prop.text
    print(f"{name}: {asked.question.prop.text}", flush=True)
    row: dict[str, Any] = {"property": name}
    try:
        found = answer(
            asked.context,
            asked.question,
            settings,
            device=device,
            full=True,
            propose=propose,
            threads=len(os.sched_getaffinity(0)),
            limits=Limits(),
            watch=progress.states,
            until=start + seconds,
        )
    except (GaltonError, TimeUp) as error:
        print(f"  {type(error).__name__}: {error}", flush=True)
        return row | {"error": str(error), "seconds": time.monotonic() - start}
    result = found.result
    for work in result.steps[-1].work:
        each = f", {work.seconds / work.iterations:.3f} s a sweep" if work.iterations > 1 else ""
        print(f"  {work.step}: {work.detail}; {work.iterations} sweeps, {work.seconds:.2f} s{each}", flush=True)
    for warning in result.warnings:
        print(f"  warning: {warning}", flush=True)
    row |= {
        "states": found.states,
        "initial": found.initial,
        "levels": found.levels,
        "value": result.value,
        "least": found.bounds.least,
        "greatest": found.bounds.greatest,
        "sweeps": found.sweeps,
        "seconds": round(result.seconds, 3),
        "stages": {name: round(taken, 3) for name, taken in found.seconds.items()},
        "bytes_a_state": round(sum(found.bytes.values()) / found.states, 2),
        "gb": {name: round(size / 1e9, 3) for name, size in found.bytes.items()},
        "high_water_gb": round((progress.free - progress.least) / 1e9, 2),
    }
    print(f"  value {result.value}, from {found.bounds.least[0]!r} to {found.bounds.greatest[1]!r}", flush=True)
    return row


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="coin, or the file of a model")
    parser.add_argument("-c", "--const", default="", help="values of constants, N=2,K=2")
    parser.add_argument("-p", "--prop", action="append", default=[], help="a property")
    parser.add_argument("--props", type=Path, help="a file of properties")
    parser.add_argument("--n", type=int, default=10, help="processes of the coin")
    parser.add_argument("--k", type=int, default=2, help="its K")
    parser.add_argument("--only", default="", help="names of properties, separated by commas")
    parser.add_argument("--seconds", type=float, default=200.0, help="for each property")
    parser.add_argument("--eps", type=float, default=1e-6)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--propose", action="store_true", help="let symmetries propose; all states prove")
    parser.add_argument("--small", action="store_true", help="the coin for two processes")
    given = parser.parse_args()
    constants = dict(part.split("=") for part in given.const.split(",") if part)
    texts = [Source("property", text) for text in given.prop]
    if given.model == "coin":
        path = MODELS / "consensus.prism"
        constants = SMALL if given.small else {"N": str(given.n), "K": str(given.k)}
        texts = texts or [read_source(MODELS / "consensus.props")]
    else:
        path = Path(given.model)
    if given.props:
        texts.append(read_source(given.props))
    chosen = [name for name in given.only.split(",") if name]
    rows = []
    for asked in asked_of(path, texts, constants):
        if not chosen or asked.question.prop.name in chosen:
            rows.append(measure(asked, given.seconds, given.eps, given.device, propose=given.propose))
    for row in rows:
        print(json.dumps({"model": str(given.model), "constants": constants, **row}), flush=True)


if __name__ == "__main__":
    main()
