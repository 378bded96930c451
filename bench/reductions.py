"""Every reduction against the full model: are the bounds the same?

    python bench/reductions.py [--reduction symmetry,slices,lumping] [--corpus DIR] [--only coin] [--seeds 100]
                               [--max-states 2e4] [--seconds 60] [--eps 1e-12]

Every question of the gallery, of a corpus where one is given (folders with ``cases.json``) and of random programs
(symmetric ones, ones that a detail makes unsymmetric, ones with variables that nobody reads) is asked of the full
model, with all its states, and then once for each reduction, with that one alone: ``symmetry`` explores one state of
each orbit, ``slices`` leaves out what the question does not read, ``lumping`` joins what behaves alike, whether it pays
or not. The first two do not explore beyond what settles the question, as always. Lower and upper bounds have to be the
same up to 4 eps of their size. Where doubles are not good enough for bounds so close, eps is a thousand times larger,
and then a million times; the counts say how often.

A question that takes longer than ``--seconds`` in one way is left out, and counted. Times are those of the processor.
The program ends with an error where an answer differs.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import galton
from galton.checking.answering import check
from galton.checking.automaton_reading import Reading, reading_of
from galton.checking.exploration import needs_automaton, terminal
from galton.checking.looks import looks_of
from galton.checking.lumping import lumped_for
from galton.checking.reducing import Reducing
from galton.checking.result import ParetoSet
from galton.explore import build
from galton.lang import Source, parse_properties
from galton.lang.program import Program
from galton.lang.resolution import Question, resolve
from galton.model.sparse import Model
from galton.solve.settings import Settings

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "models"
sys.path.insert(0, str(ROOT / "tests"))  # its random programs

Case = tuple[str, Program, Question, str]  # a name, the program that knows the names of the question, it, its text
Answer = Any  # a result, or the kind of an error
WIDER = (1.0, 1e3, 1e6)  # times eps


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
    file = parse_properties(Source(str(props), props.read_text()))
    own = {constant.name.name for constant in file.constants}
    program = galton.load(model, **{n: v for n, v in constants.items() if n not in own})
    context, questions = resolve(file, program, {n: v for n, v in constants.items() if n in own})
    for question in questions:
        if question.prop.name == prop:
            yield f"{name} {constants} {prop}", context, question, question.prop.text


def random_symmetric(seeds: int) -> Iterator[Case]:
    """Random programs, symmetric and nearly so, with the questions of the tests."""
    from symmetric_programs import BREAKS, STARTS, symmetric

    chains = ['P=? [ F "goal" ]', "P=? [ F<=4 b1 ]", 'R{"r"}=? [ F "goal" ]', 'S=? [ "goal" ]', 'P=? [ G F "goal" ]']
    choices = ['Pmax=? [ F "goal" ]', "Pmin=? [ F<=4 b1 ]", 'R{"r"}min=? [ F "goal" ]', 'Pmax=? [ G F "goal" ]']
    broken = list({**BREAKS, **STARTS}.items())
    for seed in range(seeds):
        text = symmetric(seed)
        name, change = broken[seed % len(broken)]
        for what, changed in (("symmetric", text), (f"but for {name}", change(text))):
            program = galton.parse(str(changed))
            for prop in choices if program.type == "mdp" else chains:
                context, (question,) = resolve(parse_properties(Source("property", prop)), program, {})
                yield f"random {seed}, {what}", context, question, prop


def random_sliced(seeds: int) -> Iterator[Case]:
    """Random programs of which much is not read, with the questions of the tests."""
    from sliced_programs import CHAINS, DECISIONS, sliced

    for seed in range(seeds):
        program = galton.parse(str(sliced(seed)))
        for prop in DECISIONS if program.type == "mdp" else CHAINS:
            context, (question,) = resolve(parse_properties(Source("property", prop)), program, {})
            yield f"random slices {seed}", context, question, prop


# The ways to a model.


def explored(context: Program, question: Question, reading: Reading | None, *, slice: bool, symmetry: bool) -> Model:
    """As galton.check explores it."""
    reducing = Reducing(context, slice=slice, symmetry=symmetry, fix_deadlocks=True, whole="")
    options = reducing.of({0: looks_of(context, question)}, [0] if reading else [])[0].options
    if reading is not None:
        return build(reading.program(context), reader=reading.reader, **options)
    return build(context, terminal=terminal([(context, question)]), **options)


def full(context: Program, question: Question, reading: Reading | None) -> Model:
    """All states, even those that no path needs; the automaton of a formula goes along."""
    return build(context) if reading is None else build(reading.program(context), reader=reading.reader)


def lumped(context: Program, question: Question, reading: Reading | None) -> Model:
    """The quotient of the full model; products with automata are not lumped."""
    model = full(context, question, reading)
    if reading is not None:
        return model
    return lumped_for(model, [(context, question)], Settings(), True, "").quotient or model


WAYS: dict[str, Callable[[Program, Question, Reading | None], Model]] = {
    "full": full,
    "symmetry": lambda *given: explored(*given, slice=False, symmetry=True),
    "slices": lambda *given: explored(*given, slice=True, symmetry=False),
    "lumping": lumped,
}
REDUCTIONS = tuple(way for way in WAYS if way != "full")


# What is done with them.


class TooLong(Exception):
    """An answer that is not waited for."""


class Comparison:
    """The counts of each reduction."""

    def __init__(self, seconds: float, eps: float) -> None:
        self.seconds, self.eps = seconds, eps
        self.counts: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
        self.spent = dict.fromkeys(WAYS, 0.0)

    def ask(self, case: Case, reductions: list[str]) -> None:
        """One question of the full model, and of those that reductions leave."""
        name, context, question, text = case
        reading = reading_of(question, context) if needs_automaton(question) else None
        models: dict[str, Model | str] = {}
        answers: dict[tuple[str, float], Answer] = {}

        def answer(way: str, eps: float) -> Answer:
            begin = time.process_time()
            try:
                with _at_most(self.seconds):
                    if way not in models:
                        models[way] = _or_error(lambda: WAYS[way](context, question, reading))
                    if (way, eps) not in answers:
                        model = models[way]
                        answers[way, eps] = (
                            model
                            if isinstance(model, str)
                            else _or_error(lambda: check(context, model, question, Settings(eps=eps), reading=reading))
                        )
            finally:
                self.spent[way] += time.process_time() - begin
            return answers[way, eps]

        for way in reductions:
            count = self.counts[way]
            count["asked"] += 1
            try:
                for wider in WIDER:
                    found = [answer(way, wider * self.eps), answer("full", wider * self.eps)]
                    if "numeric" not in found:
                        break
            except TooLong:
                count[f"not answered within {self.seconds:g} s"] += 1
                continue
            trouble = differ(*found, wider * self.eps)
            count["DIFFERENT" if trouble else "the same"] += 1
            if trouble:
                print(f"{way}: {name}: {text}: {trouble}", flush=True)
            if isinstance(found[0], str):
                count[f"of these an error both times: {found[0]}"] += not trouble
                continue
            count[f"with an eps of {wider * self.eps:g}"] += 1
            small, large = models[way], models["full"]
            if isinstance(small, Model) and isinstance(large, Model):
                count["with fewer states"] += small.n_states < large.n_states

    def tell(self, reductions: list[str]) -> int:
        """Print all counts; how many answers differ."""
        for way in reductions:
            told = ", ".join(f"{what} {count:,}" for what, count in self.counts[way].items() if count)
            spent = f"{self.spent[way]:.0f} s of the processor, the full models {self.spent['full']:.0f} s"
            print(f"  {way}: {told}; {spent}", flush=True)
        return sum(count["DIFFERENT"] for count in self.counts.values())


class _at_most:
    """So many seconds, then :class:`TooLong`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        def stop(*_: object) -> None:
            raise TooLong

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _or_error(find: Callable[[], Any]) -> Any:
    try:
        return find()
    except galton.GaltonError as error:
        return error.kind


