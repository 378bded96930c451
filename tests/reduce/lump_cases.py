"""Random rows to lump: made of a small quotient, so that there is something to find, and then bent a little."""

from __future__ import annotations

import numpy as np

from galton.backend.lumping import LumpRows
from galton.model.sparse import Int32s
from galton.model.values import Values

# Sums of these differ, or do not, in ways that rounding would get wrong.
WEIGHTS = {
    "halves": (0.5, 0.25),
    "tenths": (0.1, 0.2, 0.3),
    "wide": (1e-300, 1.0, 1e300),
    "powers": (1.0, 2.0**-61, 2.0**-64),
    "neighbours": (0.5, float(np.nextafter(0.5, 1))),
}


def random_rows(seed: int, weights: tuple[float, ...], *, bent: bool = True) -> tuple[LumpRows, Int32s]:
    """Rows, and a partition to begin with.

    Every state is a copy of one of a few; a row of a copy has the weights of the original in another order, to other
    copies. Where ``bent``, one weight may be another.
    """
    random = np.random.default_rng(seed)
    few = int(random.integers(2, 6))
    copy_of = np.concatenate([np.arange(few), random.integers(0, few, int(random.integers(5, 40)))])
    n = len(copy_of)
    chain, coded = bool(random.integers(2)), bool(random.integers(2))
    rows_of_few = [
        [(random.choice(weights, 3), random.integers(0, few, 3)) for _ in range(1 if chain else random.integers(1, 4))]
        for _ in range(few)
    ]
    marks_of_few = [random.integers(0, 2, len(rows)) for rows in rows_of_few]
    groups, starts, columns, values, marks = [0], [0], list[int](), list[float](), list[int]()
    for state in range(n):
        rows = list(zip(rows_of_few[copy_of[state]], marks_of_few[copy_of[state]], strict=True))
        rows += [rows[0]] * int(not chain and random.integers(2))  # the same choice once more
        for (row_weights, targets), mark in (rows[i] for i in random.permutation(len(rows))):
            for k in random.permutation(3):
                columns.append(int(random.choice(np.flatnonzero(copy_of == targets[k]))))
                values.append(float(row_weights[k]))
            starts.append(len(columns))
            marks.append(int(mark))
        groups.append(len(marks))
    if bent and random.integers(2):
        values[int(random.integers(len(values)))] = float(random.choice(weights))
    entries = np.array(values)
    made = LumpRows(
        None if chain else np.array(groups, dtype=np.int32),
        np.array(starts, dtype=np.int32 if random.integers(2) else np.int64),
        np.array(columns, dtype=np.int32),
        Values.compress(entries) if coded else Values(plain=entries),
        np.array(marks, dtype=np.int32) if random.integers(2) else None,
    )
    began = (copy_of == 0).astype(np.int32)
    return made, (began != began[0]).astype(np.int32)
