"""``galton.verify``: whether a certificate proves what it claims about a property of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..explore import build
from ..io import is_model_file, read_model
from ..lang import Source, check_program, parse_model, parse_properties
from ..lang.expressions import Expression, Value
from ..lang.program import Program
from ..lang.rendering import render
from ..lang.resolution import resolve
from ..lang.source import GaltonError, read_source
from ..model.described import described
from ..model.sparse import Model
from .certificate import Certificate, read_certificate
from .conditions import RefusedError, check_bound
from .numbers import Exact, Vector, compare, dyadic, outward
from .question import Question, read_question
from .steps import bounds_of_steps

__all__ = ["Verified", "verify", "verify_question"]


@dataclass(frozen=True)
class Verified:
    """What was proved: the value in all initial states is between the bounds; ``holds`` where it is true or false."""

    prop: str
    lower: float
    upper: float
    holds: bool | None


def verify(
    subject: Model | Program | str | Path,
    prop: str,
    certificate: Certificate | str | Path,
    *,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> Verified:
    """Verify that a certificate proves what it claims, with nothing but the model, the property and exact arithmetic.

    Raises ``galton.verifier.RefusedError`` if it does not, naming a state and a condition, and
    ``galton.verifier.CertificateError`` if the file is no certificate; both are a :class:`galton.GaltonError`.

    Parameters
    ----------
    subject
        A model, a program, or the path of a file in the PRISM language, of which all states are built.
    prop
        The property.
    certificate
        A file, or the certificate of a result.
    constants, more_constants
        Values for constants of the file and of the property.

    Examples
    --------
    >>> import galton
    >>> program = galton.parse("dtmc  module coin  s : [0..2];  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);  endmodule")
    >>> result = galton.check(program, "P=? [ F s=2 ]", certificate=True)
    >>> proved = galton.verify(program, "P=? [ F s=2 ]", result.certificate)
    >>> proved.lower <= 0.5 <= proved.upper
    True
    """
    given: dict[str, Value | str] = {**(constants or {}), **more_constants}
    file = parse_properties(Source("property", prop))
    if len(file.properties) != 1:
        raise GaltonError(f"one property is verified, and this text has {len(file.properties)}")
    own = {constant.name.name for constant in file.constants}
    mine = {name: value for name, value in given.items() if name in own}
    others = {name: value for name, value in given.items() if name not in own}
    if isinstance(subject, (str, Path)) and is_model_file(subject):
        subject = read_model(subject)
    if isinstance(subject, (str, Path)):
        subject, others = check_program(parse_model(read_source(subject)), others), {}
    if others:
        raise GaltonError(f"the property declares no constant '{min(others)}', and those of a model are chosen before")
    if isinstance(subject, Model):
        model = subject.to_host()
        context, (question,) = resolve(file, described(model), mine, labels=model.labels)
    else:
        context, (question,) = resolve(file, subject, mine)
        model = build(subject, device="cpu")
    if not isinstance(certificate, Certificate):
        certificate = read_certificate(certificate, model.n_states)
    return verify_question(question.prop.expression, context, model, question.source, certificate)


def verify_question(
    expression: Expression, context: Program, model: Model, source: Source, certificate: Certificate
) -> Verified:
    """Verify a certificate of a property that was resolved against its program."""
    _about_this(expression, context, model, certificate)
    return verify_claim(read_question(expression, context, model, source), certificate)


def verify_claim(question: Question, certificate: Certificate) -> Verified:
    """Verify a certificate of a question: what a property asks, read by :mod:`galton.verifier.question`."""
    if question.kind == "steps":
        lower, upper = bounds_of_steps(question)
    else:
        for side in ("lower", "upper"):
            if side not in certificate.bounds:
                raise RefusedError(f"the certificate has no {side} bounds")
            check_bound(question, side, certificate.bounds[side])
        lower, upper = certificate.bounds["lower"].values, certificate.bounds["upper"].values
    claim = certificate.lower, certificate.upper
    for state in question.model.initial.tolist():
        if compare(lower[state], claim[0]) < 0:
            shown = outward(lower[state], up=False), outward(claim[0], up=False)
            raise RefusedError(f"initial state {state}: the lower bound is {shown[0]!r}, and {shown[1]!r} is claimed")
        if compare(upper[state], claim[1]) > 0:
            shown = outward(upper[state], up=True), outward(claim[1], up=True)
            raise RefusedError(f"initial state {state}: the upper bound is {shown[0]!r}, and {shown[1]!r} is claimed")
    holds = decided(question, lower, upper)
    if (question.comparison is None) != (certificate.holds is None) or certificate.holds != holds:
        said = {True: "true", False: "false", None: "undecided"}
        raise RefusedError(f"the property is {said[holds]} by the bounds, and {said[certificate.holds]} is claimed")
    return Verified(certificate.prop, outward(claim[0], up=False), outward(claim[1], up=True), holds)


def decided(question: Question, lower: Vector, upper: Vector) -> bool | None:
    """Whether the comparison holds in all initial states, by the bounds there; None where they do not tell."""
    if question.comparison is None:
        return None
    operator, threshold = question.comparison
    bound: Exact = dyadic(threshold)
    found: list[bool | None] = []
    for state in question.model.initial.tolist():
        low, high = compare(lower[state], bound), compare(upper[state], bound)
        sure = {">=": low >= 0, ">": low > 0, "<=": high <= 0, "<": high < 0}[operator]
        never = {">=": high < 0, ">": high <= 0, "<=": low > 0, "<": low >= 0}[operator]
        found.append(True if sure else False if never else None)
    return False if False in found else None if None in found else True


def _about_this(expression: Expression, context: Program, model: Model, certificate: Certificate) -> None:
    """A certificate of something else is told as such; what it proves would be looked at all the same."""
    sizes = model.type, model.n_states, model.n_choices, model.n_transitions
    claimed = certificate.type, certificate.states, certificate.choices, certificate.transitions
    if sizes != claimed:
        told = [f"a {t} of {s:,} states, {c:,} choices and {n:,} transitions" for t, s, c, n in (sizes, claimed)]
        raise RefusedError(f"the model is {told[0]}, and the certificate is about {told[1]}")
    if render(expression) != certificate.prop:
        raise RefusedError(
            f"the property is {render(expression)}, and the certificate is about {certificate.prop[:200]}"
        )
    for name, value in certificate.constants.items():
        if context.constants.get(name) != value:
            mine = context.constants.get(name, "not known")
            raise RefusedError(f"the certificate is about {name[:80]}={value}, and {name[:80]} is {mine}")
