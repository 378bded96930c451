"""What an explorer could not do, in words: the state, the command, and the line it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np

from ..lang.operations import BY_OP, Op
from ..lang.source import GaltonError, LanguageError, Span
from ..lower.lowering import Lowered
from ..model.states import PackedStates, State
from .limits import MEGABYTE, Limits


class Fault(IntEnum):
    """What ended an exploration; the core has the same numbers."""

    OUT_OF_RANGE = 1
    BAD_PROBABILITY = 2
    BAD_SUM = 3
    UNDEFINED = 4
    TOO_MANY_STATES = 5
    OUT_OF_MEMORY = 6
    NO_INITIAL_STATE = 8
    BAD_REWARD = 9
    TOO_MANY_SUCCESSORS = 10
    BAD_PRODUCT = 11
    BAD_TOTAL = 12


LARGEST_NUMBER = 2**31 - 1  # of a state, or of a choice


class SemanticError(LanguageError):
    """A program that means nothing in some reachable state."""

    kind = "model"


class DeadlockError(GaltonError):
    """Deadlocks, where they were asked to be an error."""

    kind = "model"


class LimitError(GaltonError):
    """The exploration would not fit into what it was allowed."""

    kind = "limit"


class TooManyStatesError(LimitError):
    """More states, or choices, than a matrix has numbers for."""


def explain(found: Mapping[str, Any], lowered: Lowered, limits: Limits) -> GaltonError:
    """The error for a failed exploration."""
    fault = Fault(found["fault"])
    crowded = _crowded(found, lowered)
    if fault is Fault.TOO_MANY_SUCCESSORS:
        return LimitError(
            f"state {_state(found, lowered)} has {found['value']:.4g} successors, each of which is computed, and there "
            f"are numbers for {LARGEST_NUMBER:,}: the branches of synchronised commands multiply; make the model "
            "smaller"
        )
    if fault is Fault.TOO_MANY_STATES and limits.max_states >= LARGEST_NUMBER:
        return TooManyStatesError(
            f"more than {LARGEST_NUMBER:,} states, or choices of states: a matrix has no numbers for more{crowded}; "
            "make the model smaller, or ask for reachability on a device with --matrix-free"
        )
    if fault is Fault.TOO_MANY_STATES:
        return LimitError(
            f"more than {limits.max_states:,} states{crowded}; raise the limit with --max-states, or make the model "
            "smaller"
        )
    if fault is Fault.OUT_OF_MEMORY and not found.get("value"):  # the system gave none, before the limit was reached
        return LimitError(
            "not enough memory for the states; make the model smaller, use fewer threads, or allow the program more "
            "memory (see ulimit -v)"
        )
    if fault is Fault.OUT_OF_MEMORY:
        return LimitError(
            f"the states need more than the {limits.memory_bytes / MEGABYTE:,.0f} MB allowed{crowded}; "
            "raise the limit with --memory, or make the model smaller"
        )
    if fault is Fault.NO_INITIAL_STATE:
        assert lowered.program.initial is not None
        span = lowered.program.initial.span
        return SemanticError("no state satisfies init … endinit", lowered.program.source, span)
    message, span, hint = _complaint(fault, found, lowered)
    return SemanticError(f"{message}, in state {_state(found, lowered)}", lowered.program.source, span, hint)


def _state(found: Mapping[str, Any], lowered: Lowered) -> State:
    return PackedStates(lowered.fields, np.array([found["state"]], dtype=np.uint64))[0]


def _crowded(found: Mapping[str, Any], lowered: Lowered) -> str:
    """The state that makes an exploration large all by itself, if there is one."""
    return f", and state {_state(found, lowered)} alone has millions of successors" if found.get("state") else ""


def _complaint(fault: Fault, found: Mapping[str, Any], lowered: Lowered) -> tuple[str, Span, str | None]:
    value = f"{found['value']:.12g}"
    if fault is Fault.UNDEFINED:
        return _undefined(lowered.graph[found["node"]].op), lowered.spans.get(found["node"], Span(0, 0)), None
    if fault is Fault.BAD_REWARD:
        return f"the reward is {value}", lowered.spans.get(found["node"], Span(0, 0)), "it must be finite"
    blamed = lowered.commands[found["command"]]
    command = blamed.source
    nature = lowered.program.nature
    what = "rates" if nature.has_rates else "probabilities"
    if fault is Fault.BAD_PRODUCT:
        size = "large" if found["value"] > 0 else "small"
        action = f" '{command.action}'" if command.action else ""
        return (
            f"the {what} of commands that move together multiply to a number too {size} for a double",
            command.span,
            (f"choose units in which the {what} of the action{action} are nearer to 1"),
        )
    if fault is Fault.BAD_TOTAL:
        return "with this command the rates add up to more than a double can hold", command.span, _UNITS
    if fault is Fault.BAD_SUM:
        hint = "this is a CTMC? then the file must say ctmc" if not nature.has_choices else None
        return f"the probabilities of this command sum to {value} instead of 1", command.span, hint
    update = command.updates[blamed.updates[found["update"]].places[0]]
    if fault is Fault.BAD_PROBABILITY:
        span = update.span if update.probability is None else update.probability.span
        return f"the {nature.entry} is {value}", span, "it must be finite and not negative"
    number, _ = blamed.updates[found["update"]].assignments[found["assignment"]]  # others may have been left out
    variable = lowered.program.variables[number]
    assignment = next(a for a in update.assignments if a.variable == variable.name)
    return (
        f"the update gives {variable.name} the value {value}, outside its range [{variable.low}..{variable.high}]",
        assignment.span,
        "strengthen the guard, or widen the range of the variable",
    )


_UNITS = "choose a unit of time in which rates are nearer to 1"


def _undefined(op: Op) -> str:
    """Why an operation can have no value."""
    domain = BY_OP[op].domain
    if domain is None:
        return "integer overflow"
    return f"{domain.complaint}, or the value is too large" if BY_OP[op].lengthens else domain.complaint
