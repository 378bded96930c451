"""Property files in the context of a program."""

from __future__ import annotations

import pytest
from asking import MACHINE

import galton
from galton.checking.answering import check
from galton.lang import LanguageError, Source, parse_properties
from galton.lang.resolution import constants_of, has_path, resolve


@pytest.mark.parametrize(
    "text", ['label "up" = state=1; true;', "const int state = 3; true;", "formula state = true; true;"]
)
def test_a_property_file_may_not_give_a_name_of_the_model_a_second_meaning(text: str) -> None:
    with pytest.raises(LanguageError, match="has the name of something in the model"):
        resolve(parse_properties(Source("p", text)), galton.parse(MACHINE), {})


def test_constants_formulas_and_labels_of_a_property_file() -> None:
    program = galton.parse(MACHINE)
    text = 'const int k; formula far = state>=k; label "far" = far; P=? [ X "far" ]; P=? [ X far & state<2 ];'
    context, questions = resolve(parse_properties(Source("p", text)), program, {"k": "1"})
    assert [check(context, program.build(), question).value for question in questions] == [1.0, 1.0]
    assert constants_of(questions[0].prop.expression, context) == {"k": 1}
    assert constants_of(questions[1].prop.expression, context) == {"k": 1}


def test_only_the_property_that_needs_a_constant_fails() -> None:
    file = parse_properties(Source("p", "const int k; P=? [ F state=k ]; P=? [ F state=2 ];"))
    _, (first, second) = resolve(file, galton.parse(MACHINE), {})
    assert first.prop.error is not None
    assert second.prop.error is None


def test_properties_of_an_earlier_file() -> None:
    program = galton.parse(MACHINE)
    context, questions = resolve(parse_properties(Source("p", '"jump": P=? [ X state=1 ]')), program, {})
    later = parse_properties(Source("q", '1 - "jump"'))
    context, (question,) = resolve(later, context, {}, earlier=[q.prop for q in questions])
    assert check(context, program.build(), question).value == 0


def test_temporal_operators_inside_others_do_not_count() -> None:
    file = parse_properties(Source("p", "P=? [ F P>0 [ X true ] ]; P=? [ (F true) & true ]"))
    inner, outer = (p.expression.path for p in file.properties)  # type: ignore[attr-defined]
    assert not has_path(inner.operand)
    assert has_path(outer)


@pytest.mark.parametrize("bound", ["0/0", "0/z", "log(-1, 2)", "pow(-1, 0.5)", "z/z + 1"])
def test_nothing_is_compared_with_what_is_no_number(bound: str) -> None:
    program = galton.parse("dtmc  const int z = 0;  module m  x : [0..1];  [] true -> (x'=1);  endmodule")
    with pytest.raises(galton.LanguageError, match="this is no number, so states cannot be compared with it"):
        galton.check(program, f"P=? [ F x={bound} ]")
    with pytest.raises(galton.LanguageError, match="the constant 'c' is no number"):
        galton.check(program, f"const double c = {bound};  P=? [ F x=c ]")
    with pytest.raises(galton.LanguageError, match='the label "odd" compares states'):
        galton.check(program, f'label "odd" = x={bound};  P=? [ F "odd" ]')
    for guarded in (f"z>0 & x={bound} | x=1", f"z=0 ? x=1 : x={bound}"):  # nobody needs its value
        assert galton.check(program, f"P=? [ F ({guarded}) ]").value == 1
