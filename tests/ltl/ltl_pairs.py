"""Random small programs and random formulas of linear temporal logic over their variables and labels.

Programs have one or two modules that share an action, states without a transition, and rates or probabilities that
depend on variables. Formulas are written so that PRISM, Storm and Galton read them alike: every operator in
parentheses.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from galton.checking.paths import Linear, shape
from galton.lang import Source, parse_properties
from galton.lang.properties import Probability

Kind = Literal["dtmc", "mdp", "ctmc"]
KINDS: tuple[Kind, ...] = ("dtmc", "mdp", "ctmc")
_LABELS = 3


@dataclass(frozen=True)
class Pair:
    """A program, and a path formula about it."""

    kind: Kind
    program: str
    path: str

    @property
    def questions(self) -> list[str]:
        """What is asked about the formula."""
        asked = ("Pmin=?", "Pmax=?") if self.kind == "mdp" else ("P=?",)
        return [f"{each} [ {self.path} ]" for each in asked]


def random_pair(random: Random, kind: Kind | None = None, *, bounds: bool = False, plain: bool = False) -> Pair:
    """A pair; with ``bounds`` the formula may have bounds in steps, with ``plain`` no state is without a transition."""
    kind = kind or random.choice(KINDS)
    program = random_program(random, kind, plain=plain)
    return Pair(kind, program, random_path(random, bounds=bounds and kind != "ctmc"))


def random_program(random: Random, kind: Kind, *, plain: bool = False) -> str:
    """A program with variables x and, in a second module, y; labels p0, p1 and p2."""
    sizes = {"x": random.randrange(3, 8)}
    if random.random() < 0.6:
        sizes["y"] = random.randrange(2, 5)
    lines = [kind]
    for name, size in sizes.items():
        lines.append(f"module of_{name}")
        lines.append(f"  {name} : [0..{size - 1}] init {random.choice((0, 0, 0, 1))};")
        for value in range(size):
            if value and random.random() < 0.35:  # a place to end in
                lines += [f"  [] {name}={value} -> 1 : ({name}'={name});"] if plain else []
                continue
            for _ in range(random.choice((1, 1, 1, 2))):
                lines.append(_command(random, kind, name, size, value, list(sizes)))
        lines.append(f"  [go] {name}=0 -> 1 : ({name}'=1);")
        lines.append("endmodule")
    if plain:
        lines += ["module loop", "  [] true -> 1 : true;", "endmodule"]
    lines += [f'label "p{i}" = {_states(random, sizes)};' for i in range(_LABELS)]
    lines.append(f'rewards "cost" {_states(random, sizes)} : {random.randrange(1, 4)}; [go] true : 2; endrewards')
    return "\n".join(lines)


def _command(random: Random, kind: Kind, name: str, size: int, value: int, names: list[str]) -> str:
    action = random.choice(("", "", "go"))
    guard = f"{name}={value}"
    other = random.choice(names)
    if other != name and random.random() < 0.4:
        guard += f" & {other}{random.choice(('=', '!=', '<='))}{random.randrange(2)}"
    # Mostly onwards, so that there are several places to end in.
    targets = [random.randrange(0 if random.random() < 0.15 else value, size) for _ in range(random.randrange(2, 5))]
    weights = [random.randrange(1, 4) for _ in targets]
    total = 1 if kind == "ctmc" else sum(weights)
    parts = [f"{w}/{total} : ({name}'={t})" for w, t in zip(weights, targets, strict=True)]
    return f"  [{action}] {guard} -> {' + '.join(parts)};"


def _states(random: Random, sizes: dict[str, int]) -> str:
    found = [
        f"{name}{random.choice(('=', '=', '=', '>', '!='))}{random.randrange(size)}"
        for name, size in sizes.items()
        if random.random() < 0.7
    ]
    return f" {random.choice('&|')} ".join(found) or random.choice(("true", "x=0", "x=1", "x=2", "x>1"))


def random_path(random: Random, depth: int = 3, *, bounds: bool = False) -> str:
    """A path formula that is not one with a single temporal operator, written otherwise."""
    while True:
        path = _path(random, depth, bounds)
        (prop,) = parse_properties(Source("path", f"P=? [ {path} ]")).properties
        assert isinstance(prop.expression, Probability)
        if isinstance(shape(prop.expression.path), Linear):
            return path


def _path(random: Random, depth: int, bounds: bool) -> str:
    if depth == 0 or random.random() < 0.1:
        return f'"p{random.randrange(_LABELS)}"'
    bound = f"<={random.randrange(4)}" if bounds and random.random() < 0.3 else ""
    match random.choice("XXFFFGG!&&||UUU"):
        case "X":
            return f"(X {_path(random, depth - 1, bounds)})"
        case "F" | "G" as operator:
            return f"({operator}{bound} {_path(random, depth - 1, bounds)})"
        case "!":
            return f"(!{_path(random, depth - 1, bounds)})"
        case "U":
            return f"({_path(random, depth - 1, bounds)} U{bound} {_path(random, depth - 1, bounds)})"
        case operator:
            return f"({_path(random, depth - 1, bounds)} {operator} {_path(random, depth - 1, bounds)})"
