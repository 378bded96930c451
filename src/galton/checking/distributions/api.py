"""``galton.transient`` and ``galton.steady_state``: distributions over states, from Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import overload

from ...explore import build
from ...lang import Source, parse_properties
from ...lang.expressions import Value
from ...lang.program import Program
from ...lang.resolution import resolve
from ...lang.source import GaltonError
from ...model.described import described
from ...model.sparse import Model
from ...solve.settings import Settings
from ..inquiring import settled
from .distribution import Grouping, StateDistribution, grouped_by
from .steady_state import steady_state_distribution
from .transient import transient_distributions

__all__ = ["Distributions", "steady_state", "transient"]


@dataclass(frozen=True, eq=False)
class Distributions:
    """The distributions of a model that is built, over its states or over the values of an expression."""

    model: Model
    program: Program
    settings: Settings
    expression: str | None = None

    def at(self, times: Sequence[float]) -> Iterator[StateDistribution]:
        """Find those at times, or after numbers of steps, that ascend; one after the other."""
        grouping = self._grouping()
        for found in transient_distributions(self.model, times, self.settings):
            yield replace(found, grouping=grouping)

    def in_the_long_run(self) -> StateDistribution:
        """Find that of the long run."""
        grouping = self._grouping()
        return replace(steady_state_distribution(self.model, self.settings), grouping=grouping)

    def _grouping(self) -> Grouping | None:
        if self.expression is None:
            return None
        file = parse_properties(Source("expression", self.expression))
        if len(file.properties) != 1 or file.constants:
            raise GaltonError(f"one expression is asked for, and this is {self.expression!r}")
        context, (question,) = resolve(file, self.program, {}, labels=self.model.labels)
        return grouped_by(self.model, context, question, self.settings)


@overload
def transient(
    subject: Model | Program | str | Path,
    time: float,
    *,
    expression: str | None = None,
    eps: float | None = None,
    settings: Settings | None = None,
    **constants: Value | str,
) -> StateDistribution: ...


@overload
def transient(
    subject: Model | Program | str | Path,
    time: Sequence[float],
    *,
    expression: str | None = None,
    eps: float | None = None,
    settings: Settings | None = None,
    **constants: Value | str,
) -> list[StateDistribution]: ...


def transient(
    subject: Model | Program | str | Path,
    time: float | Sequence[float],
    *,
    expression: str | None = None,
    eps: float | None = None,
    settings: Settings | None = None,
    **constants: Value | str,
) -> StateDistribution | list[StateDistribution]:
    """Find where a chain is at a time, with bounds that are proved.

    Parameters
    ----------
    subject
        A model, a program, or the file of one.
    time
        A time or, in a DTMC, a number of steps. Several of them, in ascending order, give a list.
    expression
        States with the same value of it are put together: ``"s"``, ``"x+y"``, ``'"done"'``.
    eps
        About how much probability may be off; 1e-6 if not given.
    settings
        More choices, such as ``threads``.
    constants
        Values for constants of the file.

    Returns
    -------
    StateDistribution
        A share for each state, or for each value of the expression. The chain begins in its initial state or, if there
        are several, in each of them with the same probability.

    Raises
    ------
    GaltonError
        If something is wrong with what is asked, or the model is an MDP.

    Examples
    --------
    >>> import galton
    >>> light = galton.parse("ctmc  module light  on : bool init true;  [] on -> 2 : (on'=false);  endmodule")
    >>> for share in galton.transient(light, 0.5, expression="on"):
    ...     print(share.value, round(share.probability, 4))
    False 0.6321
    True 0.3679
    """
    asked = _asked(subject, expression, eps, settings, constants)
    if isinstance(time, (int, float)):
        return next(asked.at([float(time)]))
    if any(later < sooner for sooner, later in pairwise(time)):
        raise GaltonError("times are given in ascending order")
    return list(asked.at([float(moment) for moment in time]))


def steady_state(
    subject: Model | Program | str | Path,
    *,
    expression: str | None = None,
    eps: float | None = None,
    settings: Settings | None = None,
    **constants: Value | str,
) -> StateDistribution:
    """Find where a chain is in the long run: the share of time, or of steps, that it spends in each state.

    The parameters, and what is raised, are those of :func:`galton.transient`.

    Returns
    -------
    StateDistribution
        A share for each state, or for each value of the expression.

    Examples
    --------
    >>> import galton
    >>> text = "ctmc  module light  on : bool;  [] on -> 3 : (on'=false);  [] !on -> 1 : (on'=true);  endmodule"
    >>> [round(share.probability, 6) for share in galton.steady_state(galton.parse(text), expression="on")]
    [0.75, 0.25]
    """
    return _asked(subject, expression, eps, settings, constants).in_the_long_run()


def _asked(
    subject: Model | Program | str | Path,
    expression: str | None,
    eps: float | None,
    settings: Settings | None,
    constants: dict[str, Value | str],
) -> Distributions:
    chosen = settings or Settings()
    if eps is not None:
        chosen = replace(chosen, eps=eps)
    chosen.check_eps()
    subject = settled(subject, constants)
    if isinstance(subject, Model):
        return Distributions(subject.to_host(), described(subject), chosen, expression)
    return Distributions(build(subject, device="cpu"), subject, chosen, expression)
