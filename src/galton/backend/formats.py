"""The formats that a device knows for equations, by name, and which one suits a matrix.

The first two are CSR, with a thread or with several for each row. ELL and slices lay the entries of neighbouring rows
side by side, so that the threads of a warp read neighbours: one slice of everything, slices of 32 states, or slices of
16 with two threads for each (Wijs and Bošnački 2012). The last gives every thread the same number of entries, whatever
rows they are of (Merrill and Garland 2016).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..lang.source import GaltonError
from ..lang.stream import nearest

__all__ = ["FORMATS", "ORDERS", "Statistics", "candidates", "check_names"]

FORMATS = {
    "csr": "CSR, a thread a row",
    "csr-vector": "CSR, several threads a row",
    "ell": "ELL",
    "sliced": "slices of 32",
    "half-sliced": "slices of 16, two threads a row",
    "merge": "CSR, 16 entries a thread",
}
ORDERS = {
    "canonical": "by the values of the variables",
    "bfs": "breadth first",
    "rcm": "reverse Cuthill–McKee",
}

SMALL = 1 << 16  # entries below which a sweep takes as long as its launch, whatever the format: not worth a look
SHORT = 12  # entries of a row that one thread adds up no slower than several
LONG = 32  # entries of a row from which on a row alone gives its threads neighbours to read
UNEVEN = 4096  # entries of a row that hold up all others, where most are much shorter
PADDED = 1.5  # places for each entry, from which on slices read more than they gain


@dataclass(frozen=True)
class Statistics:
    """What a format is chosen by.

    Attributes
    ----------
    mean, spread, longest
        Of the lengths of rows; the spread is their standard deviation.
    places
        What slices would hold for each entry, padding included, by the name of the format.
    """

    rows: int
    entries: int
    mean: float
    spread: float
    longest: int
    places: dict[str, float]

    def __str__(self) -> str:
        return f"rows of {self.mean:.1f} ± {self.spread:.1f}, the longest {self.longest:,}"


def candidates(seen: Statistics) -> tuple[tuple[str, ...], str]:
    """One format, or two of which a few sweeps may choose, the more likely first; and why."""
    if seen.longest > UNEVEN and seen.longest > 32 * seen.mean:
        return ("merge", "csr-vector"), f"uneven {seen}"
    if seen.mean > LONG:
        return ("csr-vector",), str(seen)
    padding = f"{seen}, {seen.places['sliced']:.2f} places an entry in slices"
    if seen.mean > SHORT:
        return ("csr-vector", "half-sliced") if seen.places["half-sliced"] <= PADDED else ("csr-vector",), padding
    if seen.places["sliced"] > PADDED:
        return ("csr", "merge"), padding
    if seen.places["ell"] <= 1.02 * seen.places["sliced"]:
        return ("ell", "sliced"), padding
    return ("sliced", "half-sliced" if seen.places["half-sliced"] < 1.1 * seen.places["sliced"] else "csr"), padding


def check_names(form: str | None, order: str | None) -> None:
    """Refuse names that nobody has."""
    for kind, name, known in (("format", form, FORMATS), ("order", order, ORDERS)):
        if name is not None and name not in known:
            hint = nearest(name, known)
            raise GaltonError(
                f"there is no {kind} '{name}'{f'; {hint}' if hint else ''} (there are {', '.join(known)})"
            )
