"""The numbers in a matrix, stored once each where that pays.

Real models draw their probabilities from a short list: a dictionary of the distinct values and one byte per entry
take an eighth of the memory, and of the bandwidth every sweep needs (the compact MSR of PRISM's sparse engine).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class Values:
    """Either ``plain`` (one float64 per entry) or ``dictionary[index]`` (distinct values ascending, uint8 or uint16).

    >>> values = Values.compress(np.array([0.5, 0.5, 1.0]))
    >>> values.dictionary.tolist(), values.index.tolist(), values[1:].tolist()
    ([0.5, 1.0], [0, 0, 1], [0.5, 1.0])
    """

    plain: Floats | None = None
    dictionary: Floats | None = None
    index: Codes | None = None

    def __post_init__(self) -> None:
        compact = self.dictionary is not None and self.index is not None
        if (self.plain is None) != compact or (self.dictionary is None) != (self.index is None):
            raise ValueError("values are either plain, or a dictionary with an index")

    @classmethod
    def compress(cls, array: npt.ArrayLike) -> Values:
        """Compact when there are at most 65,536 distinct values, plain otherwise."""
        plain = np.ascontiguousarray(array, dtype=np.float64)
        dictionary = np.empty(0)
        for start in range(0, len(plain), _BLOCK):
            dictionary = np.union1d(dictionary, plain[start : start + _BLOCK])
            if len(dictionary) > 1 << 16:
                return cls(plain=plain)
        few = len(dictionary) <= 1 << 8
        index: Codes = np.empty(len(plain), dtype=np.uint8) if few else np.empty(len(plain), dtype=np.uint16)
        for start in range(0, len(plain), _BLOCK):
            index[start : start + _BLOCK] = np.searchsorted(dictionary, plain[start : start + _BLOCK])
        return cls(dictionary=dictionary, index=index)

    def array(self) -> Floats:
        """Return one float64 per entry: a new array when the values are compact, the stored one when they are plain."""
        return self[:]

    def __len__(self) -> int:
        return len(self._stored)

    def __getitem__(self, part: slice | npt.NDArray[np.integer]) -> Floats:
        if self.plain is not None:
            return self.plain[part]
        assert self.dictionary is not None
        assert self.index is not None
        return self.dictionary[self.index[part]]

    def __repr__(self) -> str:
        kind = "plain" if self.dictionary is None else f"{len(self.dictionary)} distinct"
        return f"<{len(self)} values, {kind}>"

    @property
    def nbytes(self) -> int:
        """Bytes stored."""
        return self._stored.nbytes + (0 if self.dictionary is None else self.dictionary.nbytes)

    @property
    def distinct(self) -> Floats:
        """Values that include every entry, for checks that need not look at each entry."""
        return self._stored if self.dictionary is None else self.dictionary  # type: ignore[return-value]

    @property
    def _stored(self) -> Floats | Codes:
        return self.plain if self.plain is not None else self.index  # type: ignore[return-value]
