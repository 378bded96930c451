"""Random properties for a type of model: every operator, every kind of bound, nested where asked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from queries import (
    TRUE,
    Both,
    Bound,
    ExpectedTime,
    Formula,
    Label,
    LongRun,
    Not,
    Path,
    Probability,
    Query,
    Reward,
    Threshold,
)

Draw = Callable[[st.SearchStrategy[Any]], Any]

STEPS = [Fraction(n) for n in (1, 2, 3, 0, 5, 10, 40)]
TIMES = [Fraction(t) for t in ("1", "1/2", "2", "1/4", "5", "0", "20", "1/1024", "40")]
LABELS = ["a", "b", "a", "b", "last", "init", "deadlock"]
PROBABILITIES = ["1/2", "0.3", "0.9", "1", "0", "0.01"]
AMOUNTS = ["1/2", "3", "100", "0"]

RELATIONS = ["", "<=", "<", ">=", ">", "=", "[]"]
PATHS = ["P X", *(f"P {operator}{relation}" for operator in "FGUWR" for relation in RELATIONS)]
REWARDS = ["R F", "R C", "R C<=", "R I="]
AVERAGES = ["R S", "S"]
OPERATORS = {
    "dtmc": [*PATHS, *REWARDS, *AVERAGES, "T F"],
    "ctmc": [*PATHS, *REWARDS, *AVERAGES, "T F"],
    "mdp": [*PATHS, *REWARDS, *AVERAGES, "T F"],
}
OPTIMA = {"dtmc": [None], "ctmc": [None], "mdp": ["min", "max"]}


@st.composite
def queries(
    draw: Draw, kind: str, operator: str | None = None, optimum: str | None = None, nested: bool = False
) -> Query:
    """A property with this operator, or with any that the type of model has."""
    operator = operator or draw(st.sampled_from(OPERATORS[kind]))
    optimum = optimum or draw(st.sampled_from(OPTIMA[kind]))
    family, _, rest = operator.partition(" ")
    match family:
        case "S":
            return LongRun(draw_formula(draw, kind, nested), optimum)
        case "T":
            return ExpectedTime(draw_formula(draw, kind, nested), optimum)
        case "R":
            return draw_reward(draw, kind, rest, optimum, nested)
    left = TRUE if rest[0] in "XFG" else draw_formula(draw, kind, nested)
    return Probability(Path(rest[0], left, draw_formula(draw, kind, nested), draw_bound(draw, kind, rest[1:])), optimum)


def draw_reward(draw: Draw, kind: str, objective: str, optimum: str | None, nested: bool) -> Reward:
    """A reward operator, of one of the structures."""
    structure = draw(st.sampled_from(["r", "q"]))
    if objective == "F":
        return Reward(structure, "F", draw_formula(draw, kind, nested), optimum=optimum)
    if objective not in ("C<=", "I="):
        return Reward(structure, objective, optimum=optimum)
    time = draw(st.sampled_from(TIMES if kind == "ctmc" else STEPS))
    return Reward(structure, objective, time=time, optimum=optimum)


def draw_bound(draw: Draw, kind: str, relation: str) -> Bound | None:
    """A bound that some number of steps, or some time, meets."""
    if not relation:
        return None
    numbers = st.sampled_from(TIMES if kind == "ctmc" else STEPS)
    first, second = sorted([draw(numbers), draw(numbers)])
    if relation in "<>":  # an end at 0 would leave nothing, or mean the time just after it
        first = first or Fraction(1)
    return Bound(relation, first, second) if relation == "[]" else Bound(relation, first)


def draw_formula(draw: Draw, kind: str, nested: bool) -> Formula:
    """A label, mostly, or an operator with a bound."""
    if nested:
        return draw(thresholds(kind))
    shape = draw(st.sampled_from(["label", "label", "label", "not", "both"]))
    label = Label(draw(st.sampled_from(LABELS)))
    if shape == "not":
        return Not(label)
    if shape == "both":
        return Both(Not(label), Label(draw(st.sampled_from(LABELS))))
    return label


@st.composite
def thresholds(draw: Draw, kind: str, operator: str | None = None) -> Threshold:
    """An operator with a bound: the least value must meet a lower bound, the greatest an upper one."""
    relation = draw(st.sampled_from([">", ">=", "<", "<="]))
    optimum = None if kind != "mdp" else "min" if relation.startswith(">") else "max"
    query = draw(queries(kind, operator, optimum))
    bounds = PROBABILITIES if isinstance(query, Probability | LongRun) else AMOUNTS
    return Threshold(query, relation, Fraction(draw(st.sampled_from(bounds))))
