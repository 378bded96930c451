"""The states of a model: as a graph, as pages of a table, as a picture of the matrix.

The model that was asked about last is kept.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checking.state_values import Everywhere, StateValues
from ...checking.watching import Exploring, Watcher
from ...lang.expressions import Literal
from ...lang.properties import Comparison, Probability
from ...lang.resolution import resolve
from ...lang.source import GaltonError, LanguageError
from ...model.states import PackedStates
from .copying import copied_model
from .reading import number
from .summaries import model_info

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...lang.program import Program
    from ...model.sparse import Model
    from .desk import Desk
    from .reading import Given, Options

__all__ = ["build", "graph", "matrix", "sets", "state", "states", "values"]

MOST_EDGES = 20_000
MOST_INCOMING = 1000
MOST_SIZES = 1000
LARGEST_PICTURE = 1000
OF = ("model", "constants", "options")


@dataclass(eq=False)
class Looked:
    """A model that somebody looks at, and what was found out about its states."""

    program: Program
    model: Model
    seconds: float
    values: dict[object, StateValues] = field(default_factory=dict)

    @property
    def variables(self) -> list[str]:
        """The names of the variables."""
        found = None if self.model.states is None else self.model.states.variables
        return list(found or ())

    def rows(
        self, numbers: Sequence[int] | npt.NDArray[Any], of: npt.NDArray[Any] | None = None
    ) -> list[dict[str, Any]]:
        """States for the page."""
        model = self.model
        chosen = np.asarray(numbers, dtype=np.int64)
        columns = [column.tolist() for column in self._columns(chosen)]
        labels = [name for name in model.labels if name != "init"]
        marks = [model.labels[name][chosen].tolist() for name in labels]
        initial = model.labels["init"][chosen].tolist()
        return [
            {
                "state": int(one),
                "values": [column[place] for column in columns],
                "initial": initial[place],
                "labels": [name for name, mark in zip(labels, marks, strict=True) if mark[place]],
                "value": None if of is None else plain(of[one]),
            }
            for place, one in enumerate(chosen.tolist())
        ]

    def _columns(self, chosen: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        states = self.model.states
        if not isinstance(states, PackedStates):
            return []
        picked = PackedStates(states.fields, np.ascontiguousarray(states.words[chosen]))
        return [np.asarray(picked.column(name)) for name in self.variables]


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    return str(value)  # a fraction


def _looked(desk: Desk, given: Given) -> tuple[Looked, str, dict[str, str], Options]:
    """The model that is asked about: the one before, if it is the same."""
    name, constants, options = given.text("model"), given.constants(), given.options()
    if options.sim or any(part in options.given for part in ("method", "fair", "slice", "symmetry", "lump")):
        raise GaltonError("states are looked at as they are: choose no method and no reduction")
    own = desk.own(desk.model_file(name), constants)
    key = name, desk.stamp(name), tuple(own.items()), tuple(sorted(options.given.items()))
    drawer: dict[str, Any] = desk.drawers.setdefault("looked", {})
    if drawer.get("key") != key:
        drawer.clear()  # before the next one is built: two may be too many
        from ...explore import build as explored

        program = desk.program(name, constants)
        start = time.perf_counter()
        with Exploring() as watch:
            model = explored(
                program,
                device=options.device,
                threads=options.threads,
                max_states=options.max_states,
                memory_mb=desk.memory_mb,
                fix_deadlocks=options.fix_deadlocks,
                watch=watch,
            ).to_host()
        drawer["found"] = Looked(program, model, time.perf_counter() - start)
        drawer["key"] = key
    found: Looked = drawer["found"]
    return found, name, constants, options


def build(desk: Desk, given: Given) -> dict[str, Any]:
    """How large a model is."""
    given.only(*OF)
    looked, name, constants, options = _looked(desk, given)
    info = model_info(looked.model, looked.seconds)
    desk.keep({"record": info})
    return {"model": info, "copied": copied_model(desk, "build", name, constants, options, given)}


def graph(desk: Desk, given: Given) -> dict[str, Any]:
    """All states and transitions of a small model."""
    given.only(*OF)
    looked, name, constants, options = _looked(desk, given)
    model = looked.model
    most = int(desk.limits["graph_states"])
    if model.n_states > most or model.n_transitions > MOST_EDGES:
        raise GaltonError(
            f"the model has {model.n_states:,} states and {model.n_transitions:,} transitions; a graph of more than "
            f"{most:,} and {MOST_EDGES:,} shows nothing: look at the table of states, or at the matrix"
        )
    distance = distances(model)
    rows = looked.rows(np.arange(model.n_states))
    desk.keep({"model": model})
    edges = []
    for here in range(model.n_states):
        for choice, (action, pairs) in enumerate(model.transitions(here)):
            for weight, target in pairs:
                edges.append(
                    {"from": here, "to": target, "choice": choice, "action": action or None, "number": number(weight)}
                )
    return {
        "model": model_info(model, looked.seconds),
        "variables": looked.variables,
        "states": [
            {
                "values": row["values"],
                "initial": row["initial"],
                "labels": row["labels"],
                "distance": int(distance[row["state"]]),
            }
            for row in rows
        ],
        "edges": edges,
        "copied": copied_model(desk, "graph", name, constants, options, given),
    }


def values(desk: Desk, given: Given) -> dict[str, Any]:
    """The value of a property in every state, or in some."""
    given.only(*OF, "property", "states")
    looked, name, constants, options = _looked(desk, given)
    found = _values(desk, looked, given.property(), constants, options)
    chosen = given.fields.get("states")
    if chosen is None:
        if len(found) > int(desk.limits["graph_states"]):
            raise GaltonError(f"these are {len(found):,} values: ask for those of some states")
        picked = found.array
    else:
        picked = found.array[_numbers(chosen, len(found), int(desk.limits["page_states"]))]
    known = [value for value in picked.tolist() if value is not None and value == value]
    truth = all(isinstance(value, bool) for value in known)
    desk.keep({"values": found, "looked": looked})
    return {
        "property": " ".join(found.formula.split()),
        "kind": "truth" if truth else "number",
        "states": chosen,
        "values": [plain(value) for value in picked.tolist()],
        "least": None if truth or not known else plain(min(known)),
        "greatest": None if truth or not known else plain(max(known)),
        "copied": copied_model(desk, "values", name, constants, options, given),
    }


def states(desk: Desk, given: Given) -> dict[str, Any]:
    """A page of the table of states."""
    given.only(*OF, "from", "count", "where", "property", "order")
    looked, name, constants, options = _looked(desk, given)
    found = None
    if "property" in given:
        found = _values(desk, looked, given.property(), constants, options).array
    numbers = np.arange(looked.model.n_states)
    if "where" in given:
        holds = _values(desk, looked, given.text("where"), constants, options).array
        if holds.dtype != np.bool_:
            raise GaltonError("a search needs a condition on states, such as x>3, and this is a number, or undecided")
        numbers = np.flatnonzero(holds)
    order = given.one_of("order", "number", "value", "-value") if "order" in given else "number"
    if order != "number" and found is not None:
        by = np.argsort(np.asarray(found[numbers], dtype=np.float64), kind="stable")
        numbers = numbers[by if order == "value" else by[::-1]]
    first = given.whole("from", 0, 2**62, 0)
    count = given.whole("count", 1, int(desk.limits["page_states"]), 100)
    desk.keep({"looked": looked, "numbers": numbers, "of": found})
    return {
        "total": len(numbers),
        "variables": looked.variables,
        "rows": looked.rows(numbers[first : first + count], found),
        "copied": copied_model(desk, "states", name, constants, options, given),
    }


def state(desk: Desk, given: Given) -> dict[str, Any]:
    """One state and the ways into it and out of it."""
    given.only(*OF, "state")
    looked, *_ = _looked(desk, given)
    model = looked.model
    here = given.whole("state", 0, model.n_states - 1)
    (row,) = looked.rows([here])
    targets = sorted({target for _, pairs in model.transitions(here) for _, target in pairs})
    known = {one["state"]: one["values"] for one in looked.rows(targets)}
    choices = [
        {
            "choice": choice,
            "action": action or None,
            "chosen": None,
            "successors": [
                {
                    "to": target,
                    "number": number(weight),
                    "values": known[target],
                    "changes": {
                        name: new
                        for name, old, new in zip(looked.variables, row["values"], known[target], strict=True)
                        if old != new
                    },
                }
                for weight, target in pairs
            ],
        }
        for choice, (action, pairs) in enumerate(model.transitions(here))
    ]
    return {"state": row, "choices": choices, "incoming": _incoming(model, here)}


def _incoming(model: Model, here: int) -> list[dict[str, Any]]:
    entries = np.flatnonzero(model.columns == here)[:MOST_INCOMING]
    rows = np.searchsorted(model.row_starts, entries, side="right") - 1
    sources = np.searchsorted(model.row_groups, rows, side="right") - 1
    return [
        {"from": source, "number": number(weight), "action": model.action(row) or None}
        for weight, row, source in zip(model.values[entries].tolist(), rows.tolist(), sources.tolist(), strict=True)
    ]


def sets(desk: Desk, given: Given) -> dict[str, Any]:
    """Components, distances, and where a probability is 0 or 1."""
    given.only(*OF, "kind", "property")
    looked, name, constants, options = _looked(desk, given)
    model = looked.model
    kind = given.one_of("kind", "scc", "bscc", "mec", "distance", "prob0", "prob1")
    if kind in ("prob0", "prob1"):
        inside = _certain(desk, looked, given.property(), constants, kind == "prob1")
        numbers = inside.astype(np.int64)
        count = int(inside.sum())
        sizes = [count, model.n_states - count]
        words = f"{count:,} of {model.n_states:,} states, where the probability is {'1' if kind == 'prob1' else '0'}"
    elif kind == "distance":
        numbers = distances(model)
        sizes = np.bincount(numbers[numbers >= 0]).tolist()
        count = len(sizes)
        words = f"the farthest states are {count - 1:,} steps from the initial ones"
    else:
        from ...graph import bottom_components, maximal_end_components, strongly_connected_components

        search: dict[str, Any] = {
            "scc": strongly_connected_components,
            "bscc": bottom_components,
            "mec": maximal_end_components,
        }
        if kind == "mec" and not model.has_choices:
            kind_words = "bottom strongly connected components, which the end components of a chain are"
            numbers = np.asarray(bottom_components(model).component)
        else:
            kind_words = {
                "scc": "strongly connected components",
                "bscc": "bottom strongly connected components",
                "mec": "maximal end components",
            }[kind]
            numbers = np.asarray(search[kind](model).component)
        sizes = np.bincount(numbers[numbers >= 0]).tolist()
        count = len(sizes)
        words = f"{count:,} {kind_words}, the largest of {max(sizes, default=0):,} states"
    small = model.n_states <= int(desk.limits["graph_states"])
    desk.keep({"looked": looked, "numbers": np.arange(model.n_states), "of": numbers})
    return {
        "kind": kind,
        "count": count,
        "sizes": sizes[:MOST_SIZES],
        "numbers": numbers.tolist() if small else None,
        "words": words,
        "copied": copied_model(desk, "sets", name, constants, options, given),
    }


def matrix(desk: Desk, given: Given) -> dict[str, Any]:
    """Where the entries of the matrix are."""
    from ...plot.matrix import pattern

    given.only(*OF, "size")
    looked, name, constants, options = _looked(desk, given)
    found = pattern(looked.model, "canonical")
    counts = found.counts(given.whole("size", 1, LARGEST_PICTURE))
    desk.keep({"pattern": found, "title": f"{name}: {looked.model.n_states:,} states"})
    return {
        "size": len(counts),
        "states": looked.model.n_states,
        "counts": counts.ravel().tolist(),
        "words": f"{found.mean_distance:,.1f} from the diagonal in the mean, {found.bandwidth:,} at most",
        "copied": copied_model(desk, "matrix", name, constants, options, given),
    }


def distances(model: Model) -> npt.NDArray[np.int64]:
    """How many steps each state is from the initial ones."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    starts = np.asarray(model.row_starts)[np.asarray(model.row_groups)]
    ones: Any = np.ones(model.n_transitions)
    moves: Any = csr_array((ones, model.columns, starts), shape=(model.n_states, model.n_states))
    far = dijkstra(moves, indices=model.initial, unweighted=True, min_only=True)
    return np.where(np.isfinite(far), far, -1).astype(np.int64)


