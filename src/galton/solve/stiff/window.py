"""A proposal for a stretch of time: the solution of u' = Qu + r projected on a small space of vectors.

From time a on, u(a + τ) = u(a) + ∫ exp(Qs) f ds over 0 <= s <= τ, with f = Qu(a) + r. Let v₁ = f/|f|, x_j the solution
of (σ - Q) x_j = v_j, and v_(j+1) what is left of x_j when its parts along v₁ … v_j are taken away, of length 1
(Arnoldi's method with a matrix that is shifted and inverted: Moret and Novati 2004, van den Eshof and Hochbruck 2006).
So x_j = Σ h_ij v_i. For U = u(a) + Σ y_j x_j the defect U' - QU - r is, but for the residuals of the solutions,

    Σ_i v_i (Σ_j h_ij (y_j' - σ y_j)) + Σ_j v_j y_j - f,

and y is chosen so that all but its part along the last vector vanishes: y' = σy + H⁻¹ (|f| e₁ - y), y(0) = 0. What is
left is h_(m+1,m) (y_m' - σ y_m) v_(m+1): a number that is known for each m, without a further product.

Parts of f that decay quickly make x_j of little use to others; they are gone if a is not too small. That is why a
window can be several times as long as all the time before it, whatever the largest rate is.

y is made into polynomials over pieces of the window, and U with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...backend.bicgstab import dot
from ...model.values import Floats
from .open_chain import Reals
from .pieces import Piece
from .resolvent import Resolvents, UnsolvedError

__all__ = ["Window", "propose"]

SHIFT = 8.0  # σ, times the length of a window
KRYLOV, RESIDUALS = 0.5, 0.1  # parts of what is allowed: for the last vector, and for the residuals of each
FIRST_LOOK = 2  # vectors before the defect is believed
MOST_VECTORS = 36
SHORTEST = 1 / 64  # of the length that was hoped for
DEGREE = 18  # of polynomials, at most
PIECE = 2.0  # where a piece ends, beside where it begins
SAMPLES = 12
LOOKING = 1_500_000  # entries that might be gone over while the projected equation is solved
WELL_CONDITIONED = 1e6  # eigenvectors that are good enough


@dataclass(frozen=True, eq=False)
class Window:
    """Pieces up to some time, and how many vectors it took."""

    pieces: list[Piece]
    vectors: int
    steps: int


def propose(resolvents: Resolvents, u: Reals, slope: Floats, begin: float, end: float, allowed: float) -> Window:
    """Pieces from ``begin`` up to ``end``, or to some time before.

    All vectors are those of the scaled chain. The integral of the defect, beside 1, may be so much.
    """
    length = end - begin
    size = math.sqrt(dot(slope, slope))
    if np.abs(slope).max() * length <= KRYLOV * allowed:  # it hardly moves
        return Window([Piece(begin, end, u[None].copy())], 0, 0)
    sigma = SHIFT / length
    resolvent = resolvents.at(sigma)
    n = len(u)
    v, x = np.empty((MOST_VECTORS + 1, n)), np.empty((MOST_VECTORS, n), dtype=resolvents.real)
    h = np.zeros((MOST_VECTORS + 1, MOST_VECTORS))
    v[0] = slope / size
    small = _Small(h, sigma, size)
    defect, weight = np.inf, SHIFT * size
    for m in range(1, MOST_VECTORS + 1):
        # Vectors that count for little may have larger residuals (Simoncini and Szyld 2003).
        largest = float(np.abs(v[m - 1]).max())
        x[m - 1] = resolvent.solution(v[m - 1], min(RESIDUALS * allowed / (weight * length), 0.1 * largest))
        rest = x[m - 1].astype(np.float64)
        for _ in range(2):
            parts = np.array([dot(one, rest) for one in v[:m]])
            for part, one in zip(parts, v[:m], strict=True):
                rest -= part * one
            h[:m, m - 1] += parts
        h[m, m - 1] = math.sqrt(dot(rest, rest))
        resolvents.spend(LOOKING + 5 * m * n)
        if h[m, m - 1] <= 1e-14 * np.linalg.norm(h[:m, m - 1]):
            break
        v[m] = rest / h[m, m - 1]
        defect, weight = small.look(m, length)
        if m >= FIRST_LOOK and defect * length * np.abs(v[m]).max() <= KRYLOV * allowed:
            break
    else:
        most = float(np.abs(v[m]).max())
        while small.look(m, length)[0] * length * most > KRYLOV * allowed:
            length /= 2
            if length < SHORTEST * (end - begin):
                raise UnsolvedError("windows that are too short")
    end = end if length == end - begin else begin + length
    pieces = []
    for first, last in _cuts(begin, end):
        coefficients = small.polynomials(m, first - begin, last - begin)
        found = np.zeros((len(coefficients), n), dtype=resolvents.real)
        found[0] = u
        for column, one in zip(coefficients.T, x[:m], strict=True):
            found += column[:, None] * one
        pieces.append(Piece(first, last, found))
        resolvents.spend(len(coefficients) * (m + 8) * n)
    return Window(pieces, m, resolvent.steps)


def _cuts(begin: float, end: float) -> list[tuple[float, float]]:
    count = max(1, int(np.ceil(np.log(end / begin) / np.log(PIECE) - 1e-9)))
    cuts = [begin, *(begin * (end / begin) ** (k / count) for k in range(1, count)), end]
    return list(pairwise(cuts))


class _Small:
    """The projected equation y' = σy + H⁻¹ (|f| e₁ - y)."""

    def __init__(self, h: Floats, sigma: float, size: float) -> None:
        self._h, self._sigma, self._size = h, sigma, size

    def values(self, m: int, times: Floats) -> Floats:
        """``(times, m)`` values of y: φ(τM) τb with M = σ - H⁻¹, b = |f| H⁻¹ e₁ and φ(z) = (exp(z) - 1)/z."""
        inverse = np.linalg.inv(self._h[:m, :m])
        matrix, b = self._sigma * np.eye(m) - inverse, self._size * inverse[:, 0]
        with np.errstate(all="ignore"):
            numbers, vectors = np.linalg.eig(matrix)
            if np.linalg.cond(vectors) <= WELL_CONDITIONED:
                parts = np.linalg.solve(vectors, b.astype(np.complex128))
                exponents = numbers * times[:, None]
                found: Floats = ((np.expm1(exponents) / numbers * parts) @ vectors.T).real
                return found
            from scipy.linalg import expm  # takes long to load, and is seldom needed

            augmented = np.zeros((m + 1, m + 1))
            augmented[:m, :m], augmented[:m, m] = matrix, b
            found = expm(times[:, None, None] * augmented)[:, :m, m]
            return found

    def look(self, m: int, length: float) -> tuple[float, float]:
        """The largest part of the defect along the last vector, and the largest |y_m|, over the window."""
        times = length * np.linspace(0.0, 1.0, SAMPLES) ** 2
        y = self.values(m, times)
        last = np.linalg.inv(self._h[:m, :m])[m - 1]
        found = np.abs(self._h[m, m - 1] * (self._size * last[0] - y @ last))
        weight = float(np.abs(y[:, m - 1]).max())
        return (float(found.max()), weight) if np.isfinite(found).all() else (np.inf, self._sigma * length * self._size)

    def polynomials(self, m: int, first: float, last: float) -> Floats:
        """``(degree + 1, m)`` coefficients of y as a polynomial over a part of the window."""
        nodes = np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
        y = self.values(m, (first + last) / 2 + (last - first) / 2 * nodes)
        transform = np.cos(np.pi * np.outer(np.arange(DEGREE + 1), np.arange(DEGREE + 1)) / DEGREE) * (2 / DEGREE)
        transform[:, [0, -1]] /= 2
        transform[[0, -1]] /= 2
        return transform @ y
