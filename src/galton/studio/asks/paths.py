"""Paths that are walked: step by step, at random, or under the best strategy of a property."""

from __future__ import annotations

import random
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...lang.evaluation import EvaluationError, evaluate_state
from ...lang.properties import substitute
from ...lang.source import GaltonError
from ...simulation.program_paths import ProgramPaths, Successor
from ...simulation.stepping import Trail
from .copying import constants_of_command, copied_check
from .following import Follower, Strategies
from .reading import Options, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...lang.program import Program
    from ...model.states import State
    from .desk import Desk
    from .reading import Given

__all__ = ["sim_back", "sim_end", "sim_play", "sim_start", "sim_step"]

MOST_PATHS = 16
MOST_ROWS = 100_000
MOST_AT_ONCE = 10_000
MOST_WAYS = 1000  # successors that are shown


@dataclass(frozen=True)
class Chooser:
    """The strategy that a path follows: one of those of a question, counted from 1."""

    command: str  # that asks the question
    strategies: Strategies
    number: int
    follower: Follower


@dataclass(eq=False)
class Walked:
    """A path of the page: where it was, what it earned, and who chooses."""

    name: str
    model: str
    constants: dict[str, str]
    seed: int
    program: Program
    trail: Trail
    chooser: Chooser | None
    random: random.Random
    rows: list[dict[str, Any]] = field(default_factory=list)
    picks: list[int] = field(default_factory=list)  # the ways that were taken, by their places
    earned: list[list[float]] = field(default_factory=list)

    @property
    def variables(self) -> list[str]:
        """The names of the variables."""
        return list(self.trail.here)

    def begin(self) -> None:
        """The first row."""
        self.earned.append([0.0] * len(self.program.rewards))
        self.rows.append(self._row(None, 0.0 if self.program.nature.is_continuous else None))

    def take(self, way: Successor, ways: Sequence[Successor]) -> None:
        """Go one way, and note what it earns."""
        if len(self.rows) >= MOST_ROWS:
            raise GaltonError(f"the path has {len(self.rows):,} rows, which are enough; begin another one")
        before, timed = self.trail.here, self.program.nature.is_continuous
        stay = self.trail.wait(ways) if timed else 1.0
        self.earned.append(
            [total + more for total, more in zip(self.earned[-1], self._earned(before, way, stay), strict=True)]
        )
        self.picks.append(list(ways).index(way))
        self.trail.take(way)
        if self.chooser is not None:
            self.chooser.follower.go(way)
        time = self.rows[-1]["time"] + stay if timed else None
        self.rows.append(self._row(way, time))

    def back(self, steps: int) -> int:
        """Undo steps; the row from which on all are new."""
        for _ in range(min(steps, len(self.rows) - 1)):
            self.trail.back()
            if self.chooser is not None:
                self.chooser.follower.back()
            for kept in (self.rows, self.picks, self.earned):
                kept.pop()
        return len(self.rows)

    def shares(self, ways: Sequence[Successor]) -> dict[int, float]:
        """How likely the strategy takes each choice here; empty where nobody says."""
        return {} if self.chooser is None else self.chooser.follower.shares(ways)

    def play(self, ways: Sequence[Successor]) -> None:
        """Take a step at random; who says nothing takes each choice as likely as the others."""
        shares, choice = self.shares(ways), None
        if shares:
            (choice,) = self.random.choices(list(shares), list(shares.values()))
        way = self.trail.draw(choice)
        assert way is not None
        self.trail.back()
        self.take(way, ways)

    def _row(self, way: Successor | None, time: float | None) -> dict[str, Any]:
        here = self.trail.here
        return {
            "step": len(self.rows),
            "action": None if way is None else way.action or None,
            "choice": None if way is None else way.choice,
            "number": None if way is None else number(way.probability),
            "time": time,
            "values": [here[name] for name in self.variables],
            "labels": [name for name, holds in self.program.labels.items() if self._holds(holds, here)],
            "rewards": [number(value) for value in self.earned[-1]],
        }

    def _value(self, expression: Any, state: State) -> Any:
        values = {**self.program.constants, **state}
        return evaluate_state(substitute(expression, self.program.formulas), values)

    def _holds(self, expression: Any, state: State) -> bool:
        try:
            return bool(self._value(expression, state))
        except EvaluationError:  # it has no value here, so it does not hold
            return False

    def _earned(self, before: State, way: Successor, stay: float) -> list[float]:
        """What a state earned while the path stayed, and the step from it."""
        found = []
        for structure in self.program.rewards:
            total = 0.0
            for item in structure.items:
                if item.transition and (item.action or "") != way.action:
                    continue
                if self._holds(item.guard, before):
                    total += float(self._value(item.value, before)) * (1.0 if item.transition else stay)
            found.append(total)
        return found


