"""How fast long texts become models, beside Storm, in the same run.

    python bench/texts.py [--only states,guards] [--repeat 3] [--no-storm] [--stages] [--write FOLDER] [--json FILE]

Programs write models of megabytes. Five kinds of them are generated here, always the same: every text has the size that
stands beside it. The time is that from the file to the model, with all labels and rewards, on one core; modules are
loaded before. Every build runs in a process of its own, the tools take turns, and of the repetitions that with the
least processor time counts.
Processor time is that of the same work, and what to compare on a machine that others use. ``--stages`` tells what
Galton's time goes into.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path


def states(size: int) -> Iterator[str]:
    """A DTMC that looks like its matrix: one variable, and a command for each of its values."""
    rng = random.Random(1)
    n = size // 400
    yield f"dtmc\n\nmodule chain\n  s : [0..{n - 1}] init 0;\n\n"
    for s in range(n):
        targets = [(s + 1) % n, *rng.sample(range(n), 18)]
        weights = [rng.randint(1, 99) for _ in targets]
        parts = [f"{w}/{sum(weights)} : (s'={t})" for w, t in zip(weights, targets, strict=True)]
        yield f"  [] s={s} -> {' + '.join(parts)};\n"
    yield f'endmodule\n\nlabel "last" = s={n - 1};\n'


def guards(size: int) -> Iterator[str]:
    """An MDP of one module with long guards and many updates, no two of them the same."""
    rng = random.Random(2)
    names = [f"x{i}" for i in range(5)]
    yield "mdp\n\nmodule machine\n" + "".join(f"  {name} : [0..4] init 0;\n" for name in names) + "\n"
    written, number = 0, 0
    while written < size:
        atoms = [f"{rng.choice(names)}{rng.choice(['=', '!=', '<=', '>'])}{rng.randint(0, 4)}" for _ in range(14)]
        clauses = [f"({' & '.join(atoms[i : i + 3])})" for i in range(0, 12, 3)]
        guard = f"({' | '.join(clauses)}) & {atoms[12]} & {atoms[13]}"
        updates = []
        for _ in range(6):
            one, other = rng.sample(names, 2)
            updates.append(
                f"({one}'=min({one}+{rng.randint(1, 3)}, 4)) & ({other}'=mod({other}+{rng.randint(1, 4)}, 5))"
            )
        weights = ["0.25", "0.15", "0.1", "0.2", "0.05", "0.25"]
        body = " + ".join(f"{w}:{u}" for w, u in zip(weights, updates, strict=True))
        text = f"  [step{number % 50}] {guard} ->\n    {body};\n"
        written, number = written + len(text), number + 1
        yield text
    yield "endmodule\n\n"
    yield 'label "full" = x0=4 & x1=4;\n'


def modules(size: int) -> Iterator[str]:
    """A DTMC of a ticker and many parts with a table each, which synchronise with it."""
    rng = random.Random(3)
    count = max(size // 33000, 1)
    rows = 400
    yield f"dtmc\n\nmodule ticker\n  t : [0..{rows}] init 0;\n  [tick] t<{rows} -> (t'=t+1);\nendmodule\n\n"
    for m in range(count):
        yield f"module part{m}\n  a{m} : [0..3] init 0;\n  b{m} : bool init false;\n"
        for t in range(rows):
            target, flag = rng.randint(0, 3), rng.choice(["true", "false"])
            yield f"  [tick] t={t} & (a{m}>={t % 4} | b{m}) -> (a{m}'={target}) & (b{m}'={flag});\n"
            yield f"  [tick] t={t} & !(a{m}>={t % 4} | b{m}) -> (a{m}'=mod(a{m}+1,4));\n"
        yield "endmodule\n\n"
    yield f'label "end" = t={rows};\n'


def formulas(size: int) -> Iterator[str]:
    """A DTMC of little behaviour and long formulas, labels and rewards."""
    rng = random.Random(4)
    yield "dtmc\n\nconst int N = 40;\nconst double p = 0.4;\n\n"
    yield "module walk\n  x : [0..N] init 20;\n  y : [0..N] init 20;\n"
    yield "  [] true -> p/2 : (x'=min(x+1,N)) + p/2 : (x'=max(x-1,0))\n"
    yield "    + (1-p)/2 : (y'=min(y+1,N)) + (1-p)/2 : (y'=max(y-1,0));\n"
    yield "endmodule\n\n"

    def cells(many: int) -> list[tuple[int, int]]:
        return [(rng.randint(0, 40), rng.randint(0, 40)) for _ in range(many)]

    written, number = 0, 0
    while written < size * 0.7:
        disjuncts = " | ".join(f"(x={a} & y={b})" for a, b in cells(60))
        text = f'formula region{number} = {disjuncts};\nlabel "in{number}" = region{number} & x+y>{number % 40};\n'
        written, number = written + len(text), number + 1
        yield text
    yield 'rewards "map"\n'
    while written < size:
        a, b = rng.randint(0, 40), rng.randint(0, 40)
        earned = f"{rng.randint(1, 9)}*x/{rng.randint(2, 9)} + y"
        text = f"  x={a} & (y={b} | y={b}+1) & !region{rng.randrange(number)} : {earned};\n"
        written += len(text)
        yield text
    yield "endrewards\n"


def rates(size: int) -> Iterator[str]:
    """A CTMC of two variables with wide choices: commands without an action that write many rates as decimals."""
    rng = random.Random(5)
    n = max(int((size / 942) ** 0.5), 2)
    yield f"ctmc\n\nmodule network\n  u : [0..{n - 1}] init 0;\n  v : [0..{n - 1}] init 0;\n\n"
    for u in range(n):
        for v in range(n):
            parts = []
            for _ in range(30):
                rate = (
                    f"{rng.uniform(0.001, 20):.6f}"
                    if rng.random() < 0.8
                    else f"{rng.randint(1, 9)}.{rng.randint(0, 9)}e-3"
                )
                parts.append(f"{rate} : (u'={rng.randrange(n)}) & (v'={rng.randrange(n)})")
            yield f"  [] (u={u}) & (v={v}) -> {' + '.join(parts)};\n"
    yield f'endmodule\n\nlabel "corner" = u={n - 1} & v={n - 1};\nrewards "load" true : u+v; endrewards\n'


KINDS: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
    "states": (states, 2_000_000),
    "guards": (guards, 500_000),
    "modules": (modules, 1_000_000),
    "formulas": (formulas, 200_000),
    "rates": (rates, 5_000_000),
}


def build_with_galton(path: str) -> dict[str, float]:
    """Build in this process and measure, stage by stage."""
    import time

    import galton
    from galton.explore import build
    from galton.lang import check_program, parse_model
    from galton.lang.source import read_source
    from galton.lower.lowering import lower

    galton.parse("dtmc module m s:[0..1]; [] true -> true; endmodule").build()  # loads what a build needs
    before = time.process_time()
    marks = [time.perf_counter()]
    source = read_source(path)
    file = parse_model(source)
    marks.append(time.perf_counter())
    program = check_program(file)
    marks.append(time.perf_counter())
    if os.environ.get("TEXTS_STAGES"):
        lower(program)
    marks.append(time.perf_counter())
    model = build(program, threads=1)
    marks.append(time.perf_counter())
    cpu_s = time.process_time() - before
    parse_s, check_s, lower_s, build_s = (after - before for before, after in pairwise(marks))
    stages = {"parse_s": parse_s, "check_s": check_s, "lower_s": lower_s, "core_s": sum(model.info.values())}
    return {
        "s": parse_s + check_s + build_s,
        "states": model.n_states,
        "transitions": model.n_transitions,
        "cpu_s": cpu_s,
        **stages,
    }


def build_with_storm(path: str) -> dict[str, float]:
    """The same with Storm's sparse engine."""
    import time

    import stormpy

    start, before = time.perf_counter(), time.process_time()
    program = stormpy.parse_prism_program(path, prism_compatibility=True)
    program, _ = stormpy.instantiate_constants(program, "")
    options = stormpy.BuilderOptions()
    options.set_build_all_labels(True)
    options.set_build_all_reward_models(True)
    model = stormpy.build_model(program, options=options)
    taken = {"s": time.perf_counter() - start, "cpu_s": time.process_time() - before}
    return {**taken, "states": model.nr_states, "transitions": model.nr_transitions}


