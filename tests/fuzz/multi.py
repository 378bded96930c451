"""Campaign: several objectives of small MDPs, against linear programs over occupation measures.

Of a Pareto set, each corner has to be attained, no strategy may be beyond a half space, and in random directions nobody
gets further than the corners, but for the gap. Strategies check themselves: the chain of each is asked for its numbers.
The programs are solved in doubles, so all of this is up to a millionth.
"""

from __future__ import annotations

from importlib import import_module
from random import Random
from typing import Any

import numpy as np

from galton.checking.result import ParetoSet

from .judge import Judge

ROOM = 1e-6
EPS = 1e-4


def play(random: Random, judge: Judge) -> None:
    # It lies beside this folder, which is ``tests.fuzz`` or, for pytest, ``fuzz``.
    occupation = import_module(f"{(__package__ or '').removesuffix('fuzz')}occupation").Occupation
    rng = np.random.default_rng(random.randrange(2**32))
    averages = random.random() < 0.4
    mdp = occupation.recurrent(rng) if averages else occupation.random(rng, loops=random.random() < 0.6, rewards=3)
    known = [f"r{i}" for i in range(3)] + ([] if averages else ["end0", "end1", "end2", "worth"])
    names = random.sample(known, random.randint(2, 4 if not averages else 3))
    signs = [random.choice([-1, 1]) for _ in names]
    judge.tally.models += 1
    _set(judge, mdp, names, signs, rng, averages=averages, strategy=random.random() < 0.3)
    _best(judge, mdp, names, signs, random, averages=averages)


def _formula(name: str, suffix: str, *, averages: bool) -> str:
    if name.startswith("end"):
        return f'P{suffix} [ F "{name}" ]'
    return f'R{{"{name}"}}{suffix} [ {"S" if averages or name == "worth" else "C"} ]'


def _show(mdp: Any) -> str:
    return f"{mdp.matrix.tolist()} {mdp.owner} {[list(reward) for reward in mdp.rewards]}"


def _set(
    judge: Judge, mdp: Any, names: list[str], signs: list[int], rng: Any, *, averages: bool, strategy: bool
) -> None:
    words = [
        _formula(name, "max=?" if sign > 0 else "min=?", averages=averages)
        for name, sign in zip(names, signs, strict=True)
    ]
    text = f"multi({', '.join(words)})"
    result = judge.ask(mdp.model, text, _show(mdp), eps=EPS, strategy=strategy)
    if result is None:
        return
    found = result.value
    if not isinstance(found, ParetoSet):
        judge.fail(text, f"no Pareto set, but {found}", _show(mdp))
        return
    points = np.array(found.points)
    for point in points:
        bounds = [(name, sign, x - sign * ROOM) for name, sign, x in zip(names, signs, point, strict=True)]
        judge.tally.numbers += 1
        if mdp.best([(names[0], 0.0)], bounds, averages=averages) is None:
            judge.fail(text, f"no strategy attains the corner {point.tolist()}", _show(mdp))
    for weights, limit in found.half_spaces:
        judge.tally.numbers += 1
        best = mdp.best(list(zip(names, weights, strict=True)), averages=averages)
        if best is None or best > limit + ROOM:
            judge.fail(text, f"a strategy has {best} in the direction {weights}, beyond {limit}", _show(mdp))
    for _ in range(6):
        weights = np.array(signs) * rng.dirichlet(np.ones(len(names)) / 2)
        judge.tally.numbers += 1
        best = mdp.best(list(zip(names, weights, strict=True)), averages=averages)
        reached, size = float(max(points @ weights)), float(max(np.abs(points) @ np.abs(weights)))
        room = 4 * max(found.gap, EPS) * size + ROOM
        if best is None or not reached - ROOM <= best <= reached + room:
            judge.fail(text, f"corners reach {reached} in the direction {weights}, the best is {best}", _show(mdp))


def _best(judge: Judge, mdp: Any, names: list[str], signs: list[int], random: Random, *, averages: bool) -> None:
    """The best of the first objective under bounds on the others."""
    bounds = []
    for name, sign in zip(names[1:], signs[1:], strict=True):
        low = -(mdp.best([(name, -1.0)], averages=averages) or 0.0)
        high = mdp.best([(name, 1.0)], averages=averages) or 0.0
        if high - low > 0.01:  # what all strategies have in common would be met just so
            bounds.append((name, sign, round(low + random.uniform(0.1, 0.9) * (high - low), 3)))
    words = [_formula(name, f"{'>=' if sign > 0 else '<='}{bound}", averages=averages) for name, sign, bound in bounds]
    asked = _formula(names[0], "max=?" if signs[0] > 0 else "min=?", averages=averages)
    text = f"multi({', '.join([asked, *words])})"
    result = judge.ask(mdp.model, text, _show(mdp))
    if result is None:
        return
    judge.tally.numbers += 1
    expected = mdp.best([(names[0], float(signs[0]))], bounds, averages=averages)
    if expected is None or np.isnan(float(result)):
        # A bound that can be met or not by less than the programs can tell says nothing.
        eased = [(name, sign, bound - sign * ROOM) for name, sign, bound in bounds]
        harder = [(name, sign, bound + sign * ROOM) for name, sign, bound in bounds]
        none = mdp.best([(names[0], 0.0)], eased, averages=averages) is None
        some = mdp.best([(names[0], 0.0)], harder, averages=averages) is not None
        if (none and not np.isnan(float(result))) or (some and np.isnan(float(result))):
            judge.fail(text, f"it is {result.value}, and the program has {expected}", _show(mdp))
        return
    truth = signs[0] * expected
    assert result.lower is not None
    assert result.upper is not None
    if not result.lower - ROOM <= truth <= result.upper + ROOM:
        judge.fail(text, f"[{result.lower}, {result.upper}] misses {truth}", _show(mdp))
