"""Leaving and staying: every end component is one state, with one more choice, to stay for what it earns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...backend.rows import owners
from ...device.arrays import is_on_host, namespace, offsets
from ...graph import EndComponents, maximal_end_components
from ...model.sparse import Int32s, Mask, Model
from ...model.values import Floats, Values
from ...reduce.unknowns import Unknowns, open_equations
from ...solve import Solution, solve
from ...solve.equations import Optimum
from ...solve.settings import Settings
from ..quantity import Work

__all__ = ["Staying", "mean_gains"]


@dataclass(frozen=True, eq=False)
class Staying:
    """A model in which one state of some end components can stay for ever: it gets one more choice.

    Attributes
    ----------
    model
        The model with a further state for each of these components, where runs that stay end.
    components
        The components that can stay.
    rows
        ``(choices of the model,)`` the choice of the original model that each is; -1 for the new ones.
    """

    model: Model
    components: Int32s
    rows: Int32s

    @classmethod
    def of(cls, model: Model, ends: EndComponents, wanted: Mask) -> Staying:
        """Let the wanted components of a model stay, ``(count,)``."""
        xp, groups, n = namespace(model.columns), model.choice_starts, model.n_states
        assert groups is not None
        components = xp.flatnonzero(wanted).astype(np.int32)
        first = xp.full(ends.count, n, dtype=np.int32)
        members = xp.flatnonzero(ends.component >= 0).astype(np.int32)
        xp.minimum.at(first, ends.component[members], members)
        states, count = xp.sort(first[components]), len(components)
        components = ends.component[states]
        ends_of = groups[states + 1]  # the new row comes after the others of its state
        new_rows = ends_of + xp.arange(count, dtype=np.int32)
        new_entries = model.row_starts[ends_of] + xp.arange(count, dtype=model.row_starts.dtype)
        sinks = xp.arange(n, n + count, dtype=np.int32)
        # Each new row has one entry, and so has that of each new state, at the end.
        lengths = _with(xp.diff(model.row_starts), new_rows, xp.ones(count))
        columns = _with(model.columns, new_entries, sinks)
        values = _with(model.values[:], new_entries, xp.ones(count))
        rows = _with(xp.arange(model.n_choices, dtype=np.int32), new_rows, xp.full(count, -1))
        sizes = _longer(xp.diff(groups), count, 1)
        sizes[states] += 1
        larger = Model(
            type=model.type,
            choice_starts=offsets(sizes, np.int32),
            row_starts=offsets(lengths, model.row_starts.dtype),
            columns=columns,
            values=Values.compress(values) if is_on_host(values) else Values(plain=values),
            initial=model.initial,
            placement=model.placement,
        )
        return cls(larger, components, rows)

    def open_part(self, states: Mask) -> Mask:
        """A mask of the states of the original model, over those of this one."""
        return _longer(states, len(self.components), False)

    def ends(self, ends: EndComponents) -> EndComponents:
        """Those of the end components of the original model that can stay, in this one."""
        xp, count = namespace(self.rows), len(self.components)
        number = xp.full(ends.count, -1, dtype=np.int32)
        number[self.components] = xp.arange(count, dtype=np.int32)
        inside = ends.component >= 0
        component = _longer(xp.where(inside, number[ends.component], np.int32(-1)), count, -1)
        old = self.rows >= 0
        staying = old & ends.staying[xp.where(old, self.rows, 0)] & (component[owners(self.model)] >= 0)
        return EndComponents(component, staying, count)

    def known(self, values: Floats, gains: Floats) -> Floats:
        """Values of the states of the original model, and what those who stay get."""
        found = _longer(values, len(self.components), 0.0)
        found[len(values) :] = gains[self.components]
        return found


def _with(old: np.ndarray, places: np.ndarray, new: np.ndarray) -> np.ndarray:
    """An array with new numbers at places of the result, and the same numbers once more at its end."""
    xp = namespace(old)
    size = len(old) + len(new)
    found = xp.empty(size + len(new), dtype=old.dtype)
    kept = xp.ones(len(found), dtype=np.bool_)
    kept[places] = False
    kept[size:] = False
    found[kept] = old
    found[places] = new
    found[size:] = new
    return found  # type: ignore[no-any-return]


def _longer(values: np.ndarray, more: int, value: object) -> np.ndarray:
    xp = namespace(values)
    found = xp.full(len(values) + more, value, dtype=values.dtype)
    found[: len(values)] = values
    return found  # type: ignore[no-any-return]


def mean_gains(
    model: Model,
    ends: EndComponents,
    gains: tuple[Floats, Floats],
    known: tuple[Floats, Floats],
    optimum: Optimum,
    settings: Settings,
) -> tuple[Floats, Floats, Int32s | None, list[Work]]:
    """Bounds on the best mean of the gains of where runs stay, in all states.

    Parameters
    ----------
    gains
        ``(count,)`` bounds on what each end component earns.
    known
        ``(states,)`` bounds where the value is known, which is so in whole end components; NaN elsewhere.

    Returns
    -------
    The bounds; where a strategy is wanted, the row that each of the other states takes, -1 in end components that stay;
    and what was done.
    """
    xp, n = namespace(model.columns), model.n_states
    open_states = xp.isnan(known[0])
    stays = xp.zeros(ends.count, dtype=np.bool_)
    stays[ends.component[open_states & (ends.component >= 0)]] = True
    staying = Staying.of(model, ends, stays)
    # Where none may stay, as with fair strategies, there may be others that have to be left.
    merge = staying.ends(ends) if bool(stays.any()) else maximal_end_components(model, open_states)
    settled = [xp.where(open_states, 0.0, bound) for bound in known]
    below, above = (staying.known(value, worth) for value, worth in zip(settled, gains, strict=True))
    larger = staying.open_part(open_states)

    def solved(values: Floats) -> tuple[Unknowns, Solution]:
        unknowns = open_equations(staying.model, larger, values, settings, optimum=optimum, merge=merge)
        return unknowns, solve(unknowns.equations, settings)

    unknowns, lowest = solved(below)
    work = [*unknowns.work, *lowest.work]
    highest = lowest
    if not bool((below == above).all()):
        _, highest = solved(above)
        work += highest.work
    choices = None
    attained = (lowest if optimum == "max" else highest).chosen  # by the bound that a strategy gives
    if settings.strategy and attained is not None:
        nowhere = xp.full(len(larger), -1, dtype=np.int32)
        choices = _in_model(staying, ends, unknowns.lift_choices(attained, nowhere), open_states)
    return unknowns.lift(lowest.lower, below)[:n], unknowns.lift(highest.upper, above)[:n], choices, work


def _in_model(staying: Staying, ends: EndComponents, rows: Int32s, open_states: Mask) -> Int32s:
    """Rows of the original model; -1 in all states of an end component one of which stays."""
    n, xp = len(open_states), namespace(rows)
    taken = rows[:n]
    old = xp.where(taken >= 0, staying.rows[xp.maximum(taken, 0)], -1).astype(np.int32)
    stay = xp.zeros(ends.count, dtype=np.bool_)
    stay[ends.component[open_states & (old < 0) & (ends.component >= 0)]] = True
    inside = ends.component >= 0
    return xp.where(inside & stay[ends.component], -1, old).astype(np.int32)  # type: ignore[no-any-return]
