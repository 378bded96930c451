"""Models made to fool solvers, each with its reason, small enough for the exact checker; doubles hold their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from random_models import Command, RandomModel, Structure

Part = tuple[Fraction | int, int]
Choices = list[tuple[str, list[Part]]]


def model(
    kind: str, rows: Iterable[list[tuple[str, list[Part]]]], goal: set[int], **rewards: dict[int, int]
) -> RandomModel:
    """Each state as its commands; ``rewards`` are those of states. The label "b" is the last state."""
    states = list(rows)
    commands = [
        Command(state, action, [(Fraction(p), target) for p, target in parts])
        for state, choices in enumerate(states)
        for action, parts in choices
    ]
    structures = [
        Structure(name, {s: Fraction(r) for s, r in of_states.items()}, {}) for name, of_states in rewards.items()
    ]
    labels = {"a": frozenset(goal), "b": frozenset([len(states) - 1])}
    return RandomModel(kind, len(states), 0, 0, commands, labels, structures, dyadic=True)


def one(*parts: Part) -> Choices:
    """A state of a chain."""
    return [("", list(parts))]


def start_again(length: int) -> RandomModel:
    """Walks of ``length`` tails in a row, to either side (S. Haddad and B. Monmege, 2014).

    Iteration gains 2**-length a sweep, so a test of small changes stops it at once.
    """
    half = Fraction(1, 2)
    left = [one((half, 0), (half, s + 1)) for s in range(1, length)]
    right = [one((half, 0), (half, s + 1)) for s in range(length + 1, 2 * length)]
    first = one((Fraction(5, 8), 1), (Fraction(3, 8), length + 1))
    return model("dtmc", [first, *left, one((1, length)), *right, one((1, 2 * length))], {length}, r={0: 1})


def slow_leaks(states: int, bits: int) -> RandomModel:
    """A line of states that are left with probability 2**-bits, to the next or, half as often, to the end."""
    leak = Fraction(1, 2**bits)
    rows = [one((1 - leak, s), (leak * 3 / 4, s + 1), (leak / 4, states)) for s in range(states)]
    return model("dtmc", [*rows, one((1, states))], {states - 1}, r={0: 1, 2: 3})


def long_cycle(states: int, bits: int) -> RandomModel:
    """A cycle with one exit, that is taken with probability 2**-bits."""
    leak = Fraction(1, 2**bits)
    rows = [one((1, s + 1)) for s in range(states - 1)]
    exits = one((1 - leak, 0), (leak / 2, states), (leak / 2, states + 1))
    return model("dtmc", [*rows, exits, one((1, states)), one((1, states + 1))], {states}, r={0: 1})


def two_worlds(states: int, bits: int) -> RandomModel:
    """Two cycles, between which the chain changes with probability 2**-bits one way and twice that the other."""
    leak = Fraction(1, 2**bits)
    rows = []
    for world in range(2):
        base, other, out = world * states, (1 - world) * states, leak * (world + 1)
        rows += [one((Fraction(1, 2), base + s), (Fraction(1, 2), base + s + 1)) for s in range(states - 1)]
        rows.append(one((1 - out, base), (out, other)))
    return model("dtmc", rows, set(range(states)), r={0: 1, states: 8})


def far_rates(states: int) -> RandomModel:
    """A queue whose rates go from a millionth to a million."""
    rows = []
    for s in range(states):
        up, down = Fraction(4) ** (s - 5), Fraction(4) ** (10 - 2 * s)
        parts = [(up, s + 1)] if s < states - 1 else []
        rows.append(one(*parts, *([(down, s - 1)] if s else [])))
    return model("ctmc", rows, {states // 2}, r={0: 1, states - 1: 1024})


def fast_and_slow() -> RandomModel:
    """A fast cycle that is left after many rounds."""
    rows = [one((2**16, 1), (1, 3)), one((2**16, 2)), one((2**16, 0)), one((Fraction(1, 16), 3), (1, 4)), one((1, 4))]
    return model("ctmc", rows, {3}, r={0: 1, 3: 2})


def free_cycles(states: int) -> RandomModel:
    """Every state may go round for nothing for ever; leaving costs, and leads on or, rarely, astray."""
    leak = Fraction(1, 2**20)
    rows: list[Choices] = []
    for s in range(states):
        around = ("", [(1, (s + 1) % states)])
        rows.append([around, ("a", [(1 - leak, s), (leak / 2, states), (leak / 2, states + 1)]), ("b", [(1, 0)])])
    found = model("mdp", [*rows, one((1, states)), one((1, states + 1))], {states})
    paid = Structure("r", {}, {(s, "a"): Fraction(s + 1) for s in range(states)})
    return RandomModel("mdp", found.size, 0, 0, found.commands, found.labels, [paid], dyadic=True)


def near_ties(states: int) -> RandomModel:
    """Choices whose worth differs by 2**-30: taking the wrong one is wrong, though hardly."""
    little, half, lost = Fraction(1, 2**30), Fraction(1, 2), states + 1
    rows: list[Choices] = []
    for s in range(states):
        better = little * (s % 3)
        rows.append([("a", [(half + better, s + 1), (half - better, lost)]), ("b", [(half, s + 1), (half, lost)])])
    return model("mdp", [*rows, one((1, states)), one((half, 0), (half, lost))], {states}, r={0: 1})


HARD = {
    "start again 8": start_again(8),
    "start again 20": start_again(20),
    "slow leaks": slow_leaks(5, 20),
    "slower leaks": slow_leaks(3, 40),
    "long cycle": long_cycle(40, 20),
    "two worlds": two_worlds(5, 20),
    "worlds apart": two_worlds(4, 36),
    "far rates": far_rates(10),
    "fast and slow": fast_and_slow(),
    "free cycles": free_cycles(5),
    "near ties": near_ties(8),
}
