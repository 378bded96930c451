"""Budgets, quantiles and conditions of thousands of random models, beside fractions and beside Storm.

    python tests/check/budget_campaign.py --seeds 0:5000 [--storm]

Each seed makes a model and a question of each kind; what differs is printed with its seed, and the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import test_budgets
import test_conditional
import test_quantiles


def checks(storm: bool, folder: Path) -> dict[str, Callable[[int], None]]:
    """What is done with each seed, by name."""
    found: dict[str, Callable[[int], None]] = {
        "budgets": test_budgets.test_budgets_beside_all_strategies_in_fractions,
        "quantiles": test_quantiles.test_quantiles_beside_fractions,
        "conditions": test_conditional.test_conditions_beside_all_strategies_in_fractions,
    }
    if storm:
        found["budgets by Storm"] = lambda seed: test_budgets.test_budgets_beside_storm(seed, folder)
        found["conditions by Storm"] = lambda seed: test_conditional.test_conditions_beside_storm(seed, folder)
    return found


def main() -> int:
    """Run all seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:1000", help="the first, and the one after the last")
    parser.add_argument("--storm", action="store_true", help="ask Storm as well")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    done, failed = Counter[str](), Counter[str]()
    with TemporaryDirectory() as folder:
        for name, check in checks(options.storm, Path(folder)).items():
            for seed in range(first, last):
                done[name] += 1
                try:
                    check(seed)
                except Exception:
                    failed[name] += 1
                    print(f"--- {name}, seed {seed}", traceback.format_exc(limit=-2), sep="\n", flush=True)
            print(f"{name}: {done[name]:,} seeds, {failed[name]:,} failed", flush=True)
    return 1 if failed.total() else 0


if __name__ == "__main__":
    sys.exit(main())
