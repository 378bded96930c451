"""Polynomials in time, piece by piece, and how far the solution of u' = Qu + r can be from them.

A piece is U(s) = Σ C_k T_k(x) for times s from a to b, T_k being Chebyshev's polynomials and x going from -1 to 1. It
is *any* polynomial: where it comes from does not matter. Its defect D = U' - QU - r is a polynomial too, whose
coefficients take one product with Q each; as |T_k| <= 1, |D(s)| is at most δ = Σ |D_k|.

Theorem. Let w > 0 with Qw <= ωw, ω >= 0, and |u(a) - U(a)| <= εw. Then |u(b) - U(b)| <= exp(ω(b-a)) (ε + (b-a)δ') w
with δ' = max δ/w. For d = u - U has d' = Qd - D, so d(b) = exp(Q(b-a)) d(a) - ∫ exp(Q(b-s)) D(s) ds (variation of
constants); Q has no negative number but on its diagonal, so exp(Qs) has none at all, and (exp(Qs) w)' = exp(Qs) Qw <=
ω exp(Qs) w makes exp(Qs) w <= exp(ωs) w (Gronwall). The same bound holds at every time between. Where two pieces meet,
what they differ by is added to ε.

Rounding is inside the bound: products with Q are computed rounding down and up; for the rest, which are sums of p + 1
terms, see Higham 2002, chapter 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...model.rounding import UNIT
from ...model.sparse import Int32s
from ...model.values import Floats
from .open_chain import OpenChain, Reals

__all__ = ["Piece", "Track"]

FLUSHED = 1e-290  # more than what is lost below the range of doubles, in any number here
ABOVE = 1 + 2.0**-48  # more than what a few operations round


@dataclass(frozen=True, eq=False)
class Piece:
    """``(degree + 1, open states)`` coefficients of Chebyshev's polynomials over a stretch of time."""

    begin: float
    end: float
    coefficients: Reals

    @property
    def _slack(self) -> float:
        """The relative error of a sum over all coefficients, and a few operations."""
        return (len(self.coefficients) + 5) * UNIT * 1.01

    @cached_property
    def _rounded(self) -> Floats:
        """The coefficients as doubles, which are enough for all but products with Q."""
        return self.coefficients.astype(np.float64, copy=False)

    def at_begin(self) -> tuple[Floats, Floats]:
        """U(a), and what its rounding may be."""
        return self._sum(np.where(np.arange(len(self.coefficients)) % 2, -1.0, 1.0))

    def at_end(self) -> tuple[Floats, Floats]:
        """U(b), and what its rounding may be."""
        return self._sum(np.ones(len(self.coefficients)))

    def _sum(self, signs: Floats) -> tuple[Floats, Floats]:
        c = self._rounded
        return np.einsum("k,ki->i", signs, c), self._slack * np.abs(c).sum(axis=0) + FLUSHED

    def at(self, time: float, states: Int32s) -> tuple[Floats, Floats]:
        """U at a time between, in some states, and what its rounding may be.

        T_k(x) = cos(k arccos x): x is off by a few units, which T_k makes k² of, and the cosine by a few more.
        """
        degree = len(self.coefficients) - 1
        x = min(max(((time - self.begin) - (self.end - time)) / (self.end - self.begin), -1.0), 1.0)
        numbers = np.cos(np.arange(degree + 1) * math.acos(x))
        there = self._rounded[:, states]
        slack = (8 * (degree + 2) ** 2 + degree + 8) * UNIT * 1.01
        return np.einsum("k,ki->i", numbers, there), slack * np.abs(there).sum(axis=0) + FLUSHED

    def defect(self, chain: OpenChain, w: Floats) -> float:
        """More than max δ/w: how far U' is from QU + r at any time, beside w."""
        length = self.end - self.begin
        c = self._rounded
        degree = len(c) - 1
        # U' = Σ c'_k T_k with c'_(k-1) = c'_(k+1) + 2 k c_k, the first of them halved (Mason and Handscomb 2003, 2.4).
        total = np.zeros(chain.n)
        slope_above, slope_here = np.zeros(chain.n), np.zeros(chain.n)  # c'_(k+1) and c'_k
        steep = np.zeros(chain.n)  # Σ k² |c_k|, a third at least of what all |2 k c_k| add up to in all slopes
        for k in range(degree, -1, -1):
            if k < degree:
                slope_above, slope_here = slope_here, slope_above + 2 * (k + 1) * c[k + 1]
            slope = (slope_here / 2 if k == 0 else slope_here) * (2 / length)
            lower, upper = chain.drift(self.coefficients[k], constant=k == 0)
            total += np.maximum(np.abs(slope - lower), np.abs(slope - upper))
            steep += float(k * k) * np.abs(c[k])
        # Coefficients are rounded, slopes in each step of the recurrence, and the differences and their sum once more.
        rounding = (degree + 8) * UNIT * 1.01
        total = total * (1 + 2 * rounding) + 8 * rounding * steep / length + (degree + 1) * FLUSHED
        return float((total / w).max()) * ABOVE


class Track:
    """The proof along pieces that follow each other: |u - U| <= ``error`` · w where the last one ends."""

    def __init__(self, chain: OpenChain, w: Floats, growth: float, lower: Floats, upper: Floats) -> None:
        """Begin with bounds on u."""
        self._chain, self._w, self._growth = chain, w, growth
        middle = lower + (upper - lower) / 2
        self._values, self._rounding = middle, np.maximum(upper - middle, middle - lower) * ABOVE + FLUSHED
        self.error = 0.0

    def step(self, piece: Piece) -> float:
        """Go on along a piece that begins where the last one ended; what it adds to the error, before any growth."""
        begin, rounding = piece.at_begin()
        apart = np.abs(begin - self._values) * ABOVE + rounding + self._rounding
        length = piece.end - piece.begin
        added = float((apart / self._w).max()) + length * piece.defect(self._chain, self._w)
        grown = math.exp(self._growth * length) * ABOVE
        self.error = (self.error + added) * grown * ABOVE
        self._values, self._rounding = piece.at_end()
        return added * ABOVE

    def bounds(self) -> tuple[Floats, Floats]:
        """Of u where the last piece ends."""
        return self._around(self._values, self._rounding, self._w)

    def within(self, piece: Piece, time: float, states: Int32s) -> tuple[Floats, Floats]:
        """Of u in some states at a time of the last piece."""
        return self._around(*piece.at(time, states), self._w[states])

    def _around(self, values: Floats, rounding: Floats, w: Floats) -> tuple[Floats, Floats]:
        width = (self.error * w * ABOVE + rounding) * ABOVE
        lower = values - width - np.abs(values) * UNIT
        return np.maximum(lower, 0.0), np.maximum(values + width, 0.0) * ABOVE
