"""Random programs and formulas of linear temporal logic, each asked in every way there is: as many as asked for.

    python tests/ltl/campaign.py --seed 1 --count 20000 [--no-storm]

Each pair is answered by the product that the explorer builds and by the product with a model that was built before;
both products have to be the same size, both answers have to meet, and that of Storm, where it is installed, has to lie
between the bounds. Of MDPs the best strategies are made too, and are worth their values, or there is an error. The exit
code is 1 if anything disagrees.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections import Counter
from random import Random

from ltl_judges import agrees, meet, on_the_model, same_products, storms_answers
from ltl_pairs import Pair, random_pair

import galton

SHOWN = 20  # mistakes that are printed


def mistakes(pair: Pair, told: Counter[str], *, storm: bool) -> list[str]:
    """What disagrees about a pair, in words."""
    program = galton.parse(pair.program)
    found = []
    different = same_products(program, pair.questions[0])
    if different:
        found.append(f"products: {different}")
    theirs = storms_answers(pair) if storm else []
    for quantifier in "AE":
        prop = f"{quantifier} [ {pair.path} ]"
        told["answers"] += 1
        if not meet(galton.check(program, prop), on_the_model(program, prop)):
            found.append(f"{prop}: {galton.check(program, prop)} explored, not so of the model")
    for place, prop in enumerate(pair.questions):
        ours = galton.check(program, prop, strategy=pair.kind == "mdp")
        told["answers"] += 1
        told["strategies"] += ours.strategy is not None
        told["between 0 and 1"] += ours.value not in (0.0, 1.0)
        if not meet(ours, on_the_model(program, prop)):
            found.append(f"{prop}: {ours} explored, {on_the_model(program, prop)} of the model")
        if theirs:
            told["beside Storm"] += 1
            if not agrees(ours, theirs[place]):
                found.append(f"{prop}: {ours}, and Storm says {theirs[place]!r}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--no-storm", action="store_true")
    given = parser.parse_args()
    storm = not given.no_storm and importlib.util.find_spec("stormpy") is not None
    told: Counter[str] = Counter()
    wrong = 0
    start = time.perf_counter()
    for number in range(given.count):
        seed = given.seed * 1_000_000_000 + number
        # Storm gives states without a transition a loop only where it is told to; and it has no bounds inside formulas.
        beside = storm and number % 2 == 0
        random = Random(seed)
        pair = random_pair(random, bounds=not beside, plain=beside)
        told["pairs"] += 1
        try:
            found = mistakes(pair, told, storm=beside)
        except galton.GaltonError as error:
            found = [f"error: {error}"]
        if found:
            wrong += 1
            if wrong <= SHOWN:
                print(f"seed {seed}\n{pair.program}\n{pair.path}", *found, sep="\n", flush=True)
        if number % 1_000 == 999:
            print(f"{dict(told)}, {wrong} wrong, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    print(f"{', '.join(f'{count:,} {what}' for what, count in told.items())}; {wrong:,} wrong")
    raise SystemExit(int(wrong > 0))


if __name__ == "__main__":
    main()
