"""The command line of the fuzzer; ``make fuzz`` calls it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import groupby
from pathlib import Path

from .campaigns import CAMPAIGNS
from .runner import replay, run
from .tally import Failure, Tally

MOST = 4  # failures of a round that are printed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=180, help="for all campaigns together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", action="append", choices=[c.name for c in CAMPAIGNS], help="a campaign; may be repeated"
    )
    parser.add_argument("--round", type=int, help="only this round, as failures name it")
    parser.add_argument("--device", choices=["cpu", "cuda", "played"], default="cpu")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--keep", type=Path, help="a folder to write failures to, each as a case")
    given = parser.parse_args()

    chosen = [c for c in CAMPAIGNS if not given.only or c.name in given.only]
    for campaign in [c for c in chosen if c.missing]:
        if given.only:
            parser.error(f"{campaign.name} asks {campaign.peer}, which is not installed here")
        print(f"{campaign.name:12} left out: {campaign.peer} is not installed here", flush=True)
        chosen.remove(campaign)
    started = time.monotonic()
    whole = Tally()
    weight = sum(c.weight for c in chosen)
    for campaign in chosen:
        if given.round is not None:
            tally = replay(campaign.name, given.seed, given.round, given.device)
        else:
            seconds = given.seconds * campaign.weight / weight
            tally = run(campaign.name, given.seed, seconds, given.jobs, given.device)
        print(f"{campaign.name:12} {tally.line()}", flush=True)
        for failure in tally.failures[:MOST]:
            print(f"  {failure}", flush=True)
        whole.add(tally)
    report(whole, given.seed, time.monotonic() - started)
    if given.keep:
        keep(whole.failures, given.keep)
    return 1 if whole.failures else 0


def report(tally: Tally, seed: int, seconds: float) -> None:
    if tally.refused:
        print("\nrefused:")
    for reason, count in tally.refused.most_common():
        print(f"  {count:6,}  {reason}")
        print("          e.g. " + tally.examples.get(reason, "").replace("\n", "\n          "))
    if tally.failures:
        print("\nfailures:")
    for _, group in groupby(tally.failures, key=lambda failure: failure.where):
        failures = list(group)
        for failure in failures[:MOST]:
            print(f"  {failure}")
        if len(failures) > MOST:
            print(f"    … and {len(failures) - MOST} more of this round")
        if failures[0].model and len(failures[0].model) < 3000:
            print("    " + failures[0].model.rstrip().replace("\n", "\n    "))
    print(f"\nseed {seed}, {seconds:.0f} s: {tally.line()}")


def keep(failures: list[Failure], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, failure in enumerate(failures):
        case = {"name": failure.where, "model": failure.model, "ask": failure.question, "exact": failure.truth}
        (folder / f"{number:04}.json").write_text(json.dumps(case | {"was": failure.mistake}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
