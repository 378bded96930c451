"""Questions answered on a device without a matrix: for models whose states fit there and whose transitions do not.

Reachability probabilities and rewards until a goal, of DTMCs and MDPs, in the initial states. Everything else is
refused with the reason. The states are found by the device's explorer; rows are computed anew from them whenever they
are needed (:mod:`galton.backend.cuda.matrix_free`). The method and what makes it sound are in
:mod:`galton.solve.matrix_free`.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend.limits import Limits
from ..backend.protocol import Optimum
from ..device.cuda.runtime import select
from ..device.errors import DeviceError, device_errors
from ..device.placement import AUTO, Placement, Request
from ..lang.depth import DeepRecursion
from ..lang.expressions import Binary, Expression, Label, Unary
from ..lang.program import Program
from ..lang.properties import Comparison, Filter, Probability, Reward, UnaryPath
from ..lang.rendering import render
from ..lang.resolution import Question
from ..lang.source import GaltonError, UnsupportedError
from ..lower.lowering import Lowered, Lowering
from ..model.states import PackedStates
from ..solve.matrix_free import prove_proposal, solve
from ..solve.settings import FINEST, Settings
from . import paths
from .exploration import closed, is_plain
from .inspection import Terms, named_structure, optimum_of
from .intervals import Numbers
from .quantity import Work
from .reducing import Reduced
from .result import Result, Solved

if TYPE_CHECKING:
    from ..backend.protocol import Watch
    from ..solve.matrix_free import Bounds
    from ..solve.matrix_free import Solved as MatrixFreeSolved
    from .asking import Inquiry, Row
    from .orbits_propose import Proposal

__all__ = ["Answered", "Reachability", "answer", "answer_row", "can_answer", "lowered_for", "read"]

FILTERS = ("min", "max", "range")
AGAIN = 1e3  # how much narrower to ask when bounds do not decide


@dataclass(frozen=True)
class Reachability:
    """What is asked: of which strategies, until which goal, through which states, and what is done with the number.

    ``structure`` is the name of a reward structure, None for a probability; ``negated`` asks for one minus it.
    """

    formula: Expression
    optimum: Optimum | None
    goal: Expression
    through: Expression | None
    structure: str | None = None
    negated: bool = False
    comparison: Comparison | None = None
    threshold: float | None = None
    filter: str | None = None

    @property
    def end(self) -> Expression:
        """Where nobody asks what follows."""
        return self.goal if self.through is None else Binary("|", self.goal, Unary("!", self.through))


@dataclass(frozen=True)
class Answered:
    """A result, and what it took: states, seconds of each stage, bytes on the device."""

    result: Result
    states: int
    initial: int
    levels: int
    seconds: dict[str, float]
    bytes: dict[str, int]
    sweeps: int
    bounds: Bounds

    @property
    def info(self) -> dict[str, Any]:
        """For JSON."""
        return {"states": self.states, "initial_states": self.initial, "seconds": self.seconds, "bytes": self.bytes}


def read(program: Program, question: Question) -> Reachability:
    """What a property asks, if it can be answered without a matrix; otherwise the reason why not."""
    terms = Terms(program.nature, program.constants, question.source)
    with DeepRecursion(question.source):
        return _read(question.prop.expression, program, terms)


def _read(formula: Expression, program: Program, terms: Terms) -> Reachability:
    def refuse(what: str, part: Expression) -> UnsupportedError:
        return UnsupportedError(f"without a matrix, {what}", terms.source, part.span, "leave --matrix-free away")

    filter_ = None
    if isinstance(formula, Filter):
        if formula.operator not in FILTERS or formula.states != Label("init"):
            raise refuse(f"filters are {', '.join(FILTERS)} over the initial states", formula)
        filter_, formula = formula.operator, formula.operand
    if program.nature.has_rates:
        raise refuse("only DTMCs and MDPs are answered", formula)
    if not isinstance(formula, (Probability, Reward)):
        raise refuse("only one P or R is answered", formula)
    bound = paths.threshold(formula, terms.constants, terms.source)
    optimum = optimum_of(formula, terms)
    structure = None
    if isinstance(formula, Reward):
        if not isinstance(formula.objective, UnaryPath) or formula.objective.operator != "F":
            raise refuse("rewards are those until a goal, R [ F goal ]", formula)
        structure = named_structure(formula, program.reward_names, terms)
        path = paths.shape(formula.objective)
    else:
        path = paths.shape(formula.path)
    if not isinstance(path, paths.Until) or path.bound is not None:
        raise refuse("paths are F, G, U, W or R of states, without a bound", formula)
    for part in (path.goal, path.through):
        if not is_plain(part, program):
            raise refuse("goals are conditions on variables", part)
    through = None if path.through == paths.TRUE else closed(path.through, program)
    if path.negated and optimum is not None:
        optimum = "min" if optimum == "max" else "max"
    return Reachability(
        formula,
        optimum,
        closed(path.goal, program),
        through,
        structure,
        path.negated,
        formula.comparison,
        bound,
        filter_,
    )


def can_answer(row: Row) -> bool:
    """Whether there is a device, and all properties of a row that make sense can be answered there without a matrix."""
    from ..explore.placing import missing

    if missing():
        return False
    try:
        for family in row.families:
            if family.wrong is None:
                read(family.context, family.question)
    except GaltonError:
        return False
    return True


def answer_row(inquiry: Inquiry, row: Row, device: str) -> list[Result]:
    """The answers of one row, without a word; what is wrong with any of them is raised."""
    from .asking import reductions

    if not inquiry.is_program or row.program is None:
        raise GaltonError("--matrix-free is for programs, whose rows can be computed anew, and this is a model")
    (asked,) = row.asked
    for one in asked:
        if one.wrong is not None:
            raise one.wrong
    reduced = reductions(inquiry, row.program, row.families)
    more: dict[str, Any] = {
        "device": "cuda" if device == AUTO else device,
        "propose": not inquiry.symmetry,
        "threads": len(os.sched_getaffinity(0)),
    }
    return [
        answer(one.context, one.question, inquiry.settings, reduced=reduced.get(one.family), **more).result
        for one in asked
    ]


def lowered_for(
    program: Program, asked: Reachability, reduced: Reduced | None = None, *, full: bool = False
) -> Lowered:
    """The program with the goal, and where paths may go, as its labels, and with the one reward that is asked for."""
    reduced = reduced or Reduced()
    end = None if full else asked.end
    rewards = asked.structure is not None
    with DeepRecursion(program.source):
        if reduced.symmetry is not None:
            lowering = reduced.symmetry.symmetries.lowering
            lowered = reduced.symmetry.lowered(end, rewards=rewards)
        elif reduced.slice is not None:
            lowering = reduced.slice.lowering
            lowered = reduced.slice.lowered(end, rewards=rewards)
        else:
            lowering = Lowering(program)
            lowered = lowering.lowered(end, structures=None if rewards else ())
        labels = {"goal": lowering.expressions.node(asked.goal)}
        if asked.through is not None:
            labels["through"] = lowering.expressions.node(asked.through)
    items = lowered.rewards
    if asked.structure is not None:
        number = lowered.program.reward_names.index(asked.structure)
        items = tuple(replace(item, structure=0) for item in items if item.structure == number)
    return replace(lowered, labels=labels, rewards=items if rewards else ())


def answer(
    program: Program,
    question: Question,
    settings: Settings,
    *,
    device: str = "cuda",
    reason: str = "asked for",
    reduced: Reduced | None = None,
    full: bool = False,
    limits: Limits | None = None,
    propose: bool = False,
    threads: int = 1,
    watch: Watch | None = None,
    until: float | None = None,
) -> Answered:
    """Answer a property of a program; ``until`` is when to stop with the bounds there are (``time.monotonic``).

    With ``propose``, symmetries of the program may propose numbers (:mod:`.orbits_propose`), which one sweep over all
    states proves or refutes.
    """
    start = time.perf_counter()
    settings.check_eps()
    asked = read(program, question)
    lowered = lowered_for(program, asked, reduced, full=full)
    proposal = None
    if propose and lowered.orbits is None:
        from .orbits_propose import proposal_for

        proposal = proposal_for(program, question, asked, full=full, threads=threads)
    try:
        with device_errors("the states of the model do not fit into the memory of the device"):
            found = _answered(lowered, asked, question, settings, device, limits, threads, watch, until, proposal)
            there = Placement("cuda", f"without a matrix: {reason}", device)
    except DeviceError as error:
        raise GaltonError(f"there is no answer without a matrix: {error}") from error
    return replace(found, result=replace(found.result, placement=there, seconds=time.perf_counter() - start))


def _answered(
    lowered: Lowered,
    asked: Reachability,
    question: Question,
    settings: Settings,
    device: str,
    limits: Limits | None,
    threads: int,
    watch: Watch | None,
    until: float | None,
    proposal: Proposal | None,
) -> Answered:
    from ..backend.cuda.matrix_free import Numbers as DeviceNumbers
    from ..backend.cuda.matrix_free import discover

    request = Request.parse(device)
    if request.kind == "cpu" or len(request.numbers) > 1:
        raise GaltonError("--matrix-free is for one device: give --device cuda, or the number of one as in cuda:0")
    if request.numbers:
        select(request.numbers)
    states = discover(lowered, limits=limits, watch=watch, threads=threads)
    numbers = DeviceNumbers(states, "probability" if asked.structure is None else "reward", asked.optimum)
    solved = None
    if proposal is not None and _is_lifted(numbers, proposal, threads):
        solved = prove_proposal(numbers, settings)
        if solved is not None:
            solved = replace(solved, work=(proposal.work, *solved.work)) if _suffices(asked, solved) else None
    solved = solved or solve(numbers, settings, until=until)
    while not _suffices(asked, solved) and solved.close and settings.eps > FINEST:  # a threshold close to the value
        settings = settings.tighter(min(AGAIN, settings.eps / FINEST))
        solved = solve(numbers, settings, until=until)
    memory = {**states.bytes, **numbers.bytes}
    listed = ", ".join(f"{what} {size / 1e9:.3g} GB" for what, size in memory.items())
    explored = f"{states.n:,} states in {states.levels:,} levels, {len(states.initial):,} initial"
    work = (
        Work("states", explored, seconds=states.seconds["discover_s"] + states.seconds["sort_s"]),
        Work("memory", f"{sum(memory.values()) / states.n:.1f} bytes a state: {listed}"),
        *solved.work,
    )
    method = "matrix-free " + solved.work[-1].step
    seconds = {**states.seconds, **{work.step: work.seconds for work in solved.work}}
    result = Result(
        formula=question.prop.text,
        name=question.prop.name,
        about=_about(lowered, states.initial),
        method=method,
        steps=(Solved(render(asked.formula), method, work),),
        warnings=()
        if solved.close
        else ("the bounds are further apart than eps asks for; sweeps have ended, or bring them no closer",),
        **_value(asked, solved.bounds, len(states.initial) > 1 or asked.filter == "range"),
    )
    return Answered(
        result, states.n, len(states.initial), states.levels, seconds, memory, numbers.sweeps, solved.bounds
    )


def _suffices(asked: Reachability, solved: MatrixFreeSolved) -> bool:
    """Whether bounds are close, and decide about a threshold."""
    return solved.close and (asked.comparison is None or _value(asked, solved.bounds, False)["value"] is not None)


def _about(lowered: Lowered, initial: Any) -> str:
    if len(initial) > 1:
        return f"{len(initial):,} initial states{'' if lowered.orbits is None else ' that are not alike'}"
    words = initial if not hasattr(initial, "get") else initial.get()
    return f"the initial {PackedStates(lowered.fields, words)[0]}"


def _is_lifted(numbers: Any, proposal: Proposal, threads: int) -> bool:
    """Give all states the numbers of a proposal, if it is about states of the same form; there are other ways."""
    from ..backend.cuda.matrix_free import discover

    if proposal.lowered.fields != numbers.states.lowered.fields:
        return False
    try:
        orbits = discover(proposal.lowered, threads=threads)
    except DeviceError:
        return False
    if orbits.n != len(proposal.values):
        return False
    numbers.lift(orbits, proposal.values)
    return True


def _value(asked: Reachability, bounds: Bounds, several: bool) -> dict[str, Any]:
    """What the bounds of the least and the greatest value come to: a number, or two of ``several`` states."""
    least, greatest = (Numbers(np.asarray(low), np.asarray(high)) for low, high in bounds)
    if asked.negated:
        one = Numbers.exactly(1.0)
        least, greatest = one - greatest, one - least
    if asked.comparison is not None:
        assert asked.threshold is not None
        return {"value": _verdict(asked.comparison.operator, least, greatest, asked.threshold)}
    low, high = (greatest if asked.filter == "max" else least), (least if asked.filter == "min" else greatest)
    lower, upper = float(low.lower), float(high.upper)
    if low is high or not several:
        return {"value": lower if lower == upper else lower + (upper - lower) / 2, "lower": lower, "upper": upper}
    middles = [float(x.lower) if x.lower == x.upper else float(x.lower + (x.upper - x.lower) / 2) for x in (low, high)]
    return {"value": (middles[0], middles[1]), "lower": lower, "upper": upper}


def _verdict(operator: str, least: Numbers, greatest: Numbers, bound: float) -> bool | None:
    """Whether all initial states meet a threshold."""
    meets = {">=": lambda x: x >= bound, ">": lambda x: x > bound, "<=": lambda x: x <= bound, "<": lambda x: x < bound}
    value = least if operator.startswith(">") else greatest
    low, high = (bool(meets[operator](float(x))) for x in (value.lower, value.upper))
    return low if low == high else None
