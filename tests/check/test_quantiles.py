"""The least and the greatest bound for which a formula holds."""

from __future__ import annotations

import math
from random import Random

import pytest
from budget_models import PHONE, WALK, Bound, ask, best_until, random_model

import galton


@pytest.mark.parametrize(
    ("prop", "value"),
    [
        ('quantile(min b, Pmax>=0.5 [ F{"cost"}<=b s=2 ])', 1),
        ('quantile(min b, Pmax>0.5 [ F{"cost"}<=b s=2 ])', 2),
        ('quantile(min b, Pmax>=0.87 [ F{"cost"}<=b s=2 ])', 3),
        ('quantile(min b, Pmax>=0.87 [ F{"cost"}<b s=2 ])', 4),
        ('quantile(max b, Pmax<=0.8 [ F{"cost"}<=b s=2 ])', 2),
        ('quantile(max b, Pmax<=0.8 [ F{"cost"}<b s=2 ])', 3),
        ('quantile(min b, P>=0.5 [ F{"cost"}<=b s=2 ])', 2),
        ('quantile(min b, Pmax>=0.7 [ F{"fraction"}<=b s=2 ])', 1),
        ("quantile(min k, Pmax>=0.7 [ F<=k s=2 ])", 1),
        ("quantile(min k, Pmax>=0.75 [ F<k s=2 ])", 2),
        ('quantile(min k, Pmax>=0.8 [ F^{rew{"cost"}<=3, steps<=k} s=2 ])', 3),
        ('quantile(max k, Pmin>=0.01 [ G{"cost"}<=k s!=2 ])', 5),
        ('quantile(min b, R{"cost"}max>=2 [ C{"cost"}<=b ])', 4),
    ],
)
def test_quantiles_by_hand(prop: str, value: int) -> None:
    found = ask(PHONE, prop)
    if "R{" in prop or "G{" in prop or "steps<=k" in prop:  # beside what the bound gives and the one before it
        number = found.value
        assert isinstance(number, int)
        name, formula = prop[len("quantile(min ") : -1].split(", ", 1)
        holds = [ask(PHONE, f"const int {name}={n}; {formula}").value for n in (number - 1, number, number + 1)]
        assert holds == ([False, True, True] if "(min" in prop else [True, True, False])
    else:
        assert found.value == value
    assert isinstance(found.value, int)


@pytest.mark.parametrize(
    ("text", "prop", "why"),
    [
        (WALK, 'quantile(min b, P>=0.9 [ F{"cost"}<=b x=3 ])', "holds for no b"),
        (WALK, 'quantile(max b, P<=0.9 [ F{"cost"}<=b x=3 ])', "holds for every b"),
        (WALK, 'quantile(max b, P>=0.1 [ F{"cost"}<=b x=3 ])', "holds for every large b"),
        (WALK, 'quantile(min b, P<=0 [ F{"cost"}<=b x=1 ])', "larger bounds do not help"),
        (WALK, 'quantile(max b, P<=0.5 [ F{"cost"}<=b x=1 ])', "not even for 0"),
        (WALK, 'quantile(max b, P>=0.9 [ F{"cost"}>=b x=3 ])', "not even for 0"),
    ],
)
def test_a_quantile_that_does_not_exist_is_said_in_a_sentence(text: str, prop: str, why: str) -> None:
    found = ask(text, prop)
    assert isinstance(found.value, float)
    assert math.isnan(found.value)
    assert any(why in warning for warning in found.warnings), found.warnings


@pytest.mark.parametrize(
    ("prop", "message"),
    [
        ("quantile(min b, P>=0.5 [ F s=2 ])", "stands nowhere"),
        ("quantile(min b, P>=b [ F<=3 s=2 ])", "bounds nothing"),
        ("quantile(min b, P>=0.5 [ F[b,b] s=2 ])", "more than once"),
        ("quantile(min b, P>=0.5 [ F[1,b] s=2 ])", "one end of an interval"),
        ("quantile(min b, Pmax=? [ F<=b s=2 ])", "a formula of a quantile must be a bool|must be a bool"),
        ("quantile(min b, s=2)", "holds or not|bounds"),
        ("1 + quantile(min b, P>=0.5 [ F<=b s=2 ])", "whole property"),
        ("quantile(min b, max c, P>=0.5 [ F<=b s=2 ])", "several bounds at once"),
        ("quantile(b, P>=0.5 [ F<=b s=2 ])", "'min' or 'max'"),
    ],
)
def test_what_is_no_quantile_is_said_in_a_sentence(prop: str, message: str) -> None:
    with pytest.raises(galton.GaltonError, match=message):
        ask(PHONE, prop)


def test_a_threshold_that_is_only_neared_is_undecided_and_comes_to_an_end() -> None:
    with pytest.raises(galton.GaltonError, match="cannot be decided"):
        ask(PHONE, 'quantile(min b, Pmax>=1 [ F{"cost"}<=b s=2 ])')


def test_a_constant_without_a_value_may_be_the_bound_that_is_sought() -> None:
    assert ask(PHONE, 'const int b;\nquantile(min b, Pmax>=0.6 [ F{"cost"}<=b s=2 ]);').value == 2


@pytest.mark.parametrize("seed", range(25))
def test_quantiles_beside_fractions(seed: int) -> None:
    random = Random(seed)
    model = random_model(random, most_states=4)
    optimum = random.choice(("min", "max")) if model.is_mdp else ""
    values = [best_until(model, [Bound(b), None], optimum or "max") for b in range(12)]
    level = random.randrange(12)
    below = max((v for v in values if v < values[level]), default=None)
    if below is None:
        return
    threshold = float(below + values[level]) / 2
    least = next(b for b, v in enumerate(values) if v > threshold)
    prop = f'P{optimum}>={threshold!r} [ "through" U{{"a"}}<=b "goal" ]'
    assert ask(model.text(), f"quantile(min b, {prop})").value == least
    assert ask(model.text(), f"quantile(max b, {prop.replace('>=', '<=', 1)})").value == least - 1