def one(tool: str, path: Path, *, stages: bool = False, limit: float | None = None) -> dict[str, float]:
    """A fresh process that builds once."""
    command = [sys.executable, __file__, "--one", json.dumps([tool, str(path)])]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    if stages:
        environment["TEXTS_STAGES"] = "1"
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"s": float("inf"), "cpu_s": float("inf"), "states": -1, "transitions": -1}
    return json.loads(done.stdout.splitlines()[-1])


def run_one(task: str) -> None:
    """The inside of such a process."""
    import resource

    tool, path = json.loads(task)
    found = build_with_galton(path) if tool == "galton" else build_with_storm(path)
    found["mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


def main() -> None:
    """Generate, build and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(KINDS), help="kinds of text, with commas between them")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--size", type=int, help="bytes of each text, instead of those of its kind")
    parser.add_argument("--no-storm", action="store_true")
    parser.add_argument("--stages", action="store_true", help="what Galton's time goes into")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which a build is given up")
    parser.add_argument("--write", type=Path, help="a folder for the texts, to keep them")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return run_one(options.one)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.write or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        rows = [measure(kind, folder, options) for kind in options.only.split(",")]
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


def measure(kind: str, folder: Path, options: argparse.Namespace) -> dict[str, object]:
    """One kind of text, by both tools."""
    make, size = KINDS[kind]
    path = folder / f"{kind}.prism"
    path.write_text("".join(make(options.size or size)))
    tools = ["galton"] if options.no_storm else ["galton", "storm"]
    runs: dict[str, list[dict[str, float]]] = {tool: [] for tool in tools}
    for _ in range(options.repeat):
        for tool in tools:
            runs[tool].append(one(tool, path, limit=options.limit))
    best = {tool: min(found, key=lambda run: run["cpu_s"]) for tool, found in runs.items()}
    galton = best["galton"]
    megabytes = path.stat().st_size / 1e6
    line = f"{kind:9} {megabytes:5.2f} MB  {galton['states']:>8,.0f} states {galton['transitions']:>9,.0f} transitions"
    line += f"  galton {galton['s']:7.2f} s (processor {galton['cpu_s']:.2f} s, {galton['mb']:.0f} MB)"
    if "storm" in best:
        storm = best["storm"]
        line += f"  storm {storm['s']:7.2f} s (processor {storm['cpu_s']:.2f} s)"
        line += f"  {storm['s'] / galton['s']:5.1f} times (processor {storm['cpu_s'] / galton['cpu_s']:.1f})"
        same = [galton[key] == storm[key] for key in ("states", "transitions")]
        line += "" if all(same) else f"  NOT THE SAME: {storm['states']} states, {storm['transitions']} transitions"
    if options.stages:
        staged = one("galton", path, stages=True, limit=options.limit)
        line += "\n          " + "  ".join(
            f"{name[:-2]} {staged[name]:.2f} s" for name in ("parse_s", "check_s", "lower_s", "core_s")
        )
    print(line, flush=True)
    return {"kind": kind, "megabytes": megabytes, **best}


if __name__ == "__main__":
    main()
