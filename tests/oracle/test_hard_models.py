"""Galton against the exact checker on models made to fool it: every operator without a bound, and some with one."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path as File

import pytest
from exact import from_sparse
from galton_answers import Answer, ask, fraction
from hard_models import HARD
from queries import TRUE, Bound, ExpectedTime, Label, LongRun, Not, Path, Probability, Query, Reward

import galton

A, B = Label("a"), Label("b")
BOUNDS = [None, Bound("<=", Fraction(20)), Bound("[]", Fraction(3), Fraction(50)), Bound(">=", Fraction(7))]


def asked(kind: str) -> list[Query]:
    """The properties of a type of model."""
    found: list[Query] = []
    for optimum in ["min", "max"] if kind == "mdp" else [None]:
        for bound in [
            None,
            Bound("<=", Fraction(20)),
            Bound("[]", Fraction(3), Fraction(50)),
            Bound(">=", Fraction(7)),
        ]:
            found.append(Probability(Path("F", TRUE, A, bound), optimum))
            found.append(Probability(Path("U", Not(B), A, bound), optimum))
        found += [Reward("r", "F", goal, optimum=optimum) for goal in (A, B)]
        found += [Reward("r", objective, time=Fraction(30), optimum=optimum) for objective in ("C", "C<=", "I=")]
        found += [ExpectedTime(A, optimum), ExpectedTime(B, optimum)]
    return found + ([LongRun(A), LongRun(B), Reward("r", "S")] if kind != "mdp" else [])


CASES = [pytest.param(name, query, id=f"{name}: {query.text()}") for name in HARD for query in asked(HARD[name].type)]


@pytest.mark.parametrize(("name", "query"), CASES)
def test_hard(name: str, query: Query) -> None:
    program = galton.parse(HARD[name].text)
    stored = from_sparse(program.build())
    (initial,) = stored.initial
    assert not ask(program, query.text()).mistake(query.exact(stored)[initial], Fraction(0))


@pytest.mark.parametrize("name", ["two worlds", "fast and slow", "free cycles"])
def test_command_line(name: str, tmp_path: File) -> None:
    """All of them at once, as JSON; infinite values are strings there."""
    random = HARD[name]
    properties = [query.text() for query in asked(random.type)]
    (tmp_path / "model.prism").write_text(random.text)
    (tmp_path / "model.props").write_text(";\n".join(properties) + ";\n")
    command = [sys.executable, "-m", "galton", "check", "model.prism", "--props", "model.props", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["index"] for line in found] == list(range(len(properties)))
    (initial,) = random.exact.initial
    for line, query in zip(found, asked(random.type), strict=True):
        bounds = Answer(*(fraction(float(line[part])) for part in ("lower", "upper")))
        assert not bounds.mistake(query.exact(random.exact)[initial], Fraction(0)), query.text()