def sim_start(desk: Desk, given: Given) -> dict[str, Any]:
    """Begin a path, in an initial state or in any other."""
    given.only("model", "constants", "path", "seed", "state", "strategy", "number")
    name, model, constants = given.text("path"), given.text("model"), given.constants()
    seed = given.whole("seed", 0, 2**63 - 1, 0)
    program = desk.program(model, constants)
    state = given.inner("state").fields if "state" in given else None
    trail = Trail(program, seed)
    if state is not None:
        trail.words = [_packed(trail, program, state)]
    draws = random.Random(seed)
    chooser = _chooser(desk, model, given, constants, state, draws) if "strategy" in given else None
    own = desk.own(desk.model_file(model), constants)
    walked = Walked(name, model, own, seed, program, trail, chooser, draws)
    walked.begin()
    drawer: dict[str, Walked] = desk.drawers.setdefault("paths", {})
    drawer.pop(name, None)
    while len(drawer) >= MOST_PATHS:
        del drawer[next(iter(drawer))]
    drawer[name] = walked
    return _view(desk, walked, 0)


def sim_step(desk: Desk, given: Given) -> dict[str, Any]:
    """Take a step that somebody chose."""
    given.only("path", "choice", "successor")
    walked = _walked(desk, given)
    ways = walked.trail.ways()
    mine = [way for way in ways if way.choice == given.whole("choice", 0, 2**31)]
    place = given.whole("successor", 0, 2**31)
    if place >= len(mine):
        raise GaltonError("there is no such way on")
    walked.take(mine[place], ways)
    return _view(desk, walked, len(walked.rows) - 1)


def sim_back(desk: Desk, given: Given) -> dict[str, Any]:
    """Undo steps."""
    given.only("path", "steps")
    walked = _walked(desk, given)
    return _view(desk, walked, walked.back(given.whole("steps", 1, MOST_ROWS, 1)))


def sim_play(desk: Desk, given: Given) -> dict[str, Any]:
    """Take steps at random; choices are those of the strategy, if there is one."""
    given.only("path", "steps", "time")
    walked = _walked(desk, given)
    first, end = len(walked.rows), given.real("time")
    for _ in range(given.whole("steps", 1, MOST_AT_ONCE, 1)):
        ways = walked.trail.ways()
        if not ways or (end is not None and (walked.rows[-1]["time"] or 0.0) >= end):
            break
        walked.play(ways)
    return _view(desk, walked, first)


def sim_end(desk: Desk, given: Given) -> dict[str, Any]:
    """Forget a path."""
    given.only("path")
    desk.drawers.get("paths", {}).pop(given.text("path"), None)
    return {}


def _walked(desk: Desk, given: Given) -> Walked:
    found: Walked | None = desk.drawers.get("paths", {}).get(given.text("path"))
    if found is None:
        raise GaltonError("this path is over; begin another one")
    return found


def _chooser(
    desk: Desk,
    model: str,
    given: Given,
    constants: dict[str, str],
    state: Mapping[str, Any] | None,
    draws: random.Random,
) -> Chooser:
    """The best strategy of a property, or one of several."""
    prop = given.property("strategy")
    stamps = [desk.stamp(name) for name in (model, *(() if isinstance(prop, str) else (prop[0],)))]
    key = model, prop, tuple(stamps), tuple(constants.items())
    drawer: dict[str, Any] = desk.drawers.setdefault("strategies", {})
    if drawer.get("key") != key:  # a path that begins again, or another of several strategies, needs no new answer
        drawer.clear()
        drawer["found"] = _strategies(desk, model, prop, constants)
        drawer["key"] = key
    found: Strategies = drawer["found"]
    number = found.chosen(given.whole("number", 1, 2**31) if "number" in given else None, draws)
    command = copied_check(desk, model, [prop], constants, Options({}))["command"]
    return Chooser(command, found, number, Follower(found.each[number - 1], state))


