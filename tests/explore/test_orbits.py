"""Symmetries: found, proved, and what explorers make of them, against all states."""

from __future__ import annotations

from collections import Counter
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from symmetric_programs import BREAKS, STARTS, Text, symmetric

import galton
from galton.explore import build
from galton.lang.expressions import Binary, Literal, Name
from galton.lower.symmetry import Symmetries, Symmetry
from galton.model.orbits import Blocks, Orbits
from galton.model.sparse import Model
from galton.model.states import PackedStates
from galton.programs import Program

MODELS = Path(__file__).parents[2] / "models"


def kept(program: Program, *formulas: str) -> Symmetry:
    """The symmetries that leave labels, rewards and formulas alone."""
    labels = [program.labels[name] for name in formulas or program.labels]
    return Symmetries(program).keeping(labels, range(len(program.rewards)))


def valuations(model: Model) -> list[tuple[int, ...]]:
    assert isinstance(model.states, PackedStates)
    columns = [model.states.column(field.name).astype(int).tolist() for field in model.states.fields]
    return list(zip(*columns, strict=True))


def rows(model: Model, state: int, names: list[object]) -> Counter[object]:
    """The choices of a state: where they lead to, rounded, and what they earn."""
    found: Counter[object] = Counter()
    groups = model.row_groups
    values = model.values[:]
    earned = [r.choice for r in model.rewards.values() if r.choice is not None and r.choice.size]
    for choice in range(groups[state], groups[state + 1]):
        targets: Counter[object] = Counter()
        for entry in range(model.row_starts[choice], model.row_starts[choice + 1]):
            targets[names[model.columns[entry]]] += values[entry]
        row = tuple(sorted((target, round(value, 12)) for target, value in targets.items()))
        found[row, tuple(round(float(e[choice]), 12) for e in earned)] += 1
    return found


def compare(reduced: Model, full: Model) -> None:
    """The reduced model is the quotient of the full one: its states, rows, labels, rewards and counts."""
    assert reduced.orbits is not None
    represent = reduced.orbits.representative
    of_full, of_reduced = valuations(full), valuations(reduced)
    names = [represent(state) for state in of_full]
    assert sorted(set(names)) == of_reduced
    assert reduced.stands_for() == full.n_states
    assert reduced.stands_for(reduced.initial) == len(full.initial)
    assert {names[state] for state in full.initial} == {of_reduced[state] for state in reduced.initial}
    number = {state: place for place, state in enumerate(of_full)}
    for place, state in enumerate(of_reduced):
        mine, theirs = rows(reduced, place, list(of_reduced)), rows(full, number[state], list(names))
        # Of choices that are the same in the quotient, an MDP needs one.
        assert set(mine) == set(theirs)
        assert reduced.has_choices or mine == theirs
        for name, mask in reduced.labels.items():
            assert mask[place] == full.labels[name][number[state]]
        for name, rewards in reduced.rewards.items():
            theirs_too = full.rewards[name].state
            if rewards.state is not None and rewards.state.size and theirs_too is not None:
                assert rewards.state[place] == pytest.approx(theirs_too[number[state]], rel=1e-12)


def check(text: Text) -> Symmetry:
    program = galton.parse(str(text))
    symmetry = kept(program)
    full = program.build(threads=1)
    if symmetry.orbits is not None:
        compare(build(program, symmetry=symmetry, threads=1), full)
    return symmetry


@pytest.mark.parametrize("seed", range(24))
def test_what_is_symmetric_by_construction_is_reduced(seed: int) -> None:
    text = symmetric(seed)
    symmetry = check(text)
    assert symmetry.orbits is not None, f"{symmetry.note}\n{text}"
    (part,) = symmetry.orbits.parts
    assert len(part) == len(text)
    assert not part.rotates or text.ring


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", [*BREAKS, *STARTS])
def test_what_is_nearly_symmetric_is_not(name: str, seed: int) -> None:
    """The process that differs never moves; the others may, where they are alike still."""
    text = symmetric(seed)
    if name in STARTS and text.initial:
        pytest.skip("all values are initial")
    changed = {**BREAKS, **STARTS}[name](text)
    assert changed != text
    symmetry = check(changed)
    moved = [] if symmetry.orbits is None else [v for part in symmetry.orbits.parts for b in part.members for v in b]
    odd = {f"a{len(text)}", f"b{len(text)}"}
    variables = galton.parse(str(changed)).variables
    assert not odd & {variables[v].name for v in moved}, symmetry.note


def test_a_property_that_names_a_process_leaves_the_others() -> None:
    program = galton.parse(str(symmetric(0)).replace("rewards", 'label "mine" = a2=1;\nrewards', 1))
    symmetry = kept(program, "mine")
    assert symmetry.orbits is not None
    (part,) = symmetry.orbits.parts
    names = {program.variables[v].name for block in part.members for v in block}
    assert len(part) == len(symmetric(0)) - 1
    assert "a2" not in names
    compare(build(program, symmetry=symmetry), program.build())


