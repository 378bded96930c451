"""Guards that ask for one value of a variable are looked at only where a block of states has it."""

from __future__ import annotations

import random

import oracle
import pytest
from comparison import check

import galton
from galton.backend.cuda.explorer import exploration
from galton.device.errors import DeviceError
from galton.lower.lowering import lower


def table(rng: random.Random, kind: str) -> str:
    """A module with a command or two for each value of s, and some that are not dispatched."""
    lines = []
    for s in range(100):
        targets = [rng.randrange(100) for _ in range(2)]
        action = rng.choice(["", "", "go"]) if kind == "mdp" else ""
        first = f"0.25:(s'={targets[0]}) & (t'=mod(t+1,3))"
        lines.append(f"[{action}] s={s} & (b | t<2) -> {first} + 0.75:(s'={targets[1]});")
        lines.append(f"[] {s}=s & !(b | t<2) -> (b'=true) & (t'=0);")
        if s % 7 == 0:
            lines.append(f"[] t={s % 3} & s={s} & b -> 0.5:(b'=false) + 0.5:(s'=0);")
        if s % 9 == 0 and kind == "mdp":  # a guard that may have no value is never dispatched
            lines.append(f"[] s={s} & (t>0 & mod(s, t)=1) -> (t'=0);")
    lines.append("[] s>90 & b -> (s'=s-1);")
    rng.shuffle(lines)
    body = "\n".join(lines)
    return f"{kind} module m s:[0..99] init 5; t:[0..2]; b:bool;\n{body}\nendmodule\n"


@pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])
def test_one_module(kind: str) -> None:
    program = galton.parse(table(random.Random(kind), kind) + 'label "high" = s>50;')
    found = check(program, oracle.explore(program), threads=(1, 2))
    assert found.n_states > 100


def test_modules_that_synchronise() -> None:
    rng = random.Random(7)
    parts = []
    for m in range(3):
        commands = [
            f"[tick] c={c} & x{m}={x} -> 0.5:(x{m}'={rng.randrange(4)}) + 0.5:(x{m}'={rng.randrange(4)});"
            for c in range(40)
            for x in range(4)
        ]
        parts.append(f"module p{m} x{m}:[0..3]; {' '.join(commands)} endmodule")
    text = f"dtmc module c c:[0..40]; [tick] c<40 -> (c'=c+1); [] c=40 -> true; endmodule {' '.join(parts)}"
    program = galton.parse(text)
    check(program, oracle.explore(program), threads=(1, 2))


def test_what_goes_wrong_is_told_of_the_same_command() -> None:
    commands = " ".join(f"[] s={s} -> (s'={s + 1});" for s in range(100))
    with pytest.raises(galton.GaltonError, match="gives s the value 100, outside its range") as caught:
        galton.parse(f"dtmc module m s:[0..99]; {commands} endmodule").build()
    assert "s=99" in str(caught.value)


def test_a_program_that_takes_too_long_to_compile_is_left_to_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = lower(galton.parse(table(random.Random(3), "dtmc")))
    monkeypatch.setattr(exploration, "MOST_SECONDS", 0.2)
    with pytest.raises(DeviceError, match="so long that compiling it"):
        exploration.explore(lowered, threads=1)


def test_random_paths_take_the_same_commands() -> None:
    program = galton.parse(table(random.Random(3), "dtmc"))
    model = program.build()
    assert model.states is not None
    known = {tuple(model.states[i].values()) for i in range(model.n_states)}
    met = {(row["s"], row["t"], row["b"]) for row in program.simulate(paths=20, steps=50).rows()}
    assert len(met) > 50
    assert met <= known
