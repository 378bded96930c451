"""``galton.check``: a question about a model, from Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from .checking.answering import check as check_question
from .checking.exploration import needs_automaton, terminal
from .checking.inspection import check_choices, count_devices, kept_besides, kinds_of
from .checking.result import Result
from .checking.symmetry import symmetry_of, why_whole
from .explore import build
from .lang import Source, check_program, parse_model, parse_properties
from .lang.expressions import Value
from .lang.program import Program
from .lang.resolution import resolve
from .lang.source import GaltonError, read_source
from .lower.symmetry import Symmetries
from .model.described import described
from .model.sparse import Model
from .solve.settings import Settings


def check(
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
    symmetry: bool = True,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> Result:
    """Answer a property of a model, with bounds that are proved to hold its value.

    Parameters
    ----------
    subject
        A model, a program, or the path of a file in the PRISM language. What is not a model yet is built as far as the
        property needs it.
    prop
        The property; it may declare constants, formulas and labels of its own.
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
    symmetry
        Whether to explore one state of several that symmetries of a program make alike, where the property is about
        none of them alone. The answer is the same.
    constants, more_constants
        Values for constants of the file and of the property.

    Returns
    -------
    Result
        The value, its bounds, and how they were found.

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
    """
    given: dict[str, Value | str] = {**(constants or {}), **more_constants}
    chosen = settings or Settings()
    if exact or chosen.exact:
        from .checking.exact import device_for_exact, refuse_beside_exact

        chosen, device = replace(chosen, exact=True, method=method or chosen.method), device_for_exact(device, eps)
        refuse_beside_exact(chosen, strategy=strategy, certificate=certificate)
    if eps is not None:
        chosen = replace(chosen, eps=eps)
    if method is not None:
        chosen = replace(chosen, method=method)
    if fair:
        chosen = replace(chosen, fair=True)
    chosen.check_eps()
    file = parse_properties(Source("property", prop))
    if "HOA" in prop:
        from .checking.automaton_files import with_automata

        file = with_automata(file)
    if len(file.properties) != 1:
        raise GaltonError(f"one property is asked for, and this text has {len(file.properties)}")
    own = {constant.name.name for constant in file.constants}
    mine = {name: value for name, value in given.items() if name in own}
    if isinstance(subject, (str, Path)):
        others = {name: value for name, value in given.items() if name not in own}
        subject = check_program(parse_model(read_source(subject)), others)
    elif unknown := sorted(given.keys() - own):
        raise GaltonError(f"the property declares no constant '{unknown[0]}', and those of a model are chosen before")
    reading = None
    if isinstance(subject, Model):
        model = subject
        context, (question,) = resolve(file, described(model), mine, labels=model.labels)
    else:
        context, (question,) = resolve(file, subject, mine)
        kinds_of(question, context)  # what makes no sense shows before anything is built
        devices, beside = count_devices(device), kept_besides(strategy=strategy, certificate=certificate)
        check_choices(question, context, chosen, type=subject.type, device=device, devices=devices, beside=beside)
        if needs_automaton(question) and not certificate and not chosen.exact and not chosen.fair:
            from .checking.automaton_reading import reading_of

            reading = reading_of(question, context, strategy=strategy or chosen.strategy)
        kept = None
        if symmetry and not why_whole(
            exact=chosen.exact, fair=chosen.fair, strategy=strategy or chosen.strategy, certificate=certificate
        ):
            kept = symmetry_of(Symmetries(subject), context, question)
        if reading is not None:
            model = build(reading.program(subject), device=device, reader=reading.reader, symmetry=kept)
        else:
            end = None if certificate else terminal([(context, question)])
            if chosen.exact:
                from .checking.exact import refuse_without_answer, terminal_for_exact

                refuse_without_answer(question, context, subject.type)
                end = terminal_for_exact(end, context)
            model = build(subject, device=device, terminal=end, symmetry=kept)
    keep = strategy or chosen.strategy
    result = check_question(context, model, question, chosen, strategy=keep, certificate=certificate, reading=reading)
    if certificate:
        from .certify import certified

        result = replace(result, certificate=certified(result, context, model, question))
    return result
