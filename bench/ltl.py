"""Formulas of linear temporal logic, from the file to the answer, beside Storm in the same run.

    python bench/ltl.py [--only csma,patrol] [--repeat 3] [--threads 1] [--timeout 120] [--json FILE] [--markdown]

MDPs and chains of 10^5 to 10^7 states: those of the gallery, and a few texts of kinds that the gallery has not, which
are written to a folder that lasts as long as the run. Every measurement runs in a process of its own (``measure.py``
says what is in the time). Storm answers twice: as it does by default, which is sound, and with the plain environment,
which promises nothing. All tools work to a precision of 1e-6.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from check import chosen, compare, options
from measure import Question

MODELS = Path(__file__).resolve().parent.parent / "models"

# A robot on a grid of floors that slip: it patrols two corners, and must not fall into the holes of a diagonal.
PATROL = """
mdp
const int N;
module robot
  x : [0..N]; y : [0..N];
  [east]  x<N -> 0.9 : (x'=x+1) + 0.05 : (y'=min(y+1,N)) + 0.05 : (y'=max(y-1,0));
  [west]  x>0 -> 0.9 : (x'=x-1) + 0.05 : (y'=min(y+1,N)) + 0.05 : (y'=max(y-1,0));
  [north] y<N -> 0.9 : (y'=y+1) + 0.05 : (x'=min(x+1,N)) + 0.05 : (x'=max(x-1,0));
  [south] y>0 -> 0.9 : (y'=y-1) + 0.05 : (x'=min(x+1,N)) + 0.05 : (x'=max(x-1,0));
endmodule
label "a" = x=N & y=0;
label "b" = x=0 & y=N;
label "hole" = x+y=N & mod(x,9)=1;
label "charger" = x=y & mod(x,8)=0;
"""

# Clients that ask for one server, which may lose what it was asked; a scheduler says who is next.
CLIENTS = """
mdp
const int K;
module server
  owner : [0..6];
  [give1] owner=0 -> 0.9 : (owner'=1) + 0.1 : true;
  [give2] owner=0 -> 0.9 : (owner'=2) + 0.1 : true;
  [give3] owner=0 -> 0.9 : (owner'=3) + 0.1 : true;
  [give4] owner=0 -> 0.9 : (owner'=4) + 0.1 : true;
  [give5] owner=0 -> 0.9 : (owner'=5) + 0.1 : true;
  [give6] owner=0 -> 0.9 : (owner'=6) + 0.1 : true;
  [back] owner>0 -> (owner'=0);
endmodule
module client1
  w1 : [0..K+1];
  [ask1] w1=0 -> (w1'=1);
  [give1] w1>0 & w1<=K -> (w1'=K+1);
  [back] true -> (w1'=(w1=K+1 ? 0 : (w1>0 ? min(w1+1,K) : 0)));
endmodule
module client2 = client1 [ w1=w2, ask1=ask2, give1=give2 ] endmodule
module client3 = client1 [ w1=w3, ask1=ask3, give1=give3 ] endmodule
module client4 = client1 [ w1=w4, ask1=ask4, give1=give4 ] endmodule
module client5 = client1 [ w1=w5, ask1=ask5, give1=give5 ] endmodule
module client6 = client1 [ w1=w6, ask1=ask6, give1=give6 ] endmodule
label "wants1" = w1>0 & w1<=K;
label "has1" = w1=K+1;
label "has2" = w2=K+1;
label "late" = w1=K | w2=K | w3=K | w4=K | w5=K | w6=K;
"""

# A walk that is drawn to the middle, with a bell that rings at both ends; it sleeps in between.
BELL = """
dtmc
const int N;
module walk
  x : [0..N] init floor(N/2);
  side : [0..2];
  mood : [0..999];
  [] x>0 & x<N -> 0.45 : (x'=x+1) & (mood'=mod(mood+1,1000)) + 0.45 : (x'=x-1) + 0.1 : (mood'=mod(mood+3,1000));
  [] x=0 -> 0.5 : (x'=1) & (side'=1) + 0.5 : (mood'=0);
  [] x=N -> 0.5 : (x'=N-1) & (side'=2) + 0.5 : (mood'=0);
endmodule
label "left" = x=0;
label "right" = x=N;
label "calm" = mood<500;
"""

TEXTS = {"patrol": PATROL, "clients": CLIENTS, "bell": BELL}
Case = tuple[str, str, dict[str, Any], str, str]  # kind, model, constants, name of the property, property
CASES: list[Case] = [
    ("mdp", "csma", {"N": 3, "K": 4}, "backs_off", 'Pmax=? [ (F "collision_max_backoff") & (F G "all_delivered") ]'),
    ("mdp", "csma", {"N": 3, "K": 4}, "answers", "Pmin=? [ G (cable!=2 | (F cable=0)) ]"),
    ("mdp", "csma", {"N": 4, "K": 2}, "early", 'Pmax=? [ (F (cable=2 & (F "early_success"))) & (G F cable=0) ]'),
    ("mdp", "consensus", {"N": 6, "K": 2}, "settles", 'Pmin=? [ (F G "agree") & (F "finished") ]'),
    ("mdp", "consensus", {"N": 6, "K": 4}, "turns", 'Pmax=? [ (F (walk<10 & (F walk>middle))) & (F G "all_heads") ]'),
    ("mdp", "wlan", {"MAX_BACKOFF": 6, "COL": 2}, "collides", 'Pmax=? [ (F "collided") & (F G "both_sent") ]'),
    ("mdp", "wlan", {"MAX_BACKOFF": 5, "COL": 2}, "then", 'Pmin=? [ F ("one_sent" & (X F "both_sent")) ]'),
    ("mdp", "leader_async", {"N": 7}, "elects", 'Pmin=? [ (F G "elected") | (G F state1=1) ]'),
    ("mdp", "patrol", {"N": 300}, "errand", 'Pmax=? [ (F ("a" & (F "b"))) & (G !"hole") ]'),
    ("mdp", "patrol", {"N": 1000}, "charges", 'Pmin=? [ (F G !"charger") | (G F "a") ]'),
    ("mdp", "clients", {"K": 4}, "soon", 'Pmax=? [ (F<=9 ("has1" & (X (!"has2" U "has1")))) & (G F "has2") ]'),
    ("mdp", "clients", {"K": 7}, "late", 'Pmin=? [ (G F "late") | (F G !"wants1") ]'),
    ("dtmc", "bell", {"N": 100}, "left", 'P=? [ (!"right" U "left") & (G F ("calm" & (X !"calm"))) ]'),
    ("dtmc", "egl", {"N": 6, "L": 8}, "order", 'P=? [ (!"knowA" U ("knowB" & !"knowA")) & (F G "over") ]'),
    ("dtmc", "crowds", {"TotalRuns": 6, "CrowdSize": 15}, "seen", 'P=? [ (F "sender_seen_twice") & (F G "over") ]'),
    ("dtmc", "nand", {"N": 40, "K": 4}, "ends", 'P=? [ (G F "finished") & (F "few_wrong") ]'),
]
QUICK: list[Case] = [
    ("mdp", "patrol", {"N": 20}, "errand", 'Pmax=? [ (F ("a" & (F "b"))) & (G !"hole") ]'),
    ("dtmc", "bell", {"N": 20}, "left", 'P=? [ (!"right" U "left") & (G F ("calm" & (X !"calm"))) ]'),
]


def questions(cases: list[Case], folder: Path) -> list[Question]:
    """The cases, with texts of our own written to a folder."""
    found = []
    for kind, name, constants, prop, text in cases:
        path = MODELS / f"{name}.prism"
        if name in TEXTS:
            path = folder / f"{name}.prism"
            path.write_text(TEXTS[name])
        given = ",".join(f"{constant}={value}" for constant, value in constants.items())
        found.append(Question(f"{kind}/{name}/{given}/{prop}", str(path), constants, text))
    return found


def main() -> None:
    given = options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        every = {question.id: question for question in questions(QUICK if given.quick else CASES, Path(folder))}
        compare([every[name] for name in chosen(list(every), given.only)], given)


if __name__ == "__main__":
    main()
