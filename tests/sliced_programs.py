"""Random programs with variables that nobody reads, others that look so and do not, and values that are overwritten.

All have a process that goes round in four places with a counter. Beside it there may be

- ``tally`` and ``copy``: a tally that is kept and never read but by its copy, which nobody reads;
- ``hidden``: a variable that matters in a hidden way, by one guard, one weight or one assignment, or not at all;
- ``note``: what was drawn at one place, read at the next one, and dead from then on until it is drawn again;
- ``other``: a process beside, with no influence but by the steps it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

TYPES = ("dtmc", "ctmc", "mdp")
HIDDEN = ("guard", "weight", "assignment", "label", "reward", "nothing")

CHAINS = (
    'P=? [ F "goal" ]',
    'P=? [ place!=2 U<=4 "goal" ]',
    'P=? [ X "goal" | place=1 ]',
    'R{"r"}=? [ F "goal" ]',
    'R{"r"}=? [ C<=3 ]',
    'R{"t"}=? [ C<=2 ]',
    "R{2}=? [ C<=2 ]",
    "R=? [ C<=2 ]",
    'R{"r"}=? [ I=3 ]',
    'R{"r"}=? [ S ]',
    'S=? [ "goal" ]',
    "P=? [ G F place=0 ]",
    'P=? [ F P>=0.3711 [ X "goal" ] ]',
    'P=? [ F<=5 "deadlock" ]',
    'P=? [ F<=5 "init" & c=0 ]',
    'A [ F "goal" ]',
    'filter(max, P=? [ F<=2 "goal" ], !"deadlock")',
    'filter(avg, P=? [ F<=2 "goal" ], true)',
    'filter(min, P=? [ F "goal" ], "init")',
)
DECISIONS = (
    'Pmax=? [ F "goal" ]',
    'Pmin=? [ F "goal" ]',
    'Pmin=? [ F<=4 "goal" ]',
    'Pmax=? [ X "goal" | place=1 ]',
    'R{"r"}min=? [ F "goal" ]',
    'R{"r"}max=? [ C<=3 ]',
    'R{"t"}max=? [ C<=3 ]',
    "R{2}max=? [ C<=3 ]",
    'R{"r"}max=? [ S ]',
    "Pmax=? [ (G F place=0) & (F c=2) ]",
    "Smin=? [ place=1 ]",
    'Pmax=? [ F Pmin>=0.3711 [ X "goal" ] ]',
    'Pmax=? [ F "deadlock" ]',
    'E [ G !"goal" ]',
    'filter(min, Pmax=? [ F "goal" ], true)',
    'multi(Pmax=? [ F "goal" ], R{"r"}min=? [ C ])',
)


@dataclass(frozen=True)
class Sliced:
    """A program, and how its variable ``hidden`` matters."""

    text: str
    type: str
    hidden: str
    has_other: bool

    def __str__(self) -> str:
        return self.text


def sliced(seed: int) -> Sliced:
    """A program; every type is drawn with every way to matter."""
    random = Random(seed)
    type, hidden = TYPES[seed % 3], HIDDEN[seed // 3 % len(HIDDEN)]
    rates = type == "ctmc"
    weights = [("2", "0.5"), ("1e-2", "3")] if rates else [("0.3", "0.7"), ("1/3", "2/3")]
    one, two = random.choice(weights)
    guard = "& (hidden<2 | c>0)" if hidden == "guard" else ""
    if hidden == "weight":
        one, two = ("1+hidden", two) if rates else ("1/(2+hidden)", "(1+hidden)/(2+hidden)")
    grown = "min(2, c + (hidden=1 ? 1 : 0))" if hidden == "assignment" else "min(2, c+1)"
    action = random.choice(["", "go"])
    has_other = random.random() < 0.6
    ends = random.random() < 0.5
    back = f"[back] place=3 & c<{2 if ends else 3} -> (place'=0) & (note'=0) & (c'=min(2, c+1));"
    commands = [
        f"[{action}] place=0 {guard} -> {one} : (place'=1) & (note'=1) & (tally'=mod(tally+1, 4)) "
        f"+ {two} : (place'=1) & (note'=2) & (c'={grown});",
        f"[] place=1 & note=1 -> {one} : (place'=2) & (tally'=0) + {two} : (place'=3) & (copy'=tally);",
        f"[] place=1 & note=2 -> {two} : (place'=3) & (hidden'=mod(hidden+1, 3)) + {one} : (place'=2) & (hidden'=0);",
        f"[{action}] place=2 -> (place'=3) & (copy'=max(copy, tally));",
        back,
    ]
    if random.random() < 0.5:
        commands.append(f"[] place=2 & c=0 -> (place'=0) & (note'={random.choice(['0', 'note'])}) & (tally'=c);")
    other = ""
    if has_other:
        together = "[back] d<2 -> (d'=d);" if random.random() < 0.5 else ""
        other = f"""module other
          d : [0..2] init 0;  e : bool init false;
          {together}
          [] d<2 -> {"0.25 : (d'=d+1) + 1.5" if rates else "0.25 : (d'=d+1) + 0.75"} : (e'=!e);
          [] d=2 & e -> (d'=0) & (e'=false);
        endmodule"""
    random.shuffle(commands)
    text = f"""{type}
    module main
      place : [0..3] init 0;  c : [0..2] init 0;  note : [0..2] init 0;
      tally : [0..3] init 0;  copy : [0..3] init {random.randrange(4)};  hidden : [0..2] init 0;
      {" ".join(commands)}
    endmodule
    {other}
    label "goal" = c=2 & place=3{" & hidden!=1" if hidden == "label" else ""};
    rewards "r"  place=1 : {"1+hidden" if hidden == "reward" else "2"};  [back] true : 1.5;  [] c>0 : 0.5; endrewards
    rewards "t"  true : tally; endrewards
    """
    return Sliced(text, type, hidden, has_other)
