"""Many questions across ranks, beside the same on one machine: counts must be the same, and bounds must overlap.

All of them are asked inside one job, because starting one takes longer than a small question::

    mpirun -n 3 python tests/mpi/campaign.py --gallery --random 200
    mpirun -n 2 python tests/mpi/campaign.py --corpus ../shared/corpus --prism-tests ../shared/prism-tests

What is refused across ranks is counted, and listed with --verbose. The exit code is 1 where anything differs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import galton
from galton.backend.petsc.world import World, across_ranks
from galton.lang.source import GaltonError
from galton.solve.settings import Settings

ROOT = Path(__file__).parents[2]
HONEST = {"unsupported": "refused", "numeric": "not proved", "limit": "too much"}  # no answer is no wrong one
sys.path.insert(0, str(Path(__file__).parents[1]))


class Question(NamedTuple):
    """A property of a model: its text, ``FILE:NAME``, or a file and its ``place`` there."""

    model: Path | str
    constants: dict[str, Any]
    prop: str | Path
    place: int = 0


@dataclass(frozen=True)
class Outcome:
    """What a question came to."""

    value: Any = None
    lower: float | None = None
    upper: float | None = None
    error: str = ""
    kind: str = ""


def gallery(most: int) -> Iterator[Question]:
    """The models of the repository, the smallest instance of each, with all their properties."""
    for entry in json.loads((ROOT / "models" / "gallery.json").read_text())["models"]:
        known = {tuple(sorted(i["constants"].items())): i["states"] for i in entry["instances"]}
        for _place, asked in enumerate(entry["properties"]):
            states = [n for constants, n in known.items() if set(constants) <= set(asked["constants"].items())]
            if min(states, default=0) <= most and "name" in asked:
                yield Question(
                    ROOT / "models" / entry["file"], asked["constants"], f"{entry['properties_file']}:{asked['name']}"
                )


def corpus(folder: Path, most: int) -> Iterator[Question]:
    """Benchmarks as the acceptance corpus has them."""
    for file in sorted(folder.glob("*/*/cases.json")):
        for case in json.loads(file.read_text())["cases"]:
            if (case.get("states") or most + 1) <= most and not case.get("storm_extension") and case.get("property"):
                constants = case.get("constants") or {}
                yield Question(
                    file.parent / case["model"], constants, f"{file.parent / case['props']}:{case['property_name']}"
                )


def prism_tests(folder: Path) -> Iterator[Question]:
    """PRISM's own tests: every property of every model."""
    for test in json.loads((folder / "manifest.json").read_text())["tests"]:
        for place, prop in enumerate(test["properties"]):
            for result in prop["results"]:
                constants = dict(pair.split("=", 1) for pair in result["consts"].split(",") if pair)
                if result["kind"] not in ("error", "pareto"):
                    yield Question(folder / test["model"], constants, folder / test["props"], place)


class TooLongError(GaltonError):
    """More steps than the campaign has time for."""

    kind = "limit"


def watching(most_steps: int) -> Callable[[Mapping[str, Any]], None]:
    """What refuses questions of more steps than that; they are as many on all ranks, so all refuse."""

    def watch(news: Mapping[str, Any]) -> None:
        if news.get("horizon", 0) > most_steps:
            raise TooLongError(f"{news['horizon']:,} steps are too many for a campaign")

    return watch


def asked(question: Question, device: str, most_steps: int) -> Outcome:
    """The answer of a place."""
    try:
        prop = question.prop
        options = {"constants": question.constants, "device": device, "lump": False, "most_steps": most_steps}
        if isinstance(prop, str) and prop.rpartition(":")[0].endswith((".props", ".csl", ".pctl")):
            path, _, name = prop.rpartition(":")
            found = named(question, Path(path), name, options)
        elif isinstance(prop, Path):
            found = named(question, prop, question.place, options)
        else:
            settings = Settings(watch=watching(options.pop("most_steps")))
            found = galton.check(question.model, prop, settings=settings, **options)
    except GaltonError as error:
        return Outcome(error=str(error), kind=error.kind)
    return Outcome(found.value, found.lower, found.upper)


def named(question: Question, path: Path, which: str | int, options: dict[str, Any]) -> Any:
    """One property of a file, with what the file declares."""
    from galton.checking.asking import Answers, QuietWorker
    from galton.checking.inquiring import inquire

    path = path if path.is_absolute() else ROOT / "models" / path
    kept = {"full": False, "strategy": False, "slice": True, "symmetry": True, "lump": False}
    settings = Settings(watch=watching(options["most_steps"]))
    inquiry = inquire(question.model, [path], options["constants"], settings, **kept)
    props = inquiry.properties
    place = which if isinstance(which, int) else next(i for i, p in enumerate(props) if p.name == which)
    inquiry = replace(inquiry, selected=[inquiry.selected[place]])
    worker = QuietWorker(inquiry.settings, {"device": options["device"]})
    row = next(iter(inquiry.rows()))
    (one,) = row.asked[0]
    if one.wrong is not None:
        raise one.wrong
    answer = Answers(inquiry, row, worker).of(one)
    if isinstance(answer.found, GaltonError):
        raise answer.found
    return answer.found


