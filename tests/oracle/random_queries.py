"""Random properties for a type of model: every operator, every kind of bound, some nested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
TIMES = [Fraction(t) for t in ("1", "1/2", "2", "1/4", "5", "0", "20", "1/1024", "300")]
LABELS = ["a", "b", "a", "b", "last", "init", "deadlock"]
RELATIONS = ["", "<=", "<", ">=", ">", "=", "[]"]


@st.composite
def queries(draw: Draw, kind: str, families: Sequence[str] = "PRTS", nested: bool = True) -> Query:
    """One property; ``families`` are the operators it may have."""
    optimum = draw(st.sampled_from(["min", "max"])) if kind == "mdp" else None
    family = draw(st.sampled_from([f for f in families if f != "S" or kind != "mdp"]))
    if family == "S":
        return LongRun(draw_formula(draw, kind, nested))
    if family == "T":
        return ExpectedTime(draw_formula(draw, kind, nested), optimum)
    if family == "R":
        return draw_reward(draw, kind, optimum, nested)
    operator = draw(st.sampled_from("FUGWRX"))
    left = TRUE if operator in "XFG" else draw_formula(draw, kind, nested)
    bound = None if operator == "X" else draw_bound(draw, kind)
    return Probability(Path(operator, left, draw_formula(draw, kind, nested), bound), optimum)


def draw_reward(draw: Draw, kind: str, optimum: str | None, nested: bool) -> Reward:
    """One of the reward operators that the type of model has."""
    structure = draw(st.sampled_from(["r", "q"]))
    objective = draw(st.sampled_from(["F", "C", "C<=", "I=", *(["S"] if kind != "mdp" else [])]))
    if objective == "F":
        return Reward(structure, "F", draw_formula(draw, kind, nested), optimum=optimum)
    times = draw(st.sampled_from(TIMES if kind == "ctmc" else STEPS)) if objective in ("C<=", "I=") else Fraction(0)
    return Reward(structure, objective, time=times, optimum=optimum)


def draw_bound(draw: Draw, kind: str) -> Bound | None:
    """A bound that holds for some number of steps, or some time."""
    relation = draw(st.sampled_from(RELATIONS))
    ends = sorted(draw(st.tuples(*[st.sampled_from(TIMES if kind == "ctmc" else STEPS)] * 2)))
    if not relation:
        return None
    if relation in "<>":  # an end at 0 would leave nothing, or mean the time just after it
        ends = [ends[0] or Fraction(1), ends[1]]
    return Bound(relation, *ends) if relation == "[]" else Bound(relation, ends[0])


def draw_formula(draw: Draw, kind: str, nested: bool) -> Formula:
    """Mostly a label."""
    shape = draw(st.sampled_from(["label", "label", "label", "not", "both", *(["nested"] if nested else [])]))
    label = Label(draw(st.sampled_from(LABELS)))
    if shape == "not":
        return Not(label)
    if shape == "both":
        return Both(Not(label), Label(draw(st.sampled_from(LABELS))))
    if shape == "nested":
        return draw_threshold(draw, kind)
    return label


def draw_threshold(draw: Draw, kind: str) -> Threshold:
    """An operator with a bound: the least value must meet a lower bound, the greatest an upper one."""
    relation = draw(st.sampled_from([">", ">=", "<", "<="]))
    optimum = None if kind != "mdp" else "min" if relation.startswith(">") else "max"
    families = "P" if draw(st.booleans()) else "PRTS"
    query = draw(queries(kind, families, nested=False))
    if optimum and not isinstance(query, LongRun):
        query = type(query)(**{**query.__dict__, "optimum": optimum})
    probability = isinstance(query, Probability | LongRun)
    bounds = ["1/2", "1/3", "0.9", "1", "0", "0.01"] if probability else ["1/2", "3", "100", "0"]
    return Threshold(query, relation, Fraction(draw(st.sampled_from(bounds))))
