"""The gain of a small end component by policy iteration in fractions: exact, however stiff the numbers are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...model.sparse import Int32s, Rewards
from .components import Inside
from .proof import Proof

__all__ = ["SMALL", "settle"]

SMALL = 30  # states; numbers grow with each
MOST = 200  # strategies

Row = dict[int, Fraction]  # what leaves a state


def settle(proof: Proof) -> bool:
    """Give a single component the bounds of its exact gain, and the choices that attain it; False where none is found.

    The gain is proved by Bellman's equation, which holds exactly: no choice is better than those taken.
    """
    inside, sign = proof.inside, 1 if proof.maximise else -1
    rows, earned = _exactly(inside, sign)
    groups = inside.model.choice_starts
    assert groups is not None
    taken = [int(groups[s]) for s in range(len(groups) - 1)]
    for _ in range(MOST):
        proof.settings.tell(step="long run", sweeps=0)
        gain, h, taken = _evaluated(rows, earned, taken, groups)
        better = False
        for s in range(len(taken)):
            for row in range(int(groups[s]), int(groups[s + 1])):
                if _drift(rows[row], earned[row], h, s) > gain:
                    taken[s], better = row, True
                    break
        if not better:
            exact = sign * gain
            lower, upper = _around(exact)
            proof.narrow(np.array([lower]), np.array([upper]))
            proof.settled = np.array(taken, dtype=np.int32)
            return True
    return False


def _around(exact: Fraction) -> tuple[float, float]:
    """The doubles around a number that is not negative."""
    near = float(exact)
    lower = near if Fraction(near) <= exact else float(np.nextafter(near, -np.inf))
    upper = near if Fraction(near) >= exact else float(np.nextafter(near, np.inf))
    return lower, upper


def _exactly(inside: Inside, sign: int) -> tuple[list[Row], list[Fraction]]:
    """The rows, divided by their sums and without loops, and what they earn."""
    model, reward = inside.model, inside.reward
    values, owners = model.values.array(), inside.chain.owners
    assert owners is not None
    rows, earned = [], []
    for row, owner in enumerate(owners.tolist()):
        entries = range(int(model.row_starts[row]), int(model.row_starts[row + 1]))
        total = sum((Fraction(float(values[e])) for e in entries), Fraction(0))
        rows.append({t: Fraction(float(values[e])) / total for e in entries if (t := int(model.columns[e])) != owner})
        earned.append(sign * _earned(reward, owner, row))
    return rows, earned


def _earned(reward: Rewards, state: int, row: int) -> Fraction:
    parts = [(reward.state, state), (reward.choice, row)]
    return sum((Fraction(float(part[at])) for part, at in parts if part is not None), Fraction(0))


def _drift(row: Row, earned: Fraction, h: list[Fraction], state: int) -> Fraction:
    return earned + sum((p * (h[t] - h[state]) for t, p in row.items()), Fraction(0))


def _evaluated(
    rows: list[Row], earned: list[Fraction], taken: list[int], groups: Int32s
) -> tuple[Fraction, list[Fraction], list[int]]:
    """The gain and the bias of a strategy, once all states are led to where it earns most."""
    n = len(taken)
    best: tuple[Fraction, set[int]] | None = None
    for end in _ends([set(rows[row]) for row in taken]):
        gain = _solved(rows, earned, taken, sorted(end))[0]
        if best is None or gain > best[0]:
            best = gain, end
    assert best is not None
    taken, home = list(taken), best[1]
    # From the best end outwards: those that may come there by their own rows keep them, the others get closer.
    led = set(home)
    while len(led) < n:
        if own := {s for s in range(n) if s not in led and led & set(rows[taken[s]])}:
            led |= own
            continue
        s, row = next(
            (s, row)
            for s in range(n)
            if s not in led
            for row in range(int(groups[s]), int(groups[s + 1]))
            if led & set(rows[row])
        )
        taken[s] = row
        led.add(s)
    gain, h = _solved(rows, earned, taken, [*sorted(home), *sorted(set(range(n)) - home)])
    return gain, h, taken


def _ends(after: list[set[int]]) -> list[set[int]]:
    """The bottom components of a small chain."""
    reach = []
    for s in range(len(after)):
        met, front = {s}, [s]
        while front:
            new = after[front.pop()] - met
            met |= new
            front += new
        reach.append(met)
    return [reach[s] for s in range(len(after)) if s == min(reach[s]) and all(s in reach[t] for t in reach[s])]


def _solved(
    rows: list[Row], earned: list[Fraction], taken: list[int], members: list[int]
) -> tuple[Fraction, list[Fraction]]:
    """The gain and the bias, 0 in the first member, of a strategy that stays among the members and ends where it is.

    The unknowns are the gain and the bias of the other members; each member has the equation g + Σ p (h(s) - h(t)) = r.
    """
    place = {s: k for k, s in enumerate(members)}
    size = len(members)
    table: list[list[Fraction]] = []
    for s in members:
        line = [Fraction(0)] * (size + 1)
        line[0], line[size] = Fraction(1), earned[taken[s]]
        for t, p in rows[taken[s]].items():
            if place[s]:
                line[place[s]] += p
            if place[t]:
                line[place[t]] -= p
        table.append(line)
    for column in range(size):
        pivot = next(k for k in range(column, size) if table[k][column] != 0)
        table[column], table[pivot] = table[pivot], table[column]
        top = table[column]
        for line in table[column + 1 :]:
            if line[column] != 0:
                factor = line[column] / top[column]
                for k in range(column, size + 1):
                    if top[k] != 0:
                        line[k] -= factor * top[k]
    found = [Fraction(0)] * size
    for k in reversed(range(size)):
        rest = sum((table[k][j] * found[j] for j in range(k + 1, size)), Fraction(0))
        found[k] = (table[k][size] - rest) / table[k][k]
    h = [Fraction(0)] * len(taken)
    for s, k in place.items():
        if k:
            h[s] = found[k]
    return found[0], h
