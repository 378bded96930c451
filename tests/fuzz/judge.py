"""Asks Galton, and compares what it says with the truth."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

from flint import arb, ctx, fmpq

import galton
from galton.checking import evaluation
from galton.checking.gate import admit
from galton.device.arrays import on_host

from .exact import INFINITE, Truth, is_infinite, rational
from .model import Made
from .tally import Failure, Tally

EPS = 1e-6
TINY = 1e-290  # bounds so near to the end of the doubles may be that wide
REFUSALS = ("numeric", "limit")  # kinds of errors that say that something could not be proved
SLACK = 1 + 1e-9
LIMIT = 60  # seconds for a question; small ones take milliseconds


class Late(Exception):
    """A question that does not end."""


@contextmanager
def alarm(seconds: int):
    """Raise where a question takes longer, if it looks for signals at all; the runner ends it otherwise."""

    def late(*_: object) -> None:
        raise Late(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def watched_gate() -> Iterator[list[Any]]:
    """What passes the gate of answers meanwhile, in order: the last is the outermost operator's."""
    passed: list[Any] = []

    def watching(quantity: Any, *more: Any, **options: Any) -> Any:
        passed.append(admit(quantity, *more, **options))
        return passed[-1]

    with mock.patch.object(evaluation, "admit", watching):
        yield passed


class Judge:
    """One round of a campaign: asks, compares, and writes down."""

    def __init__(self, where: str, device: str = "cpu", seconds: int = LIMIT) -> None:
        self.where, self.device, self.seconds = where, device, seconds
        self.tally = Tally()

    # -- what a campaign calls

    def build(self, made: Made, *, text: bool = False) -> galton.Model | galton.Program | None:
        """The model, by matrix or by text; a failure is written down where it cannot be built."""
        self.tally.models += 1
        try:
            if not text:
                return made.build(self.device)
            program = galton.parse(made.text())
            return program.build(device=self.device)
        except galton.GaltonError as error:
            if made.overflows:
                self.tally.refused["rates whose sum overflows"] += 1
            else:
                self.refuse(error, "(building)", made.text)
        except Exception as error:
            self.fail("(building)", f"{type(error).__name__}: {error}", made.text)
        return None

    def ask(self, model: Any, text: str, show: Any = "", **options: Any) -> galton.Result | None:
        """An answer; None where it was refused or something worse, which is written down."""
        self.tally.questions += 1
        if isinstance(model, galton.Program):
            options.setdefault("device", self.device)
        try:
            with alarm(self.seconds):
                return galton.check(model, text, **options)
        except galton.GaltonError as error:
            self.refuse(error, text, show)
        except Late as late:
            self.fail(text, str(late), show)
        except Exception as error:  # a traceback is a failure whatever it is
            self.fail(text, f"{type(error).__name__}: {error}", show)
        return None

    def number(
        self, model: Any, text: str, truth: Truth, show: Any = "", *, unit: bool = False, **options: Any
    ) -> None:
        """The bounds of one answer, perhaps by another method, perhaps with another eps."""
        result = self.ask(model, text, show, **options)
        if result is not None:
            said = text + "".join(f", {name}={value}" for name, value in options.items())
            self.compare(result, said, truth, show, unit=unit, eps=options.get("eps", EPS))

    def everywhere(
        self,
        model: Any,
        text: str,
        truths: Sequence[Truth],
        show: Any = "",
        *,
        initial: int = 0,
        unit: bool = False,
        probes: Sequence[int] = (),
    ) -> None:
        """What is printed for every state, the bounds in the initial one, and the bounds in some others."""
        question = f"filter(printall, {text})"
        with watched_gate() as passed:
            result = self.ask(model, question, show)
        if result is not None:
            self.compare(result, question, truths[initial], show, unit=unit)
            self.listing(result, question, truths, show)
            # A model that was built from a text has the states that can be reached, in the order of their numbers.
            there = truths if model.states is None else [truths[s] for s in on_host(model.states.column("s")).tolist()]
            self.bounds(passed[-1], question, there, show)
        for s in probes:
            self.number(model, f'filter(state, {text}, "s{s}")', truths[s], show, unit=unit)

    def threshold(self, model: Any, text: str, expected: bool, show: Any = "") -> None:
        """A truth value; undecided counts as refused."""
        result = self.ask(model, text, show)
        if result is None:
            return
        self.tally.numbers += 1
        if result.value is None:
            self.tally.refused["undecided"] += 1
            self.tally.examples.setdefault("undecided", _example(text, show))
        elif result.value is not expected:
            self.fail(text, f"answered {result.value}, and {expected} is right", show)

    # -- how answers are compared

    def compare(
        self, result: galton.Result, text: str, truth: Truth, show: Any = "", *, unit: bool = False, eps: float = EPS
    ) -> None:
        self.tally.numbers += 1
        self.tally.bounded += 1
        mistake = self._mistake(result, truth, unit, eps)
        if mistake:
            self.fail(text, mistake, show, truth)

    def _mistake(self, result: galton.Result, truth: Truth, unit: bool, eps: float) -> str | None:
        lower, upper, value = result.lower, result.upper, result.value
        bounds = f"{value!r} in [{lower!r}, {upper!r}], truth {shown(truth)}"
        if not all(isinstance(x, int | float) for x in (lower, upper, value)):
            return f"no number with bounds: {bounds}"
        if any(math.isnan(x) for x in (lower, upper, value)):
            return f"NaN: {bounds}"
        if any(x == 0 and math.copysign(1, x) < 0 for x in (lower, upper, value)) or "-0" in result.text.split():
            return f"-0: {bounds}"
        if not lower <= value <= upper:
            return f"out of order: {bounds}"
        if not result.proved:
            return f"not proved: {bounds}"
        if below(truth, lower) or above(truth, upper):
            return f"wrong: {bounds}"
        if unit and not 0 <= lower <= upper <= 1:
            return f"no probability: {bounds}"
        if is_infinite(truth):
            return None if lower == upper == INFINITE else f"not infinite: {bounds}"
        if math.isinf(upper) or math.isinf(lower):
            return f"infinite, though finite: {bounds}"
        size = max(abs(lower), abs(upper))
        if upper - lower > 2 * eps * SLACK * size + TINY:
            if result.warnings:
                self.tally.refused["wide, with a warning"] += 1
                return None
            return f"wide by {(upper - lower) / size:.2g}, and no warning: {bounds}"
        if size > TINY and eps == EPS:
            self.tally.widest = max(self.tally.widest, (upper - lower) / size)
        return None

    def listing(self, result: galton.Result, text: str, truths: Sequence[Truth], show: Any = "") -> None:
        """The values that ``printall`` shows, which are to be as near as bounds are wide."""
        values = printed(result.listing)
        if len(values) != len(result.listing) or not values:
            self.fail(text, f"the listing cannot be read: {result.listing[:2]}", show)
            return
        self.tally.numbers += len(values)
        wrong = [(s, value) for s, value in values.items() if not near(value, truths[s])]
        if wrong:
            s, value = wrong[0]
            self.fail(text, f"state {s} has {value}, truth {shown(truths[s])} ({len(wrong)} states)", show, truths[s])

    def bounds(self, quantity: Any, text: str, truths: Sequence[Truth], show: Any = "") -> None:
        """The bounds in every state, as they passed the gate that every answer passes."""
        lower, upper = (on_host(bound).tolist() for bound in (quantity.lower, quantity.upper))
        self.tally.numbers += len(lower)
        self.tally.bounded += len(lower)
        for s, (low, truth, high) in enumerate(zip(lower, truths, upper, strict=True)):
            if below(truth, low) or above(truth, high) or not low <= high:
                self.fail(text, f"state {s} is in [{low!r}, {high!r}], truth {shown(truth)}", show, truth)
                return

    def refuse(self, error: galton.GaltonError, text: str, show: Any = "") -> None:
        """An error that says that something could not be proved is no failure; any other is one."""
        message = str(error)
        if error.kind in REFUSALS:
            reason = re.sub(r"[-+]?\d[\d.,e+-]*", "#", message.splitlines()[0])[:160]
            self.tally.refused[reason] += 1
            self.tally.examples.setdefault(reason, f"{self.where}  {_example(text, show)}")
        else:
            self.fail(text, f"refused as {error.kind}: {message}", show)

    def fail(self, question: str, mistake: str, show: Any = "", truth: Truth = None) -> None:
        text = show() if callable(show) else str(show)
        exact = "" if truth is None else str(truth) if isinstance(truth, fmpq) else shown(truth)
        self.tally.failures.append(Failure(self.where, question, mistake, text, exact))


