"""Campaign: random programs in the PRISM language, against Storm with exact fractions.

Storm reads the text as rationals; Galton rounds each probability once. So a difference of a few roundings is allowed,
and no more: ``1-p`` with p = 0.999999999999 is to have all its digits.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from flint import arb, ctx, fmpq

import galton

from .exact import INFINITE, Truth
from .judge import Judge, alarm

ROUNDING = 1e-11  # relative; programs here have a few dozen states and mix in a few steps
TOP = 3  # the largest value of an integer variable


def play(random: Random, judge: Judge) -> None:
    import stormpy  # here, so that other campaigns run without it

    text = program(random)
    judge.tally.models += 1
    storm = build(stormpy, text)
    if storm is None:
        return
    read, model = storm
    if not 2 <= model.nr_states <= 400:
        return
    try:
        with alarm(60):
            parsed = galton.parse(text)
            ours = parsed.build(device=judge.device)
    except Exception as error:
        judge.fail("(building)", f"{type(error).__name__}: {error}", text)
        return
    judge.tally.numbers += 2
    for name, mine, theirs in (
        ("states", ours.n_states, model.nr_states),
        ("transitions", ours.n_transitions, model.nr_transitions),
    ):
        if mine != theirs:
            judge.fail(f"({name})", f"{mine}, and {theirs} by Storm", text)
    mdp = text.startswith("mdp")
    for question in QUESTIONS:
        for optimum in ("min", "max") if mdp else ("",):
            asked = question.replace("#", optimum)
            with silence():
                (formula,) = stormpy.parse_properties(asked, read)
                value = stormpy.model_checking(model, formula).get_value(model.initial_states[0])
            judge.number(parsed, asked, rounded(value), text, unit=asked[0] == "P")
            judge.number(ours, asked, rounded(value), text, unit=asked[0] == "P")


@contextmanager
def silence() -> Iterator[None]:
    """Storm warns on the standard output of the process, whatever Python thinks that is."""
    sys.stdout.flush()
    kept = os.dup(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def build(stormpy: Any, text: str) -> tuple[Any, Any] | None:
    """Storm's program and model; None where it finds the text wrong, as it does with updates in conflict."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.prism"
        file.write_text(text)
        try:
            with silence():
                read = stormpy.parse_prism_program(str(file), prism_compatibility=True, simplify=False)
                model = stormpy.build_model[stormpy.Rational](read, options=stormpy.BuilderOptions(build_full=True))
        except RuntimeError:
            return None
    return read, model


def rounded(value: Any) -> Truth:
    """One of Storm's numbers with what rounding may do to it, as a ball."""
    if "inf" in str(value):
        return INFINITE
    top, _, bottom = str(value).partition("/")
    before, ctx.prec = ctx.prec, 192
    try:
        middle = arb(fmpq(int(top), int(bottom or 1)))
        return arb(middle.mid(), abs(middle) * ROUNDING + middle.rad())
    finally:
        ctx.prec = before


# -- programs


def number(random: Random) -> str:
    """A probability, as somebody would write it."""
    return random.choice(
        ["0.1", "0.3", "1/3", "2/7", "0.1+0.2", "0.5", "0.25*0.3", "pow(0.5,3)", "1-0.9", "0.7/3", "1e-3", "3/8"]
    )


def constants(random: Random) -> str:
    close = "0." + "9" * random.randint(2, 13)
    return "\n".join(
        [
            f"const double p = {number(random)};",
            f"const double q = {random.choice(['1-p', 'p*p', 'p/2', '1/3+p/4', close])};",
            f"const int N = {random.randint(1, TOP)};",
            "const double r = N/(N+1);",
        ]
    )


def split(random: Random) -> list[str]:
    """Probabilities that sum to 1, as rationals."""
    return random.choice(
        [
            ["1"],
            ["p", "1-p"],
            ["q", "1-q"],
            ["r", "1-r"],
            ["1/3", "2/3"],
            ["1/3", "1/3", "1/3"],
            ["p*q", "p*(1-q)", "1-p"],
            ["0.2", "0.3", "0.5"],
            ["0.1", "1-0.1"],
            ["1/7", "2/7", "4/7"],
        ]
    )


def change(random: Random, variable: str) -> str:
    return random.choice(
        [
            f"({variable}'=min({variable}+1,{TOP}))",
            f"({variable}'=max({variable}-1,0))",
            f"({variable}'=mod({variable}+1,{TOP + 1}))",
            f"({variable}'={random.randint(0, TOP)})",
            "true",
        ]
    )


def guard(random: Random, own: str, others: list[str]) -> str:
    parts = [f"{own}{random.choice(['<', '>=', '=', '!='])}{random.randint(0, TOP)}"]
    if others and random.random() < 0.4:
        parts.append(f"{random.choice(others)}{random.choice(['<=', '>', '='])}{random.randint(0, TOP)}")
    return random.choice([" & ", " | "]).join(parts)


def commands(random: Random, type: str, own: str, others: list[str]) -> list[str]:
    found = []
    for _ in range(random.randint(2, 4)):
        action = random.choice(["", "", "a", "b"])
        chances = split(random)
        if type == "ctmc":
            chances = [f"{random.choice(['2', '0.5', '1/3', 'N'])}*({c})" for c in chances]
        updates = " + ".join(f"{c}:{change(random, own)}" for c in chances)
        found.append(f"  [{action}] {guard(random, own, others)} -> {updates};")
    return found


def program(random: Random) -> str:
    type = random.choice(["dtmc", "mdp", "ctmc"])
    names = ["x", "y"] if random.random() < 0.6 else ["x", "y", "z"]
    lines = [type, constants(random)]
    for number, own in enumerate(names):
        others = [n for n in names if n != own]
        if number and random.random() < 0.4:  # x and y change places, or x and z
            lines.append(f"module m{own} = mx [ x={own}, {own}=x ] endmodule")
            continue
        body = commands(random, type, own, others)
        lines += [f"module m{own}", f"  {own} : [0..{TOP}] init {random.choice([0, 0, 1])};", *body, "endmodule"]
    lines += [
        f"formula sum = {'+'.join(names)};",
        f'label "goal" = x={random.randint(1, TOP)};',
        f'label "far" = sum>={random.randint(2, 2 * TOP)};',
        f'label "place" = {random.choice(names)}={random.randint(0, TOP)} & x!={random.randint(0, TOP)};',
        'rewards "r"',
        f"  x<{random.randint(1, TOP)} : {number_or_sum(random)};",
        "  [a] true : 1/3;" if type != "ctmc" else "  y>0 : 1/3;",
        "endrewards",
    ]
    return "\n".join(lines) + "\n"


def number_or_sum(random: Random) -> str:
    return random.choice(["1", "0.1", "p+q", "sum", "x/3", "2*N"])


QUESTIONS = ['P#=? [ F "goal" ]', 'P#=? [ F "place" ]', 'P#=? [ !"far" U "place" ]', 'R{"r"}#=? [ F "goal" ]']
