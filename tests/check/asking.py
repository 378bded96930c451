"""Small models whose answers can be worked out by hand, and a short way to ask about them."""

from __future__ import annotations

import math
from typing import Any

import galton
from galton.checking.result import Result

# A fair coin is thrown until it shows heads; x counts to at most 3, from where it starts again.
COIN = """
dtmc
module coin
  x : [0..3];
  heads : bool;
  [toss] !heads -> 0.5 : (heads'=true) + 0.5 : (x'=mod(x+1, 4));
endmodule
label "heads" = heads;
rewards "tosses" [toss] true : 1; endrewards
rewards "high" x=3 : 2; endrewards
"""

# From 0, go right (a) or gamble (b); 3 is good, 4 is bad, both for ever.
GAMBLE = """
mdp
module gamble
  s : [0..4];
  [a] s=0 -> (s'=1);
  [b] s=0 -> 0.6 : (s'=3) + 0.4 : (s'=4);
  [a] s=1 -> 0.5 : (s'=2) + 0.5 : (s'=4);
  [b] s=1 -> 0.9 : (s'=1) + 0.1 : (s'=3);
  [a] s=2 -> (s'=3);
  [] s>2 -> true;
endmodule
label "good" = s=3;
label "bad" = s=4;
rewards "cost" [a] true : 1; [b] true : 2; s=2 : 5; endrewards
"""

# A machine breaks with rate 1 and is repaired with rate 3; from "down" it may also be scrapped, with rate 1.
MACHINE = """
ctmc
module machine
  state : [0..2];
  [] state=0 -> 1 : (state'=1);
  [repair] state=1 -> 3 : (state'=0);
  [] state=1 -> 1 : (state'=2);
  [] state=2 -> 1 : (state'=2);
endmodule
label "up" = state=0;
rewards "time" true : 1; endrewards
rewards "repairs" [repair] true : 1; endrewards
rewards "power" state=0 : 8; state=1 : 2; endrewards
"""

# Two components of one state each, reached with 1/4 and 3/4; both states of x=0 are initial.
SPLIT = """
dtmc
module split
  x : [0..2];
  y : bool;
  [] x=0 & !y -> 0.25 : (x'=1) + 0.75 : (x'=2);
  [] x=0 & y -> (x'=1);
  [] x>0 -> true;
endmodule
init x=0 endinit
"""


def ask(text: str, prop: str, **options: Any) -> Result:
    """The answer to a property of a model given as text."""
    return galton.check(galton.parse(text), prop, **options)


def assert_number(result: Result, expected: float) -> None:
    """The number must lie in the bounds, and these must be narrow."""
    assert result.lower is not None
    assert result.upper is not None
    if math.isinf(expected):
        assert result.value == expected
        return
    slack = 1e-12 * abs(expected)  # the expected number is itself rounded
    assert result.lower - slack <= expected <= result.upper + slack
    assert result.upper - result.lower <= 2e-6 * abs(result.upper) + 1e-15
    assert isinstance(result.value, (int, float))
    assert result.lower <= result.value <= result.upper
