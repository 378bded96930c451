"""Polynomials in the parameters.

Rates are taken apart in two stages. An expression of the model becomes a sum of monomials in the parameters whose
coefficients are expressions over the state (:class:`Decomposition`); once these are evaluated, what is left of a rate
is a number times one of a few polynomials (:class:`Terms`), whose range over a box of parameters is found once for all
the transitions that have it. Exponents may be negative: ``1/k`` is a monomial too, where k is positive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import numpy.typing as npt

from ..lang.evaluation import EvaluationError, evaluate
from ..lang.expressions import Binary, Call, Conditional, Expression, Literal, Name, Unary, Value, children
from ..lang.rendering import render
from ..lang.source import LanguageError, Source

Floats = npt.NDArray[np.float64]
Exponents = tuple[int, ...]
Symbolic = dict[Exponents, Expression]
Points = dict[tuple[int, ...], tuple[Fraction, Fraction]]

UNIT = 2.0**-53
HIGHEST_POWER = 16
POWER_ROUNDINGS = 8  # libraries are off by up to four units in the last place
ZERO = Literal(0.0)


@dataclass(frozen=True, eq=False)
class Decomposition:
    """How expressions of one model depend on its parameters.

    ``definitions`` are the constants that follow a parameter, such as ``mu`` in ``const double mu = k/2``.
    """

    source: Source
    parameters: tuple[str, ...]
    definitions: Mapping[str, Expression]
    constants: Mapping[str, Value]

    def depends(self, expression: Expression) -> bool:
        """Whether a parameter takes part."""
        if isinstance(expression, Name):
            return expression.name in self.parameters or expression.name in self.definitions
        return any(map(self.depends, children(expression)))

    def refuse(self, expression: Expression, place: str) -> None:
        """Insist that no parameter stands in an expression."""
        if self.depends(expression):
            name = self._culprit(expression)
            raise LanguageError(
                f"the parameter '{name}' may only stand in rates, probabilities and rewards, not in {place}",
                self.source,
                expression.span,
                f"give it one value with --const {name}=…, or take it out of here",
            )

    def polynomial(self, expression: Expression) -> Symbolic:
        """An expression as monomials in the parameters with coefficients that have none."""
        if not self.depends(expression):
            return {self._one: expression}
        match expression:
            case Name(name) if name in self.definitions:
                return self.polynomial(self.definitions[name])
            case Name(name):
                return {tuple(int(name == other) for other in self.parameters): Literal(1.0)}
            case Unary("-", operand):
                return {m: Unary("-", c, span=c.span) for m, c in self.polynomial(operand).items()}
            case Binary("+" | "-" as operator, left, right):
                return _sum(self.polynomial(left), self.polynomial(right), operator)
            case Binary("*", left, right):
                return _product(self.polynomial(left), self.polynomial(right))
            case Binary("/", left, right):
                return _product(self.polynomial(left), self._power(right, -1, expression))
            case Binary("^", base, exponent) | Call("pow", (base, exponent)):
                return self._power(base, self._whole(exponent, expression), expression)
            case Conditional(condition, then, otherwise) if not self.depends(condition):
                first, second = self.polynomial(then), self.polynomial(otherwise)
                return {
                    m: Conditional(condition, first.get(m, ZERO), second.get(m, ZERO), span=expression.span)
                    for m in {**first, **second}
                }
        raise self._strange(expression)

    @property
    def _one(self) -> Exponents:
        return (0,) * len(self.parameters)

    def _power(self, base: Expression, exponent: int, whole: Expression) -> Symbolic:
        factor = self.polynomial(base)
        if exponent < 0:
            if len(factor) != 1:
                raise self._strange(whole)
            ((monomial, coefficient),) = factor.items()
            inverse = Binary("/", Literal(1.0), coefficient, span=coefficient.span)
            factor = {tuple(-e for e in monomial): inverse}
        result: Symbolic = {self._one: Literal(1.0)}
        for _ in range(abs(exponent)):
            result = _product(result, factor)
        return result

    def _whole(self, exponent: Expression, whole: Expression) -> int:
        try:
            value = evaluate(exponent, self.constants) if not self.depends(exponent) else None
        except EvaluationError:  # it depends on the state
            value = None
        if value is None or value != int(value) or abs(value) > HIGHEST_POWER:
            raise self._strange(whole)
        return int(value)

    def _strange(self, expression: Expression) -> LanguageError:
        name = self._culprit(expression)
        return LanguageError(
            f"the parameter '{name}' stands in {render(expression)}, which is no sum of products of parameters",
            self.source,
            expression.span,
            "parameters may be added, multiplied, raised to whole powers, and divided by one another's products",
        )

    def _culprit(self, expression: Expression) -> str:
        if isinstance(expression, Name):
            if expression.name in self.parameters:
                return expression.name
            if expression.name in self.definitions:
                return self._culprit(self.definitions[expression.name])
        return next((found for child in children(expression) if (found := self._culprit(child))), "")


def _powers(values: Floats, exponents: Floats) -> Floats:
    """``values ** exponents``, exactly where that is 1 or the value itself."""
    with np.errstate(divide="ignore"):
        found: Floats = np.where(exponents == 0, 1.0, np.where(exponents == 1, values, values**exponents))
    return found


def blossom(power: int, upper: int, degree: int, low: Fraction, high: Fraction) -> Fraction:
    """The polar form of x^power, as a polynomial of the degree, with ``upper`` arguments high and the others low."""
    if low == high:
        return low**power
    ways = sum(
        comb(upper, i) * comb(degree - upper, power - i) * high**i * low ** (power - i)
        for i in range(max(0, power - degree + upper), min(upper, power) + 1)
    )
    return Fraction(ways) / comb(degree, power)


def _sum(left: Symbolic, right: Symbolic, operator: str) -> Symbolic:
    result = dict(left)
    for monomial, coefficient in right.items():
        if monomial in result:
            result[monomial] = Binary(operator, result[monomial], coefficient, span=coefficient.span)
        else:
            result[monomial] = coefficient if operator == "+" else Unary("-", coefficient, span=coefficient.span)
    return result


def _product(left: Symbolic, right: Symbolic) -> Symbolic:
    result: Symbolic = {}
    for (m, a), (n, b) in product(left.items(), right.items()):
        both = a if b == Literal(1.0) else b if a == Literal(1.0) else Binary("*", a, b, span=a.span)
        result = _sum(result, {tuple(i + j for i, j in zip(m, n, strict=True)): both}, "+")
    return result


@dataclass(frozen=True, eq=False)
class Terms:
    """Polynomials with numbers as coefficients; the first is the constant 1.

    Attributes
    ----------
    exponents
        ``(monomials, parameters)`` the distinct monomials.
    starts, monomials, coefficients
        Polynomial i is the sum of ``coefficients[j] * monomial[monomials[j]]`` for j from ``starts[i]`` on.
    """

    exponents: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    monomials: npt.NDArray[np.int32]
    coefficients: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The range of each polynomial over each box, rounded outwards.

        Parameters
        ----------
        low, high
            ``(boxes, parameters)`` the corners.

        Returns
        -------
        ``(terms, boxes)`` lower and upper bounds. They are attained but for rounding, except by a polynomial with mixed
        signs that is not affine in each parameter: there they are those of interval arithmetic.
        """
        bottom, top = self._monomial_bounds(low, high)
        c = self.coefficients[:, None]
        bottom, top = bottom[self.monomials], top[self.monomials]
        least, most = np.where(c > 0, c * bottom, c * top), np.where(c > 0, c * top, c * bottom)
        first = self.starts[:-1]
        lower, upper = np.add.reduceat(least, first, axis=0), np.add.reduceat(most, first, axis=0)
        size = np.add.reduceat(np.maximum(np.abs(least), np.abs(most)), first, axis=0)
        for term in self._affine_with_mixed_signs():
            lower[term], upper[term] = self._over_corners(term, low, high)
        slack = self._roundings()[:, None] * UNIT * size
        return lower - slack, upper + slack

    def control_points(
        self, term: int, degrees: Sequence[int], low: Sequence[Fraction], high: Sequence[Fraction]
    ) -> Points:
        """The Bernstein coefficients of a polynomial over a box, exactly, and the sums of the sizes of their parts.

        The polynomial lies between the least and the greatest of them; those at corners are its values there. Point
        ``(j, …)`` of ``(n + 1, …)`` belongs to the corner where the first parameter is high for j = n, and so on.
        Exponents are at most the degrees, and none is negative.
        """
        part = slice(self.starts[term], self.starts[term + 1])
        powers = self.exponents[self.monomials[part]].tolist()
        coefficients = [Fraction(c) for c in self.coefficients[part].tolist()]
        found: Points = {}
        for grid in product(*(range(n + 1) for n in degrees)):
            parts = [
                c * prod(blossom(e, j, n, a, b) for e, j, n, a, b in zip(own, grid, degrees, low, high, strict=True))
                for c, own in zip(coefficients, powers, strict=True)
            ]
            found[grid] = (sum(parts, Fraction(0)), sum(map(abs, parts), Fraction(0)))
        return found

    def whole_coefficients(self, term: int) -> bool:
        """Whether the coefficients are whole numbers: then nothing was rounded on the way to them."""
        own = self.coefficients[self.starts[term] : self.starts[term + 1]]
        return bool((own == np.round(own)).all())

    def _monomial_bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        shape = len(self.exponents), len(low)
        bottom, top = np.ones(shape), np.ones(shape)
        for p in range(self.exponents.shape[1]):
            e = self.exponents[:, p][:, None].astype(np.float64)
            ends = _powers(low[:, p], e), _powers(high[:, p], e)
            least, most = np.minimum(*ends), np.maximum(*ends)
            least = np.where((e > 0) & (e % 2 == 0) & (low[:, p] < 0) & (high[:, p] > 0), 0.0, least)
            corners = bottom * least, bottom * most, top * least, top * most
            bottom = np.minimum.reduce(corners)
            top = np.maximum.reduce(corners)
        return bottom, top

    def _roundings(self) -> Floats:
        """How many rounding errors the value of each polynomial has at most."""
        degree = np.abs(self.exponents).sum(axis=1)[self.monomials]
        simple = (self.coefficients == 1) & (degree <= 1) & (self.exponents.min(axis=1)[self.monomials] >= 0)
        each = np.where(simple, 0, POWER_ROUNDINGS * degree + 1)
        longest = np.maximum.reduceat(each, self.starts[:-1])
        count = np.diff(self.starts)
        return (longest + np.where(count > 1, count + 1, 0)).astype(np.float64)

    def _affine_with_mixed_signs(self) -> Sequence[int]:
        found = []
        for term in np.flatnonzero(np.diff(self.starts) > 1):
            part = slice(self.starts[term], self.starts[term + 1])
            signs, powers = self.coefficients[part] > 0, self.exponents[self.monomials[part]]
            if signs.any() and not signs.all() and ((powers == 0) | (powers == 1)).all():
                found.append(int(term))
        return found

    def _over_corners(self, term: int, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """What is affine in each parameter is least and greatest at corners."""
        part = slice(self.starts[term], self.starts[term + 1])
        powers, coefficients = self.exponents[self.monomials[part]], self.coefficients[part]
        occurring = np.flatnonzero(powers.any(axis=0))
        values = []
        for corner in product((False, True), repeat=len(occurring)):
            point = low.copy()
            chosen = occurring[np.array(corner, dtype=bool)]
            point[:, chosen] = high[:, chosen]
            monomials = np.prod(np.where(powers[:, None, :] == 1, point[None, :, :], 1.0), axis=2)
            values.append(coefficients @ monomials)
        return np.min(values, axis=0), np.max(values, axis=0)
