"""Properties answered on a device beside the same on the CPU; in tests without one, on a device that is played."""

from __future__ import annotations

import pytest
from asking import COIN, GAMBLE, MACHINE

import galton
from galton.model.arrays import is_on_host

CHAIN = [
    'P=? [ F<=5 "heads" ]',
    'P=? [ X "heads" ]',
    'P=? [ F[2,4] "heads" ]',
    'P=? [ F>=2 "heads" ]',
    'P=? [ G<=4 !"heads" ]',
    'P=? [ G[2,4] !"heads" ]',
    'P=? [ !"heads" U<=3 "heads" ]',
    'P=? [ !"heads" W<=3 "heads" ]',
    'P=? [ F<=100000 "heads" ]',
    'P>=0.5 [ F<=3 "heads" ]',
    'P>=1 [ F<=3 "heads" ]',
    'P>0 [ X "heads" ]',
    'R{"tosses"}=? [ C<=7 ]',
    'R{"high"}=? [ I=3 ]',
    'R{"tosses"}=? [ X "heads" ]',
]
MDP = [
    'P{}=? [ F<=5 "good" ]',
    'P{}=? [ X "good" ]',
    'P{}=? [ F[2,4] "good" ]',
    'P{}=? [ F>=2 "good" ]',
    'P{}=? [ G<=4 !"bad" ]',
    'P{}=? [ G[2,4] !"bad" ]',
    'P{}=? [ !"bad" W<=4 "good" ]',
    'P{}=? [ F<=1000000 "good" ]',
    'R{{"cost"}}{}=? [ C<=7 ]',
    'R{{"cost"}}{}=? [ I=3 ]',
    'R{{"cost"}}{}=? [ X !"bad" ]',
]
TIMED = [
    'P=? [ F<=5 !"up" ]',
    'P=? [ X "up" ]',
    'P=? [ F[2,4] "up" ]',
    'P=? [ F>=2 "up" ]',
    'P=? [ G<=4 "up" ]',
    'P=? [ "up" U<=0.5 !"up" ]',
    'P=? [ F<=100000 !"up" ]',
    'P=? [ F<=0 "up" ]',
    'P>=1 [ F<=3 "up" ]',
    'R{"time"}=? [ C<=7 ]',
    'R{"repairs"}=? [ C<=2.5 ]',
    'R{"power"}=? [ I=3 ]',
    'R{"time"}=? [ X "up" ]',
]
CASES = [
    *((COIN, prop) for prop in CHAIN),
    *((GAMBLE, prop.format(optimum)) for prop in MDP for optimum in ("min", "max")),
    *((MACHINE, prop) for prop in TIMED),
]


@pytest.mark.parametrize(("text", "prop"), CASES, ids=[prop for _, prop in CASES])
def test_same_answer(text: str, prop: str) -> None:
    program = galton.parse(text)
    model = program.build()
    host, found = galton.check(program.build(device="cpu"), prop), galton.check(model, prop)
    assert found.warnings == host.warnings
    assert found.device == ("cpu" if is_on_host(model.columns) else "cuda")
    if host.lower is None or host.upper is None:
        assert found.value == host.value
        return
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= host.upper
    assert host.lower <= found.upper
    assert found.upper - found.lower <= 2e-6 * found.upper or found.lower == found.upper
