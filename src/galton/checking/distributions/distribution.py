"""A distribution over the states of a model, and how far it may be from the true one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ...lang.expressions import Expression, Value
from ...lang.program import Program
from ...lang.resolution import Question, is_state_formula
from ...lang.source import LanguageError
from ...model.rounding import UNIT
from ...model.sparse import Model
from ...model.tables import import_pandas, state_index
from ...solve.settings import Settings

if TYPE_CHECKING:
    import pandas

FEW = 20  # shares that a notebook shows
Floats = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]

__all__ = ["Grouping", "Share", "StateDistribution", "grouped_by"]


class Share(NamedTuple):
    """The probability of a state, or of all states with some value, with bounds that are proved to hold it."""

    value: str | Value
    probability: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Grouping:
    """The values of an expression, and the place among them of the value of each state."""

    text: str
    values: list[Value]
    place: Int64s


@dataclass(frozen=True, eq=False, repr=False)
class StateDistribution:
    """A distribution over the states of a chain, at a time or, where ``time`` is None, in the long run.

    For any set of states, the true probability lies between ``p * (1 - error) - elsewhere`` and
    ``p * (1 + error) + lost + elsewhere``, p being the sum of ``probabilities`` over the set. That is proved, rounding
    and truncation included.

    Attributes
    ----------
    probabilities
        ``(states,)``, in the order of the model's states.
    error
        What rounding may have done, relative to each number.
    lost
        Probability that is missing: it may belong to any state.
    elsewhere
        Probability that may be in the wrong states.
    grouping
        The expression by whose values states are put together; None for single states.

    Examples
    --------
    >>> import galton
    >>> coin = galton.parse("dtmc  module coin  s : [0..2];  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);  endmodule")
    >>> found = galton.transient(coin, 1, expression="s>0")
    >>> [(share.value, share.probability) for share in found]
    [(True, 1.0)]
    """

    model: Model
    probabilities: Floats
    time: float | None
    error: float = 0.0
    lost: float = 0.0
    elsewhere: float = 0.0
    grouping: Grouping | None = None

    @property
    def distance(self) -> float:
        """How far the probability of any set of states may be off."""
        return float((self.error + self.lost + self.elsewhere) * (1 + 1e-15))

    def __len__(self) -> int:
        return len(self._sums())

    def __iter__(self) -> Iterator[Share]:
        """Go through the values or states in their order, without those that hold nothing: they have no more than
        ``lost + elsewhere``.
        """
        sums = self._sums()
        error = (self.error + (len(self.probabilities) + 8) * UNIT) if self.grouping and self.error else self.error
        for place in np.flatnonzero(sums).tolist():
            p = float(sums[place])
            lower = p * (1 - error) - self.elsewhere
            upper = p * (1 + error) + self.lost + self.elsewhere
            exact = not (error or self.lost or self.elsewhere)
            bounds = (p, p) if exact else (math.nextafter(lower, -1), math.nextafter(upper, 2))
            yield Share(self._name(place), p, max(bounds[0], 0.0), min(bounds[1], 1.0))

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row for each state or value that holds something: its probability, and bounds on it.

        States have their variables as the index. It needs pandas.
        """
        pandas = import_pandas()
        sums = self._sums()
        shares = list(self)
        columns = {part: [getattr(share, part) for share in shares] for part in ("probability", "lower", "upper")}
        if self.grouping is None:
            return pandas.DataFrame(columns, index=state_index(self.model)[np.flatnonzero(sums)])
        return pandas.DataFrame(columns, index=pandas.Index([share.value for share in shares], name=self.grouping.text))

    def __repr__(self) -> str:
        when = "in the long run" if self.time is None else f"at {self.time:g}"
        what = "states" if self.grouping is None else f"values of {self.grouping.text}"
        return f"<distribution {when}: {np.count_nonzero(self._sums()):,} {what} of {self.model!r}>"

    def _repr_html_(self) -> str:
        from itertools import islice

        from ...lang.markup import grid

        what = "state" if self.grouping is None else self.grouping.text
        when = "in the long run" if self.time is None else f"at {self.time:g}"
        rows = [[str(share.value), f"{share.probability:.6g}"] for share in islice(self, FEW)]
        left = int(np.count_nonzero(self._sums())) - FEW
        more = [["…", f"{left:,} more"]] if left > 0 else []
        return grid([what, "probability"], [*rows, *more], f"{self.model.type.upper()} {when}")

    def _sums(self) -> Floats:
        if self.grouping is None:
            return self.probabilities
        grouping = self.grouping
        return np.bincount(grouping.place, self.probabilities, len(grouping.values)).astype(np.float64, copy=False)

    def _name(self, place: int) -> str | Value:
        if self.grouping is not None:
            return self.grouping.values[place]
        return str(place) if self.model.states is None else repr(self.model.states[place])


def grouped_by(model: Model, program: Program, question: Question, settings: Settings) -> Grouping:
    """Put states together by the value of an expression over variables, constants and labels."""
    from ..evaluation import Evaluation
    from ..intervals import Truth

    expression: Expression = question.prop.expression
    if not is_state_formula(expression):
        message = "states are put together by an expression over variables, constants and labels"
        raise LanguageError(message, question.source, expression.span)
    evaluation = Evaluation(model, program, question.source, settings)
    found = evaluation.value(expression)
    numbers = evaluation.everywhere(found.must if isinstance(found, Truth) else found.lower)
    other = evaluation.everywhere(found.may if isinstance(found, Truth) else found.upper)
    # What is not exact, such as 1/3, is one value all the same: the middle of where it is.
    middle = numbers if isinstance(found, Truth) else np.where(numbers == other, numbers, (numbers + other) / 2)
    values, place = np.unique(np.asarray(middle), return_inverse=True)
    whole = not isinstance(found, Truth) and found.integral
    return Grouping(question.prop.text, [int(v) if whole else v for v in values.tolist()], place.reshape(-1))
