"""Programs on which explorers are compared with each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

MODELS = Path(__file__).parents[1] / "models"
GALLERY = json.loads((MODELS / "gallery.json").read_text())["models"]


def gallery(most_states: int, most_instances: int) -> Iterator[tuple[str, dict[str, object]]]:
    """File and constants of the smaller instances of every model."""
    for entry in GALLERY:
        small = [i["constants"] for i in entry["instances"] if i["states"] <= most_states]
        for constants in small[:most_instances]:
            yield entry["file"], constants


def chain(length: int) -> str:
    """As many levels as states."""
    return f"dtmc module m x : [0..{length - 1}]; [] x<{length - 1} -> (x'=x+1); endmodule"


def wide(variables: int, moving: int) -> str:
    """States of several words: counters of 30 bits, some of which move."""
    lines = [f"v{k} : [0..1000000000] init {k * 1000};" for k in range(variables)]
    lines += [f"[] mod(v{k}, 1000) < 3 -> 0.5 : (v{k}'=v{k}+1) + 0.5 : (v{k}'=v{k});" for k in range(moving)]
    # Without this the others would be constants, which need no bits.
    last = range(moving, variables)
    lines += [f"[] mod(v{k}, 1000) = 0 & v0 = 3 -> (v{k}'=v{k}+1);" for k in last]
    return f"mdp module m {' '.join(lines)} endmodule"


CASES = {
    "initial states": """
        ctmc
        module a x : [0..9]; y : [0..9]; [] x<9 -> 2 : (x'=x+1); [] y<9 -> x+1 : (y'=y+1) + 0 : (x'=0); endmodule
        init x+y < 4 & mod(x, 2) = 0 endinit
        rewards "r" x>2 : y; [] true : x; endrewards""",
    "chains share": """
        dtmc
        module a x : [0..3]; [] true -> 0.5 : (x'=0) + 0.5 : (x'=1); [] x<2 -> 0.1 : (x'=1) + 0.9 : (x'=3); endmodule
        module b y : [0..2]; [] y<2 -> (y'=y+1); endmodule
        rewards x=1 : 0.1; [] y=0 : 0.3; [] x<2 : 1/3; endrewards""",
    "synchronised": """
        mdp
        module a x : [0..3]; [go] x<3 -> 0.3 : (x'=x+1) + 0.7 : true; [go] x>0 -> (x'=0); [] x=1 -> (x'=2); endmodule
        module b y : [0..3]; [go] y<2 -> 0.1*(y+1) : (y'=y+1) + 1-0.1*(y+1) : (y'=3); [go] y>0 -> (y'=0); endmodule
        module c z : [0..1]; [go] true -> 0.2 : (z'=0) + 0.5 : (z'=1) + 0.3 : (z'=1-z); [stop] z=1 -> true; endmodule
        rewards "moves" [go] x>0 : x+y/3; [stop] true : 1; [] true : 0.25; endrewards""",
    "long rows": """
        dtmc
        module a x : [0..9]; [go] true -> """
    + " + ".join(f"0.1 : (x'={k})" for k in range(10))
    + "; endmodule "
    + "module b = a [x=y] endmodule module c = a [x=z] endmodule "
    + 'rewards "r" [go] x<y : 0.1; endrewards',
    "long rows of a choice": "mdp module a x : [0..63]; "
    + "[go] mod(x, 3) = 0 -> "
    + " + ".join(f"1/64 : (x'=mod(x*x+{k}, 40))" for k in range(64))
    + "; [] true -> (x'=0); [go] x>50 -> (x'=1); endmodule",
    "long rows of rates": "ctmc module a x : [0..3]; y : [0..49]; [] true -> "
    + " + ".join(f"x*{k % 3} : (y'=mod(y*x+{k}, 50))" for k in range(50))
    + "; [] x=1 & y<9 -> 2 : (x'=2); [] x=3 & y>40 -> 0.5 : (x'=0); [] x=2 & y=7 -> 1 : (x'=3); endmodule "
    + "init x<=1 & y=0 endinit "
    + 'rewards "r" [] y<5 : 1/(x+1); endrewards',
    "many values": "ctmc module a x : [0..299]; [] x<299 -> 1/(x+1) : (x'=x+1); [] x>0 -> x : (x'=x-1); endmodule",
    "more values": "ctmc module a x : [0..69999]; [] x<69999 -> 1/(x+1) : (x'=x+1); endmodule",
    "powers": """
        dtmc
        module a x : [0..20]; [] x<20 -> pow(0.9, x) : (x'=x+1) + 1-pow(0.9, x) : (x'=0); endmodule
        label "far" = log(x+1, 2) > 3;
        rewards true : log(x+1, 10); [] true : pow(x, 0.5); endrewards""",
    "rates of zero": """
        ctmc
        module a x : [0..5]; [] true -> 5-x : (x'=x+1); [go] x<3 -> x : (x'=5) + 0 : (x'=0); endmodule
        rewards [go] true : 1/x; endrewards""",
    "updates that never happen": """
        ctmc
        module a
          x : [0..3];
          [go] x<3 -> 0 : (x'=x+9);
          [] x<3 -> 0 : (x'=x-7) + 1 : (x'=x+1);
          [] x<2 -> 0 : true;
        endmodule
        module b y : [0..1]; [go] true -> 3 : (y'=1-y); [] y=0 -> 2 : (y'=1); endmodule""",
    "nothing moves": 'mdp module m x : [0..1]; [] false -> true; endmodule label "a" = x=0;',
}


OFF = {  # rows that do not sum to 1
    "chain": """
        dtmc
        module a x : [0..9]; [] x<9 -> 0.333333 : (x'=0) + 0.333333 : (x'=x) + 0.333333 : (x'=x+1); endmodule
        module b y : [0..1]; [] true -> 0.5 : (y'=0) + 0.499999 : (y'=1); endmodule""",
    "choices": """
        mdp
        module a x : [0..9]; [a] x<9 -> 0.333333 : (x'=0) + 0.666666 : (x'=x+1); [b] x<5 -> (x'=x+1); endmodule
        module b y : [0..3]; [a] true -> y/3 : (y'=0) + 0.999999-y/3 : (y'=1); endmodule""",
    "long rows": f"""
        dtmc
        module a x : [0..63]; [] true -> {" + ".join(f"0.015625{k % 2} : (x'={k})" for k in range(64))}; endmodule""",
    "by rounding": """
        dtmc
        module a x : [0..7];
        [] x<4 -> (x+1)/7 : (x'=x+1) + (x+1)/11 : (x'=x+2) + 1-(x+1)*18/77 : (x'=x+3); endmodule""",
}

FAULTS = {
    "rates that add up to infinity": "ctmc module m x : [0..2]; [] x=0 -> 1e308 : (x'=1) + 1e308 : (x'=2); endmodule",
    "rewards that do": "dtmc module m x : [0..2]; [] true -> true; endmodule rewards x=0:1e308; true:1e308; endrewards",
    "rewards of jumps that do": """
        ctmc module m x : [0..2]; [] true -> 1e300 : true; endmodule rewards [] true : 1e300; endrewards""",
    "rates that multiply to infinity": """
        ctmc module m x : [0..2]; [a] x=0 -> 1e200 : (x'=1); endmodule
        module n y : [0..2]; [a] y=0 -> 1e200 : (y'=1); endmodule""",
    "rates that multiply to nothing": """
        ctmc module m x : [0..2]; [a] x<2 -> 1e-200 : (x'=x+1) + 1 : (x'=0); endmodule
        module n y : [0..2]; [a] y<2 -> 1e-200*(y+1) : (y'=y+1) + 1 : (y'=0); endmodule""",
    "range": "dtmc module m x : [0..5]; [] true -> (x'=x+1); endmodule",
    "sum": "dtmc module m x : [0..5]; [] x<5 -> x/4 : (x'=x+1) + 0.75 : (x'=0); endmodule",
    "modulo": "mdp module m x : [0..5]; [] mod(4, 3-x) >= 0 -> (x'=min(5, x+1)); endmodule",
    "reward": "mdp module m x : [0..5]; [] x<5 -> (x'=x+1); endmodule rewards true : 1/(4-x); endrewards",
    "no initial state": "mdp module m x : [0..5]; [] x<5 -> (x'=x+1); endmodule init x>5 endinit",
}
