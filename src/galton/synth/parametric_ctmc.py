"""Parametric Markov chains as plain arrays.

A transition has the rate ``coefficient * term(parameters)``, where the terms are a few polynomials
(:class:`.polynomials.Terms`). States are those that are reachable at one point inside the ranges; as rates are positive
everywhere inside, the graph is the same at every other point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..lang import GaltonError
from ..model.sparse import Model
from ..model.values import Values
from .parameters import OpenProgram, Parameter
from .polynomials import Floats, Terms
from .transitions import Int32s, Ints, Multiples, explored

NEGLIGIBLE = 1e-12  # what rounding may leave below zero, relative to the size of a polynomial
PIECES = 1 << 10  # sub-boxes that are looked at to see that a rate is positive

__all__ = ["ParametricModel", "check_signs", "parametric_model", "space_of"]


@dataclass(frozen=True, eq=False)
class ParametricModel:
    """A parametric CTMC.

    Attributes
    ----------
    row_starts, columns, rates
        The transitions in CSR; loops, which change nothing in continuous time, are left out.
    state_rewards, total_rewards
        For each reward structure, what a state earns per unit of time: by itself, and with what its transitions earn.
    model
        The chain that was explored, with its states and labels; of its rates only the signs are meant.
    initial, representatives
        The initial states here, and the state of ``model`` that each state here stands for, -1 for none of them; None
        where all are the same.
    longest
        Transitions of a state of ``model``, at most.
    """

    parameters: tuple[Parameter, ...]
    terms: Terms
    row_starts: Ints
    columns: Int32s
    rates: Multiples
    state_rewards: Mapping[str, Multiples]
    total_rewards: Mapping[str, Multiples]
    model: Model
    initial: Int32s
    longest: int
    representatives: Ints | None = None

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return len(self.row_starts) - 1

    @cached_property
    def graph(self) -> Model:
        """A model with all transitions that have a rate somewhere in the ranges, if perhaps not at one point."""
        return self.model if self.representatives is None else _graph(self.row_starts, self.columns, self.initial)

    def entries_of(self, states: Int32s | Ints) -> tuple[Ints, Ints]:
        """The transitions of some states, one state after the other, and how many each has."""
        lengths = np.diff(self.row_starts)[states]
        begins = np.cumsum(lengths) - lengths
        return np.repeat(self.row_starts[states] - begins, lengths) + np.arange(int(lengths.sum())), lengths

    @property
    def space(self) -> tuple[Floats, Floats]:
        """The corners of the ranges, ``(parameters,)`` each."""
        return space_of(self.parameters)

    def __repr__(self) -> str:
        names = ", ".join(p.name for p in self.parameters)
        return f"<{self.model.type} with parameters {names}: {self.n_states} states, {len(self.columns)} transitions>"


def parametric_model(opened: OpenProgram, *, threads: int | None = None) -> ParametricModel:
    """Find the states of a CTMC, and how each rate depends on the parameters."""
    found = explored(opened, threads, choices=False)
    rows, columns, rates = found.matrix()
    both = [mine + other for mine, other in zip(found.of_states, found.of_transitions, strict=True)]
    state, total = ([found.earned(each, found.n_states) for each in all_] for all_ in (found.of_states, both))
    starts = np.searchsorted(rows, np.arange(found.n_states + 1)).astype(np.int64)
    graph = _graph(starts, columns.astype(np.int32), found.initial)
    made = ParametricModel(
        opened.parameters,
        found.table.terms(),
        starts,
        graph.columns,
        rates,
        dict(zip(found.reward_names, state, strict=True)),
        dict(zip(found.reward_names, total, strict=True)),
        replace(graph, labels=found.labels, states=found.packed),
        graph.initial,
        int(np.bincount(rows, minlength=1).max()),
    )
    numbers = {"rate": [rates, *found.rate_parts], "reward": [*state, *total, *found.reward_parts]}
    check_signs(opened.parameters, made.terms, numbers)
    _check_totals(made, rows)
    return made


def _check_totals(model: ParametricModel, rows: Ints) -> None:
    """The rates of a state may not add up to more than a number can be."""
    low, high = model.space
    with np.errstate(over="ignore"):
        _, most = model.terms.bounds(low[None], high[None])
        totals = np.bincount(rows, weights=model.rates.coefficients * most[model.rates.terms, 0])
    wrong = np.flatnonzero(~np.isfinite(totals))
    if len(wrong):
        assert model.model.states is not None
        state = model.model.states[int(wrong[0])]
        raise GaltonError(
            f"the rates of state {state} add up to more than a double can hold; choose a unit of time in which rates "
            "are nearer to 1"
        )


def _graph(row_starts: Ints, columns: Int32s, initial: Int32s) -> Model:
    """A chain all of whose rates are 1."""
    ones = Values(plain=np.ones(len(columns)))
    return Model(type="ctmc", row_starts=row_starts, columns=columns, values=ones, initial=initial)


# Signs.


def check_signs(parameters: tuple[Parameter, ...], terms: Terms, numbers: Mapping[str, Iterable[Multiples]]) -> None:
    """Rates and rewards must not be negative anywhere in the ranges; bounds are cut at zero because of this."""
    divisors = terms.exponents.min(axis=0) < 0
    for parameter, inverted in zip(parameters, divisors, strict=True):
        if inverted and parameter.low <= 0:
            raise GaltonError(
                f"a rate is divided by '{parameter.name}', whose range begins at {parameter.low:g}; let it begin "
                "above 0"
            )
    for what, several in numbers.items():
        for multiples in several:
            for term in np.unique(multiples.terms[multiples.coefficients > 0]).tolist():
                if not (positive := _is_positive(parameters, terms, term)):
                    how = "may be negative" if positive is False else "cannot be proved never to be negative"
                    raise GaltonError(
                        f"the {what} {_shown(parameters, terms, term)} {how} within the ranges of the parameters; make "
                        "them smaller"
                    )


def space_of(parameters: tuple[Parameter, ...]) -> tuple[Floats, Floats]:
    """The corners of the ranges, ``(parameters,)`` each."""
    return np.array([p.low for p in parameters]), np.array([p.high for p in parameters])


def _is_positive(parameters: tuple[Parameter, ...], terms: Terms, term: int) -> bool | None:
    """Whether a polynomial is never negative, by its Bernstein coefficients over ever smaller boxes; None: unknown."""
    own = slice(terms.starts[term], terms.starts[term + 1])
    powers = terms.exponents[terms.monomials[own]]
    # Parameters that are divided by are positive: multiplied by them, the polynomial keeps its sign.
    powers = powers - np.minimum(powers.min(axis=0), 0)
    shifted = Terms(powers, np.array([0, len(powers)]), np.arange(len(powers), dtype=np.int32), terms.coefficients[own])
    degrees = powers.max(axis=0).tolist()
    occurring = [p for p, n in enumerate(degrees) if n]
    ends = [[Fraction(x) for x in corner.tolist()] for corner in space_of(parameters)]
    boxes = [(ends[0], ends[1])]
    for _ in range(PIECES):
        if not boxes:
            return True
        low, high = boxes.pop()
        (least,), (most,) = shifted.bounds(*(np.array([[float(x) for x in corner]]) for corner in (low, high)))
        # An even power of what may be negative, where Bernstein's coefficients are not enough.
        if least[0] >= -NEGLIGIBLE * most[0]:
            continue
        points = shifted.control_points(0, degrees, low, high)
        negative = {grid for grid, (value, size) in points.items() if value < -NEGLIGIBLE * size}
        if any(all(j in (0, n) for j, n in zip(grid, degrees, strict=True)) for grid in negative):
            return False  # at a corner
        if negative:
            p = max(occurring, key=lambda p: (high[p] - low[p]) / (ends[1][p] - ends[0][p]))
            middle = (low[p] + high[p]) / 2
            boxes += [(low, [*high[:p], middle, *high[p + 1 :]]), ([*low[:p], middle, *low[p + 1 :]], high)]
    return None


def _shown(parameters: tuple[Parameter, ...], terms: Terms, term: int) -> str:
    """A polynomial as people write it."""
    parts = []
    for j in range(terms.starts[term], terms.starts[term + 1]):
        powers = zip(parameters, terms.exponents[terms.monomials[j]], strict=True)
        factors = [p.name if e == 1 else f"{p.name}^{e}" for p, e in powers if e]
        coefficient = float(terms.coefficients[j])
        number = [] if factors and abs(coefficient) == 1 else [f"{abs(coefficient):g}"]
        parts.append(("-" if coefficient < 0 else "+", "*".join([*number, *factors])))
    text = " ".join(f"{s} {body}" for s, body in parts)
    return text.removeprefix("+ ")