def _example(question: str, show: Any) -> str:
    text = show() if callable(show) else str(show)
    return f"{question}\n{text}" if len(text) < 2000 else f"{question} (a model of {len(text):,} characters)"


def printed(lines: Sequence[str]) -> Mapping[int, str]:
    """State to value, of lines such as ``state 7  0.5`` and ``state (s=7)  0.5``."""
    found = {}
    for line in lines:
        match = re.fullmatch(r"state (?:(\d+)|\(s=(\d+)\)) +(\S+)", line)
        if match:
            found[int(match[1] or match[2])] = match[3]
    return found


def near(value: str, truth: Truth) -> bool:
    """Whether a printed value is as near to the truth as bounds are wide, and is no minus zero."""
    if value.startswith("-0") and not value.strip("-0."):
        return False
    if value == "infinity" or is_infinite(truth):
        return value == "infinity" and is_infinite(truth)
    try:
        says = float(value)
    except ValueError:
        return False
    if math.isnan(says):
        return False
    guess = float(truth if isinstance(truth, arb) else float(truth.p) / float(truth.q) if small(truth) else arb(truth))
    if guess != 0 and abs(says - guess) <= 2 * EPS * abs(guess):  # by doubles, as almost always
        return True
    apart = abs(arb(says) - (truth if isinstance(truth, arb) else arb(truth)))
    return bool(apart <= 2.1 * EPS * abs(arb(truth)) + TINY)


def small(truth: fmpq) -> bool:
    return truth.p.bit_length() < 900 and truth.q.bit_length() < 900


def below(truth: Truth, lower: float) -> bool:
    """Whether the truth is certainly below a bound."""
    if is_infinite(truth) or math.isinf(lower):
        return math.isinf(lower) and lower > 0 and not is_infinite(truth)
    if isinstance(truth, fmpq):
        return truth < rational(float(lower))
    return bool(truth < arb(lower))


def above(truth: Truth, upper: float) -> bool:
    if is_infinite(truth):
        return not math.isinf(upper)
    if math.isinf(upper):
        return upper < 0
    if isinstance(truth, fmpq):
        return truth > rational(float(upper))
    return bool(truth > arb(upper))


def shown(truth: Truth) -> str:
    if truth is None or isinstance(truth, float | bool):
        return str(truth)
    before, ctx.prec = ctx.prec, 128
    try:
        return arb(truth).mid().str(25, radius=False) if truth != 0 else "0"
    finally:
        ctx.prec = before
