"""``galton.check``: questions about a model, from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import overload

from .checking.asking import Answers, Asked, Inquiry, QuietWorker, Row
from .checking.experiment import ranges
from .checking.inquiring import choose, inquire, is_path
from .checking.inspection import check_strategy, kept_besides
from .checking.result import Result
from .checking.results import Results
from .checking.state_values import Everywhere
from .lang.expressions import Value
from .lang.program import Program
from .lang.source import GaltonError
from .model.sparse import Model
from .solve.methods import DEFAULT
from .solve.settings import Settings


@overload
def check(  # type: ignore[overload-overlap]  # a text is a sequence of texts, but not here
    subject: Model | Program | str | Path,
    prop: str,
    *,
    eps: float | None = None,
    method: str | None = None,
    settings: Settings | None = None,
    strategy: bool = False,
    certificate: bool = False,
    fair: bool = False,
    device: str = "auto",
    exact: bool = False,
    slice: bool = True,
    symmetry: bool = True,
    lump: bool | None = None,
    matrix_free: bool = False,
    name: str | Sequence[str] | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> Result: ...


@overload
def check(
    subject: Model | Program | str | Path,
    prop: Path | Sequence[str | Path],
    *,
    eps: float | None = None,
    method: str | None = None,
    settings: Settings | None = None,
    strategy: bool = False,
    certificate: bool = False,
    fair: bool = False,
    device: str = "auto",
    exact: bool = False,
    slice: bool = True,
    symmetry: bool = True,
    lump: bool | None = None,
    matrix_free: bool = False,
    name: str | Sequence[str] | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> Results: ...


def check(
    subject: Model | Program | str | Path,
    prop: str | Path | Sequence[str | Path],
    *,
    eps: float | None = None,
    method: str | None = None,
    settings: Settings | None = None,
    strategy: bool = False,
    certificate: bool = False,
    fair: bool = False,
    device: str = "auto",
    exact: bool = False,
    slice: bool = True,
    symmetry: bool = True,
    lump: bool | None = None,
    matrix_free: bool = False,
    name: str | Sequence[str] | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> Result | Results:
    """Answer a property of a model, with bounds that are proved to hold its value.

    Parameters
    ----------
    subject
        A model, a program, or the path of a file. What is not a model yet is built as far as the properties need it.
    prop
        A property, which may declare constants, formulas and labels of its own. Or the path of a file of properties
        (``.props``, ``.pctl``, ``.csl``; ``.jani`` for those in a model), or a list of properties and paths: all are
        asked of one model.
    eps
        How close the bounds have to be: half their width, relative to the value.
    method
        A method of solving, chosen by name; by default the answer is proved.
    settings
        All other choices about the numbers; see :class:`galton.Settings`.
    strategy
        Whether to keep the strategy that attains the value of an MDP.
    certificate
        Whether to make a certificate, which :func:`galton.verify` verifies. All states of a program are built for it.
    fair
        For an MDP, whether strategies have to be fair: with probability 1, those who come back to a state for ever take
        each of its choices again and again.
    device
        Where to build what is not a model yet, and so where to check it: ``"cpu"``, ``"cuda"``, or ``"auto"``, which
        takes a device where there is one and the model is large enough.
    exact
        Whether to answer in rational numbers: those of the text, where the subject is a file or a program, and the
        doubles of a model otherwise. ``result.exact`` is a ``Fraction``. No choice about methods goes with it.
    slice
        Whether to leave out variables and commands of a program that the property does not depend on. The answer is
        the same.
    symmetry
        Whether to explore one state of several that symmetries of a program make alike, where the property is about
        none of them alone. The answer is the same.
    lump
        Whether to make one state of those that behave alike, as far as the properties look. None does so where it is
        likely to save time. The answer is the same.
    matrix_free
        Whether to keep states and no matrix on a device: rows are computed anew from a program in each sweep. For
        ``P [ F … ]``, ``P [ … U … ]`` and ``R [ F … ]`` of DTMCs and MDPs whose matrix is larger than its memory.
    name
        Of files, only the properties of these names, or of these numbers, counted from 1, as texts.
    constants, more_constants
        Values for constants of the file and of the property.

    Returns
    -------
    Result
        The value, its bounds, and how they were found. For a file or a list :class:`~galton.Results`: one for each
        property, by its place or its name.

    Raises
    ------
    GaltonError
        If something is wrong with the model, the property or the choices, or if no method gives an answer. The message
        says what, where, and what to do.

    Examples
    --------
    A truth value:

    >>> import galton
    >>> program = galton.parse("dtmc  module coin  s : [0..2];  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);  endmodule")
    >>> galton.check(program, "P>=0.5 [ X s>0 ]").value
    True

    A number, with its bounds and a constant of the property:

    >>> result = galton.check(program, "const int k;  P=? [ F<=k s=2 ]", k=3)
    >>> result.lower <= 0.5 <= result.upper
    True

    Several properties of one model, and the value of one in all states:

    >>> results = galton.check(program, ["P=? [ F s=1 ]", "P=? [ F s=2 ]"])
    >>> f"{results[0] + results[1]:.3f}", results[1].values.at(s=2)
    ('1.000', 1.0)
    """
    given: dict[str, Value | str] = {**(constants or {}), **more_constants}
    chosen, device = choose(
        settings, eps, method, exact=exact, fair=fair, device=device, strategy=strategy, certificate=certificate
    )
    keep = strategy or chosen.strategy
    inquiry = inquire(
        subject,
        prop,
        given,
        chosen,
        full=certificate,
        strategy=keep,
        slice=slice,
        symmetry=symmetry,
        lump=lump,
        name=name,
    )
    single = isinstance(prop, str) and not is_path(prop)
    if single and len(inquiry.selected) != 1:
        raise GaltonError(
            f"one property is asked for, and this text has {len(inquiry.selected)}; a list of properties, or the path "
            "of a file, gives a list of results"
        )
    for name, values in ranges({**inquiry.of_model, **inquiry.of_properties}).items():
        if len(values) > 1:
            raise GaltonError(f"'{name}' has {len(values):,} values; galton.experiment gives a row for each of them")
    worker = QuietWorker(chosen, {"device": device}, strategy=keep, certificate=certificate)
    (row,) = inquiry.rows()
    if matrix_free:
        named = chosen.method not in (None, DEFAULT)
        if keep or certificate or lump is not None or chosen.exact or chosen.fair or named:
            raise GaltonError("matrix_free goes with none of strategy, certificate, lump, exact, fair and method")
        from .checking.matrix_free import answer_row

        results = answer_row(inquiry, row, device)
        return results[0] if single else Results(results)
    found = _answered(inquiry, row, worker, device, kept_besides(strategy=strategy, certificate=certificate))
    return found[0] if single else Results(found)


def _answered(inquiry: Inquiry, row: Row, worker: QuietWorker, device: str, beside: Sequence[str]) -> list[Result]:
    """The answers of one row; what is wrong with any of them is raised."""
    (asked,) = row.asked
    for one in asked:
        if one.wrong is not None:
            raise one.wrong
    if not isinstance(inquiry.subject, Model):
        inquiry.check_choices(row, device, beside)
    elif inquiry.strategy:
        for one in asked:
            check_strategy(one.question, inquiry.type_of(one.context))
    answers = Answers(inquiry, row, worker)
    return [_result(inquiry, answers, row, one, worker) for one in asked]


def _result(inquiry: Inquiry, answers: Answers, row: Row, asked: Asked, worker: QuietWorker) -> Result:
    found, built = answers.of(asked)
    if isinstance(found, GaltonError):
        raise found
    assert built is not None
    certificate = None
    if worker.certificate:
        from .certify import certified

        certificate = certified(found, asked.context, built.model, asked.question)
    subject = inquiry.subject if isinstance(inquiry.subject, Model) else row.program
    assert subject is not None
    everywhere = Everywhere(subject, asked.context, asked.question, replace(inquiry.settings, watch=None))
    return replace(found, certificate=certificate, everywhere=everywhere)
