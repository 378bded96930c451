"""Certificates of random models, verified, and false or broken ones, refused: as many as asked for.

    python tests/certificates/campaign.py --seed 1 --count 100000 --corrupted 10000

Every certificate is of an answer of ``galton.check``; the value is computed again by brute force in fractions, and must
lie between the bounds. The exit code is 1 if a certificate is not verified, if a corrupted one is not refused, or
if bounds do not hold the value. Questions that the checker refuses, or leaves undecided, are counted.
"""

from __future__ import annotations

import argparse
import collections
import math
import random
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

from certificate_corruption import broken, false_claim, random_values
from certificate_models import Case, random_case
from certificate_oracle import exact_value

import galton
from galton.certify.api import UncertifiedError
from galton.certify.completion import completed
from galton.certify.ranks import Graph
from galton.lang import Source, parse_properties
from galton.lang.resolution import resolve
from galton.model.described import described
from galton.verifier import Certificate, CertificateError, RefusedError
from galton.verifier.conditions import check_bound
from galton.verifier.numbers import Exact, compare
from galton.verifier.question import Question, read_question

KINDS = (
    "verified",
    "not answered",
    "corrupted claims refused",
    "corrupted files refused",
    "random bounds refused",
    "random bounds accepted, rightly",
)
MISTAKES = (
    "answers not certified",
    "bounds without the value",
    "corrupted claims accepted",
    "corrupted files accepted",
    "random bounds accepted, wrongly",
)


def above(bound: Exact, number: Fraction | float) -> int:
    """-1, 0 or 1 as a bound is below, equal to or above a value."""
    if bound is None or number == math.inf:
        return (bound is None) - (number == math.inf)
    assert isinstance(number, Fraction)
    return compare((bound[0] * number.denominator, bound[1]), (number.numerator, 0))


def holds(number: Fraction | float, certificate: Certificate) -> bool:
    """Whether a value lies between the bounds of a claim."""
    return above(certificate.lower, number) <= 0 <= above(certificate.upper, number)


def question_of(model: galton.Model, prop: str) -> Question:
    """What the verifier reads in a property."""
    context, (asked,) = resolve(parse_properties(Source("property", prop)), described(model), {}, labels=model.labels)
    return read_question(asked.prop.expression, context, model, asked.source)


def accepted_bounds(case: Case, truth: list[Fraction | float], rng: random.Random) -> str:
    """Random numbers with the best ranks and strategies there are for them: if they pass, they must be bounds."""
    question = question_of(case.model, case.prop)
    if question.kind in ("steps", "average"):
        return ""
    side = rng.choice(("lower", "upper"))
    bound = completed(question, Graph(question.rows, case.model.n_states), side, random_values(rng, truth, side))
    if bound is None:
        return "random bounds refused"
    try:
        check_bound(question, side, bound)
    except RefusedError:
        return "random bounds refused"
    signs = [above(value, number) for value, number in zip(bound.values, truth, strict=True)]
    right = max(signs) <= 0 if side == "lower" else min(signs) >= 0
    return "random bounds accepted, rightly" if right else "random bounds accepted, wrongly"


def one(case: Case, counts: collections.Counter[str], corrupted: int, folder: Path) -> list[str]:
    """One certificate and some corrupted ones; returns what went wrong."""
    model, prop = case.model, case.prop
    wrong: list[str] = []

    def note(kind: str) -> None:
        counts[kind] += 1
        if kind in MISTAKES:
            wrong.append(f"seed {case.seed}: {kind}: {prop} of {model!r}")

    try:
        certificate = galton.check(model, prop, certificate=True).certificate
    except UncertifiedError:
        note("answers not certified")
        return wrong
    except galton.GaltonError:
        note("not answered")
        return wrong
    galton.verify(model, prop, certificate)
    note("verified")
    truth = exact_value(model, prop)
    initial = int(model.initial[0])
    if not holds(truth[initial], certificate):
        note("bounds without the value")
    rng = random.Random(case.seed)
    for _ in range(corrupted):
        if kind := accepted_bounds(case, truth, rng):
            note(kind)
        forged = false_claim(rng, certificate, truth, initial)
        if forged is not None:
            try:
                galton.verify(model, prop, forged)
                note("corrupted claims accepted")
            except RefusedError:
                note("corrupted claims refused")
        raw = broken(rng, certificate.encoded())
        if raw is not None:
            file = folder / "broken.json"
            file.write_bytes(raw)
            try:
                galton.verify(model, prop, file)
                note("corrupted files accepted")
            except (RefusedError, CertificateError):
                note("corrupted files refused")
    return wrong


def main() -> int:
    """Run it, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--corrupted", type=int, default=100, help="how many to corrupt, about: some of the models")
    options = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    started = time.perf_counter()
    failures: list[str] = []
    every = max(1, 8 * options.count // max(options.corrupted, 1))
    with tempfile.TemporaryDirectory() as folder:
        for k in range(options.count):
            corrupted = 8 if k % every == 0 and options.corrupted else 0
            case = random_case(options.seed * 10**9 + k)
            failures += one(case, counts, corrupted, Path(folder))
    for name in (*KINDS, *MISTAKES):
        print(f"{counts[name]:>9,}  {name}")
    print(f"seed {options.seed}, {time.perf_counter() - started:.0f} s")
    for failure in failures[:20]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
