"""Models from lists of edges: pandas tables and NetworkX graphs.

Neither library is imported here: what they hand over is asked for its columns and edges.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from ..lang.model_types import ModelType, nature_of
from ..lang.stream import nearest
from .construct import from_matrix
from .named_states import named_states, text_labels, usable_name
from .sparse import Model, ModelError, Rewards
from .validation import SUM_TOLERANCE, refuse_unknown_type
from .values import Floats

__all__ = ["Edges", "from_networkx", "from_pandas", "model_of_edges"]

StateLabel: TypeAlias = Callable[[Any], object] | Iterable[Hashable]
StateReward: TypeAlias = Callable[[Any], float] | Mapping[Any, float] | str

VALUES = ("probability", "rate", "weight")  # what the numbers of edges are called, where nobody says
ACTION = "action"


@dataclass
class Edges:
    """Edges between any hashable states; ``rewards`` has a number for each edge by its name."""

    sources: list[Any]
    targets: list[Any]
    values: Floats
    actions: list[str] | None = None
    rewards: dict[str, Floats] = field(default_factory=dict)


def from_pandas(
    edges: Any,
    *,
    type: ModelType | None = None,
    source: str | Sequence[str] = "source",
    target: str | Sequence[str] = "target",
    value: str | None = None,
    action: str | None = None,
    initial: Any = None,
    labels: Mapping[str, StateLabel] | None = None,
    rewards: Mapping[str, StateReward] | None = None,
    variables: Sequence[str] | None = None,
    normalise: bool = False,
) -> Model:
    """Make a model from a pandas table with a row for each transition.

    Parameters
    ----------
    edges
        The table.
    type
        ``"dtmc"``, ``"ctmc"`` or ``"mdp"``. If not given: an MDP where there are actions, a CTMC where the column with
        the numbers is called ``rate``, and else a DTMC.
    source, target
        The columns with the states. Several columns each make a state of several variables, called as those of
        ``source``.
    value
        The column with the numbers; ``probability``, ``rate`` or ``weight`` if not given.
    action
        For an MDP, the column with the actions; ``action`` if not given.
    initial
        The initial state, or several in a list; the source of the first row if not given.
    labels
        Name to a function that tells whether a state has the label, or to the states that have it. States that are
        texts are labels already, in models of up to 1,000 states.
    rewards
        Name to a function of a state, a mapping from states to numbers, or the column with the reward of each
        transition.
    variables
        What properties call the parts of a state that is a number (``state`` if not given) or a tuple.
    normalise
        Whether to divide the numbers of each state, and action, by their sum.

    Returns
    -------
    Model
        The model. A state without a transition gets a loop.

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame(
    ...     [("sun", "sun", 0.8), ("sun", "rain", 0.2), ("rain", "sun", 0.6), ("rain", "rain", 0.4)],
    ...     columns=["source", "target", "probability"],
    ... )
    >>> import galton
    >>> weather = galton.Model.from_pandas(table)
    >>> round(galton.check(weather, 'S=? [ "rain" ]'), 4)
    0.25
    """
    columns = list(edges.columns)
    found = value or next((name for name in VALUES if name in columns), None)
    if found is None:
        raise ModelError(f"no column is called {_either(VALUES)}; value= names it: {', '.join(map(str, columns))}")
    action = action or (ACTION if ACTION in columns else None)

    def column(name: str) -> Any:
        if name not in columns:
            hint = nearest(str(name), map(str, columns)) or f"there are {', '.join(map(str, columns))}"
            raise ModelError(f"the table has no column '{name}'; {hint}")
        return edges[name]

    def states(names: str | Sequence[str]) -> list[Any]:
        if isinstance(names, str):
            return list(column(names).tolist())
        return list(zip(*(column(name).tolist() for name in names), strict=True))

    listed = Edges(
        states(source),
        states(target),
        np.asarray(column(found), dtype=np.float64),
        None if action is None else [str(name) for name in column(action).tolist()],
        {
            name: np.asarray(column(given), dtype=np.float64)
            for name, given in (rewards or {}).items()
            if isinstance(given, str)
        },
    )
    if variables is None and not isinstance(source, str):
        variables = source if all(map(usable_name, source)) else None
    return model_of_edges(listed, type or _type(found, action), initial, labels, rewards, variables, normalise)


def from_networkx(
    graph: Any,
    *,
    type: ModelType | None = None,
    value: str | None = None,
    action: str = ACTION,
    initial: Any = None,
    labels: Mapping[str, StateLabel | str] | None = None,
    rewards: Mapping[str, StateReward] | None = None,
    variables: Sequence[str] | None = None,
    normalise: bool = False,
) -> Model:
    """Make a model from a NetworkX graph, whose nodes are the states.

    Parameters
    ----------
    graph
        A directed graph; of an undirected one, each edge goes both ways. A ``MultiDiGraph`` may have several edges
        between two nodes, for several actions.
    type
        ``"dtmc"``, ``"ctmc"`` or ``"mdp"``. If not given: an MDP where edges have actions, a CTMC where their numbers
        are called ``rate``, and else a DTMC.
    value, action
        The attributes of edges with the numbers (``probability``, ``rate`` or ``weight``, if not given) and, for an
        MDP, with the actions.
    initial
        The initial node, or several in a list; the first if not given.
    labels
        Name to a function that tells whether a node has the label, to the nodes that have it, or to the attribute of
        nodes that says so. Nodes that are texts are labels already, in models of up to 1,000 states.
    rewards
        Name to a function of a node, a mapping from nodes to numbers, or the attribute of edges with their rewards.
    variables
        What properties call the parts of a node that is a number (``node`` if not given) or a tuple.
    normalise
        Whether to divide the numbers of each node, and action, by their sum; edges without a number count 1 then. So
        the random walk on a graph is ``from_networkx(graph, normalise=True)``.

    Returns
    -------
    Model
        The model. A node without an edge gets a loop.

    Examples
    --------
    >>> import networkx
    >>> import galton
    >>> walk = galton.Model.from_networkx(networkx.path_graph(4), initial=1, normalise=True)
    >>> round(galton.check(walk, "P=? [ node!=0 U node=3 ]"), 4)
    0.3333
    """
    edges = list(graph.edges(data=True))
    if not edges:
        raise ModelError("the graph has no edges")
    if not graph.is_directed():
        edges += [(target, source, data) for source, target, data in edges if source != target]
    found = value or next((name for name in VALUES if any(name in data for *_, data in edges)), None)
    if found is None and not normalise:
        raise ModelError(f"no edge has a number called {_either(VALUES)}; value= names it, normalise=True does without")
    acts = any(action in data for *_, data in edges)

    def number(name: str, edge: Any) -> float:
        *ends, data = edge
        if name not in data:
            raise ModelError(f"the edge from {ends[0]!r} to {ends[1]!r} has no '{name}'")
        return float(data[name])

    listed = Edges(
        [source for source, _, _ in edges],
        [target for _, target, _ in edges],
        np.array([1.0 if found is None else number(found, edge) for edge in edges]),
        [str(data.get(action, "")) for *_, data in edges] if acts else None,
        {
            name: np.array([number(given, edge) for edge in edges])
            for name, given in (rewards or {}).items()
            if isinstance(given, str)
        },
    )
    named: dict[str, StateLabel] = {
        name: [node for node, data in graph.nodes(data=True) if data.get(given)] if isinstance(given, str) else given
        for name, given in (labels or {}).items()
    }
    kind = type or _type(found or "", ACTION if acts else None)
    nodes = list(graph.nodes)
    return model_of_edges(listed, kind, initial, named, rewards, variables, normalise, argument="node", known=nodes)


def _type(value: str, action: str | None) -> ModelType:
    return "mdp" if action is not None else "ctmc" if value == "rate" else "dtmc"


def _either(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def model_of_edges(
    edges: Edges,
    type: ModelType,
    initial: Any,
    labels: Mapping[str, StateLabel] | None,
    rewards: Mapping[str, StateReward] | None,
    variables: Sequence[str] | None,
    normalise: bool,
    argument: str = "state",
    known: Sequence[Any] = (),
) -> Model:
    """Make the model of edges; ``known`` are states that there are whether an edge has them or not."""
    refuse_unknown_type(type)
    if not len(edges.values):
        raise ModelError("there is no transition")
    states = _states(chain(known, edges.sources, edges.targets))
    numbers = {state: number for number, state in enumerate(states)}
    matrix = _matrix(edges, type, numbers, states, normalise)
    starts = [edges.sources[0] if not known else known[0]] if initial is None else initial
    model = from_matrix(
        type,
        matrix.values,
        initial=[_number(state, numbers) for state in (starts if isinstance(starts, (list, set)) else [starts])],
        labels=_labels(labels or {}, states, numbers),
        rewards={name: _reward(name, given, matrix, states) for name, given in (rewards or {}).items()},
        row_groups=matrix.row_groups,
        actions=matrix.actions,
    )
    return replace(model, states=named_states(states, variables, argument))


def _states(found: Iterable[Any]) -> list[Any]:
    """The states, numbers in their order, others in that of their first use."""
    try:
        states = list(dict.fromkeys(found))
    except TypeError as error:
        raise ModelError(f"a state cannot be a key: {error}; use numbers, texts or tuples") from None
    for state in states:
        if state is None or state != state:
            raise ModelError(f"a state is missing: {state!r} stands in its place")
    return sorted(states) if all(isinstance(state, int) for state in states) else states


class _Matrix(NamedTuple):
    """A row for each state or, in an MDP, for each state and action; rewards of its entries by name."""

    values: coo_array
    rewards: dict[str, coo_array]
    row_groups: npt.NDArray[np.int64] | None
    actions: list[str] | None


def _matrix(edges: Edges, type: ModelType, numbers: Mapping[Any, int], states: list[Any], normalise: bool) -> _Matrix:
    owners = np.array([numbers[state] for state in edges.sources])
    columns = np.array([numbers[state] for state in edges.targets])
    rows, groups, actions = owners, None, None
    if nature_of(type).has_choices:
        rows, groups, actions = _choices(owners, edges.actions, len(states))
    elif edges.actions is not None:
        raise ModelError(f"actions are for an mdp, and this is to be a {type}")
    n_rows = len(states) if groups is None else int(groups[-1])
    values = edges.values
    for place in np.flatnonzero(~(values >= 0) | np.isinf(values))[:1].tolist():
        ends = f"{edges.sources[place]!r} to {edges.targets[place]!r}"
        raise ModelError(f"the {nature_of(type).entry} of going from {ends} is {values[place]:g}")
    sums = np.bincount(rows, values, n_rows)
    if normalise:
        if nature_of(type).has_rates:
            raise ModelError("rates are no parts of a whole: leave normalise away, or make a dtmc")
        values = values / np.where(sums > 0, sums, 1)[rows]
    elif not nature_of(type).has_rates and (wrong := np.flatnonzero(np.abs(sums[rows] - 1) > SUM_TOLERANCE)).size:
        place = int(wrong[0])
        action = f" with the action {edges.actions[place]!r}" if edges.actions else ""
        raise ModelError(
            f"the probabilities of going from {edges.sources[place]!r}{action} sum to {sums[rows[place]]:g}, not 1; "
            "normalise=True divides by that"
        )
    shape = (n_rows, len(states))
    matrix = coo_array((values, (rows, columns)), shape=shape).tocsr()  # which sums entries given twice
    found = {}
    for name, reward in edges.rewards.items():
        means = coo_array((values * reward, (rows, columns)), shape=shape).tocsr()
        means.data = means.data / np.where(matrix.data > 0, matrix.data, 1)  # one reward for what is one entry now
        means.eliminate_zeros()
        found[name] = means.tocoo()
    return _Matrix(matrix.tocoo(), found, groups, actions)


def _choices(
    owners: npt.NDArray[np.int64], actions: list[str] | None, n_states: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[str]]:
    """The row of each edge, where rows of states begin, and the action of each row."""
    names = [""] * len(owners) if actions is None else actions
    seen: dict[tuple[int, str], int] = {}
    met = np.array([seen.setdefault(key, len(seen)) for key in zip(owners.tolist(), names, strict=True)])
    keys = list(seen)
    order = sorted(range(len(keys)), key=lambda place: keys[place][0])  # stable: actions in the order of first use
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    counts = np.bincount([keys[place][0] for place in order], minlength=n_states)
    return places[met], np.concatenate(([0], np.cumsum(counts))), [keys[place][1] for place in order]


def _number(state: Any, numbers: Mapping[Any, int]) -> int:
    try:
        return numbers[state]
    except (KeyError, TypeError):
        example = next(iter(numbers))
        raise ModelError(f"no state {state!r} among the {len(numbers):,} states, for example {example!r}") from None


def _labels(
    given: Mapping[str, StateLabel], states: list[Any], numbers: Mapping[Any, int]
) -> dict[str, npt.NDArray[np.bool_]]:
    found = text_labels(states)
    for name, holds in given.items():
        if callable(holds):
            found[name] = np.array([bool(holds(state)) for state in states])
        else:
            found[name] = np.zeros(len(states), dtype=np.bool_)
            found[name][[_number(state, numbers) for state in holds]] = True
    return found


def _reward(name: str, given: StateReward, matrix: _Matrix, states: list[Any]) -> Any:
    if isinstance(given, str):
        return matrix.rewards[name]
    of = given if callable(given) else lambda state: given.get(state, 0.0)
    return Rewards(state=np.array([float(of(state)) for state in states]))
