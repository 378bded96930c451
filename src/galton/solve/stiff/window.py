"""A proposal for a stretch of time: the solution of u' = Qu + r projected on a small space of vectors.

From time a on, u(a + τ) = u(a) + ∫ exp(Qs) f ds over 0 <= s <= τ, with f = Qu(a) + r. Let v₁ = f/|f|, and v_j, x_j,
h_ij as in :mod:`.space` (Moret and Novati 2004, van den Eshof and Hochbruck 2006). For U = u(a) + Σ y_j x_j the defect
U' - QU - r is, but for the residuals of the solutions,

    Σ_i v_i (Σ_j h_ij (y_j' - σ y_j)) + Σ_j v_j y_j - f,

and y is chosen so that all but its part along the last vector vanishes: y' = σy + H⁻¹ (|f| e₁ - y), y(0) = 0. What is
left is h_(m+1,m) (y_m' - σ y_m) v_(m+1): a number that is known for each m, without a further product.

Parts of f that decay quickly make x_j of little use to others; they are gone if a is not too small. That is why a
window can be several times as long as all the time before it, whatever the largest rate is.

y is made into polynomials over pieces of the window, and U with it. Pieces are halved where polynomials would be too
coarse, and coefficients that are not needed are left out: each takes a product to prove.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from ... import _core
from ...backend.bicgstab import dot
from ...model.values import Floats
from .effort import LOOKING
from .exponentials import exponentials
from .open_chain import Reals
from .pieces import Piece
from .resolvent import Resolvents
from .space import Space

__all__ = ["Proposal", "Window"]

SHIFT = 8.0  # σ, times the length of a window
KRYLOV, RESIDUALS = 0.5, 0.1  # parts of what is allowed: for the last vector, and for the residuals of each
TAIL = 0.2  # … and for what polynomials leave out
FIRST_LOOKS, LOOKS = 4, 2  # vectors after each of which the defect is looked at, and between two looks from then on
FIRST_BELIEVED = 2  # vectors before it is believed
MOST_VECTORS = 36
DOUBTED, SPAN = 16, 6  # vectors from which on it is asked whether MOST_VECTORS are enough, by what the last ones did
SHORTEST = 1 / 4  # of the length that was hoped for: what a shorter one needs is another σ
DEGREE = 18  # of polynomials
PIECE = 2.0  # where a piece ends, beside where it begins, at most
HALVINGS = 3  # of a piece, at most
HELPS = 0.1  # what halving leaves of a tail, at most; otherwise it is rounding
SAMPLES = 12
WELL_CONDITIONED = 1e3  # eigenvectors that are good enough, by the norm of the largest column …
LOOKED_AT = 1e6  # … and for a look


@dataclass(frozen=True, eq=False)
class Window:
    """Pieces up to some time, and how many vectors it took."""

    pieces: list[Piece]
    vectors: int
    steps: int


class Proposal:
    """Pieces from ``begin`` up to ``end``, or to some time before.

    All vectors are those of the scaled chain. The integral of the defect, beside 1, may be so much as is ``allowed``.
    What was given up for too much work goes on with the vectors that are there.
    """

    def __init__(
        self, resolvents: Resolvents, u: Reals, slope: Floats, begin: float, end: float, allowed: float
    ) -> None:
        self._resolvents, self._u, self._begin, self._end, self._allowed = resolvents, u, begin, end, allowed
        self._is_still = np.abs(slope).max() * (end - begin) <= KRYLOV * allowed
        if self._is_still:
            return
        sigma, size = SHIFT / (end - begin), math.sqrt(dot(slope, slope))
        self._resolvent = resolvents.at(sigma)
        self._space = Space(resolvents, self._resolvent, slope, MOST_VECTORS)
        self._small = _Small(self._space.h, sigma, size)
        self._weight = SHIFT * size
        self._excess = {0: math.inf}  # how many times too large the defect is, by the vectors

    def run(self) -> Window | None:
        """The window; None where it would be much shorter than was hoped for."""
        begin, end = self._begin, self._end
        if self._is_still:  # it hardly moves
            return Window([Piece(begin, end, self._u[None].copy())], 0, 0)
        while not self._is_enough():
            # Vectors that count for little may have larger residuals (Simoncini and Szyld 2003).
            residual = RESIDUALS * self._allowed / (self._weight * (end - begin))
            self._space.add(min(residual, 0.1 * self._space.largest))
        length = self._shortened()
        if length < SHORTEST * (end - begin):
            return None
        return self._made(end if length == end - begin else begin + length)

    def _is_enough(self) -> bool:
        """Whether the vectors will do; or more of them will not, for a window of that length."""
        m, excess = self._space.size, self._excess
        if self._space.is_whole:
            return True
        if m == 0 or (m > FIRST_LOOKS and m % LOOKS):
            return False
        if m not in excess:
            self._resolvents.spend(LOOKING)
            defect, self._weight = self._small.look(m, self._end - self._begin)
            excess[m] = self._excess_of(defect, self._end - self._begin)
        return (m >= FIRST_BELIEVED and excess[m] <= 1) or (m >= DOUBTED and _is_vain(excess, m))

    def _excess_of(self, defect: float, length: float) -> float:
        return defect * length * self._space.largest / (KRYLOV * self._allowed)

    def _shortened(self) -> float:
        """A length for which the vectors are enough; or one that is too short."""
        m, length = self._space.size, self._end - self._begin
        excess = self._excess.get(m, 0.0)
        while excess > 1 and length >= SHORTEST * (self._end - self._begin):
            length /= 2
            self._resolvents.spend(LOOKING)
            excess = self._excess_of(self._small.look(m, length)[0], length)
        return length

    def _made(self, end: float) -> Window:
        m, resolvents, n = self._space.size, self._resolvents, len(self._u)
        x, v, pieces = self._space.x[:m], self._space.v[:m], []
        sizes = [(float(np.abs(one).max()), float(np.abs(it).max())) for one, it in zip(x, v, strict=True)]
        for first, last, coefficients in _pieces(self._small, m, self._begin, end, sizes, TAIL * self._allowed):
            resolvents.spend(2 * LOOKING)
            found = np.zeros((len(coefficients), n), dtype=resolvents.real)
            found[0] = self._u
            _add_up(coefficients, x, found, resolvents.chain.threads)
            pieces.append(Piece(first, last, found))
            resolvents.spend(len(coefficients) * (m + 8) * n)
        return Window(pieces, m, self._resolvent.steps)


def _add_up(factors: Floats, vectors: Reals, sums: Reals, threads: int) -> None:
    """Add to each of the sums what its factors make of the vectors."""
    if sums.dtype == np.float64:
        _core.combine(np.ascontiguousarray(factors), cast(Floats, vectors), cast(Floats, sums), threads)
        return
    for column, one in zip(factors.T, vectors, strict=True):
        sums += column[:, None] * one


def _is_vain(excess: dict[int, float], m: int) -> bool:
    """Whether so many vectors as there may be will not do, if things go on as they did."""
    left, before = MOST_VECTORS - m, excess[m - SPAN]
    if not left or not (excess[m] < before < math.inf):
        return not left
    foreseen: float = excess[m] * (excess[m] / before) ** (left / SPAN)
    return foreseen > 1


def _pieces(
    small: _Small, m: int, begin: float, end: float, sizes: list[tuple[float, float]], allowed: float
) -> Iterator[tuple[float, float, Floats]]:
    """Pieces of a window, with the polynomials of y; halves where these would be too coarse."""
    count = max(1, int(np.ceil(np.log(end / begin) / np.log(PIECE) - 1e-9)))
    cuts = [begin, *(begin * (end / begin) ** (k / count) for k in range(1, count)), end]

    def made(first: float, last: float) -> tuple[float, float, Floats, Floats]:
        found = small.polynomials(m, first - begin, last - begin)
        return first, last, found, small.defects(found, last - first, sizes)

    waiting = [(made(first, last), HALVINGS) for first, last in reversed(list(pairwise(cuts)))]
    while waiting:
        (first, last, found, defects), halvings = waiting.pop()
        # What is missing is about as large as the last two.
        tail, enough = defects[-2:].max(), allowed * (last - first) / (end - begin)
        if halvings and tail > enough:
            middle = (first + last) / 2
            halves = made(middle, last), made(first, middle)
            if max(half[3][-2:].max() for half in halves) <= HELPS * tail:
                waiting += [(half, halvings - 1) for half in halves]
                continue
        needed = int((np.cumsum(defects[::-1])[::-1] > enough).sum())
        yield first, last, found[: max(needed, 1)]


class _Small:
    """The projected equation y' = σy + H⁻¹ (|f| e₁ - y)."""

    def __init__(self, h: Floats, sigma: float, size: float) -> None:
        self._h, self._sigma, self._size = h, sigma, size

    def _inverse(self, m: int) -> Floats:
        found: Floats = np.linalg.inv(self._h[:m, :m]).astype(np.float64, copy=False)
        return found

    def values(self, inverse: Floats, times: Floats, conditioned: float = WELL_CONDITIONED) -> Floats:
        """``(times, m)`` values of y: φ(τM) τb with M = σ - H⁻¹, b = |f| H⁻¹ e₁ and φ(z) = (exp(z) - 1)/z."""
        m = len(inverse)
        matrix, b = self._sigma * np.eye(m) - inverse, self._size * inverse[:, 0]
        with np.errstate(all="ignore"):
            numbers, vectors = np.linalg.eig(matrix)
            try:
                back = np.linalg.inv(vectors)
            except np.linalg.LinAlgError:
                back = np.full_like(vectors, np.inf)
            if np.abs(vectors).sum(axis=0).max() * np.abs(back).sum(axis=0).max() <= conditioned:
                exponents = numbers * times[:, None]
                found: Floats = ((np.expm1(exponents) / numbers * (back @ b)) @ vectors.T).real
                return found
        augmented = np.zeros((m + 1, m + 1))
        augmented[:m, :m], augmented[:m, m] = matrix, b
        return exponentials(times[:, None, None] * augmented)[:, :m, m]

    def look(self, m: int, length: float) -> tuple[float, float]:
        """The largest part of the defect along the last vector, and the largest |y_m|, over the window."""
        times = length * np.linspace(0.0, 1.0, SAMPLES) ** 2
        inverse = self._inverse(m)
        y, last = self.values(inverse, times, LOOKED_AT), inverse[m - 1]
        with np.errstate(all="ignore"):
            found = np.abs(self._h[m, m - 1] * (self._size * last[0] - y @ last))
        weight = float(np.abs(y[:, m - 1]).max())
        return (float(found.max()), weight) if np.isfinite(found).all() else (np.inf, self._sigma * length * self._size)

    def defects(self, polynomials: Floats, length: float, sizes: list[tuple[float, float]]) -> Floats:
        """About the integrals of the defects that a polynomial for y would have without each of its coefficients.

        A part c T_k of y_j makes a defect of c (T_k' x_j - T_k Qx_j), with |T_k'| <= k² and Qx_j = σx_j - v_j.
        ``sizes`` are those of x_j and v_j.
        """
        of_x, of_v = np.array(sizes).T
        c, steep = np.abs(polynomials), 2.0 * np.arange(len(polynomials)) ** 2
        found: Floats = steep * (c @ of_x) + length * (c @ (self._sigma * of_x + of_v))
        return found

    def polynomials(self, m: int, first: float, last: float) -> Floats:
        """``(degree + 1, m)`` coefficients of y as a polynomial over a part of the window."""
        nodes = np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
        y = self.values(self._inverse(m), (first + last) / 2 + (last - first) / 2 * nodes)
        transform = np.cos(np.pi * np.outer(np.arange(DEGREE + 1), np.arange(DEGREE + 1)) / DEGREE) * (2 / DEGREE)
        transform[:, [0, -1]] /= 2
        transform[[0, -1]] /= 2
        return transform @ y