def _strategies(desk: Desk, model: str, prop: tuple[str, int] | str, constants: dict[str, str]) -> Strategies:
    from dataclasses import replace

    from ...checking.asking import Answers
    from .checking import TellingWorker

    options = Options({})
    settings, device = options.settings()
    inquiry = desk.inquiry(model, [prop], constants, settings, options)
    inquiry = replace(inquiry, strategy=True)
    (row,) = inquiry.rows()
    (asked,) = row.all_asked
    if asked.wrong is not None:
        raise asked.wrong
    inquiry.check_choices(row, device, ("strategy",))
    worker = TellingWorker(settings, {"device": device, "memory_mb": desk.memory_mb}, strategy=True)
    found, _ = Answers(inquiry, row, worker).of(asked)
    if isinstance(found, GaltonError):
        raise found
    return Strategies.of(found.strategy)


def _packed(trail: Trail, program: Program, state: Mapping[str, Any]) -> tuple[int, ...]:
    """The words of a state that somebody typed."""
    assert isinstance(trail.steps, ProgramPaths)
    lowered = trail.steps.lowered
    words = [0] * lowered.words
    for place, variable in zip(lowered.fields, program.variables, strict=True):
        value = state.get(variable.name)
        if not isinstance(value, int) or not variable.low <= int(value) <= variable.high:
            raise GaltonError(f"'{variable.name}' needs a value from {variable.low} to {variable.high}")
        words[place.word] |= (int(value) - place.low) << place.shift
    return tuple(words)


def _view(desk: Desk, walked: Walked, first: int) -> dict[str, Any]:
    ways = walked.trail.ways()
    desk.keep({"walked": walked})
    timed = walked.program.nature.is_continuous
    return {
        "path": walked.name,
        "variables": walked.variables,
        "rewards": walked.program.reward_names,
        "timed": timed,
        "from": first,
        "rows": walked.rows[first:],
        "length": len(walked.rows),
        "choices": _choices(walked, ways),
        "deadlock": not ways,
        "strategy": None if walked.chooser is None else _told(walked.chooser),
        "copied": _copied(walked),
    }


def _told(chooser: Chooser) -> dict[str, Any]:
    """Which strategies there are, and which of them is followed."""
    found = chooser.strategies
    shares = [None] * len(found.each) if found.shares is None else [number(float(share)) for share in found.shares]
    return {
        "number": chooser.number,
        "all": [{"words": words, "share": share} for words, share in zip(found.words, shares, strict=True)],
        "memory": chooser.follower.memory,
    }


def _choices(walked: Walked, ways: Sequence[Successor]) -> list[dict[str, Any]]:
    here, shares = walked.trail.here, walked.shares(ways)
    found: dict[int, dict[str, Any]] = {}
    for way in ways[:MOST_WAYS]:
        taken = shares.get(way.choice, 0.0) if shares else None
        choice = found.setdefault(
            way.choice, {"choice": way.choice, "action": way.action or None, "chosen": taken, "successors": []}
        )
        choice["successors"].append(
            {
                "to": None,
                "number": number(way.probability),
                "values": [way.state[name] for name in walked.variables],
                "changes": {name: way.state[name] for name in walked.variables if way.state[name] != here[name]},
            }
        )
    return list(found.values())


def _copied(walked: Walked) -> dict[str, str]:
    """Commands for random paths of the model, and a script that goes the same way as this one."""
    steps = max(len(walked.rows) - 1, 1)
    words = ["galton", "simulate", walked.model, *constants_of_command(walked.constants)]
    words += ["--steps", str(steps), "--seed", str(walked.seed)]
    command = shlex.join(words)
    if walked.chooser is not None:
        file = f"{walked.model.rpartition('/')[2].rpartition('.')[0]}-strategy.json"
        chosen = f"{file}:{walked.chooser.number}" if len(walked.chooser.strategies.each) > 1 else file
        asking = f"{walked.chooser.command} {shlex.join(['--strategy', file])}"
        command = f"{asking}\n{command} {shlex.join(['--strategy', chosen])}"
    if len(walked.picks) > 1000:
        return {"command": command, "python": ""}
    arguments = "".join(f", {name}={value.strip()!r}" for name, value in walked.constants.items())
    python = (
        "import galton\nfrom galton.simulation.stepping import Trail\n\n"
        f"trail = Trail(galton.load({walked.model!r}{arguments}), seed={walked.seed})\n"
    )
    if list(walked.trail.words[0]) != walked.trail.steps.initial[0]:
        python += f"trail.words = [{walked.trail.words[0]!r}]\n"
    python += (
        f"print(trail.here)\nfor place in {walked.picks!r}:\n"
        "    trail.take(trail.ways()[place])\n    print(trail.here)\n"
    )
    return {"command": command, "python": python}
