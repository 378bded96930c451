"""Models from a Python function that says where each state leads.

For what a guarded-command language cannot say well: states that are graphs, strings, game positions. It runs Python
for every state, so it is for thousands to a few million states; large models belong in the PRISM language.

Endless models are explored in part. Every state that was met but not explored is absorbing and labelled
``"unexplored"``, so the part still bounds the whole: the probability of reaching a goal is at least that of
``F "goal"``, and at most that of ``F "goal" | "unexplored"``.
"""

from __future__ import annotations

import heapq
import inspect
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np

from ..lang.model_types import ModelType, nature_of
from .construct import Assembled, Integers, assemble, number_actions
from .named_states import named_states, text_labels, usable_name
from .sparse import ActionCodes, Model, ModelError, Rewards, row_sums
from .states import ListedStates
from .validation import SUM_TOLERANCE, finish, refuse_unknown_type
from .values import Floats, Values

UNEXPLORED = "unexplored"
"""The label of states that were met and not explored."""

Distribution = list[tuple[float, Any]]


def explore_function(
    step: Callable[[Any], Any],
    initial: Hashable | list[Any] | set[Any],
    type: ModelType = "dtmc",
    *,
    labels: Mapping[str, Callable[[Any], bool]] | None = None,
    rewards: Mapping[str, Callable[[Any], float]] | None = None,
    choice_rewards: Mapping[str, Callable[[Any, str], float]] | None = None,
    order: Literal["bfs", "most-probable"] = "bfs",
    max_states: int | None = None,
    min_probability: float = 0.0,
    variables: Sequence[str] | None = None,
) -> Model:
    """Explore the states that a function leads to.

    Parameters
    ----------
    step
        From a state to where it leads: ``[(probability, state), …]`` for a DTMC, ``[(rate, state), …]`` for a CTMC,
        ``{action: [(probability, state), …], …}`` for an MDP, or ``[(action, [(probability, state), …]), …]`` where
        an action occurs twice. Nothing in it: a deadlock, which gets a loop. States are any hashable objects. Where
        they are numbers, the argument's name is a variable of the model, for properties to use; of tuples, the name
        and a number, ``x0``, ``x1``, …; of named tuples and frozen dataclasses, the fields. States that are texts are
        labels, in models of up to 1,000 states.
    initial
        The initial state; several in a list or set.
    type
        ``"dtmc"``, ``"ctmc"`` or ``"mdp"``.
    labels
        Name to a function that tells whether a state has the label.
    rewards
        Name to a function that gives the reward of a state.
    choice_rewards
        Name to a function of a state and an action that gives the reward of taking it; in a chain, where the action
        is always ``""``, of a step from the state. With the name of one of ``rewards``, it is part of the same
        structure.
    order
        ``"bfs"``: breadth first. ``"most-probable"``: always the state next whose most probable path from an initial
        state is the most probable. A step in a CTMC has the probability of its jump; in an MDP, the best choice
        counts. States are numbered in the order in which they are met.
    max_states
        Stop when this many states have been met (the successors of the last one explored are all added).
    min_probability
        With ``order="most-probable"``, leave states unexplored when no path to them is as probable as this. It bounds
        single paths, not their sum: check ``P=? [ F "unexplored" ]`` for what was cut off altogether.
    variables
        Other names for the parts of states.

    States left unexplored are absorbing, have no rewards, and are labelled ``"unexplored"``.

    >>> def walk(x):
    ...     return [(0.3, x + 1), (0.7, x - 1)] if x > 0 else []
    >>> model = explore_function(walk, 1, order="most-probable", min_probability=0.01)
    >>> model, list(model.states), [model.states[s] for s in model.labels["unexplored"].nonzero()[0]]
    (<dtmc: 6 states, 10 transitions>, [1, 2, 0, 3, 4, 5], [5])

    Labels and rewards are functions of a state, and the argument ``x`` is a variable:

    >>> import galton
    >>> model = explore_function(walk, 2, max_states=50, labels={"home": lambda x: x == 0}, rewards={"x": lambda x: x})
    >>> round(galton.check(model, "P=? [ F<=2 x=0 ]").value, 6), int(model.labels["home"].sum()), list(model.rewards)
    (0.49, 1, ['x'])
    """
    started = perf_counter()
    _check_arguments(type, order, max_states, min_probability, labels)
    found = _Found(step, type)
    starts = sorted({found.number(state) for state in _initial_states(initial)})
    walk = _breadth_first if order == "bfs" else _most_probable_first
    for _ in walk(found, starts, min_probability):
        if max_states is not None and len(found.states) >= max_states:
            break
    bounded = max_states is not None or min_probability > 0
    states = named_states(found.states, variables, _argument(step))
    return _model(found, starts, states, labels or {}, rewards or {}, choice_rewards or {}, bounded, started)


