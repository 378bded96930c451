"""Random small models, as texts in the PRISM language and, beside it, as the fractions they mean.

The shapes are those that make solvers fail: states that are almost never left, long cycles with a small leak, walks
that start again, several bottom components, end components that earn nothing, rates that are far apart. Choices that
shrink away come first in every list, so that a failure ends as a short text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from exact import Exact, Rewards, reachable
from hypothesis import strategies as st
from queries import decimal

Draw = Callable[[st.SearchStrategy[Any]], Any]

TINY = Fraction(1, 2**20)
# Probabilities that doubles hold, and those that they do not.
DYADIC = [["1"], ["1/2", "1/2"], ["1/4", "3/4"], ["1/4", "1/4", "1/2"], ["1/8", "7/8"], [str(TINY), str(1 - TINY)]]
DECIMAL = [
    ["1"],
    ["1/2", "1/2"],
    ["1/3", "2/3"],
    ["1/10", "2/10", "7/10"],
    ["1/7", "6/7"],
    ["1/1000000", "999999/1000000"],
]
RATES = ["1", "2", "1/2", "3", "10", "1/4", "100", "1/1000", "3/10", "1/1000000", "10000"]
AMOUNTS = ["1", "2", "5/2", "1/4", "1000", "1/10"]


@dataclass(frozen=True)
class Command:
    state: int
    action: str
    parts: Sequence[tuple[Fraction, int]]


@dataclass(frozen=True)
class Structure:
    """State rewards, and rewards of the commands of an action in a state."""

    name: str
    state: Mapping[int, Fraction]
    action: Mapping[tuple[int, str], Fraction]


@dataclass(frozen=True)
class RandomModel:
    """``width`` is that of a grid of two variables, or 0 for one variable."""

    type: str
    size: int
    width: int
    initial: int
    commands: Sequence[Command]
    labels: Mapping[str, frozenset[int]]
    structures: Sequence[Structure]
    dyadic: bool

    def __repr__(self) -> str:
        return f'"""\n{self.text}"""'

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    @cached_property
    def text(self) -> str:
        """The model in the PRISM language."""
        lines = [self.type, "", "module m", *self._declarations()]
        for command in self.commands:
            parts = " + ".join(f"{decimal(p)}:{self._update(target)}" for p, target in command.parts)
            lines.append(f"  [{command.action}] {self._guard(command.state)} -> {parts};")
        lines.append("endmodule")
        for name, states in self.labels.items():
            lines.append(f'label "{name}" = {" | ".join(map(self._guard, sorted(states))) or "false"};')
        for rewards in self.structures:
            lines.append(f'rewards "{rewards.name}"')
            lines += [f"  {self._guard(s)} : {decimal(r)};" for s, r in rewards.state.items()]
            lines += [f"  [{a}] {self._guard(s)} : {decimal(r)};" for (s, a), r in rewards.action.items()]
            lines.append("endrewards")
        return "\n".join(lines) + "\n"

    @property
    def strict(self) -> bool:
        """Whether doubles hold the model as it is: rows that sum to 1 exactly, or rates."""
        return self.dyadic or self.type == "ctmc"

    def values(self, state: int) -> dict[str, int]:
        """What the variables are in a state."""
        return dict(zip("xy", divmod(state, self.width), strict=True)) if self.width else {"s": state}

    def _declarations(self) -> list[str]:
        highest = {"x": (self.size - 1) // self.width, "y": self.width - 1} if self.width else {"s": self.size - 1}
        first = self.values(self.initial)
        return [f"  {name} : [0..{high}] init {first[name]};" for name, high in highest.items()]

    def _guard(self, state: int) -> str:
        return "&".join(f"{name}={value}" for name, value in self.values(state).items())

    def _update(self, state: int) -> str:
        return "&".join(f"({name}'={value})" for name, value in self.values(state).items())

    @cached_property
    def kept(self) -> list[int]:
        """The states that are reachable, in the order in which Galton numbers them."""
        return sorted(reachable(self.whole, [self.initial]))

    @cached_property
    def exact(self) -> Exact:
        """The model with the numbers of the text, not rounded to doubles, and its reachable states."""
        number = {old: new for new, old in enumerate(self.kept)}
        whole = self.whole
        return Exact(
            type=self.type,
            rows=[[{number[t]: p for t, p in row.items()} for row in whole.rows[s]] for s in self.kept],
            exit_rates=[whole.exit_rates[s] for s in self.kept] if whole.exit_rates else (),
            initial=[number[self.initial]],
            labels={name: frozenset(number[s] for s in states if s in number) for name, states in whole.labels.items()},
            rewards={
                name: Rewards([r.state[s] for s in self.kept], [r.choice[s] for s in self.kept])
                for name, r in whole.rewards.items()
            },
        )

    @cached_property
    def whole(self) -> Exact:
        """The same with all states."""
        groups: list[list[list[Command]]] = [[] for _ in range(self.size)]  # state, choice, commands of the choice
        for command in self.commands:
            if self.type == "mdp" or not groups[command.state]:
                groups[command.state].append([])
            groups[command.state][-1].append(command)
        deadlocks = frozenset(s for s, choices in enumerate(groups) if not choices)
        for s in deadlocks:
            groups[s].append([Command(s, "-", [(Fraction(1), s)])])  # an action that no reward names
        rewards = {}
        for structure in self.structures:
            choice = [[_mean_reward(structure, commands) for commands in choices] for choices in groups]
            rewards[structure.name] = Rewards([structure.state.get(s, Fraction(0)) for s in range(self.size)], choice)
        weights = [[_weights(commands) for commands in choices] for choices in groups]
        return Exact(
            type=self.type,
            rows=[[{t: w / sum(row.values()) for t, w in row.items()} for row in rows] for rows in weights],
            exit_rates=[sum(rows[0].values()) for rows in weights] if self.type == "ctmc" else (),
            labels={**self.labels, "init": frozenset([self.initial]), "deadlock": deadlocks},
            rewards=rewards,
        )


def _weights(commands: Sequence[Command]) -> dict[int, Fraction]:
    """Probabilities or rates, those to the same state added up."""
    row: dict[int, Fraction] = {}
    for command in commands:
        for weight, target in command.parts:
            row[target] = row.get(target, Fraction(0)) + weight
    return row


def _mean_reward(structure: Structure, commands: Sequence[Command]) -> Fraction:
    """What the commands earn per step, or per unit of time."""
    amounts = [structure.action.get((command.state, command.action), Fraction(0)) for command in commands]
    weights = [sum(weight for weight, _ in command.parts) for command in commands]
    return sum((amount * weight for amount, weight in zip(amounts, weights, strict=True)), Fraction(0))


# Strategies of Hypothesis


@st.composite
def models(draw: Draw, types: Sequence[str] = ("dtmc", "ctmc", "mdp"), largest: int = 9) -> RandomModel:
    """A model of 3 to ``largest`` states, of which some may be out of reach."""
    kind = draw(st.sampled_from(types))
    width = draw(st.sampled_from([0, 0, 2, 3] if largest >= 6 else [0]))
    size = draw(st.integers(3, largest)) if not width else width * draw(st.integers(2, largest // width))
    dyadic = draw(st.booleans())
    shapes = draw(st.sampled_from(SHAPES))
    commands = [
        Command(state, draw(st.sampled_from(["", "a", "b"])), draw_parts(draw, kind, size, state, dyadic, shapes))
        for state in range(size)
        for _ in range(draw(st.sampled_from(COMMANDS[kind])))
    ]
    some = st.frozensets(st.integers(0, size - 1), min_size=1, max_size=max(1, size // 2))
    labels = {"a": draw(some), "b": draw(some | st.just(frozenset())), "last": frozenset([size - 1])}
    structures = [draw_structure(draw, name, commands, size) for name in ("r", "q")]
    model = RandomModel(kind, size, width, 0, commands, labels, structures, dyadic)
    return replace(model, initial=widest(model) if draw(st.integers(0, 4)) else 0)


def widest(model: RandomModel) -> int:
    """The first of the states from which most states are reached."""
    return max(range(model.size), key=lambda state: len(reachable(model.whole, [state])))


SHAPES = [
    ["any"],
    ["any", "any", "absorbing"],
    ["next", "next", "leak"],
    ["leak", "leak", "any"],
    ["reset", "reset", "reset", "any"],
    ["any", "next", "absorbing", "leak", "reset"],
]
COMMANDS = {"dtmc": [1, 1, 1, 1, 1, 1, 1, 0], "ctmc": [1, 2, 1, 2, 3, 0], "mdp": [1, 2, 1, 2, 3, 1, 2, 0]}


def draw_parts(
    draw: Draw, kind: str, size: int, state: int, dyadic: bool, shapes: Sequence[str]
) -> Sequence[tuple[Fraction, int]]:
    """The right side of a command."""
    table = DYADIC if dyadic else DECIMAL
    anywhere = st.integers(0, size - 1)
    following = (state + 1) % size
    match draw(st.sampled_from(shapes)):
        case "absorbing":
            parts = [("1", state)]
        case "next":
            parts = [("1", following)]
        case "reset":
            parts = [("1/2", following), ("1/2", 0)]
        case "leak":
            small, large = draw(st.sampled_from([table[-1], table[-2], table[2]]))
            parts = [(large, draw(st.sampled_from([state, following]))), (small, draw(anywhere))]
        case _:
            parts = [(p, draw(anywhere)) for p in draw(st.sampled_from(table))]
    if kind == "ctmc":
        parts = [(draw(st.sampled_from(RATES)), target) for _, target in parts]
    return [(Fraction(p), target) for p, target in parts]


def draw_structure(draw: Draw, name: str, commands: Sequence[Command], size: int) -> Structure:
    """Rewards for some states and some commands; often for few, so that cycles earn nothing."""
    amounts = st.sampled_from([Fraction(amount) for amount in AMOUNTS])
    most = draw(st.sampled_from([1, 2, size]))
    rewarded = draw(st.lists(st.integers(0, size - 1), unique=True, min_size=min(most, 2), max_size=most))
    pairs = sorted({(command.state, command.action) for command in commands})
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=most)) if pairs else []
    return Structure(name, {s: draw(amounts) for s in sorted(rewarded)}, {p: draw(amounts) for p in sorted(chosen)})
