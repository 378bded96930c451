"""Symmetries: answers with them and without, and how far they reach.

    python bench/symmetry.py compare [--corpus DIR] [--only coin] [--seeds 500] [--most 2e5] [--eps 1e-10]
    python bench/symmetry.py coin|rabin N [--device cuda] [--memory MB]
    python bench/symmetry.py finding

``compare`` asks every question of the gallery, of a corpus where one is given (folders with ``cases.json``) and of
random programs twice, and compares the bounds; programs that are nearly symmetric are among them. ``coin`` and
``rabin`` write protocols with any number of processes and check them: the shared coin of the gallery, and M. Rabin's
mutual exclusion with a shared variable of logarithmic size (1982). ``finding`` tells what the search costs where it
finds nothing. Times are those of the processor, so that a busy machine does not show.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "models"
sys.path.insert(0, str(ROOT / "tests"))  # its random programs

Case = tuple[str, Any, Any, str]  # a name, the program that knows the names of the question, the question, its text


# Cases.


def gallery(most: float) -> Iterator[Case]:
    """Small instances of all models of the gallery, with all their properties."""
    for entry in json.loads((MODELS / "gallery.json").read_text())["models"]:
        known = {p["name"]: p["constants"] for p in entry["properties"]}
        for instance in entry["instances"]:
            if instance["states"] <= most:
                model, props = MODELS / entry["file"], MODELS / entry["properties_file"]
                for name, constants in known.items():
                    yield from _asked(entry["file"], model, props, name, {**constants, **instance["constants"]})


def corpus(folder: Path, most: float) -> Iterator[Case]:
    """Cases of a corpus."""
    for path in sorted(folder.glob("*/*/cases.json")):
        for case in json.loads(path.read_text())["cases"]:
            if not case.get("storm_extension") and case.get("states") and case["states"] <= most:
                model, props = path.parent / case["model"], path.parent / case["props"]
                yield from _asked(case["id"], model, props, case["property_name"], case["constants"])


def _asked(name: str, model: Path, props: Path, prop: str, constants: dict[str, Any]) -> Iterator[Case]:
    import galton
    from galton.lang import Source, parse_properties
    from galton.lang.resolution import resolve

    file = parse_properties(Source(str(props), props.read_text()))
    own = {constant.name.name for constant in file.constants}
    program = galton.load(model, **{n: v for n, v in constants.items() if n not in own})
    context, questions = resolve(file, program, {n: v for n, v in constants.items() if n in own})
    for question in questions:
        if question.prop.name == prop:
            yield f"{name} {constants} {prop}", context, question, question.prop.text


def random(seeds: int) -> Iterator[Case]:
    """Random programs, symmetric and nearly so, with the questions of the tests."""
    from symmetric_programs import BREAKS, STARTS, symmetric

    import galton
    from galton.lang import Source, parse_properties
    from galton.lang.resolution import resolve

    chains = ['P=? [ F "goal" ]', "P=? [ F<=4 b1 ]", 'R{"r"}=? [ F "goal" ]', 'S=? [ "goal" ]', 'P=? [ G F "goal" ]']
    choices = ['Pmax=? [ F "goal" ]', "Pmin=? [ F<=4 b1 ]", 'R{"r"}min=? [ F "goal" ]', 'Pmax=? [ G F "goal" ]']
    for seed in range(seeds):
        text = symmetric(seed)
        broken = list({**BREAKS, **STARTS}.items())
        name, change = broken[seed % len(broken)]
        for what, changed in (("symmetric", text), (f"but for {name}", change(text))):
            program = galton.parse(str(changed))
            for prop in choices if program.type == "mdp" else chains:
                context, (question,) = resolve(parse_properties(Source("property", prop)), program, {})
                yield f"random {seed}, {what}", context, question, prop


# What is done with them.


def compare(cases: Iterator[Case], eps: float) -> int:
    """Each question with symmetries and without; returns how many answers differ."""
    import galton

    seen: Counter[str] = Counter()
    spent = {True: 0.0, False: 0.0}
    for name, context, question, text in cases:
        found: list[Any] = []
        for wanted in (eps, 1e3 * eps, 1e6 * eps):  # what is badly conditioned has no narrow bounds
            found = []
            for symmetry in (True, False):
                begin = time.process_time()
                try:
                    found.append(answer(context, question, wanted, symmetry, seen))
                except galton.GaltonError as error:
                    found.append(error.kind)
                spent[symmetry] += time.process_time() - begin
            if "numeric" not in found:
                break
        seen["asked"] += 1
        trouble = _differ(found[0], found[1], wanted)
        seen["the same"] += not trouble
        seen[f"an error on both sides: {found[0]}"] += isinstance(found[0], str) and not trouble
        if trouble:
            seen["different"] += 1
            print(f"{name}: {text}: {trouble}", flush=True)
    print(
        {what: count for what, count in seen.items() if count},
        f"{spent[True]:.1f} s with symmetries, {spent[False]:.1f} s without",
    )
    return seen["different"]


def answer(context: Any, question: Any, eps: float, symmetry: bool, seen: Counter[str]) -> Any:
    """The answer to a question, as galton.check gives it."""
    from galton.checking.answering import check as check_question
    from galton.checking.automaton_reading import reading_of
    from galton.checking.exploration import needs_automaton, terminal
    from galton.checking.symmetry import symmetry_of
    from galton.explore import build
    from galton.lower.symmetry import Symmetries
    from galton.solve.settings import Settings

    kept = symmetry_of(Symmetries(context), context, question) if symmetry else None
    reading = reading_of(question, context) if needs_automaton(question) else None
    if reading is not None:
        model = build(reading.program(context), reader=reading.reader, symmetry=kept)
    else:
        model = build(context, terminal=terminal([(context, question)]), symmetry=kept)
    seen["with fewer states"] += model.orbits is not None
    return check_question(context, model, question, Settings(eps=eps), reading=reading)


def _differ(mine: Any, theirs: Any, eps: float) -> str:
    if isinstance(mine, str) or isinstance(theirs, str):
        return "" if mine == theirs else f"{mine} and {theirs}"
    if mine.lower is None or theirs.lower is None:
        return "" if mine.value == theirs.value else f"{mine.value} and {theirs.value}"
    for a, b in ((mine.lower, theirs.lower), (mine.upper, theirs.upper)):
        if not (a == b or math.isclose(a, b, rel_tol=4 * eps, abs_tol=1e-300)):
            return f"[{mine.lower}, {mine.upper}] and [{theirs.lower}, {theirs.upper}]"
    return ""


def coin(n: int) -> tuple[str, list[str]]:
    """The shared coin of the gallery with more than its ten processes, and its five questions."""
    text = (MODELS / "consensus.prism").read_text()
    more = "".join(
        f"const int id{i} = {i};\nmodule process{i} = process1 [ do1=do{i}, coin1=coin{i}, id1=id{i} ] endmodule\n"
        for i in range(11, n + 1)
    )
    for name in ("do", "coin"):
        text = text.replace(f"+{name}10;", "".join(f"+{name}{i}" for i in range(10, max(n, 10) + 1)) + ";")
    text = text.replace("// Processes beyond N add", f"{more}// Processes beyond N add")
    props = (MODELS / "consensus.props").read_text()
    return text.replace("const int N;", f"const int N = {n};").replace("const int K;", "const int K = 2;"), [props]


def rabin(n: int) -> tuple[str, list[str]]:
    """Rabin's mutual exclusion: who drew the highest lot of a round may enter; rounds are drawn at random."""
    lots = 4 + math.ceil(math.log2(n))
    draws = " + ".join(
        f"1/{2 ** min(lot, lots - 1)} : (lotI'={lot}) & (madeI'=round) & (most'=max(most,{lot})) & (drawingI'=false)"
        for lot in range(1, lots + 1)
    )
    process = f"""module pI
      whereI : [0..2];  lotI : [0..{lots}];  madeI : [0..2];  drawingI : bool;
      [] FREE & whereI=0 -> (whereI'=1);
      [] FREE & whereI=1 & (most<lotI | round!=madeI) & !drawingI -> (drawingI'=true);
      [] drawingI -> {draws};
      [] FREE & whereI=1 & most=lotI & round=madeI & !taken ->
         0.5 : (round'=1) & (taken'=true) & (most'=0) & (lotI'=0) & (madeI'=0) & (whereI'=2)
       + 0.5 : (round'=2) & (taken'=true) & (most'=0) & (lotI'=0) & (madeI'=0) & (whereI'=2);
      [] FREE & whereI=2 -> (whereI'=0) & (taken'=false);
    endmodule
    """

    def written(i: int) -> str:
        free = " & ".join(f"!drawing{j}" for j in range(1, n + 1) if j != i)
        text = process.replace("FREE", free)
        for name in ("p", "where", "lot", "made", "drawing"):
            text = text.replace(f"{name}I", f"{name}{i}")
        return text

    modules = "".join(map(written, range(1, n + 1)))
    inside = "+".join(f"(where{i}=2?1:0)" for i in range(1, n + 1))
    text = f"mdp global taken : bool; global most : [0..{lots}]; global round : [1..2];\n{modules}"
    return text, [f"Pmax=? [ F {inside}>1 ]", f"Pmin=? [ F {inside}=1 ]"]


