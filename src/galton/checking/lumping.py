"""Lumping before solving, where it pays: states that behave alike, as far as the properties look, become one.

Whether it pays is estimated in *sweeps*: passes over the transitions that answering will take. Splitting blocks takes
about :data:`COST` sweeps for a pass, and some passes. So it is tried where properties need thousands of sweeps: long
times and many steps, long runs of MDPs, several objectives, many properties. It is given up where it has cost a part of
what answering costs, or leaves more than a part of :data:`LEFT` of the states. ``python bench/lump.py fit`` measures
the cost of a pass; on the gallery it is 4 to 79 sweeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import of
from ..backend.lumping import LumpLimits
from ..device.arrays import greatest
from ..lang.depth import DeepRecursion
from ..lang.expressions import Expression, Label
from ..lang.program import Program
from ..lang.properties import Cumulative, Instantaneous, Multi, Probability, Reward
from ..lang.resolution import Question, parts
from ..lang.source import GaltonError
from ..model.sparse import Model
from ..reduce.lumping import Lumped, Sight, lump
from ..solve.settings import Settings
from . import paths
from .evaluation import Evaluation
from .inspection import BEST_LONG_RUN, LONG_RUN, UNBOUNDED, Terms, interval_of, kinds_of, step_count
from .intervals import Truth
from .looking import Looks, WholeModelNeeded

__all__ = ["Asking", "Decision", "lumped_for", "sight_of"]

Asking = tuple[Program, Question]  # a property, and the program that knows its names

COST = 40.0  # what a pass of splitting costs in sweeps
PASSES = 5.0  # that splitting takes at the least, and so is worth
SHARE = 0.05  # of what answering costs may be lost where lumping is tried in vain
MOST_PASSES = 25.0  # steps may end long before their bound, so that answering may cost less than it seems
SMALL = 1e8  # transitions times sweeps: what is answered in a tenth of a second
LEFT = 0.6  # of the states, beyond which it is given up

# Sweeps that questions without a bound take, about.
USUAL = {UNBOUNDED: 60.0, LONG_RUN: 200.0, BEST_LONG_RUN: 400.0}
DIRECTIONS = 10.0  # in which several objectives are weighed, for each of them


@dataclass(frozen=True, eq=False)
class Decision:
    """Which properties are asked of a quotient, and for each why, or why not.

    ``quotient`` is None where none is.
    """

    quotient: Model | None
    used: list[bool]
    notes: list[str]


def lumped_for(
    model: Model, asked: Sequence[Asking], settings: Settings, wanted: bool | None, why_not: str
) -> Decision:
    """Lump a model for some properties.

    Parameters
    ----------
    wanted
        None where it is to be done where it pays; True for always.
    why_not
        What besides the properties needs all states; empty where nothing does.
    """
    notes = [why_not] * len(asked)
    looks: dict[int, Looks] = {}
    if not why_not:
        for place, (context, question) in enumerate(asked):
            try:
                looks[place] = looks_at(context, question)
            except WholeModelNeeded as reason:
                notes[place] = str(reason)
            except GaltonError:  # what is wrong with a property is told when its turn comes
                notes[place] = "the property cannot be answered"
    if not looks:
        return Decision(None, [False] * len(asked), notes)
    chosen = [asked[place] for place in looks]
    found: Lumped | str = _tried(model, chosen, list(looks.values()), settings, forced=bool(wanted))
    told = found if isinstance(found, str) else f"{found!r}".strip("<>") + f", {found.rounds:,} rounds"
    for place in looks:
        notes[place] = told
    used = [place in looks and not isinstance(found, str) for place in range(len(asked))]
    return Decision(None if isinstance(found, str) else found.model, used, notes)


def _tried(
    model: Model, asked: Sequence[Asking], looks: Sequence[Looks], settings: Settings, *, forced: bool
) -> Lumped | str:
    """The quotient, or why there is none."""
    limits = LumpLimits()
    if not forced:
        if settings.by_hand or settings.format or settings.order or settings.single:
            return "what is chosen by hand is done to the whole model"
        sweeps = sum(_sweeps(model, *one, settings) for one in asked)
        passes = min(sweeps * SHARE / COST, MOST_PASSES)
        if passes < PASSES or sweeps * model.n_transitions < SMALL:
            return f"about {sweeps:,.0f} sweeps are quicker"
        limits = LumpLimits(int(LEFT * model.n_states), int(passes * model.n_transitions))
    try:
        sight = sight_of(model, looks, settings)
    except GaltonError:
        return "the property cannot be answered"
    found = lump(model, sight, limits, settings.n_threads)
    if isinstance(found, Lumped):
        return found
    passes = found.entries / max(model.n_transitions, 1)
    return f"given up after {passes:.1f} passes: few states are alike, or finding them takes too long"


def looks_at(context: Program, question: Question) -> Looks:
    """What a property looks at in a model, by the names that its program has for it."""
    looks = Looks(context, question, context.reward_names, (Multi,))
    with DeepRecursion(question.source):
        looks.at(question.prop.expression)
    return looks


def sight_of(model: Model, looks: Sequence[Looks], settings: Settings, *, each_label: bool = False) -> Sight:
    """What properties look at, as marks of states and names of labels and rewards.

    Where a formula has several labels, all that counts is whether it holds. But the quotient has to know the labels
    that no program defines; and where ``each_label``, so that it can be asked without the program, all of them.
    """
    marks: list[Any] = []
    if len(model.initial) > 1:  # so that it is known how many of them there are
        marks.append(model.labels["init"])
    rewards: dict[str, None] = {}
    labels: dict[str, None] = {}
    for look in looks:
        evaluation = Evaluation(model, look.context, look.question.source, settings)
        with DeepRecursion(look.question.source):
            for formula in look.formulas:
                found = evaluation.value(formula)
                mark = found.must if isinstance(found, Truth) else found.lower
                if np.ndim(mark):
                    marks.append(mark)
                for part in parts(formula):
                    if isinstance(part, Label) and (each_label or part.name not in look.context.labels):
                        labels[part.name] = None
        if look.initially:
            labels["init"] = None
        rewards |= dict.fromkeys(look.structures)
    return Sight(tuple(marks), tuple(name for name in labels if name in model.labels), tuple(rewards))


def _sweeps(model: Model, context: Program, question: Question, settings: Settings) -> float:
    """How many sweeps a property takes, about."""
    terms = Terms(model.nature, context.constants, question.source)
    whole = question.prop.expression
    kinds = kinds_of(question, context, model.type)
    usual = sum(USUAL.get(kind, 0.0) for kind in kinds)
    if isinstance(whole, Multi):
        return usual * DIRECTIONS * len(whole.objectives)
    bounds = list(_bounds(whole, terms))
    if not bounds:
        return usual
    return usual + sum(bounds) * (_fastest(model, settings) if model.is_continuous else 1.0)


def _bounds(whole: Expression, terms: Terms) -> Iterator[float]:
    """The bounds on time, or on the number of steps, in a property."""
    for part in parts(whole):
        match part:
            case Reward(Cumulative(limit) as objective) if limit is not None:
                timed = terms.nature.is_continuous
                yield paths.time(limit, terms.constants, terms.source) if timed else step_count(objective, terms)
            case Reward(Instantaneous(moment)):
                read = paths.time if terms.nature.is_continuous else paths.whole
                yield read(moment, terms.constants, terms.source)
            case Probability(path):
                shape = paths.shape(path)
                if isinstance(shape, paths.Until) and shape.bound is not None and not paths.is_budget(shape):
                    low, high, _ = interval_of(shape, terms)
                    yield low if high is None else high


def _fastest(model: Model, settings: Settings) -> float:
    """The largest rate out of a state."""
    rates, _ = of(model.columns, model.placement.devices).steps.exit_rates(model, False, settings.n_threads)
    return greatest(rates)
