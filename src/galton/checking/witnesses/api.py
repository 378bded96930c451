"""``galton.counterexample``: why a property is false, from Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...explore import build
from ...lang import Source, parse_properties
from ...lang.expressions import Value
from ...lang.model_types import nature_of
from ...lang.program import Program
from ...lang.resolution import resolve
from ...lang.source import GaltonError
from ...model.described import described
from ...model.sparse import Model
from ...solve.settings import Settings
from ..exploration import terminal
from ..inquiring import settled
from ..inspection import Terms, check_choices, kinds_of
from .counterexample import Counterexample
from .finding import MOST_PATHS, check_explained, find_counterexample

__all__ = ["counterexample"]


def counterexample(
    subject: Model | Program | str | Path,
    prop: str,
    *,
    paths: int = MOST_PATHS,
    settings: Settings | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> Counterexample | None:
    """Find the likeliest paths that show that a property is false.

    Parameters
    ----------
    subject
        A model, a program, or the path of a file in the PRISM language.
    prop
        A bound on a probability, such as ``P<=0.1 [ F "lost" ]``, or ``A [ … ]`` or ``E [ … ]``.
    paths
        How many paths may be listed. Where more are needed, states whose paths show it are given instead.
    settings
        Choices about the numbers; see :class:`galton.Settings`.
    constants, more_constants
        Values for constants of the file and of the property.

    Returns
    -------
    Counterexample or None
        The paths, with a proved bound from below on their probability; None where the property is true. For ``A`` and
        ``E`` it is a single path: one that shows that ``A`` is false, or that ``E`` is true.

    Raises
    ------
    GaltonError
        If something is wrong with the model or the property, or if no paths show such a property.

    Examples
    --------
    >>> import galton
    >>> program = galton.parse("dtmc  module coin  s : [0..2];  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);  endmodule")
    >>> galton.counterexample(program, "P<0.3 [ F s=2 ]")
    counterexample to P<0.3 [ F s=2 ]:
      1 path on which F s = 2 holds, with probability 0.5 or more; >= 0.3 is needed
      path 1, probability 0.5
        step  probability  state
           0               (s=0)
           1          0.5  s=2
    """
    if paths < 1:
        raise GaltonError(f"a counterexample has one path or more, and {paths} may be listed")
    chosen = settings or Settings()
    given: dict[str, Value | str] = {**(constants or {}), **more_constants}
    file = parse_properties(Source("property", prop))
    if len(file.properties) != 1:
        raise GaltonError(f"one property is asked for, and this text has {len(file.properties)}")
    own = {constant.name.name for constant in file.constants}
    mine = {name: value for name, value in given.items() if name in own}
    others = {name: value for name, value in given.items() if name not in own}
    subject = settled(subject, others)
    if isinstance(subject, Model):
        context, (question,) = resolve(file, described(subject), mine, labels=subject.labels)
        return find_counterexample(context, subject, question, chosen, most=paths)
    context, (question,) = resolve(file, subject, mine)
    kinds_of(question, context)  # what makes no sense shows before anything is built
    check_explained(question, Terms(nature_of(subject.type), context.constants, question.source), chosen)
    check_choices(question, context, chosen, type=subject.type)
    model = build(subject, device="cpu", terminal=terminal([(context, question)]))
    return find_counterexample(context, model, question, chosen, most=paths)
