"""What looking for slices costs, beside lowering: once for each model. ``bench/reductions.py`` compares the answers.

    python bench/slice.py [--corpus DIR] [--only brp] [--max-states 2e4]

Times are those of the processor, so that a busy machine shows less.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the cases of its neighbour

from reductions import Case, corpus, gallery


def finding(cases: Iterator[Case]) -> None:
    """What lowering takes, and what is spent on slices besides, once for each model."""
    from galton.checking.looks import looks_of
    from galton.checking.slicing import slice_left
    from galton.lower.slicing import Slices

    done = set()
    for name, context, question, text in cases:
        model = name.split(" ")[0].rsplit("/", 1)[0]
        if model in done:
            continue
        done.add(model)
        best = [math.inf, math.inf]
        for _ in range(3):
            begin = time.process_time()
            slices = Slices(context)
            _ = slices.lowering
            lowered = time.process_time()
            found = slice_left(slices, [looks_of(context, question)])
            best = [min(best[0], lowered - begin), min(best[1], time.process_time() - lowered)]
        print(
            f"{model}: lowered in {1e3 * best[0]:.2f} ms, sliced in {1e3 * best[1]:.2f} ms: {found.note}; {text[:40]}"
        )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--max-states", type=float, default=2e4)
    chosen = parser.parse_args()
    more = () if chosen.corpus is None else corpus(chosen.corpus, chosen.max_states)
    finding(case for case in chain(gallery(chosen.max_states), more) if chosen.only in case[0])


if __name__ == "__main__":
    main()
