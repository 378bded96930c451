"""Random programs that are symmetric by construction, and others that nearly are.

Processes are written out one by one, each with its conditions, sums, updates and commands in an order of its own, so
that a symmetry is there in what the text means and not in how it looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

TYPES = ("dtmc", "ctmc", "mdp")


@dataclass(frozen=True)
class Process:
    """The text of one process; ``{i}`` is its number and ``{j}`` that of the next one in the ring."""

    variables: tuple[str, ...]
    commands: tuple[tuple[str, tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]], ...]  # action, guard, updates


@dataclass(frozen=True)
class Text:
    """A program of several processes, which may differ."""

    type: str
    ring: bool
    processes: tuple[Process, ...]
    shared: str
    initial: str
    reward: tuple[str, ...]  # of each process
    label: tuple[str, ...]
    order: Random = field(repr=False, default_factory=lambda: Random(0))

    def __len__(self) -> int:
        return len(self.processes)

    def joined(self, parts: tuple[str, ...] | list[str], sign: str) -> str:
        """Parts in any order."""
        shuffled = list(parts)
        self.order.shuffle(shuffled)
        return f" {sign} ".join(shuffled)

    def sum_of(self, what: str) -> str:
        """A sum over all processes, in any order."""
        return f"({self.joined([what.format(i=i) for i in range(1, len(self) + 1)], '+')})"

    def _filled(self, text: str, i: int) -> str:
        text = text.replace("SUM", self.sum_of("a{i}"))
        return text.replace("{i}", str(i)).replace("{j}", str(i % len(self) + 1))

    def module(self, i: int) -> str:
        """Process i."""
        process = self.processes[i - 1]
        commands = []
        for action, guard, updates in process.commands:
            choices = [f"{p} : {self.joined([f'({a})' for a in assigned], '&')}" for p, assigned in updates]
            text = f"[{action}] {self.joined([f'({g})' for g in guard], '&')} -> {self.joined(choices, '+')};"
            commands.append(self._filled(text, i))
        self.order.shuffle(commands)
        variables = [self._filled(v, i) for v in process.variables]
        return "\n".join([f"module p{i}", *variables, *commands, "endmodule"])

    def __str__(self) -> str:
        count = range(1, len(self) + 1)
        label = self.joined([self._filled(self.label[i - 1], i) for i in count], "&")
        rewards = [self._filled(self.reward[i - 1], i) for i in count]
        return "\n".join(
            [
                self.type,
                self.shared,
                *(self.module(i) for i in count),
                self.initial.replace("ALL", f"{self.sum_of('a{i}')} <= 2"),
                f'label "goal" = {label};',
                'rewards "r"',
                *rewards,
                "endrewards",
            ]
        )


def symmetric(seed: int) -> Text:
    """A program with three or four processes that are alike: all of them exchangeable, or in a ring."""
    random = Random(seed)
    type, ring = TYPES[seed % 3], seed % 2 == 1
    top = random.choice([1, 2])
    chance = random.choice([("1/3", "2/3"), ("0.5", "0.5"), ("1/(1+a{i})", "a{i}/(1+a{i})")])
    if type == "ctmc":
        chance = random.choice([("1.5", "2"), ("0.1*(1+SUM)", "a{i}+1"), ("1e-3", "7")])
    look = random.choice(["a{j}>0", "b{j}", "a{j}!=a{i}"]) if ring else random.choice(["SUM<3", "SUM>1", "true"])
    moves = [
        ("", (f"a{{i}}<{top}", look), ((chance[0], ("a{i}'=a{i}+1",)), (chance[1], ("b{i}'=!b{i}", "a{i}'=a{i}")))),
        ("", (f"a{{i}}={top}", "b{i}"), (("1", ("a{i}'=0", "b{i}'=false")),)),
        ("all", (f"a{{i}}>={top}", "!b{i}"), ((chance[0], ("b{i}'=true",)), (chance[1], ("a{i}'=0",)))),
    ]
    shared = ""
    if random.random() < 0.5:
        shared = "global g : [0..2];"
        grow = ("", ("g<2", "b{i}", look), (("1", ("g'=g+1", "b{i}'=false")),))
        moves += [grow, ("", ("g=2", "a{i}=0"), (("1", ("g'=0",)),))]
    if random.random() < 0.3:
        moves.append(("own{i}", ("a{i}=0", "!b{i}"), (("1", ("b{i}'=true",)),)))
    starts = random.random() < 0.25
    first = "" if starts else " init 0"
    process = Process(
        (f"a{{i}} : [0..{top}]{first};", f"b{{i}} : bool{'' if starts else ' init false'};"), tuple(moves)
    )
    size = random.choice([3, 4])
    reward = random.choice(["b{i} : 1.5;", "[] a{i}>0 : 2;", "true : a{i};"])
    if any(action == "own{i}" for action, _, _ in moves):
        reward += " [own{i}] true : 3;"
    return Text(
        type,
        ring,
        (process,) * size,
        shared,
        "init ALL endinit" if starts else "",
        (reward,) * size,
        (random.choice([f"a{{i}}={top}", "b{i}", f"(a{{i}}={top} | b{{i}})"]),) * size,
        random,
    )


def _other(text: Text, change: Callable[[Process], Process]) -> Text:
    return replace(text, processes=(*text.processes[:-1], change(text.processes[-1])))


def _command(process: Process, number: int, place: int, new: object) -> Process:
    command = list(process.commands[number])
    command[place] = new
    commands = (*process.commands[:number], tuple(command), *process.commands[number + 1 :])
    return replace(process, commands=commands)  # type: ignore[arg-type]


BREAKS: dict[str, Callable[[Text], Text]] = {
    "a guard": lambda t: _other(t, lambda p: _command(p, 1, 1, (*p.commands[1][1], "b1 | b2"))),
    "a probability": lambda t: _other(
        t, lambda p: _command(p, 1, 2, (("0.25", ("a{i}'=0", "b{i}'=false")), ("0.75", ("b{i}'=false",))))
    ),
    "an assignment": lambda t: _other(t, lambda p: _command(p, 1, 2, (("1", ("a{i}'=0",)),))),
    "an action": lambda t: _other(t, lambda p: _command(p, 1, 0, "all")),
    "one command more": lambda t: _other(
        t, lambda p: replace(p, commands=(*p.commands, ("", ("a{i}=0", "b{i}"), (("1", ("b{i}'=false",)),))))
    ),
    "a range": lambda t: _other(
        t, lambda p: replace(p, variables=(p.variables[0].replace("[0..", "[0..1+"), *p.variables[1:]))
    ),
    "a reward": lambda t: replace(t, reward=(*t.reward[:-1], "b{i} : 1.25;")),
    "a reward of a choice": lambda t: replace(t, reward=(*t.reward[:-1], t.reward[-1] + " [all] b{i} : 0.5;")),
    "a label": lambda t: replace(t, label=(*t.label[:-1], "a{i}=0")),
}
STARTS: dict[str, Callable[[Text], Text]] = {
    "an initial value": lambda t: _other(
        t, lambda p: replace(p, variables=(p.variables[0].replace("init 0", "init 1"), *p.variables[1:]))
    ),
}
