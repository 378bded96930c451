"""Exact solutions of small equations, by fractions: what proofs are measured by."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from galton.solve.equations import Equations

Row = tuple[dict[int, Fraction], Fraction]  # coefficients, constant


def stored_rows(equations: Equations) -> list[list[Row]]:
    """The rows of each unknown as the kernels see them, every double taken as the fraction it is."""
    found = []
    for unknown in range(equations.size):
        groups = equations.groups
        rows = range(unknown, unknown + 1) if groups is None else range(groups[unknown], groups[unknown + 1])
        found.append([_row(equations, row) for row in rows])
    return found


def _row(equations: Equations, row: int) -> Row:
    part = slice(int(equations.starts[row]), int(equations.starts[row + 1]))
    scale = Fraction(1) if equations.scale is None else Fraction(float(equations.scale[row]))
    coefficients: dict[int, Fraction] = {}
    for column, value in zip(equations.columns[part], equations.values[part], strict=True):
        coefficients[int(column)] = coefficients.get(int(column), Fraction(0)) + scale * Fraction(float(value))
    return coefficients, Fraction(float(equations.constant[row]))


def model_rows(equations: Equations) -> list[list[Row]]:
    """The same from the model, without any rounding: what the stored rows stand for, up to their slack."""
    origin, found = equations.origin, []
    model = origin.model
    for unknown in range(equations.size):
        groups = equations.groups
        rows = range(unknown, unknown + 1) if groups is None else range(groups[unknown], groups[unknown + 1])
        mine = []
        for row in (int(equations.rows[r]) for r in rows):
            part = slice(int(model.row_starts[row]), int(model.row_starts[row + 1]))
            leaving, constant = Fraction(0), Fraction(0)
            if origin.reward is not None:
                constant = Fraction(float(origin.reward[row]))
            coefficients: dict[int, Fraction] = {}
            for column, value in zip(model.columns[part], model.values[part], strict=True):
                target, weight = int(origin.number[column]), Fraction(float(value))
                if target == unknown:
                    continue
                leaving += weight
                if target < 0:
                    constant += weight * Fraction(float(origin.known[column]))
                else:
                    coefficients[target] = coefficients.get(target, Fraction(0)) + weight
            # Loops are divided out; the rates of a CTMC become probabilities; other rows stay as they are.
            looped = (origin.number[model.columns[part]] == unknown).any()
            divisor = leaving if looped or model.type == "ctmc" else Fraction(1)
            mine.append(({t: w / divisor for t, w in coefficients.items()}, constant / divisor))
        found.append(mine)
    return found


def solve(rows: Sequence[Row]) -> list[Fraction]:
    """The solution of a chain's equations, by elimination."""
    n = len(rows)
    matrix = [
        [Fraction(int(i == j)) - row[0].get(j, Fraction(0)) for j in range(n)] + [row[1]] for i, row in enumerate(rows)
    ]
    for i in range(n):
        pivot = next(k for k in range(i, n) if matrix[k][i] != 0)
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        matrix[i] = [value / matrix[i][i] for value in matrix[i]]
        for k in range(n):
            if k != i and matrix[k][i] != 0:
                factor = matrix[k][i]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i], strict=True)]
    return [row[-1] for row in matrix]


def optimum(rows: Sequence[Sequence[Row]], pick: str | None) -> list[Fraction]:
    """The best solution over all strategies; every one of them must end."""
    solutions = [solve(strategy) for strategy in product(*rows)]
    best = min if pick == "min" else max
    return [best(solution[i] for solution in solutions) for i in range(len(rows))]
