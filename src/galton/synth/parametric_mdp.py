"""Parametric DTMCs and MDPs as plain arrays, and what becomes of them over a box: parameter lifting.

The probabilities of a choice are polynomials in the parameters that add up to 1. Over a box, the row of these
polynomials lies in the convex hull of its Bernstein control points, which are rows of numbers that add up to 1, too;
for polynomials that are affine in each parameter these are its values at the corners. Making each of them a choice
gives an MDP whose least and greatest values bound those at every point of the box (Quatmann, Dehnert, Jansen, Junges,
Katoen: Parameter synthesis for Markov models, faster than ever, 2016, who have the affine case).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np

from ..lang import GaltonError
from ..model.sparse import Mask, Model, Rewards
from ..model.states import PackedStates
from ..model.values import Values
from .parameters import OpenProgram, Parameter
from .parametric_ctmc import check_signs, space_of
from .polynomials import Floats, Terms
from .transitions import Collected, Int32s, Ints, Multiples, Transitions, explored

CLOSE = 1e-9  # how far from 1 the coefficients of a choice may add up
NEGLIGIBLE = 1e-12  # what rounding may leave of a probability below zero
MOST_POINTS = 1 << 10  # control points of one choice
DIGITS_LEFT = 1e6  # how much larger than a probability the parts may be that it is the sum of

__all__ = ["Lifted", "ParametricChoices", "parametric_choices"]


@dataclass(frozen=True, eq=False)
class ParametricChoices:
    """A parametric DTMC (a choice per state) or MDP.

    Attributes
    ----------
    choice_starts, row_starts, columns
        As in :class:`galton.Model`, loops included; ``choice_starts`` is there for a DTMC, too.
    probabilities
        One per transition.
    state_rewards, choice_rewards
        For each reward structure what states earn, as numbers, and what choices do.
    states, initial, labels
        The states that were found, in canonical order, the initial one, and where labels hold.
    """

    parameters: tuple[Parameter, ...]
    terms: Terms
    choice_starts: Ints
    row_starts: Ints
    columns: Int32s
    probabilities: Multiples
    state_rewards: Mapping[str, Floats]
    choice_rewards: Mapping[str, Multiples]
    states: PackedStates
    initial: Int32s
    labels: Mapping[str, Mask]

    @property
    def space(self) -> tuple[Floats, Floats]:
        """The corners of the ranges."""
        return space_of(self.parameters)

    def __repr__(self) -> str:
        kind = "dtmc" if len(self.choice_starts) == len(self.row_starts) else "mdp"
        names = ", ".join(p.name for p in self.parameters)
        return f"<{kind} with parameters {names}: {len(self.states)} states, {len(self.columns)} transitions>"

    @cached_property
    def lifted(self) -> Lifted:
        """All choices, lifted."""
        return Lifted(self, np.arange(len(self.row_starts) - 1))

    def under(self, strategy: Int32s) -> Lifted:
        """The choices that a strategy takes in each state, lifted."""
        return Lifted(self, strategy.astype(np.int64))


class Lifted:
    """Some choices with their control points: the same pattern for every box."""

    def __init__(self, chain: ParametricChoices, choices: Ints):
        self._chain, self._choices = chain, choices
        self._signature, self._degrees = self._degrees_of_rows()
        self._grids = [np.array(list(product(*(range(n + 1) for n in own)))) for own in self._degrees.tolist()]
        if max(map(len, self._grids)) > MOST_POINTS:
            raise GaltonError("the probabilities of one choice have too many parameters, or too high powers of them")

    def _degrees_of_rows(self) -> tuple[Ints, Ints]:
        """For each choice the highest power of each parameter, as a number into the distinct ones."""
        chain = self._chain
        count = np.diff(chain.terms.starts)
        owner = np.repeat(np.arange(len(chain.terms)), count)
        of_term = np.zeros((len(chain.terms), len(chain.parameters)), dtype=np.int64)
        np.maximum.at(of_term, owner, chain.terms.exponents[chain.terms.monomials])
        degrees = np.zeros((len(chain.row_starts) - 1, len(chain.parameters)), dtype=np.int64)
        rows = np.repeat(np.arange(len(degrees)), np.diff(chain.row_starts))
        np.maximum.at(degrees, rows, of_term[chain.probabilities.terms])
        for earned in chain.choice_rewards.values():
            degrees = np.maximum(degrees, of_term[earned.terms])
        distinct, signature = np.unique(degrees[self._choices], axis=0, return_inverse=True)
        return signature.reshape(-1), distinct

    @property
    def starts(self) -> Ints:
        """Where the control points of each choice begin, for a box that is more than a point."""
        counts = np.array([len(grid) for grid in self._grids])[self._signature]
        return np.concatenate([[0], np.cumsum(counts)])

    def at(self, low: Floats, high: Floats) -> Model | None:
        """The MDP of a box, or the model of a point; None where the control points are no probabilities."""
        chain = self._chain
        point = bool((low == high).all())
        grids = [grid[:1] if point else grid for grid in self._grids]
        values = [
            self._control_points(degrees, grid, low, high) for degrees, grid in zip(self._degrees, grids, strict=True)
        ]
        copies = np.array([len(grid) for grid in grids])[self._signature]  # control points of each choice
        lengths = np.diff(chain.row_starts)[self._choices]
        row_of = np.repeat(np.arange(len(self._choices)), copies)  # the choice of each new row
        control = _counting(copies)
        entry_row = np.repeat(np.arange(len(row_of)), lengths[row_of])
        entry = np.repeat(chain.row_starts[:-1][self._choices][row_of], lengths[row_of]) + _counting(lengths[row_of])
        numbers = self._looked_up(values, chain.probabilities, entry, row_of[entry_row], control[entry_row])
        if not (numbers >= -NEGLIGIBLE).all():
            return None
        there = numbers > 0
        starts = np.concatenate([[0], np.cumsum(np.bincount(entry_row[there], minlength=len(row_of)))])
        rewards = {}
        for name, earned in chain.choice_rewards.items():
            choice = self._looked_up(values, earned, self._choices[row_of], row_of, control)
            if not (choice >= -NEGLIGIBLE * (1 + np.abs(choice).max(initial=0.0))).all():
                return None
            rewards[name] = Rewards(state=chain.state_rewards[name], choice=np.maximum(choice, 0.0))
        owners = np.searchsorted(chain.choice_starts, self._choices, side="right") - 1
        groups = np.concatenate([[0], np.cumsum(np.bincount(owners[row_of], minlength=len(chain.states)))])
        is_chain = len(row_of) == len(chain.states)
        return Model(
            type="dtmc" if is_chain else "mdp",
            choice_starts=None if is_chain else groups.astype(np.int32),
            row_starts=starts.astype(np.int32),
            columns=np.ascontiguousarray(chain.columns[entry[there]]),
            values=Values(plain=np.ascontiguousarray(numbers[there])),
            initial=chain.initial,
            labels=dict(chain.labels),
            rewards=rewards,
            states=chain.states,
        )

    def _looked_up(self, values: list[Floats], numbers: Multiples, which: Ints, row: Ints, control: Ints) -> Floats:
        """The values of some numbers at control points of their rows."""
        found = np.empty(len(which))
        for signature, table in enumerate(values):
            mine = np.flatnonzero(self._signature[row] == signature)
            place = which[mine]
            found[mine] = numbers.coefficients[place] * table[numbers.terms[place], control[mine]]
        return found

    def _control_points(self, degrees: Ints, grid: Ints, low: Floats, high: Floats) -> Floats:
        """``(terms, points)`` the Bernstein coefficients of all terms whose degrees are not higher, NaN for others.

        They are computed exactly and rounded once: probabilities such as (1-p)*(1-q) would lose their digits in sums of
        monomials. NaN also where that is not enough: coefficients that are no whole numbers were rounded before.
        """
        terms, given = self._chain.terms, degrees.tolist()
        ends = [[Fraction(x) for x in corner.tolist()] for corner in (low, high)]
        found = np.full((len(terms), len(grid)), np.nan)
        for term in range(len(terms)):
            own = terms.exponents[terms.monomials[terms.starts[term] : terms.starts[term + 1]]]
            if (own.max(axis=0) > degrees).any():
                continue
            points = terms.control_points(term, given, *ends)
            exact = terms.whole_coefficients(term)
            for place, point in enumerate(map(tuple, grid.tolist())):
                value, size = points[point]
                if exact or value == 0 or abs(value) * DIGITS_LEFT >= size:
                    found[term, place] = float(value)
        return found


def _counting(lengths: Ints) -> Ints:
    """0, 1, 2 … for each of the lengths, one after the other."""
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(starts, lengths)


def parametric_choices(opened: OpenProgram, *, threads: int | None = None) -> ParametricChoices:
    """Find the states of a DTMC or MDP, and how each probability depends on the parameters."""
    found = explored(opened, threads, choices=True)
    place, choice_starts = _numbered(found)
    is_chain = not opened.program.nature.has_choices
    chain = found if is_chain else None
    found.transitions = _moved(found.transitions, place, chain)
    found.of_transitions = [_moved(each, place, chain) for each in found.of_transitions]
    if is_chain:
        choice_starts = np.arange(found.n_states + 1)
    count = int(choice_starts[-1])
    _check_sums(found, count)
    rows, columns, probabilities = found.matrix()
    names = found.reward_names
    states = [found.earned(each, found.n_states) for each in found.of_states]
    choices = [found.earned(each, count) for each in found.of_transitions]
    for earned in states:
        if (earned.terms[earned.coefficients != 0] != 0).any():
            raise GaltonError(
                "in discrete time the rewards of states may not depend on parameters; give them to transitions, as in "
                "[] true : k"
            )
    terms = found.table.terms()
    if (terms.exponents < 0).any():
        raise GaltonError("in discrete time a probability may not be divided by a parameter")
    numbers = {"probability": [probabilities, *found.rate_parts], "reward": [*choices, *found.reward_parts]}
    check_signs(opened.parameters, terms, numbers)
    return ParametricChoices(
        opened.parameters,
        terms,
        choice_starts.astype(np.int64),
        np.searchsorted(rows, np.arange(count + 1)).astype(np.int64),
        columns.astype(np.int32),
        probabilities,
        {name: earned.coefficients for name, earned in zip(names, states, strict=True)},
        dict(zip(names, choices, strict=True)),
        found.packed,
        found.initial,
        found.labels,
    )


def _numbered(found: Transitions) -> tuple[Ints, Ints]:
    """Where each choice comes when they are sorted by state; states without any get a loop."""
    owners = np.concatenate([*found.choice_states, np.empty(0, dtype=np.int64)]).astype(np.int64)
    stuck = np.setdiff1d(np.arange(found.n_states), owners)
    fresh = np.arange(len(owners), len(owners) + len(stuck))
    found.transitions.add(fresh, stuck, 0, np.ones(len(stuck)))
    found.choice_states.append(stuck)
    owners = np.concatenate([owners, stuck])
    place = np.empty(len(owners), dtype=np.int64)
    place[np.argsort(owners, kind="stable")] = np.arange(len(owners))
    starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=found.n_states))])
    return place, starts


def _moved(found: Collected, place: Ints, chain: Transitions | None) -> Collected:
    """With rows by their new numbers or, for a chain, by state: enabled commands are taken with equal probability."""
    if chain is None:
        rows, values = [place[part] for part in found.rows], found.values
    else:
        owners = np.concatenate(chain.choice_states)
        share = 1 / np.bincount(owners)[owners]
        rows = [owners[part] for part in found.rows]
        values = [value * share[part] for value, part in zip(found.values, found.rows, strict=True)]
    return Collected(rows, found.columns, found.monomials, values)


def _check_sums(found: Transitions, count: int) -> None:
    """The probabilities of a choice add up to 1 for all values of the parameters: as polynomials."""
    rows, _, monomials, values = found.transitions.merged()
    for monomial in range(len(found.table.monomials)):
        mine = monomials == monomial
        sums = np.bincount(rows[mine], weights=values[mine], minlength=count)
        if (np.abs(sums - (monomial == 0)) > CLOSE).any():
            raise GaltonError(
                "the probabilities of some command do not add up to 1 for all values of the parameters; write the "
                "last of them as 1 minus the others"
            )