def check(text: str, props: list[str], device: str, memory: float | None) -> None:
    """Check by the command line, and tell the time of the processor."""
    from galton.cli import main

    with tempfile.TemporaryDirectory() as folder:
        model, asked = Path(folder) / "model.prism", Path(folder) / "asked.props"
        model.write_text(text)
        asked.write_text(";\n".join(props))
        room = [] if memory is None else ["--memory", str(memory)]
        sys.argv = ["galton", "check", str(model), "--props", str(asked), "--device", device, "--explain", *room]
        begin = time.perf_counter()
        try:
            main()
        except SystemExit as stop:
            print(f"exit code {stop.code or 0}")
        print(f"{time.process_time():.1f} s of the processor, {time.perf_counter() - begin:.1f} s")


def finding() -> None:
    """What lowering takes, and what is spent on symmetries besides, for the models of the gallery."""
    import galton
    from galton.lower.symmetry import Symmetries

    for entry in json.loads((MODELS / "gallery.json").read_text())["models"]:
        program = galton.load(MODELS / entry["file"], **entry["instances"][0]["constants"])
        best = [math.inf, math.inf]
        for _ in range(5):
            begin = time.process_time()
            symmetries = Symmetries(program)
            _ = symmetries.lowering
            lowered = time.process_time()
            kept = symmetries.keeping(list(program.labels.values()), range(len(program.rewards)))
            best = [min(best[0], lowered - begin), min(best[1], time.process_time() - lowered)]
        print(
            f"{entry['file']:28} lowered in {1e3 * best[0]:6.2f} ms, searched in {1e3 * best[1]:6.2f} ms: {kept.note}"
        )


def run() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["compare", "coin", "rabin", "finding"])
    parser.add_argument("n", type=int, nargs="?", default=10)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--most", type=float, default=2e4)
    parser.add_argument("--eps", type=float, default=1e-12)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--memory", type=float)
    chosen = parser.parse_args()
    if chosen.what == "finding":
        finding()
        return 0
    if chosen.what != "compare":
        check(*(coin if chosen.what == "coin" else rabin)(chosen.n), chosen.device, chosen.memory)
        return 0

    def cases() -> Iterator[Case]:
        yield from random(chosen.seeds)
        yield from gallery(chosen.most)
        if chosen.corpus is not None:
            yield from corpus(chosen.corpus, chosen.most)

    return compare((case for case in cases() if chosen.only in case[0]), chosen.eps)


if __name__ == "__main__":
    sys.exit(bool(run()))
