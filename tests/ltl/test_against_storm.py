"""A sample of what ``campaign.py`` does: random programs and formulas, beside Storm."""

from __future__ import annotations

from random import Random

import pytest
from ltl_judges import agrees, on_the_model, storms_answers
from ltl_pairs import KINDS, Kind, random_pair

import galton


@pytest.mark.parametrize("kind", KINDS)
def test_storm_says_the_same(kind: Kind) -> None:
    pytest.importorskip("stormpy")
    for seed in range(40):
        pair = random_pair(Random(1_000 + seed), kind, plain=True)
        program = galton.parse(pair.program)
        for prop, number in zip(pair.questions, storms_answers(pair), strict=True):
            assert agrees(galton.check(program, prop), number), (seed, pair)
            assert agrees(on_the_model(program, prop), number), (seed, pair)