def differ(mine: Answer, theirs: Answer, eps: float) -> str:
    """What differs between two answers; empty for nothing."""
    if isinstance(mine, str) or isinstance(theirs, str):
        return "" if mine == theirs else f"{mine} and {theirs}"
    if isinstance(mine.value, ParetoSet):
        return "" if _are_one_set(mine.value, theirs.value, eps) else f"{mine.value} and {theirs.value}"
    if mine.lower is None or theirs.lower is None:
        return "" if mine.value == theirs.value else f"{mine.value} and {theirs.value}"
    for a, b in ((mine.lower, theirs.lower), (mine.upper, theirs.upper)):
        if not (a == b or math.isclose(a, b, rel_tol=4 * eps, abs_tol=1e-300)):
            return f"[{mine.lower}, {mine.upper}] and [{theirs.lower}, {theirs.upper}]"
    return ""


def _are_one_set(mine: ParetoSet, theirs: ParetoSet, eps: float) -> bool:
    """Whether sets have the same corners, as far as they are known."""
    apart = 4 * eps + mine.gap + theirs.gap
    return len(mine.points) == len(theirs.points) and all(
        math.isclose(a, b, rel_tol=apart, abs_tol=apart)
        for one, other in zip(mine.points, theirs.points, strict=True)
        for a, b in zip(one, other, strict=True)
    )


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reduction", default=",".join(REDUCTIONS), help="some of these, with commas between")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--only", default="", help="cases with this in their names")
    parser.add_argument("--seeds", type=int, default=100, help="random programs of each kind")
    parser.add_argument("--max-states", type=float, default=2e4)
    parser.add_argument("--seconds", type=float, default=60.0, help="for one answer")
    parser.add_argument("--eps", type=float, default=1e-12)
    chosen = parser.parse_args()
    reductions = chosen.reduction.split(",")
    if unknown := set(reductions) - set(REDUCTIONS):
        parser.error(f"there is no reduction {', '.join(sorted(unknown))}; there are {', '.join(REDUCTIONS)}")

    sources = {
        "random programs, symmetric or nearly so": random_symmetric(chosen.seeds),
        "random programs with much that is not read": random_sliced(chosen.seeds),
        "gallery": gallery(chosen.max_states),
    }
    if chosen.corpus is not None:
        sources["corpus"] = corpus(chosen.corpus, chosen.max_states)
    different = 0
    for source, cases in sources.items():
        comparison = Comparison(chosen.seconds, chosen.eps)
        for case in cases:
            if chosen.only in case[0]:
                comparison.ask(case, reductions)
        print(f"{source}:", flush=True)
        different += comparison.tell(reductions)
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