def _argument(step: Callable[[Any], Any]) -> str:
    """The name that a function has for a state."""
    try:
        names = list(inspect.signature(step).parameters)
    except (TypeError, ValueError):
        names = []
    return names[0] if names and usable_name(names[0]) else "x"


@dataclass
class _Found:
    """What is known so far: the states met, and the transitions of those explored."""

    step: Callable[[Any], Any]
    type: ModelType
    states: list[Any] = field(default_factory=list)
    numbers: dict[Any, int] = field(default_factory=dict)
    explored: set[int] = field(default_factory=set)
    choice_states: array[int] = field(default_factory=lambda: array("q"))
    choice_actions: list[str] = field(default_factory=list)
    rows: array[int] = field(default_factory=lambda: array("q"))
    columns: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))

    def number(self, state: Any) -> int:
        """The number of a state, a new one if it was not met before."""
        try:
            number = self.numbers.setdefault(state, len(self.states))
        except TypeError:
            raise ModelError(
                f"the state {state!r} cannot be hashed; use tuples, frozen dataclasses or other unchanging objects"
            ) from None
        if number == len(self.states):
            self.states.append(state)
        return number

    def explore(self, number: int) -> list[tuple[int, float]]:
        """Explore a state; returns the states it leads to, each with its probability in some choice."""
        state = self.states[number]
        self.explored.add(number)
        try:
            answer = self.step(state)
            answer = list(answer) if isinstance(answer, Iterator) else answer
        except Exception as error:
            error.add_note(f"while exploring the state {state!r}")
            raise
        reached = []
        for action, pairs in _choices(self.type, state, answer):
            total = _check_sum(self.type, state, action, pairs)
            if total == 0:
                continue  # rates may all be 0: no transition
            row = len(self.choice_states)
            self.choice_states.append(number)
            self.choice_actions.append(action)
            for value, target in pairs:
                if value:
                    column = self.number(target)
                    self.rows.append(row)
                    self.columns.append(column)
                    self.values.append(value)
                    reached.append((column, value / total))
        return reached


def _breadth_first(found: _Found, starts: list[int], min_probability: float) -> Iterator[None]:
    number = 0
    while number < len(found.states):
        yield
        found.explore(number)
        number += 1


def _most_probable_first(found: _Found, starts: list[int], min_probability: float) -> Iterator[None]:
    # Dijkstra's algorithm with products for sums: no step raises the probability of a path, so it is final when its
    # state is taken out. Entries that a better path has overtaken stay in the heap and are passed over.
    best = dict.fromkeys(starts, 1.0)
    heap = [(-1.0, number) for number in starts]
    while heap:
        probability, number = heapq.heappop(heap)
        if number in found.explored:
            continue
        if -probability < min_probability:
            return
        yield
        for target, share in found.explore(number):
            path = -probability * share
            if target not in found.explored and path > best.get(target, 0.0):
                best[target] = path
                heapq.heappush(heap, (-path, target))


def _choices(type: ModelType, state: Any, answer: Any) -> list[tuple[str, Distribution]]:
    if not nature_of(type).has_choices:
        pairs = _pairs(type, state, answer)
        return [("", pairs)] if pairs else []
    shape = "{action: [(probability, state), …]}"
    items = answer.items() if isinstance(answer, Mapping) else answer
    try:
        choices = [(action, distribution) for action, distribution in items]
    except (TypeError, ValueError):
        raise ModelError(f"the step function gave {answer!r} for the state {state!r}; expected {shape}") from None
    found = []
    for action, distribution in choices:
        if action is not None and not isinstance(action, str):
            raise ModelError(f"the action {action!r} of the state {state!r} is not a name; expected {shape}")
        pairs = _pairs(type, state, distribution)
        if not pairs:
            raise ModelError(f"the action {action!r} of the state {state!r} leads nowhere; leave it out")
        found.append((action or "", pairs))
    return found


def _pairs(type: ModelType, state: Any, answer: Any) -> Distribution:
    what = nature_of(type).entry
    try:
        pairs = [(float(value), target) for value, target in answer]
    except (TypeError, ValueError):
        message = f"the step function gave {answer!r} for the state {state!r}; expected a list of ({what}, state) pairs"
        raise ModelError(message) from None
    for value, target in pairs:
        if not 0 <= value < np.inf:
            raise ModelError(f"the {what} of going from {state!r} to {target!r} is {value:g}")
    return pairs


def _check_sum(type: ModelType, state: Any, action: str, pairs: Distribution) -> float:
    total = sum(value for value, _ in pairs)
    where = f"{state!r} with the action {action!r}" if action else f"{state!r}"
    if not nature_of(type).has_rates and abs(total - 1) > SUM_TOLERANCE:
        raise ModelError(f"the probabilities of going from {where} sum to {total!r}, not 1")
    return total


def _initial_states(initial: Any) -> Iterable[Any]:
    states = initial if isinstance(initial, list | set) else [initial]
    if not states:
        raise ModelError("there is no initial state")
    return states


