"""What people get wrong, and what they are told."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from chains import PLANT, SPACE

import galton
from galton import synthesize
from galton.lang import GaltonError
from galton.synth.parameters import parse_range

SIMPLE = """ctmc
const double k;
const double unused;
const int n;
const int m = 2;
module m1
  s : [0..2];
  [] s=0 -> k : (s'=1);
  [] s=1 -> {rate} : (s'=2);
endmodule
label "far" = s>={label};
rewards true : 1; endrewards
"""
PROP = "P>=0.5 [ F<=1 s=2 ]"


def refused(text: str, prop: str = PROP, **asked: Any) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.prism"
        path.write_text(text)
        with pytest.raises(GaltonError) as caught:
            synthesize(path, prop, **asked)
    return str(caught.value)


def simple(rate: str = "k", label: str = "1") -> str:
    return SIMPLE.format(rate=rate, label=label).replace("const double unused;\nconst int n;\n", "")


def test_ranges() -> None:
    assert "the range 2:1 of 'k' is reversed; write k=1:2" in refused(simple(), k=(2, 1))
    assert "the range of 'k' is the single value 1; give it as k=1" in refused(simple(), k=(1, 1))
    assert "the range 1:inf of 'k' is not finite" in refused(simple(), k=(1, float("inf")))
    assert "nothing to synthesise; give a parameter" in refused(simple().replace("double k;", "double k=1;"))
    for text in ("k", "k=", "k=1", "k=1:", "=1:2", "k 1:2"):
        with pytest.raises(GaltonError, match="is no parameter with a range; write it as name=low:high"):
            parse_range(text)


def test_names() -> None:
    assert "has no constant 'kk' that could be a parameter; did you mean 'k'" in refused(simple(), kk=(1, 2))
    text = SIMPLE.format(rate="k", label=1).replace("const int n;", "")
    assert "depends on the parameter 'unused'; leave it out" in refused(text, k=(1, 2), unused=(1, 2))
    assert "the constant 'm' is of type int; only a double can be a parameter" in refused(simple(), m=(1, 2))
    text = SIMPLE.format(rate="k*n", label=1).replace("const double unused;", "")
    assert "constants without a value: n; give them as keyword arguments, or a range as name=(low, high)" in refused(
        text, k=(1, 2)
    )


@pytest.mark.parametrize(
    ("rate", "shown"),
    [
        ("floor(k)", "floor(k)"),
        ("1/(1+k)", "1/(1+k)"),
        ("k^s", "k^s"),
        ("pow(2, k)", "pow(2, k)"),
        ("k>1 ? 1 : 2", "k>1 ? 1 : 2"),
        ("max(k, 1)", "max(k, 1)"),
    ],
)
def test_rates_that_are_no_polynomials(rate: str, shown: str) -> None:
    told = refused(simple(rate), k=(1, 2))
    assert "model.prism:7:" in told
    assert "the parameter 'k' stands in" in told
    assert "which is no sum of products of parameters" in told
    assert shown.replace(" ", "") in told.replace(" ", "")


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("[] s=1", "[] s=1 & k>1", "a guard"),
        ("(s'=2)", "(s'=k>1 ? 2 : 1)", "the new value of 's'"),
        ("[0..2]", "[0..ceil(k)]", "the range of 's'"),
        ("[0..2];", "[0..2] init floor(k);", "the initial value of 's'"),
        ("s>=1;", "s>=k;", 'the label "far"'),
        ("true : 1;", "k>1 : 1;", "the condition of a reward"),
    ],
)
def test_parameters_in_other_places(before: str, after: str, place: str) -> None:
    told = refused(simple().replace(before, after), k=(1, 2))
    assert f"the parameter 'k' may only stand in rates, probabilities and rewards, not in {place}" in told
    assert "model.prism:" in told


def test_derived_constants_are_followed_to_where_they_stand() -> None:
    told = refused(simple(label="l").replace("const int m", "const double l = 2*k;\nconst int m"), k=(1, 2))
    assert "the parameter 'k' may only stand in rates, probabilities and rewards, not in the label \"far\"" in told


@pytest.mark.parametrize(
    ("prop", "asked", "told"),
    [
        ("P=? [ F<=1 s=2 ]", {}, "this property has no threshold, so there is nothing to decide"),
        (PROP, {"maximize": True}, "this property has a threshold, and an optimum or all values are asked for"),
        ("P=? [ F<=1 s=2 ]", {"maximize": True, "minimize": True}, "are different questions; ask one at a time"),
        ("P>=0.5 [ F s=2 ]", {}, "the synthesis of a CTMC needs a time bound"),
        ("P>=0.5 [ F>=1 s=2 ]", {}, "the synthesis of a CTMC needs a time bound"),
        ("R>=0.5 [ F s=2 ]", {}, "the synthesis of a CTMC needs a time bound"),
        ("R>=0.5 [ C ]", {}, "the synthesis of a CTMC needs a time bound"),
        ("P>=0.5 [ F<=1 P>=0.5 [ F s=2 ] ]", {}, "the synthesis of a CTMC needs a time bound"),
        ("P>=0.5 [ X s=2 ]", {}, "only untils with a time bound, F, G and U, are supported"),
        ("S>=0.5 [ s=2 ]", {}, "synthesis needs one P or R operator at the outside"),
        ("s=2", {}, "synthesis needs one P or R operator at the outside"),
        ("P>=0.5 [ F<=1 S>=0.5 [ s=2 ] ]", {}, "this cannot stand inside an operator in a synthesis"),
        ("P>=k [ F<=1 s=2 ]", {}, "'k' depends on a parameter, so it cannot stand in the property"),
        ("P>=0.5 [ F<=k s=2 ]", {}, "'k' depends on a parameter, so it cannot stand in the property"),
        ('R{"x"}>=0.5 [ C<=2 ]', {}, 'unknown reward structure "x"'),
        ("R{2}>=0.5 [ C<=2 ]", {}, "the model has 1 reward structure, and this is number 2"),
        ("Pmax>=0.5 [ F<=1 s=2 ]", {}, "Pmin and Pmax are about the strategies of an MDP"),
        (PROP, {"volume": 0.0}, "a tolerance has to be above 0, and this is 0"),
        (PROP, {"volume": 0.1, "tolerance": 0.1}, "volume and tolerance are two names for one number"),
        (PROP, {"split": "some"}, "boxes are split along the 'best' parameter or along 'all', not 'some'"),
        (f"{PROP}; {PROP}", {}, "one property is asked for, and this text has 2"),
    ],
)
def test_properties(prop: str, asked: dict[str, Any], told: str) -> None:
    assert told in refused(simple(), prop, k=(1, 2), **asked)


def test_points_need_all_parameters() -> None:
    regions = synthesize(galton.parse(PLANT), 'P>=0.2 [ F<=2 "busy" ]', volume=0.5, **SPACE)
    with pytest.raises(GaltonError, match="a point needs a value for each of a, b"):
        regions.at(a=1)
    with pytest.raises(GaltonError, match="outside of the ranges"):
        regions.at(a=100, b=1)


@pytest.mark.parametrize(
    ("prop", "said"),
    [
        ("P>=1.4 [ F<=1 s=2 ]", "a probability lies between 0 and 1, and this bound is 1.4"),
        ("P<-0.1 [ F<=1 s=2 ]", "a probability lies between 0 and 1, and this bound is -0.1"),
        ("P>=0.4 [ F<=1 P<7 [ F<=1 s=2 ] ]", "a probability lies between 0 and 1, and this bound is 7"),
        ("R<=-1 [ C<=1 ]", "expected rewards and times are not negative, and this bound is -1"),
    ],
)
def test_thresholds_that_no_value_can_have_are_refused(prop: str, said: str) -> None:
    assert said in refused(simple(), prop, k=(1, 2))


COUNTER = "ctmc const double k; module m s : [0..2]; [] s<2 -> k : (s'=s+1); {more} endmodule {rewards}"


@pytest.mark.parametrize(
    ("more", "rewards", "message"),
    [
        ("", 'rewards "r" true : mod(5, s); endrewards', r"needs a positive divisor, not 0, in state \(s=0\)"),
        ("", 'rewards "r" s>0 : 1/(s-1); endrewards', r"this is inf, in state \(s=1\)"),
        ("[] s=1 -> 1e308 : (s'=0); [] s=1 -> 1.7e308 : (s'=2);", "", r"the rates of state \(s=1\) add up to more"),
    ],
)
def test_what_has_no_value_in_a_state_is_told_with_the_state(more: str, rewards: str, message: str) -> None:
    program = galton.parse(COUNTER.format(more=more, rewards=rewards))
    with pytest.raises(galton.GaltonError, match=message):
        galton.synthesize(program, "P>=0.5 [ F<=1 s=2 ]", k=(0.1, 2), device="cpu")


def test_models_that_are_built_have_no_parameters(tmp_path: Path) -> None:
    model = galton.parse(SIMPLE.format(rate=1, label=1), k=1, n=1, unused=0).build()
    galton.write_model(model, tmp_path / "simple.umb")
    for subject in (model, tmp_path / "simple.umb", str(tmp_path / "simple.umb")):
        with pytest.raises(GaltonError, match="holds states, not commands"):
            synthesize(subject, PROP, k=(0.1, 1))  # type: ignore[arg-type]


def test_a_file_of_properties_may_be_a_text(tmp_path: Path) -> None:
    (tmp_path / "two.props").write_text(f'"slow": {PROP}; "fast": P>=0.5 [ F<=9 s=2 ];')
    program = galton.parse(SIMPLE.format(rate=1, label=1), n=1, unused=0)
    found = synthesize(program, str(tmp_path / "two.props"), name="slow", k=(0.1, 1), tolerance=0.5)
    assert found.formula == PROP


@pytest.mark.parametrize("given", [(0.05,), (0.05, 0.1, 0.2), ("low", "high"), ()])
def test_a_range_that_is_no_pair(given: tuple[object, ...]) -> None:
    said = refused(simple(), k=given)
    assert said == f"the range of a parameter is its least and its greatest value, k=(low, high), and not k={given}"


def test_a_tolerance_that_leaves_nothing_to_decide() -> None:
    assert "a tolerance of 2 leaves the whole space undecided" in refused(simple(), k=(1, 2), tolerance=2)
