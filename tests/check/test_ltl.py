"""``P`` of formulas with several temporal operators: values that can be told by hand, and those that Storm gives."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from asking import ask

import galton

# Two ways to end: in a loop of 1 and 2, or in 3; a third of the runs that pass 0 go to each of 1, 3 and 0.
CHAIN = """
dtmc module m s:[0..3];
  [] s=0 -> 1/3 : (s'=0) + 1/3 : (s'=1) + 1/3 : (s'=3);
  [] s=1 -> (s'=2);
  [] s=2 -> 1/2 : (s'=1) + 1/2 : (s'=2);
  [] s=3 -> true;
endmodule
label "loop" = s=1 | s=2;
"""
# In 0 a strategy may go round by 1 or by 2, or leave for 3; 1 sometimes falls into 3.
ROUND = """
mdp module m s:[0..3];
  [one] s=0 -> (s'=1);
  [two] s=0 -> (s'=2);
  [out] s=0 -> (s'=3);
  [] s=1 -> 9/10 : (s'=0) + 1/10 : (s'=3);
  [] s=2 -> (s'=0);
  [] s=3 -> true;
endmodule
"""
RACE = (
    "ctmc module m s:[0..2]; [] s=0 -> 1 : (s'=1) + 3 : (s'=2); [] s=1 -> 5 : (s'=0); [] s=2 -> 1 : (s'=2); endmodule"
)


@pytest.mark.parametrize(
    ("model", "prop", "value"),
    [
        (CHAIN, 'P=? [ F G "loop" ]', 0.5),
        (CHAIN, "P=? [ G F s=1 ]", 0.5),
        (CHAIN, "P=? [ (G F s=1) & (G F s=2) ]", 0.5),
        (CHAIN, "P=? [ (G F s=3) | (G F s=2) ]", 1.0),
        (CHAIN, "P=? [ F G s=2 ]", 0.0),
        (CHAIN, "P=? [ (G F s=1) => (G F s=3) ]", 0.5),
        (CHAIN, "P=? [ X X s=3 ]", 4 / 9),
        (CHAIN, "P=? [ (X s=0) & (F s=3) ]", 1 / 6),
        (CHAIN, "P=? [ G (s=0 => (F<=2 !(s=0))) ]", 8 / 9),
        (CHAIN, "P=? [ F (s=1 & (X X s=1)) ]", 0.5),
        (CHAIN, "P=? [ s=0 U (s=1 & (G !(s=3))) ]", 0.5),
        (ROUND, "Pmax=? [ G F s=1 ]", 0.0),
        (ROUND, "Pmax=? [ G F s=2 ]", 1.0),
        (ROUND, "Pmin=? [ G F s=2 ]", 0.0),
        (ROUND, "Pmax=? [ (F s=1) & (G F s=2) ]", 0.9),
        (ROUND, "Pmax=? [ (F (s=1 & (X F s=1))) & (G F s=2) ]", 0.81),
        (ROUND, "Pmin=? [ (G F s=2) | (G F s=3) ]", 1.0),
        (ROUND, "Pmin=? [ F G s=3 ]", 0.0),
        (ROUND, "Pmax=? [ (F s=1) & (F G s=3) ]", 1.0),
        (ROUND, "Pmin=? [ (G !(s=1)) | (F s=3) ]", 0.1),
        # Rewards until a formula is sure to hold
        (CHAIN, "T=? [ (F s>0) & (X true) ]", 1.5),
        (CHAIN, "T=? [ X X true ]", 2.0),
        (CHAIN, "T=? [ (F s=1) | (F s=3) ]", 1.5),
        (CHAIN, "T=? [ F (s>0 & (X true)) ]", 2.5),
        (ROUND, "Tmin=? [ (F s=1) & (F s=3) ]", 2 + 9 / 10),
        (ROUND, "Tmin=? [ F (s=2 & (X X s=3)) ]", 3.0),
        (RACE, "P=? [ (X s=1) & (F s=2) ]", 0.25),
        (RACE, "P=? [ F (s=1 & (X X s=1)) ]", 1 / 16),
    ],
)
def test_values(model: str, prop: str, value: float) -> None:
    found = ask(model, prop)
    assert found.lower <= value * (1 + 1e-15)
    assert found.upper >= value * (1 - 1e-15)
    assert found.value == pytest.approx(value, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("model", "prop", "holds"),
    [
        (CHAIN, 'P>=1 [ (F G "loop") | (F G s=3) ]', True),
        (CHAIN, "P>0 [ F G s=2 ]", False),
        (CHAIN, "P<=0 [ F G s=2 ]", True),
        (CHAIN, "P>=0.4 [ G F s=1 ]", True),
        (CHAIN, 'filter(forall, P>=1 [ G F s=1 ], "loop")', True),
        (CHAIN, "filter(count, P>0 [ G F s=1 ]) = 3", True),
        (CHAIN, "P>=1 [ F P>=1 [ G F s=1 ] | s=3 ]", True),
        (ROUND, "P>=1 [ (G F s=0) | (F G s=3) ]", True),
        (ROUND, "P>=1 [ G F s=0 ]", False),
        (ROUND, "P<=0 [ G F s=1 ]", True),
        # All paths and some path, whatever their probability
        (CHAIN, "E [ F G s=2 ]", True),
        (CHAIN, "E [ G F s=1 ]", True),
        (CHAIN, "A [ (G F s=1) | (F G s=2) | (F G s=3) | (G s=0) ]", True),
        (CHAIN, "A [ (G F s=1) | (F G s=2) | (F G s=3) ]", False),
        (CHAIN, "A [ (F s=1) => (G F s=2) ]", True),
        (CHAIN, "E [ (F s=1) & (F s=3) ]", False),
        (CHAIN, "E [ (F[2,3] s=2) & (G s>=0) ]", True),
        (CHAIN, "E [ (F<=1 s=2) & (G s>=0) ]", False),
        (CHAIN, "A [ (F<=5 s>0) | (G s=0) ]", False),
        (ROUND, "E [ G F s=1 ]", True),
        (ROUND, "A [ (G F s=0) | (F G s=3) ]", True),
    ],
)
def test_truths(model: str, prop: str, holds: bool) -> None:
    assert ask(model, prop).value is holds


def test_a_strategy_with_memory_is_refused_where_there_is_no_program() -> None:
    model = galton.parse(ROUND).build()
    with pytest.raises(galton.GaltonError, match="there is no strategy for a formula with more than one temporal"):
        galton.check(model, "Pmax=? [ (F s=1) & (G F s=2) ]", strategy=True)


FORMULAS = [
    "(G (F A)) & (F (G B))",
    "(F (A & (X B))) | (G (F C))",
    "G ((!A) | (F B))",
    "(A U B) & (G (F C))",
    "G (A | (F (B & (G C))))",
    "F (A & (X (X B)))",
    "((G (F A)) & (G (F B))) | (F (G C))",
    "(F (G A)) | ((F B) & (G (F C)))",
    "G (F (A & (X B)))",
    "!(A U (B U C))",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_what_storm_says(formula: str, tmp_path: Path) -> None:
    stormpy = pytest.importorskip("stormpy")
    path = tmp_path / "model.prism"
    text = formula
    for i, letter in enumerate("ABC"):
        text = text.replace(letter, f'"p{i}"')
    for seed in range(6):
        path.write_text(random_mdp(Random(seed)))
        program = stormpy.parse_prism_program(str(path), prism_compatibility=True, simplify=False)
        for asked in ("Pmin=?", "Pmax=?"):
            (prop,) = stormpy.parse_properties(f"{asked} [ {text} ]", program)
            model = stormpy.build_model(program, [prop])
            theirs = stormpy.model_checking(model, prop).get_value(model.initial_states[0])
            assert galton.check(path, f"{asked} [ {text} ]").value == pytest.approx(theirs, rel=1e-5, abs=1e-5)


def random_mdp(random: Random) -> str:
    """A few states, up to three choices in each, and three labels."""
    n = random.randrange(3, 7)
    lines = ["mdp", "module m", f"s:[0..{n - 1}] init 0;"]
    for state in range(n):
        for action in range(random.randrange(1, 4)):
            targets = [random.randrange(n) for _ in range(random.randrange(1, 4))]
            weights = [random.randrange(1, 4) for _ in targets]
            parts = (f"{w}/{sum(weights)} : (s'={t})" for w, t in zip(weights, targets, strict=True))
            lines.append(f"[a{action}] s={state} -> {' + '.join(parts)};")
    lines.append("endmodule")
    for i in range(3):
        states = [f"s={state}" for state in range(n) if random.random() < 0.5]
        lines.append(f'label "p{i}" = {" | ".join(states) or "false"};')
    return "\n".join(lines)
