"""What Storm says: the same text and the same property, in exact fractions where Storm has them.

Where Storm 2.0 means something else, or nothing, :data:`DIFFERENCES` says so by name: a function that gives the states
in which the two cannot be compared. ``test_storm.py`` shows each of them.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import stormpy
from exact import Exact, Number, States, Vector
from queries import FLIPPED, Both, Formula, LongRun, Not, Probability, Query, Reward, Threshold
from random_models import RandomModel

NEAR = 1e-5  # a bound that Storm's doubles may be on the wrong side of


class Storm:
    """A text in Storm; answers come in the order of the exact checker's states."""

    def __init__(self, model: RandomModel):
        self.source = model
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.prism"
            file.write_text(model.text)
            self.program = stormpy.parse_prism_program(str(file), prism_compatibility=True, simplify=False)
        self.built: dict[type, tuple[Any, list[int]]] = {}

    def model(self, number: type) -> tuple[Any, list[int]]:
        """Storm's model, of doubles or of fractions, and the numbers that our states have in it."""
        if number not in self.built:
            model = stormpy.build_model[number](self.program, options=stormpy.BuilderOptions(build_full=True))
            values = model.state_valuations
            places = {}
            for state in range(model.nr_states):
                found = {v.name: int(values.get_value(state, v)) for v in values.get_all_variables()}
                places[frozenset(found.items())] = state
            order = [places[frozenset(self.source.values(state).items())] for state in self.source.kept]
            self.built[number] = model, order
        return self.built[number]

    def values(self, query: Query) -> Vector:
        """The value in each state: exact, but for those that depend on time in a CTMC."""
        approximate = timed(self.source.type, query)
        return self.ask(query, float if approximate else stormpy.Rational, plain() if approximate else None)

    def ask(self, query: Query, kind: type, environment: Any = None) -> Vector:
        """The value in each state, with Storm's numbers and methods chosen."""
        model, order = self.model(kind)
        negated, asked = storm_query(query)
        text = re.sub(
            r"\[ S \]", "[ LRA ]", re.sub(r"\bS(?=(min|max)?[=<>])", "LRA", asked.text())
        )  # Storm's name for S
        (formula,) = stormpy.parse_properties(text, self.program)
        result = stormpy.model_checking(model, formula, environment=environment)
        values = [number(result.get_value(state)) for state in order]
        return [1 - value for value in values] if negated else values


def plain() -> Any:
    """Storm without its sound methods, with equations solved directly.

    On rates that are far apart the sound iteration does not come to an end, and sound instantaneous rewards are wrong:
    see ``test_sound_instantaneous_rewards``.
    """
    environment = stormpy.Environment()
    environment.solver().set_linear_equation_solver_type(stormpy.environments.EquationSolverType.ELIMINATION)
    return environment


def timed(kind: str, query: Query) -> bool:
    """Does the query ask about real time? Storm has no fractions for that."""
    if kind != "ctmc" or any(timed(kind, threshold.query) for threshold in query.inner):
        return kind == "ctmc"
    if isinstance(query, Probability):
        return query.path.bound is not None
    return isinstance(query, Reward) and query.objective in ("C<=", "I=")


# The same in Storm's language


def storm_query(query: Query) -> tuple[bool, Query]:
    """What to ask Storm, and whether the answer is 1 minus that: it has no W and no R, and no G with a bound."""
    negated = isinstance(query, Probability) and query.path.until[0]
    if negated:
        query = Probability(query.path.until[1], FLIPPED[query.optimum])
    if isinstance(query, Probability):
        left, right = storm_formula(query.path.left), storm_formula(query.path.right)
        return negated, replace(query, path=replace(query.path, left=left, right=right))
    if isinstance(query, LongRun):
        return negated, replace(query, formula=storm_formula(query.formula))
    return negated, replace(query, goal=storm_formula(query.goal))


def storm_formula(formula: Formula) -> Formula:
    """The same with 1-p in place of p, and the relation turned around, where an operator has to be negated."""
    if isinstance(formula, Not):
        return Not(storm_formula(formula.operand))
    if isinstance(formula, Both):
        return Both(storm_formula(formula.left), storm_formula(formula.right))
    if isinstance(formula, Threshold):
        negated, query = storm_query(formula.query)
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[formula.relation]
        return (
            Threshold(query, turned, 1 - formula.bound)
            if negated
            else Threshold(query, formula.relation, formula.bound)
        )
    return formula


def number(value: Any) -> Number:
    """One of Storm's numbers."""
    if "inf" in str(value):
        return math.inf
    return Fraction(value) if isinstance(value, float) else Fraction(str(value))


# Where Storm differs


def rewards_of_deadlocks(model: Exact, query: Query) -> States:
    """A deadlock that is given a loop loses its state reward. PRISM keeps it."""
    if not isinstance(query, Reward) or query.objective == "F":
        return frozenset()
    earning = any(model.rewards[query.structure].state[s] for s in model.labels["deadlock"])
    return model.states if earning else frozenset()


def late_until(model: Exact, query: Query) -> States:
    """An until that has to wait is false in a state of the goal outside of the left side.

    Storm says that it is true there, if it has no chance in any state of the left side; or, in a CTMC, stops with an
    error.
    """
    waits, path = _waiting_until(query)
    if not waits:
        return frozenset()
    _, until = storm_query(query)
    ever = Probability(replace(path, bound=None), until.optimum).exact(model)
    if any(ever[s] for s in path.left.states(model)):
        return frozenset()
    return model.states if model.type == "ctmc" else path.right.states(model) - path.left.states(model)


def until_at_a_point_in_time(model: Exact, query: Query) -> States:
    """Storm does not look at the left side of ``U=t`` in a CTMC."""
    waits, path = _waiting_until(query)
    low, high = path.bound.ends(Fraction(0)) if waits else (0, None)
    return model.states if model.type == "ctmc" and low == high else frozenset()


def _waiting_until(query: Query) -> tuple[bool, Any]:
    """Whether the query is an until with a lower bound, and that until."""
    if not isinstance(query, Probability):
        return False, None
    _, path = query.path.until
    return path.operator == "U" and path.bound is not None and path.bound.ends(Fraction(1))[0] > 0, path


def no_step_bound_from_above(model: Exact, query: Query) -> States:
    """Storm has no ``>=k`` for steps."""
    open_ended = isinstance(query, Probability) and query.path.bound and query.path.bound.relation in (">=", ">")
    return model.states if open_ended and model.type != "ctmc" else frozenset()


def no_rewards_until_time_zero(model: Exact, query: Query) -> States:
    """Storm refuses ``C<=0`` in a CTMC."""
    zero = isinstance(query, Reward) and query.objective == "C<=" and query.time == 0
    return model.states if zero and model.type == "ctmc" else frozenset()


DIFFERENCES: list[Callable[[Exact, Query], States]] = [
    rewards_of_deadlocks,
    late_until,
    until_at_a_point_in_time,
    no_step_bound_from_above,
    no_rewards_until_time_zero,
]


def comparable(model: Exact, query: Query) -> States:
    """The states in which Storm's answer means the same."""
    for threshold in query.inner:
        close = timed(model.type, query) and threshold.distance(model) < NEAR
        if close or comparable(model, threshold.query) != model.states:
            return frozenset()
    return model.states.difference(*(difference(model, query) for difference in DIFFERENCES))