def difference(here: Outcome, there: Outcome) -> str:
    """What is wrong with the answer of the ranks; empty where nothing is."""
    if here.error or there.error:
        fine = here.kind == there.kind or there.kind in HONEST
        return "" if fine else f"{here} on one machine, {there} across ranks"
    if here.lower is None or there.lower is None:
        return (
            "" if here.value == there.value or None in (here.value, there.value) else f"{here.value} and {there.value}"
        )
    if here.lower <= there.upper and there.lower <= here.upper:
        return ""
    return f"[{here.lower!r}, {here.upper!r}] and [{there.lower!r}, {there.upper!r}]"


def counts(model: Path | str, constants: dict[str, Any], device: str) -> Any:
    """The sizes of the whole model."""
    from galton.explore import build
    from galton.programs import load, parse

    try:
        program = load(model, **constants) if isinstance(model, Path) else parse(model)
        return dict(build(program, device=device).whole)
    except GaltonError as error:
        return error.kind


def random_questions(count: int, seed: int) -> Iterator[Question]:
    """Random programs with questions of all kinds."""
    from mpi_programs import questions, random_program

    for number in range(count):
        draw = random.Random(f"{seed}:{number}")
        kind, text = random_program(draw)
        for prop in questions(draw, kind):
            yield Question(text, {}, prop)


def run(everybody: World, questions: list[Question], verbose: bool, seconds: float, most_steps: int) -> int:
    """Ask everything; how many answers differ."""
    tally: Counter[str] = Counter()
    end, known = time.monotonic() + seconds, set()
    for number, question in enumerate(questions):
        if everybody.any(time.monotonic() > end):
            if not everybody.rank:
                print(f"the time is over after {number:,} of {len(questions):,} questions")
            break
        which = (str(question.model), str(question.constants))
        subject = question
        if isinstance(question.model, str):
            subject = question._replace(model=galton.parse(question.model))
        there = asked(subject, "mpi", most_steps)
        if which not in known:
            known.add(which)
            many = counts(question.model, question.constants, "mpi")
        else:
            many = None
        if everybody.rank:
            everybody.meet()
            continue
        here = asked(subject, "cpu", sys.maxsize) if there.kind != "limit" else there
        wrong = difference(here, there)
        if many is not None and not wrong and many != (one := counts(question.model, question.constants, "cpu")):
            wrong = f"{one} on one machine, {many} across ranks"
        alike = (here.kind == there.kind and there.kind != "limit") or not there.error
        how = "different" if wrong else "same" if alike else HONEST[there.kind]
        tally[how] += 1
        if not there.error and there.lower is not None and there.upper not in (None, float("inf")):
            allowed = 2.1e-6 * max(abs(there.upper), 1e-290)
            if not wrong and there.upper - there.lower > allowed and here.upper - here.lower <= allowed:
                tally["same, but wider than asked for"] += 1
                wrong = wrong or (verbose and f"wide: [{there.lower!r}, {there.upper!r}]") or ""
        if wrong or (verbose and how != "same"):
            name = question.model if isinstance(question.model, Path) else f"\n{question.model}\n"
            print(
                f"{how}: {name} {question.constants} {question.prop} {question.place}: {wrong or there.error}",
                flush=True,
            )
        everybody.meet()
    if not everybody.rank:
        print(f"{everybody.size} ranks: " + ", ".join(f"{count:,} {how}" for how, count in sorted(tally.items())))
    return everybody.total(tally["different"])


def main() -> None:
    """Read what to ask, ask it, and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gallery", action="store_true")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--prism-tests", type=Path)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=300_000, help="states of a model")
    parser.add_argument("--only", default="", help="a part of the model's path")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--most-steps", type=int, default=10**9, help="of a question with a bound")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    questions: list[Question] = []
    if given.gallery:
        questions += gallery(given.most)
    if given.corpus:
        questions += corpus(given.corpus.resolve(), given.most)
    if given.prism_tests:
        questions += prism_tests(given.prism_tests.resolve())
    questions = [question for question in questions if given.only in str(question.model)]
    questions += random_questions(given.random, given.seed)
    with across_ranks() as everybody:
        wrong = run(everybody, questions, given.verbose, given.seconds, given.most_steps)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
