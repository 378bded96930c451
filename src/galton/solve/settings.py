"""How to solve: one object that travels from the user to every method."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..device.threads import check_threads
from ..lang.source import GaltonError
from .methods import DEFAULT, TIMED, check_name

if TYPE_CHECKING:
    from .tolerance import Tolerance

__all__ = ["FINEST", "Settings", "Watch"]

FINEST = 1e-13  # the smallest eps: bounds of doubles are not narrower, relative to the value, but by luck

# Called now and then with what is going on (method, sweeps, residual, bounds so far, …); may raise to stop.
Watch = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a user may choose about the numbers.

    Attributes
    ----------
    eps
        Half the relative (or absolute) width that the bounds of an answer may have; for a method chosen by hand, the
        change between sweeps at which it stops. A relative one is at least :data:`FINEST`.
    relative
        Whether ``eps`` is relative to the value.
    method
        A method chosen by hand, which gives up the guarantee unless the method has one; None for the default, which
        proves its bounds. Those for time bounds have it. A method is refused where a property has no question for it,
        and so are all choices below.
    max_iterations
        Sweeps after which a method chosen by hand, or a long-run average, gives up; None for its own limit.
    omega
        The relaxation of JOR and SOR.
    threads
        None for all cores.
    format, order
        On a device, how the matrix is laid out and how unknowns, or states, are numbered: names of
        :mod:`galton.backend.formats`; None for what suits the matrix.
    single
        On a device, whether to sweep with vectors in single precision first. Bounds are proved in double precision all
        the same. A method chosen by hand that only sweeps keeps to single precision, and proves nothing either way.
        Step and time bounds do all their steps in single precision, and have its rounding in their bounds.
    stream
        On the host, whether a device may be asked for large components, one after the other. Galton sets it where a
        model does not fit on the device as a whole.
    strategy
        Whether to keep the choices that attain the value of an MDP.
    exact
        Whether to answer in rational numbers, which leaves nothing of the above to choose but ``threads``.
    fair
        For an MDP, whether strategies have to be fair: with probability 1, those who come back to a state for ever take
        each of its choices again and again.
    watch
        Told of progress; see :data:`Watch`.

    Examples
    --------
    >>> import galton
    >>> settings = galton.Settings(eps=1e-9, relative=False)
    >>> chain = galton.Model.from_matrix("dtmc", [[0.5, 0.25, 0.25], [0, 1, 0], [0, 0, 1]], labels={"won": [2]})
    >>> result = galton.check(chain, 'P=? [ F "won" ]', settings=settings)
    >>> result.upper - result.lower <= 2e-9
    True
    """

    eps: float = 1e-6
    relative: bool = True
    method: str | None = None
    max_iterations: int | None = None
    omega: float | None = None
    threads: int | None = None
    format: str | None = None
    order: str | None = None
    single: bool = False
    stream: bool = False
    strategy: bool = False
    exact: bool = False
    fair: bool = False
    watch: Watch | None = None

    def __post_init__(self) -> None:
        if not 0 < self.eps < math.inf:
            raise GaltonError(f"eps has to be a positive number, and {self.eps} is not")
        check_threads(self.threads)
        if self.method is not None:
            check_name(self.method)
        if self.format is not None or self.order is not None:
            from ..backend.formats import check_names

            check_names(self.format, self.order)

    def check_eps(self) -> None:
        """Refuse an eps of a user that says nothing, or that doubles cannot attain.

        What Galton asks of itself on the way may be finer.
        """
        if self.eps >= 1:
            raise GaltonError(f"eps must lie between 0 and 1, and this is {self.eps:g}")
        if self.relative and self.eps < FINEST:
            raise GaltonError(
                f"eps is {self.eps:g}, relative to the value, and doubles have too few digits for that; "
                f"{FINEST:g} is the smallest eps"
            )

    @property
    def by_hand(self) -> bool:
        """Whether a method was chosen for unbounded questions, other than the default."""
        return self.method not in (None, DEFAULT, *TIMED)

    @property
    def tolerance(self) -> Tolerance:
        """When bounds are close enough."""
        from .tolerance import Tolerance

        return Tolerance(self.eps, self.relative)

    @property
    def n_threads(self) -> int:
        """How many threads to use."""
        return self.threads or len(os.sched_getaffinity(0))

    def tighter(self, factor: float) -> Settings:
        """Return settings that ask for bounds that many times narrower."""
        return replace(self, eps=self.eps / factor)

    def tell(self, **news: Any) -> None:
        """Report progress, if somebody listens."""
        if self.watch is not None:
            self.watch(news)
