"""The formats that a device knows for equations, by name, and which one suits a matrix.

The first two are CSR, with a thread or with several for each row. ELL and slices lay the numbers of neighbouring rows
side by side, so that the threads of a warp read neighbours: one slice of everything, slices of 32 states, or slices of
16 with two threads for each (Wijs and Bošnački 2012). The last gives every warp the same number of entries, whatever
rows they are of.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..lang.source import GaltonError
from ..lang.stream import nearest

__all__ = ["FORMATS", "MANY_ROWS", "ORDERS", "STEPPING", "Statistics", "check_names", "suitable"]

FORMATS = {
    "csr": "CSR, a thread a row",
    "csr-vector": "CSR, several threads a row",
    "ell": "ELL",
    "sliced": "slices of 32",
    "half-sliced": "slices of 16, two threads a row",
    "segmented": "CSR, 1,024 entries a warp",
}
STEPPING = ("csr", "csr-vector", "ell", "sliced", "half-sliced")  # those of steps
ORDERS = {
    "canonical": "by the values of the variables",
    "bfs": "breadth first",
    "rcm": "reverse Cuthill–McKee",
}

SMALL = 1 << 16  # entries below which a sweep takes as long as its launch, whatever the format: not worth a look
SHORT = 12  # entries of a row that one thread adds up no slower than several
LONG = 32  # entries of a row from which on a row alone gives its threads neighbours to read
UNEVEN = 8  # how much longer than the mean the longest row may be, before the others wait for its threads
MANY_ROWS = 256  # of an unknown, beyond which a thread alone is not enough: it is *wide*
PADDED = 1.4  # places in slices for each number, from which on they read more than they gain


@dataclass(frozen=True)
class Statistics:
    """What a format is chosen by.

    Attributes
    ----------
    mean, spread, longest
        Of the lengths of rows; the spread is their standard deviation.
    places
        What slices of 32 would hold for each number of the equations, padding included.
    wide
        Unknowns with more than :data:`MANY_ROWS` rows, which nobody would lay beside others.
    """

    rows: int
    entries: int
    mean: float
    spread: float
    longest: int
    places: float
    wide: int = 0

    def __str__(self) -> str:
        return f"rows of {self.mean:.1f} ± {self.spread:.1f}, the longest {self.longest:,}"


def suitable(seen: Statistics) -> tuple[str, str]:
    """A format, and why."""
    if seen.mean >= LONG:
        return ("csr-vector" if seen.longest <= UNEVEN * seen.mean else "segmented"), str(seen)
    if seen.wide:
        return "csr", f"{seen}, {seen.wide:,} unknowns with more than {MANY_ROWS} rows"
    return ("sliced" if seen.places <= PADDED else "csr"), f"{seen}, {seen.places:.2f} places a number in slices"


def check_names(form: str | None, order: str | None) -> None:
    """Refuse names that nobody has."""
    for kind, name, known in (("format", form, FORMATS), ("order", order, ORDERS)):
        if name is not None and name not in known:
            hint = nearest(name, known)
            raise GaltonError(
                f"there is no {kind} '{name}'{f'; {hint}' if hint else ''} (there are {', '.join(known)})"
            )
