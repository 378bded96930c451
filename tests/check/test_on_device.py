"""Properties answered on a device beside the same on the CPU; in tests without one, on a device that is played."""

from __future__ import annotations

import pytest
from asking import COIN, GAMBLE, MACHINE

import galton
from galton.device.arrays import is_on_host

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
    # Numbers and truths that are the same everywhere, beside those that are not.
    'filter(exists, "heads") & (P>=0.5 [ X "heads" ] & P>0 [ X "heads" ])',
    'filter(max, P=? [ X "heads" ]) - 2 * P=? [ F<=3 "heads" ]',
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
# From 0, runs end in one of two cycles that earn differently, or in a state that earns nothing.
CYCLES = """
dtmc
module cycles
  x : [0..9];
  [] x=0 -> 0.25 : (x'=1) + 0.25 : (x'=4) + 0.5 : (x'=9);
  [] x>0 & x<4 -> 0.5 : (x'=mod(x,3)+1) + 0.5 : (x'=1);
  [] x>3 & x<9 -> 0.5 : (x'=x=8?4:x+1) + 0.5 : (x'=4);
  [] x=9 -> true;
endmodule
rewards "earned" x=2 : 1; x=5 : 3; x=6 : 0.5; x=0 : 100; endrewards
"""
LONG_RUN = ['R{"earned"}=? [ S ]', "S=? [ x=2 | x=5 ]", "S>0.1 [ x=9 ]", "filter(max, S=? [ x=5 ], x<5)", "S=? [ x=9 ]"]
NESTED = [
    "P=? [ F P>=1 [ G x>3 ] ]",
    "P=? [ F<=3 S>0.2 [ x=2 ] ]",
    "1 - 2 * P=? [ F x=9 ] + min(P=? [ X x=1 ], x/10)",
    "P=? [ F x=9 ] > 0.4 ? P=? [ F x=1 ] : 7",
    "filter(avg, P=? [ F x=9 ] + x, x<5)",
    "filter(sum, x, x>5)",
    "filter(count, P>=1 [ F x=1 ])",
    "filter(range, T=? [ F x>0 ], x=0)",
    "filter(argmin, P=? [ F x=9 ], x<5)",
    "filter(print, P=? [ F x=9 ], x<5)",
    "filter(printall, x>4, x<7)",
    "filter(forall, E [ F x=9 ] | x>0)",
    "filter(exists, A [ F x=4 ])",
    "filter(first, A [ X x>0 ], x=0)",
    "E [ x<4 U x=3 ]",
    "A [ G x!=9 ]",
    "E [ x<4 U[2,6] x=3 ]",
    "filter(count, A [ F<=2 x=4 ])",
    "T=? [ F x>0 ]",
]
MANY = """
dtmc
module many
  x : [0..40];
  [] x=0 -> 0.5 : (x'=1) + 0.5 : (x'=0);
  [] x>0 -> 0.5 : (x'=x-1+2*mod(x,2)) + 0.5 : (x'=x);
endmodule
init x>0 & x<=40 endinit
rewards "odd" mod(x,2)=1 : x; endrewards
"""
CASES = [
    *((CYCLES, prop) for prop in LONG_RUN + NESTED),
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
    assert len(found.listing) == len(host.listing)
    if host.lower is None or host.upper is None:
        assert found.value == host.value
        return
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= host.upper
    assert host.lower <= found.upper
    if found.lower != found.upper:
        assert found.upper - found.lower <= max(2e-6 * abs(found.upper), host.upper - host.lower)


def test_many_components_go_home() -> None:
    model = galton.parse(MANY).build()
    found = galton.check(model, 'R{"odd"}=? [ S ]')
    if not is_on_host(model.columns):
        assert found.device == "cpu"
        assert found.warnings == (
            "the long-run averages of 20 components are not computed on a device, one after the other; "
            "answered on the CPU",
        )
    assert (found.lower, found.upper) == (pytest.approx(0.5), pytest.approx(19.5))


def test_a_distribution_moves_on_the_host() -> None:
    model = galton.parse(MACHINE).build()
    found = galton.check(model, 'P=? [ F<=5 !"up" ]', method="adaptive-uniformisation")
    assert (found.device, found.method) == ("cpu", "adaptive-uniformisation")
    if not is_on_host(model.columns):
        assert "adaptive-uniformisation does not run on a device" in found.warnings[0]


# A long-run average so close to what doubles can tell that rewards have to make up for the rounding.
RARE = """
dtmc
module rare
  x : [0..5];
  [] x=0 -> 0.8 : true + 0.2 : (x'=1);
  [] x>0 & x<5 -> 0.8 : (x'=x-1) + 0.2 : (x'=x+1);
  [] x=5 -> (x'=4);
endmodule
"""


def test_long_run_averages_did_not_crash_on_a_device_where_rounding_shows() -> None:
    model = galton.parse(RARE).build()
    found = galton.check(model, "S=? [ x=5 ]", eps=1e-13)
    assert float(found) == pytest.approx(0.25**5 * 0.6 / (1 - 0.25**5 * 0.4), rel=1e-12)