def _numbers(chosen: Any, states: int, most: int) -> npt.NDArray[np.int64]:
    from ..trouble import RequestError

    if not isinstance(chosen, list) or len(chosen) > most:
        raise RequestError(f"states are a list of at most {most:,} numbers")
    for one in chosen:
        if not isinstance(one, int) or isinstance(one, bool) or not 0 <= one < states:
            raise RequestError("a state is a number below that of all states")
    return np.array(chosen, dtype=np.int64)


def _everywhere(
    desk: Desk, looked: Looked, prop: tuple[str, int] | str, constants: dict[str, str], options: Options | None
) -> Everywhere:
    """A property, settled against the model."""
    file = desk.typed(prop) if isinstance(prop, str) else desk.property_file(prop[0])
    place = 0 if isinstance(prop, str) else prop[1]
    if place >= len(file.properties):
        raise GaltonError(f"{file.source.name} has {len(file.properties)} properties, and not {place + 1}")
    from ...solve.settings import Settings

    settings = Settings() if options is None else options.settings()[0]
    context, questions = resolve(file, looked.program, desk.own(file, constants))
    question = questions[place]
    if question.prop.error is not None:
        raise question.prop.error
    return Everywhere(looked.model, context, question, settings)


def _values(
    desk: Desk, looked: Looked, prop: tuple[str, int] | str, constants: dict[str, str], options: Options
) -> StateValues:
    """The values of a property in all states; kept, because tables are looked at page by page."""
    stamp = None if isinstance(prop, str) else desk.stamp(prop[0])
    key = prop, stamp, tuple(constants.items())
    if key not in looked.values:
        asked = _everywhere(desk, looked, prop, constants, options)
        watcher = Watcher(looked.model, asked.question.prop.text)
        try:
            found = replace(asked, settings=replace(asked.settings, watch=watcher)).values()
        finally:
            watcher.clear()
        while len(looked.values) >= 4:
            del looked.values[next(iter(looked.values))]
        looked.values[key] = found
    return looked.values[key]


def _certain(
    desk: Desk, looked: Looked, prop: tuple[str, int] | str, constants: dict[str, str], one: bool
) -> npt.NDArray[np.bool_]:
    """Where a probability is 0, or 1: the graph tells, so the threshold is asked instead of the number."""
    asked = _everywhere(desk, looked, prop, constants, None)
    expression = asked.question.prop.expression
    if not isinstance(expression, Probability):
        raise LanguageError(
            "only a probability has states where it is 0 or 1",
            asked.question.source,
            expression.span,
            "as in P=? [ F … ]",
        )
    # P>=1 and P<=0 speak of all strategies. That some strategy comes to 1, or to 0, is what P<1 and P>0 deny.
    least = expression.optimum == "min"
    some = looked.model.has_choices and least is not one
    comparison = Comparison("<" if some else ">=", Literal(1)) if one else Comparison(">" if some else "<=", Literal(0))
    changed = replace(expression, optimum=None, comparison=comparison)
    question = replace(asked.question, prop=replace(asked.question.prop, parsed=changed))
    found: npt.NDArray[np.bool_] = replace(asked, question=question).values().array
    if found.dtype != np.bool_:
        raise GaltonError("this cannot be decided in all states")
    return ~found if some else found
