"""``galton.lump``: a smaller model with the same answers, from Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..lang.expressions import Value
from ..lang.program import Program
from ..lang.source import GaltonError
from ..model.sparse import Model
from ..reduce.lumping import Lumped, Sight
from ..reduce.lumping import lump as lumped
from ..solve.settings import Settings
from .asking import TYPED, Asked
from .inquiring import Properties, Subject, inquire, settled
from .looking import Looks, WholeModelNeeded
from .lumping import looks_at, sight_of

__all__ = ["Wanted", "lump"]


def lump(
    subject: Subject,
    prop: Properties | None = None,
    *,
    actions: bool = False,
    device: str = "cpu",
    threads: int | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> Lumped:
    """Make one state of those that behave alike: the coarsest strong bisimulation.

    Parameters
    ----------
    subject
        A model, a program, or the path of a file.
    prop
        Properties whose answers have to stay the same: a text, the path of a file, or a list of these. Without any,
        all labels and all rewards are kept, and so the answers to all questions about these.
    actions
        Whether choices of an MDP with different actions differ. Otherwise equal choices become one.
    device
        Where to build what is not a model yet, and so where to lump it.
    threads
        Threads to compute with; all cores if not given.
    constants, more_constants
        Values for constants of the file and of the properties.

    Returns
    -------
    Lumped
        The smaller model, the block of each state, and a way to carry values back.

    Raises
    ------
    GaltonError
        If a property is about single states, so that none can stand for others.

    Examples
    --------
    >>> import galton
    >>> coins = galton.parse('''
    ...     dtmc
    ...     module one  a : [0..2];  [] a=0 -> 0.5:(a'=1) + 0.5:(a'=2);  endmodule
    ...     module two  b : [0..2];  [] b=0 -> 0.5:(b'=1) + 0.5:(b'=2);  endmodule
    ... ''')
    >>> found = galton.lump(coins, "P=? [ F a=1 & b=1 ]")
    >>> found
    <4 blocks standing for 9 states>
    >>> round(galton.check(found.model, "P=? [ F a=1 & b=1 ]").value, 6)
    0.25
    """
    settings = Settings(threads=threads)
    asked = Wanted.of(subject, prop, {**(constants or {}), **more_constants}, settings, actions=actions)
    if isinstance(asked.subject, Model):
        return asked.lumped(asked.subject)
    from ..explore import build

    return asked.lumped(build(asked.subject, device=device))


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is to be lumped, a model or the program of one, and the properties whose answers stay; None for all."""

    subject: Model | Program
    asked: list[Asked] | None
    settings: Settings
    actions: bool

    @classmethod
    def of(
        cls,
        subject: Subject,
        prop: Properties | None,
        given: Mapping[str, Value | str],
        settings: Settings,
        *,
        actions: bool,
        typed: str = TYPED,
    ) -> Wanted:
        """Read all that is given; what is wrong with it shows before anything is built."""
        if prop is None:
            return cls(settled(subject, given), None, settings, actions)
        inquiry = inquire(subject, prop, given, settings, typed=typed)
        (row,) = inquiry.rows()
        for asked in row.all_asked:
            if asked.wrong is not None:
                raise asked.wrong
        assert row.program is not None
        found = inquiry.subject if isinstance(inquiry.subject, Model) else row.program
        return cls(found, row.all_asked, settings, actions)

    def lumped(self, model: Model) -> Lumped:
        """The quotient of the model."""
        sight = self._sight(model)
        found = lumped(model, sight, threads=self.settings.n_threads)
        if not isinstance(found, Lumped):  # a device gives up where the CPU is quicker
            found = lumped(model.to_host(), sight, threads=self.settings.n_threads)
        assert isinstance(found, Lumped)
        return found

    def _sight(self, model: Model) -> Sight:
        if self.asked is None:
            return Sight.whole(model, actions=self.actions)
        looks: list[Looks] = []
        for asked in self.asked:
            try:
                looks.append(looks_at(asked.context, asked.question))
            except WholeModelNeeded as reason:
                raise GaltonError(f"{asked.question.prop.text}: no states can be lumped: {reason}") from None
        return replace(sight_of(model, looks, self.settings, each_label=True), actions=self.actions)