def _check_arguments(
    type: ModelType,
    order: str,
    max_states: int | None,
    min_probability: float,
    labels: Mapping[str, Any] | None,
) -> None:
    refuse_unknown_type(type)
    if order not in ("bfs", "most-probable"):
        raise ModelError(f'the order is "bfs" or "most-probable", not {order!r}')
    if max_states is not None and max_states < 1:
        raise ModelError(f"max_states must be at least 1, not {max_states}")
    if not 0 <= min_probability <= 1:
        raise ModelError(f"min_probability must be between 0 and 1, not {min_probability}")
    if min_probability and order == "bfs":
        raise ModelError('min_probability needs order="most-probable": breadth first does not know the best paths')
    for name in labels or {}:
        if name in ("init", "deadlock", UNEXPLORED):
            raise ModelError(f"the label {name!r} is made by Galton; choose another name")


def _model(
    found: _Found,
    starts: list[int],
    states: ListedStates,
    labels: Mapping[str, Callable[[Any], bool]],
    rewards: Mapping[str, Callable[[Any], float]],
    choice_rewards: Mapping[str, Callable[[Any, str], float]],
    bounded: bool,
    started: float,
) -> Model:
    n_states = len(found.states)
    unexplored = np.ones(n_states, dtype=np.bool_)
    unexplored[list(found.explored)] = False
    matrix = _matrix(found)
    masks = {**text_labels(found.states), "deadlock": matrix.parts.deadlocks & ~unexplored}
    for name, holds in labels.items():
        masks[name] = np.fromiter((bool(holds(state)) for state in found.states), dtype=np.bool_, count=n_states)
    if bounded:
        masks[UNEXPLORED] = unexplored
    explored = np.flatnonzero(~unexplored).tolist()
    structures = {}
    for name in {**rewards, **choice_rewards}:
        of_states = _state_rewards(name, rewards[name], found.states, explored) if name in rewards else None
        of_choices = _choice_rewards(name, choice_rewards[name], found, matrix) if name in choice_rewards else None
        structures[name] = Rewards(state=of_states, choice=of_choices)
    model = Model(
        type=found.type,
        choice_starts=matrix.parts.choice_starts,
        row_starts=matrix.parts.row_starts,
        columns=matrix.parts.columns,
        values=Values.compress(matrix.parts.values),
        initial=np.array(starts, dtype=np.int32),
        labels=masks,
        rewards=structures,
        actions=matrix.actions,
        choice_actions=matrix.choice_actions,
        states=states,
        build_seconds=perf_counter() - started,
    )
    return finish(model)


class _Matrix(NamedTuple):
    """The assembled matrix; ``places`` are the rows that the choices found have in it, in the order of finding."""

    parts: Assembled
    actions: tuple[str, ...]
    choice_actions: ActionCodes | None
    places: Integers


def _matrix(found: _Found) -> _Matrix:
    n_states = len(found.states)
    owners = np.array(found.choice_states, dtype=np.int64)
    rows = np.array(found.rows, dtype=np.int64)
    columns, values = np.array(found.columns, dtype=np.int64), np.array(found.values, dtype=np.float64)
    if not nature_of(found.type).has_choices:
        return _Matrix(assemble(found.type, n_states, owners[rows], columns, values), ("",), None, owners)
    # Choices were found in the order of exploration, which need not be that of the numbers.
    order = np.argsort(owners, kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    choice_starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=n_states))))
    parts = assemble(found.type, n_states, places[rows], columns, values, choice_starts=choice_starts)
    names, codes = number_actions([found.choice_actions[choice] for choice in order], len(order), parts)
    return _Matrix(parts, names, codes, places if parts.places is None else parts.places[places])


def _state_rewards(name: str, reward: Callable[[Any], float], states: list[Any], explored: list[int]) -> Floats:
    values = np.zeros(len(states))
    for number in explored:
        values[number] = _reward(name, reward, states[number])
    return values


def _choice_rewards(name: str, reward: Callable[[Any, str], float], found: _Found, matrix: _Matrix) -> Floats:
    values = np.zeros(len(matrix.parts.row_starts) - 1)
    choices = zip(matrix.places.tolist(), found.choice_states, found.choice_actions, strict=True)
    for place, owner, action in choices:
        values[place] = _reward(name, reward, found.states[owner], action)
    if nature_of(found.type).has_rates:  # a reward per jump is one per unit of time as often as the state jumps
        values *= row_sums(matrix.parts.row_starts, Values(plain=matrix.parts.values))
    return values


def _reward(name: str, reward: Callable[..., float], state: Any, *action: str) -> float:
    try:
        value = float(reward(state, *action))
    except (TypeError, ValueError) as error:
        error.add_note(f"in the reward {name!r} of the state {state!r}")
        raise
    if not -np.inf < value < np.inf:
        raise ModelError(f"the reward {name!r} of the state {state!r} is {value:g}")
    return value