def test_integers_may_be_added_in_any_order_and_doubles_may_not() -> None:
    text = """ctmc
    module m
      x : [0..3];  y : [0..3];  z : [0..3];
      [] x<3 -> 1 : (x'=x+1);  [] y<3 -> 1 : (y'=y+1);  [] z<3 -> 1 : (z'=z+1);
      [] x+y+z > 4 -> RATE : (x'=0) & (y'=0) & (z'=0);
    endmodule"""
    for rate, size in (("x+y+z+1", 3), ("min(x,y,z)+1", 3), ("(0.1*x+0.1*y)+0.1*z", 2)):
        orbits = kept(galton.parse(text.replace("RATE", rate))).orbits
        assert orbits is not None
        assert [len(part) for part in orbits.parts] == [size]


def test_variables_of_one_module_may_move_with_each_other() -> None:
    """No module can be exchanged here: pairs of variables in two modules go together."""
    text = """mdp
    module left
      a : [0..2];  b : [0..2];
      [one] a<2 -> 0.5 : (a'=a+1) + 0.5 : true;
      [two] b<2 -> 0.5 : (b'=b+1) + 0.5 : true;
    endmodule
    module right
      c : [0..2];  d : [0..2];
      [one] c<2 -> (c'=c+1);
      [two] d<2 -> (d'=d+1);
    endmodule"""
    program = galton.parse(text)
    symmetry = kept(program)
    assert symmetry.orbits == Orbits((Blocks(False, ((0, 2), (1, 3))),))
    compare(build(program, symmetry=symmetry), program.build())


def test_rings_turn_and_do_not_mirror() -> None:
    program = galton.load(MODELS / "herman.prism", N=7)
    symmetry = kept(program)
    assert symmetry.orbits is not None
    assert [(part.rotates, len(part)) for part in symmetry.orbits.parts] == [(True, 7), (False, 14)]
    compare(build(program, symmetry=symmetry), program.build())


def test_choices_that_earn_differently_are_both_kept() -> None:
    """The exchange of a and b maps each choice to one that does the same, and there are two such."""
    text = """mdp
    module m
      a : bool;  b : bool;
      [cheap] !a -> (a'=true);  [dear] !a -> (a'=true);
      [cheap] !b -> (b'=true);  [dear] !b -> (b'=true);
    endmodule
    rewards "r"  [dear] true : 5;  [cheap] true : 1;  endrewards"""
    program = galton.parse(text)
    symmetry = kept(program)
    assert symmetry.orbits is not None
    reduced = build(program, symmetry=symmetry)
    compare(reduced, program.build())
    assert sorted(reduced.rewards["r"].choice.tolist()) == [0, 1, 1, 5, 5]  # type: ignore[union-attr]


def test_sizes_of_orbits_are_exact_beyond_64_bits() -> None:
    blocks = Blocks(False, tuple((v,) for v in range(40)))
    assert blocks.size(0) == factorial(40)
    assert blocks.size((1 << 39) - 1) == 1
    states = PackedStates.from_columns({f"x{v}": np.array([v >= 20, v == 39]) for v in range(40)})
    assert Orbits((blocks,)).count(states.fields, states.words) == factorial(40) // factorial(20) ** 2 + 40


def test_why_there_is_none_is_told() -> None:
    assert kept(galton.load(MODELS / "die.prism")).note == "no two variables are alike"
    program = galton.load(MODELS / "consensus.prism", N=2, K=2)
    named = Symmetries(program).keeping([program.labels["finished"], Binary("=", Name("do1"), Literal(1))], ())
    assert named.orbits is None
    assert "do1" in named.note


def test_a_ring_of_shared_variables_is_turned_and_not_mirrored() -> None:
    """Tokens that go left or right: the ring looks the same in a mirror, which halves it; turns make a fifth of it."""
    ring = 5
    moves = " ".join(
        f"[] q{i} -> 0.5 : (q{i}'=false) & (q{right}'=true) + 0.5 : (q{i}'=false) & (q{left}'=true);"
        for i in range(1, ring + 1)
        for left, right in [((i - 2) % ring + 1, i % ring + 1)]
    )
    text = f"mdp {' '.join(f'global q{i} : bool;' for i in range(1, ring + 1))} module m {moves} endmodule "
    program = galton.parse(text + f"init {' | '.join(f'q{i}' for i in range(1, ring + 1))} endinit")
    symmetry = kept(program)
    assert symmetry.orbits == Orbits((Blocks(True, ((0,), (1,), (2,), (3,), (4,))),))
    compare(build(program, symmetry=symmetry), program.build())


def test_what_a_question_ties_together_moves_together() -> None:
    """Each pair can be exchanged alone, until a label looks at both; then only all four can."""
    parts = ["left", "right", "first", "second"]
    modules = [
        f"module {name} {name[0]} : bool; [] !{name[0]} -> {rate} : ({name[0]}'=true); endmodule"
        for name, rate in zip(parts, (2, 2, 3, 3), strict=True)
    ]
    program = galton.parse(f'ctmc {" ".join(modules)} label "both" = (l & f) | (r & s);')
    alone, together = Symmetries(program).keeping((), ()), kept(program, "both")
    assert alone.orbits is not None
    assert [len(part) for part in alone.orbits.parts] == [2, 2]
    assert together.orbits == Orbits((Blocks(False, ((0, 2), (1, 3))),))
    compare(build(program, symmetry=together), program.build())
