"""What a property is worth in every state of a model, labelled by the states."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..device.arrays import on_host
from ..lang.depth import DeepRecursion
from ..lang.markup import grid
from ..lang.program import Program
from ..lang.properties import Multi, Quantile
from ..lang.resolution import Question
from ..lang.source import GaltonError
from ..model.sparse import Model
from ..model.tables import import_pandas, state_index
from ..solve.settings import FINEST, Settings
from .answering import AGAIN
from .evaluation import Evaluation, UndecidedError
from .intervals import Truth
from .result import shown

if TYPE_CHECKING:
    import pandas

__all__ = ["Everywhere", "StateValues"]

FEW = 20  # states that a notebook shows


@dataclass(frozen=True, eq=False, repr=False)
class StateValues:
    """A value for each state of a model.

    It is an array to NumPy: ``np.asarray(values)``, ``values.max()`` is ``np.max(values)``. ``values[3]`` is the value
    of the state with the number 3, :meth:`at` finds a state by its variables, and :meth:`to_pandas` makes a table.

    Attributes
    ----------
    model
        The model whose states these are.
    formula
        What was asked.
    array
        ``(states,)`` numbers, the middles of their bounds; or truth values, None where the bounds do not decide.
        Fractions where exact numbers were asked for.
    lower, upper
        Bounds on each number that hold it for certain; for truth values, what is sure and what is possible.

    Examples
    --------
    >>> import galton
    >>> def gambler(euros):
    ...     return [] if euros in (0, 4) else [(0.5, euros - 1), (0.5, euros + 1)]
    >>> model = galton.Model.from_function(gambler, initial=1)
    >>> values = galton.check(model, "P=? [ F euros=4 ]").values
    >>> round(values.at(euros=3), 6), len(values)
    (0.75, 5)
    """

    model: Model
    formula: str
    array: npt.NDArray[Any]
    lower: npt.NDArray[Any]
    upper: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array)

    def __getitem__(self, number: Any) -> Any:
        return self.array[number]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.array, dtype=dtype, copy=bool(copy)) if copy else np.asarray(self.array, dtype=dtype)

    def at(self, state: Hashable | Mapping[str, int | bool] | None = None, /, **variables: int | bool) -> Any:
        """The value of one state, by its variables or, where a function made the states, by the state itself."""
        if self.model.states is None:
            raise GaltonError("the states of this model have no names, only numbers: values[3] is that of state 3")
        value = self.array[self.model.states.find(state, **variables)]  # type: ignore[arg-type]
        return value.item() if isinstance(value, np.generic) else value

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row for each state: its variables as the index; the value and its bounds as columns.

        It needs pandas.
        """
        pandas = import_pandas()

        columns = {"value": self.array, "lower": self.lower, "upper": self.upper}
        return pandas.DataFrame(columns, index=state_index(self.model))

    def __repr__(self) -> str:
        low, high = self._extremes()
        return f"<{self.formula} in {len(self):,} states: {low} to {high}>"

    def _repr_html_(self) -> str:
        states = self.model.states
        rows = [
            [str(number) if states is None else states.describe(number), shown(_plain(self.array[number]), 6)]
            for number in range(min(len(self), FEW))
        ]
        more = [["…", f"{len(self) - FEW:,} more states"]] if len(self) > FEW else []
        return grid(["state", "value"], [*rows, *more], self.formula)

    def _extremes(self) -> tuple[str, str]:
        known = [value for value in self.array.tolist() if value is not None]
        return (shown(_plain(min(known)), 6), shown(_plain(max(known)), 6)) if known else ("undecided", "undecided")


def _decided(must: npt.NDArray[np.bool_], may: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Truth values; None where they are undecided."""
    if (must == may).all():
        return must
    found = must.astype(object)
    found[must != may] = None
    return found


def _plain(value: Any) -> Any:
    """A value as Python has it."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    return int(value) if isinstance(value, (int, np.integer)) else float(value)


@dataclass(frozen=True, eq=False)
class Everywhere:
    """What it takes to ask a property in all states: done when somebody wants to know.

    ``subject`` is the model, or the program that it is built from.
    """

    subject: Model | Program
    context: Program
    question: Question
    settings: Settings

    def values(self) -> StateValues:
        """The values in all states; they are on the host."""
        if isinstance(self.question.prop.expression, (Multi, Quantile)):
            raise GaltonError(f"{self.question.prop.text} is about the initial states only, and has no other values")
        model = self._model().to_host()
        if self.settings.exact:
            from .exact.answering import exact_values

            return StateValues(model, self.question.prop.text, *exact_values(self.context, model, self.question))
        with DeepRecursion(self.question.source):
            return StateValues(model, self.question.prop.text, *self._bounded(model))

    def _model(self) -> Model:
        if isinstance(self.subject, Model):
            return self.subject
        from ..explore import build

        return build(self.subject)

    def _bounded(self, model: Model) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Values, and bounds from below and above."""
        settings = self.settings
        while True:
            evaluation = Evaluation(model, self.context, self.question.source, settings)
            try:
                with evaluation.focused(np.ones(model.n_states, dtype=np.bool_)):
                    found = evaluation.value(self.question.prop.expression)
                break
            except UndecidedError:
                if settings.eps <= FINEST or settings.by_hand:
                    raise
                settings = settings.tighter(min(AGAIN, settings.eps / FINEST))
        lower, upper = (on_host(evaluation.everywhere(bound)) for bound in found.bounds)
        if isinstance(found, Truth):
            return _decided(lower, upper), lower, upper
        with np.errstate(invalid="ignore"):
            middle = np.where(lower == upper, lower, lower + (upper - lower) / 2)
        if found.integral and np.isfinite(middle).all() and (lower == upper).all():
            middle = middle.astype(np.int64)
        return middle, lower, upper
