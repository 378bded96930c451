"""What slices save: states and time with them and without, and whether the answers agree.

    python bench/slice.py compare [--corpus DIR] [--only brp] [--seeds 100] [--most 2e5] [--eps 1e-12]
    python bench/slice.py finding [--corpus DIR]

``compare`` asks every question of the gallery, of a corpus where one is given (folders with ``cases.json``) and of
random programs twice, and compares the bounds; it tells where fewer states were explored. Symmetries are used both
times. ``finding`` tells what the analysis costs. Times are those of the processor, so that a busy machine shows less.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # the cases of its neighbour
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from symmetry import Case, _differ, corpus, gallery


def random(seeds: int) -> Iterator[Case]:
    """Random programs with the questions of the tests."""
    from sliced_programs import CHAINS, DECISIONS, sliced

    import galton
    from galton.lang import Source, parse_properties
    from galton.lang.resolution import resolve

    for seed in range(seeds):
        program = galton.parse(str(sliced(seed)))
        for prop in DECISIONS if program.type == "mdp" else CHAINS:
            context, (question,) = resolve(parse_properties(Source("property", prop)), program, {})
            yield f"random {seed}", context, question, prop


def answer(context: Any, question: Any, eps: float, slice: bool) -> tuple[Any, int]:
    """The answer to a question, as galton.check gives it, and how many states were explored for it."""
    from galton.checking.answering import check
    from galton.checking.automaton_reading import reading_of
    from galton.checking.exploration import needs_automaton, terminal
    from galton.checking.looks import looks_of
    from galton.checking.reducing import Reducing
    from galton.explore import build
    from galton.solve.settings import Settings

    reading = reading_of(question, context) if needs_automaton(question) else None
    reducing = Reducing(context, slice=slice, symmetry=True, fix_deadlocks=True, whole="")
    reduced = reducing.of({0: looks_of(context, question)}, [0] if reading else [])[0]
    if reading is not None:
        model = build(reading.program(context), reader=reading.reader, **reduced.options)
    else:
        model = build(context, terminal=terminal([(context, question)]), **reduced.options)
    return check(context, model, question, Settings(eps=eps), reading=reading), model.n_states


def compare(cases: Iterator[Case], eps: float) -> int:
    """Each question with slices and without; returns how many answers differ."""
    import galton

    seen: Counter[str] = Counter()
    spent, whole = [0.0, 0.0], [0.0, 0.0]
    for name, context, question, text in cases:
        for wanted in (eps, 1e-8):  # what is badly conditioned has no narrow bounds
            found: list[Any] = []
            states, seconds = [0, 0], [0.0, 0.0]
            for place, slice in enumerate((True, False)):
                begin = time.process_time()
                try:
                    result, states[place] = answer(context, question, wanted, slice)
                    found.append(result)
                except galton.GaltonError as error:
                    found.append(error.kind)
                seconds[place] = time.process_time() - begin
            if "numeric" not in found:
                break
        seen["asked"] += 1
        whole = [a + b for a, b in zip(whole, seconds, strict=True)]
        trouble = _differ(found[0], found[1], wanted)
        seen["the same"] += not trouble
        if trouble:
            seen["different"] += 1
            print(f"{name}: {text}: {trouble}", flush=True)
        if states[0] < states[1]:
            seen["with fewer states"] += 1
            spent = [a + b for a, b in zip(spent, seconds, strict=True)]
            if not name.startswith("random"):
                print(
                    f"{name}: {states[0]:,} of {states[1]:,} states, {seconds[0]:.2f} s, {seconds[1]:.2f} s without",
                    flush=True,
                )
    print(dict(seen))
    print(f"all: {whole[0]:.1f} s, {whole[1]:.1f} s without slices")
    print(f"those with fewer states: {spent[0]:.1f} s, {spent[1]:.1f} s without slices")
    return seen["different"]


def finding(cases: Iterator[Case]) -> None:
    """What lowering takes, and what is spent on slices besides, once for each model."""
    from galton.checking.looks import looks_of
    from galton.checking.slicing import slice_left
    from galton.lower.slicing import Slices

    done = set()
    for name, context, question, text in cases:
        model = name.split(" ")[0].rsplit("/", 1)[0]
        if model in done:
            continue
        done.add(model)
        best = [math.inf, math.inf]
        for _ in range(3):
            begin = time.process_time()
            slices = Slices(context)
            _ = slices.lowering
            lowered = time.process_time()
            found = slice_left(slices, [looks_of(context, question)])
            best = [min(best[0], lowered - begin), min(best[1], time.process_time() - lowered)]
        print(
            f"{model}: lowered in {1e3 * best[0]:.2f} ms, sliced in {1e3 * best[1]:.2f} ms: {found.note}; {text[:40]}"
        )


def run() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["compare", "finding"])
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--most", type=float, default=2e4)
    parser.add_argument("--eps", type=float, default=1e-12)
    chosen = parser.parse_args()

    def cases() -> Iterator[Case]:
        if chosen.what == "compare":
            yield from random(chosen.seeds)
        yield from gallery(chosen.most)
        if chosen.corpus is not None:
            yield from corpus(chosen.corpus, chosen.most)

    asked = (case for case in cases() if chosen.only in case[0])
    if chosen.what == "finding":
        finding(asked)
        return 0
    return compare(asked, chosen.eps)


if __name__ == "__main__":
    sys.exit(bool(run()))
