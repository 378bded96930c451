"""What is damaged, and what is done with it: an answer or a message has to come of it, soon, and in little memory.

``python mutation_cases.py KIND SEED COUNT`` tries so many damaged ones in a process of its own and says which one
brought it down; the same kind, seed and number give the same case again.
"""

from __future__ import annotations

import contextlib
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutation import mutated_archive, mutated_bytes, mutated_json, mutated_text

import galton
from galton.checking.strategies.strategy_file import read_strategy, write_strategy

MEMORY = 1 << 30  # bytes, beside what Python and its libraries take
PATIENCE, REACTION = 1.0, 1.0  # seconds that a case may take before it is interrupted, and that this may take

MODEL = """mdp
const int N = 3;
formula last = x=N;
module walk
  x : [0..N] init 0;
  up : bool init true;
  [go] x<N & up -> 0.75 : (x'=x+1) + 0.25 : (up'=false);
  [go] x<N -> 1/3 : (x'=max(x-1, 0)) + 2/3 : (x'=x+1) & (up'=!up);
  [] last -> true;
endmodule
module timer
  t : [0..2];
  [go] t<2 -> (t'=t+1);
  [go] t=2 -> 0.5 : (t'=0) + 0.5 : (t'=2);
endmodule
label "end" = last;
rewards "steps" [go] true : 1; x=1 : 0.5; endrewards
"""
PROPERTIES = """const double p = 0.25;
"a": Pmax=? [ F "end" ];
"b": Rmin=? [ F "end" ];
P>=p [ x<2 U<=7 "end" ]; R{"steps"}max=? [ C<=5 ]; filter(max, Pmin=? [ X x=1 ], t=0);
"""
CHAIN = """ctmc
const double k;
module m  s : [0..4];  [] s<4 -> k : (s'=s+1);  [] s>0 -> 2 : (s'=s-1);  endmodule
label "full" = s=4;
rewards s>2 : 1; endrewards
"""
ONE = galton.Settings(threads=1)
SMALL: Any = {"max_states": 2000, "memory_mb": 64, "threads": 1, "device": "cpu"}


@dataclass(frozen=True)
class Kind:
    """Files of before, by suffix; how one of them is changed; and what is done with the changed one."""

    files: dict[str, bytes]
    change: Callable[[bytes, random.Random], bytes]
    use: Callable[[Path], object]


def _text(change: Callable[[str, random.Random], str]) -> Callable[[bytes, random.Random], bytes]:
    return lambda data, rng: change(data.decode(), rng).encode()


def _model(path: Path) -> None:
    galton.check(galton.load(path).build(**SMALL), 'Pmax=? [ F "end" ]', settings=ONE)


def _properties(path: Path) -> None:
    from galton.lang import Source, parse_properties
    from galton.lang.resolution import resolve

    program = galton.parse(MODEL)
    file = parse_properties(Source("props", path.read_text(errors="replace")))
    for prop in file.properties:
        if prop.error is None:
            with contextlib.suppress(galton.GaltonError):
                galton.check(program, prop.text, settings=ONE)
    resolve(file, program, {})


def _constants(path: Path) -> None:
    from galton.checking.experiment import valuations
    from galton.lang.constants import parse_constants

    given = parse_constants(path.read_text(errors="replace"))
    galton.parse(CHAIN, **next(valuations(given))).build(**SMALL)


def _strategy(steps: str) -> tuple[bytes, Callable[[Path], object]]:
    model = galton.parse(MODEL).build(**SMALL)
    found = galton.check(model, f"Pmax=? [ F{steps} x=3 ]", strategy=True, settings=ONE).strategy
    assert found is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.json"
        write_strategy(path, found, formula="P", constants={"N": 3})
        return path.read_bytes(), lambda path: read_strategy(path, model)[0].induced().validate()


def _regions(path: Path) -> None:
    galton.synthesize(
        galton.parse(CHAIN, k=1.0),
        'P>=0.5 [ F<=2 "full" ]',
        k=(0.5, 3.0),
        resume=galton.Regions.from_json(path),
        threads=1,
    )


