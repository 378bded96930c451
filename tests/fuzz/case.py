"""What was ever wrong, kept as files: a model, what was asked, and the exact value.

A file of ``cases`` has ``about`` (what was wrong), ``model`` (a text), and ``asks``, each with ``ask`` and one of

    exact     a fraction, a decimal number that is right to one unit of its last digit, ``infinity``, true or false
    error     true: there is nothing right to say but a message

Further fields of an ask: ``strategy`` true: the strategy that comes with the answer is applied and has that value too.
``refusable`` true: a message will do as well.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from flint import arb, ctx, fmpq

import galton

from .exact import INFINITE, Truth, is_infinite
from .files import galton_main
from .judge import REFUSALS, Judge, above, below, shown

SECONDS = 20  # for a question
CASES = Path(__file__).parent / "cases"


def names() -> list[str]:
    return sorted(path.stem for path in CASES.glob("*.json"))


def exact(text: str) -> Truth:
    """A number as cases have it."""
    if text == "infinity":
        return INFINITE
    if "/" in text:
        return fmpq(*(int(part) for part in text.split("/")))
    digits = text.lower().partition("e")[0].partition(".")[2]
    exponent = int(text.lower().partition("e")[2] or 0)
    before, ctx.prec = ctx.prec, 512
    try:
        unit = arb(10) ** (exponent - len(digits)) if "." in text or "e" in text.lower() else arb(0)
        return arb(arb(text).mid(), abs(unit))
    finally:
        ctx.prec = before


def mistakes(name: str, device: str = "cpu") -> list[str]:
    """In words, what is wrong with the answers to a case."""
    case = json.loads((CASES / f"{name}.json").read_text())
    found = []
    for ask in case["asks"]:
        judge = Judge(name, device, SECONDS)
        _answer(judge, case["model"], ask)
        found += [f"{failure.question}: {failure.mistake}" for failure in judge.tally.failures]
        if judge.tally.refused and not (ask.get("refusable") or ask.get("error")):
            found.append(f"{ask['ask']}: refused, {', '.join(judge.tally.refused)}")
    return found


def _answer(judge: Judge, model: str, ask: dict[str, Any]) -> None:
    text = ask["ask"]
    try:
        program = galton.parse(model)
        options = {"strategy": True} if ask.get("strategy") else {}
        result = judge.ask(program, text, device=judge.device, **options)
    except galton.GaltonError as error:
        judge.refuse(error, text)
        result = None
    if ask.get("error") or ask.get("refusable"):  # any message will do
        judge.tally.failures = [f for f in judge.tally.failures if "refused as" not in f.mistake]
    if result is None:
        return
    if ask.get("error"):
        judge.fail(text, f"answered {result}, where there is nothing right to say")
    elif isinstance(ask["exact"], bool):
        undecided = result.value is None and ask.get("refusable")
        if result.value is not ask["exact"] and not undecided:
            judge.fail(text, f"answered {result.value}, and {ask['exact']} is right")
    else:
        truth = exact(ask["exact"])
        judge.compare(result, text, truth, unit=text[0] in "PS")
        if ask.get("strategy"):
            applied(judge, text, result.strategy.induced(), truth)
            from_file(judge, model, text, truth)


def applied(judge: Judge, text: str, chain: Any, truth: Truth) -> None:
    """The chain that a strategy makes, asked the same."""
    again = galton.check(chain, _of_chain(text))
    _same(judge, text, again.lower, again.upper, truth)


def from_file(judge: Judge, model: str, text: str, truth: Truth) -> None:
    """The same by the command line, through a file."""
    with tempfile.TemporaryDirectory() as folder:
        source, best = Path(folder) / "model.prism", Path(folder) / "best.json"
        source.write_text(model)
        told = galton_main(
            "check", str(source), "-p", text, "--strategy", str(best), "--device", judge.device, "--json"
        )
        if json.loads(told).get("error", {}).get("kind") in REFUSALS:
            judge.tally.refused["no strategy for a file"] += 1
            return
        if not best.exists():
            judge.fail(text, f"no file is written for the strategy: {told}")
            return
        told = galton_main("check", str(source), "-p", _of_chain(text), "--apply", str(best), "--json")
    answer = json.loads(told)
    if "error" in answer:
        judge.fail(text, f"the strategy cannot be applied: {answer['error']}")
    else:
        _same(judge, text, float(answer["lower"]), float(answer["upper"]), truth)


def _of_chain(text: str) -> str:
    return text.replace("min=?", "=?").replace("max=?", "=?")


def _same(judge: Judge, text: str, lower: float, upper: float, truth: Truth) -> None:
    judge.tally.numbers += 1
    # A strategy is as good as the answer is precise.
    if below(truth, lower * (1 - 2e-6)) or above(truth, upper * (1 + 2e-6)) or (is_infinite(truth) and lower != upper):
        judge.fail(text, f"the strategy, applied, gives [{lower!r}, {upper!r}], the optimum is {shown(truth)}")
