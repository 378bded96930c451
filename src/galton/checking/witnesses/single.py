"""The one path that shows that ``A`` is false, or that ``E`` is true: the shortest, or one that goes round for ever.

A path that never has something either gets to where it cannot happen any more, or comes to a circle on which it does
not. A path of a formula of linear temporal logic is one of the product with an automaton, to a component that accepts
and around in it past all marks that it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...automata.acceptance import complement, generalised_rabin
from ...graph import EndComponents, maximal_end_components
from ...lang.expressions import Expression
from ...lang.properties import PathQuantifier
from ...model.sparse import Mask, Model
from .. import paths
from ..automaton_product import Product, product
from ..inspection import Terms, interval_of, quantified_path
from ..ltl import automaton_of
from ..qualitative.path_quantifiers import free
from .arcs import Arcs, Steps, among, every_arc, near, only
from .counterexample import Counterexample, Path, in_words
from .evidence import Within
from .likeliest import cheapest_paths
from .search import Search, Staged, Unbounded

if TYPE_CHECKING:
    from ..evaluation import Evaluation

__all__ = ["find_path"]

Taken = tuple[list[int], int | None]  # entries of the matrix, and where the circle begins


def find_path(evaluation: Evaluation, formula: PathQuantifier, text: str, *, holds: bool) -> Counterexample | None:
    """Find a path that shows that ``A`` is false or ``E`` true; None where it is the other way round."""
    every = formula.quantifier == "A"
    if holds == every:
        return None
    model = evaluation.model
    terms = Terms(model.nature, evaluation.program.constants, evaluation.source)
    start = _start(evaluation, formula, every)
    path = quantified_path(formula, terms)
    if isinstance(path, paths.Linear):
        entries, loop = _linear(evaluation, path.formula, terms, start, negated=every)
    else:
        entries, loop = _simple(evaluation, path, terms, start, negated=every)
    return Counterexample(
        formula=text,
        model=model,
        kind="path",
        paths=(_as_path(model, start, entries, loop),),
        shows=in_words(formula.path, holds=not every),
        is_witness=not every,
    )


def _start(evaluation: Evaluation, formula: PathQuantifier, every: bool) -> int:
    """The initial state to begin in: one where ``A`` is false; ``E`` is true in all."""
    initial = evaluation.model.initial
    truth = np.broadcast_to(evaluation.truth(formula).must, evaluation.model.n_states)[initial]
    return int(initial[np.flatnonzero(truth != every)[0]])


def _as_path(model: Model, start: int, entries: list[int], loop: int | None) -> Path:
    rows = [int(row) for row in np.searchsorted(model.row_starts, entries, side="right") - 1]
    steps = Steps(model)
    each = [float(steps.probability(row, entry)) for row, entry in zip(rows, entries, strict=True)]
    states = [start, *(int(model.columns[entry]) for entry in entries)]
    return Path(tuple(states), tuple(rows), tuple(each), loop=loop)


# Formulas with one temporal operator.


def _simple(evaluation: Evaluation, path: paths.Path, terms: Terms, start: int, *, negated: bool) -> Taken:
    model, arcs = evaluation.model, every_arc(evaluation.model)
    everywhere = np.ones(model.n_states, dtype=np.bool_)
    if isinstance(path, paths.Now):
        return [], None
    if isinstance(path, paths.Next):
        states = evaluation.mask(path.states)
        return _counted(model, arcs, Within(everywhere, states, 1, 1), start, happens=not negated), None
    through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
    low, high, _ = interval_of(path, terms)
    happens = negated == path.negated
    if high is not None:
        return _counted(model, arcs, Within(through, goal, int(low), int(high)), start, happens=happens), None
    first: list[int] = []
    if low:  # so many steps before it counts, to where it can still happen, or not
        first, start = _lead_in(evaluation, arcs, through, goal, int(low), start, happens)
        if not happens and not through[start]:
            return first, None
    if happens:
        return first + _entries(Unbounded.of(arcs, through, goal), start), None
    taken, loop = _avoids(model, arcs, through, goal, start)
    return first + taken, None if loop is None else loop + len(first)


def _avoids(model: Model, arcs: Arcs, through: Mask, goal: Mask, start: int) -> Taken:
    """A way to where the until has failed, or to a circle on which it does not happen."""
    stay = through & ~goal
    circles = maximal_end_components(free(model), stay).component >= 0
    ended = ~(through | goal)
    entries = _entries(Unbounded.of(arcs, stay & ~circles, circles | ended), start)
    end = start if not entries else int(model.columns[entries[-1]])
    if ended[end]:
        return entries, None
    inside = only(arcs, stay[arcs.sources] & stay[arcs.targets])
    return entries + _around(inside, end, end), len(entries)


def _around(arcs: Arcs, state: int, home: int) -> list[int]:
    """The shortest way of one step or more from a state to another, which may be the same."""
    there = np.arange(len(arcs.starts) - 1) == home
    search = Unbounded.of(arcs, ~there, there)
    ways = range(int(arcs.starts[state]), int(arcs.starts[state + 1]))
    first = min(ways, key=lambda arc: search.cost(int(arcs.targets[arc])))
    return [int(arcs.entries[first]), *_entries(search, int(arcs.targets[first]))]


def _entries(search: Search, place: int) -> list[int]:
    """The entries of the matrix that the shortest way from a place takes."""
    steps = next(cheapest_paths(search, place))
    return [int(search.arcs(place).entries[arc]) for place, arc in steps]


# Steps that are counted.


def _counted(model: Model, arcs: Arcs, within: Within, start: int, *, happens: bool) -> list[int]:
    """The shortest way on which something happens within steps, or is missed."""
    states = near(arcs, start, within.high)
    inner = among(arcs, states)
    search = Staged.of(lambda _: inner, len(states), within.high, within.rule(model, states, happens=happens))
    return _entries(search, int(np.searchsorted(states, start)))


def _lead_in(
    evaluation: Evaluation, arcs: Arcs, through: Mask, goal: Mask, low: int, start: int, happens: bool
) -> tuple[list[int], int]:
    """The steps before an until without an upper bound counts, and where they lead."""
    from ...graph import can_avoid, can_reach

    model = evaluation.model
    later = can_reach(model, through, goal) if happens else can_avoid(free(model), through, goal)
    nowhere = np.zeros_like(goal)

    def rule(step: int) -> tuple[Mask, Mask]:
        if step == low:
            return later, nowhere
        return (nowhere if happens else ~through), through

    entries = _entries(Staged.of(lambda _: arcs, len(goal), low, rule), start)
    return entries, int(model.columns[entries[-1]]) if entries else start


# Formulas of linear temporal logic.


def _linear(evaluation: Evaluation, formula: Expression, terms: Terms, start: int, *, negated: bool) -> Taken:
    model = evaluation.model
    automaton, states = automaton_of(formula, terms)
    masks = [evaluation.mask(part) for part in states]
    made = product(free(model), automaton, masks, np.array([start], dtype=np.int32))
    acceptance = complement(automaton.acceptance) if negated else automaton.acceptance
    arcs = every_arc(made.model)
    place = int(made.starts[start])
    best: tuple[list[int], EndComponents, int] | None = None
    for pair in generalised_rabin(acceptance):
        inner = maximal_end_components(made.model, made.marks & pair.fin == 0)
        good = _accepting(made, inner, pair.inf)
        search = Unbounded.of(arcs, ~good, good)
        if search.cost(place) == np.inf:
            continue
        entries = _entries(search, place)
        if best is None or len(entries) < len(best[0]):
            best = entries, inner, pair.inf
    assert best is not None, "the formula has a path, and so has the product"
    entries, inner, wanted = best
    here = place if not entries else int(made.model.columns[entries[-1]])
    circle = _past_marks(made, arcs, inner, wanted, here)
    # Each row of the product has one entry, and is a transition of the model.
    return [int(made.rows[entry]) for entry in entries + circle], len(entries)


def _accepting(made: Product, inner: EndComponents, wanted: int) -> Mask:
    """The states of components that have all of the wanted marks."""
    met = np.zeros(inner.count + 1, dtype=np.int64)
    inside = inner.component >= 0
    np.bitwise_or.at(met, inner.component[inside], made.marks[inside])
    found: Mask = inside & (met[inner.component] & wanted == wanted)
    return found


def _past_marks(made: Product, arcs: Arcs, inner: EndComponents, wanted: int, start: int) -> list[int]:
    """A circle in a component that passes states with all of the wanted marks."""
    inside = inner.component == inner.component[start]
    usable = only(arcs, inside[arcs.sources] & inside[arcs.targets])
    here, circle, missing = start, list[int](), wanted & ~int(made.marks[start])
    while missing:
        marked = inside & (made.marks & missing != 0)
        step = _entries(Unbounded.of(usable, ~marked, marked), here)
        circle += step
        here = int(made.model.columns[step[-1]])
        for entry in step:
            missing &= ~int(made.marks[made.model.columns[entry]])
    return circle if circle and here == start else circle + _around(usable, here, start)