def _explicit(path: Path) -> None:
    """A changed file, with the others of before beside it."""
    together = [path] if path.suffix in (".npz", ".mtx") else sorted(path.parent.glob("m.*"))
    model = galton.read_model([p for p in together if p.suffix not in (".npz", ".mtx")] or together)
    goal = "full" if "full" in model.labels else "deadlock"
    galton.check(model, f'{"Pmax" if model.type == "mdp" else "P"}=? [ F "{goal}" ]', settings=ONE)


def _files(text: str, suffixes: tuple[str, ...], **constants: Any) -> dict[str, bytes]:
    model = galton.parse(text, **constants).build(**SMALL)
    with tempfile.TemporaryDirectory() as folder:
        paths = galton.write_model(model, [Path(folder) / f"m{suffix}" for suffix in suffixes])
        return {path.suffix: path.read_bytes() for path in paths}


def kinds() -> dict[str, Callable[[], Kind]]:
    """All kinds; each is made when it is asked for."""

    def strategy(steps: str) -> Kind:
        data, use = _strategy(steps)
        return Kind({".json": data}, _text(mutated_json), use)

    def regions() -> Kind:
        program = galton.parse(CHAIN, k=1.0)
        found = galton.synthesize(program, 'P>=0.5 [ F<=2 "full" ]', k=(0.5, 3.0), volume=0.2, threads=1)
        return Kind({".json": found.to_json().encode()}, _text(mutated_json), _regions)

    explicit = (".tra", ".sta", ".lab", ".srew", ".trew")
    return {
        "model": lambda: Kind({".prism": MODEL.encode()}, _text(mutated_text), _model),
        "properties": lambda: Kind({".props": PROPERTIES.encode()}, _text(mutated_text), _properties),
        "constants": lambda: Kind({".txt": b"k=0.5:0.25:2"}, _text(mutated_text), _constants),
        "strategy": lambda: strategy(""),
        "strategy by steps": lambda: strategy("<=4"),
        "regions": regions,
        "archive": lambda: Kind(_files(MODEL, (".npz",)), mutated_archive, _explicit),
        "archive of a chain": lambda: Kind(_files(CHAIN, (".npz",), k=1.0), mutated_archive, _explicit),
        "explicit": lambda: Kind(_files(MODEL, explicit), mutated_bytes, _explicit),
        "explicit chain": lambda: Kind(_files(CHAIN, explicit, k=1.0), _text(mutated_text), _explicit),
        "matrix market": lambda: Kind(_files(CHAIN, (".mtx",), k=1.0), _text(mutated_text), _explicit),
    }


class OutOfPatience(BaseException):
    """A case that takes longer than a test wants to wait."""


def _lose_patience(number: int, frame: object) -> None:
    raise OutOfPatience


def try_one(kind: Kind, rng: random.Random | None, folder: Path) -> str:
    """Change a file and use it; what came of it. Whatever is neither an answer nor a message is raised."""
    changed = rng.choice(list(kind.files)) if rng else next(iter(kind.files))
    for suffix, data in kind.files.items():
        (folder / f"m{suffix}").write_bytes(kind.change(data, rng) if rng and suffix == changed else data)
    begin = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, PATIENCE if rng else 30 * PATIENCE)  # the first loads what all need
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind.use(folder / f"m{changed}")
        return "answer"
    except galton.GaltonError as error:
        return "message" if str(error).strip() else "silence"
    except OutOfPatience:
        took = time.monotonic() - begin
        assert took < PATIENCE + REACTION, f"interrupted after {PATIENCE} s, it went on until {took:.1f} s"
        return "interrupted"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main(name: str, seed: int, count: int) -> int:
    """Try many; 1 when one of them brought something down."""
    kind = kinds()[name]()
    signal.signal(signal.SIGALRM, _lose_patience)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
    came: dict[str, int] = {}
    for number in range(seed, seed + count):
        print(f"{name}, seed {number}", file=sys.stderr, flush=True)  # the last line tells which one crashed
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = try_one(kind, random.Random(f"{name} {number}") if number else None, Path(folder))
                if number == 0 and found != "answer":
                    raise AssertionError(f"the files of before, which nobody changed, gave: {found}")
            except Exception:
                traceback.print_exc()
                return 1
        came[found] = came.get(found, 0) + 1
    print(came)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
