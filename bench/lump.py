"""How fast states that behave alike are found, and what trying costs.

``python bench/lump.py`` lumps models and prints transitions a second, the fastest of some runs; ``--device cuda`` on a
device, ``--large`` with models for one with much memory. ``python bench/lump.py fit`` measures what
``galton.checking.lumping`` estimates with: a pass of splitting in sweeps. ``python bench/lump.py pays`` asks questions
with lumping, without, and as it is by itself. ``bench/reductions.py`` compares the answers.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import galton
from galton.model.sparse import Model
from galton.reduce.lumping import Sight, partition

MODELS = Path(__file__).parents[1] / "models"

SMALL: list[tuple[str, dict[str, int]]] = [
    ("herman", {"N": 13}),
    ("consensus", {"N": 5, "K": 2}),
    ("egl", {"N": 6, "L": 2}),
    ("cluster", {"N": 64}),
    ("csma", {"N": 2, "K": 6}),
    ("tandem", {"c": 300}),
]
LARGE: list[tuple[str, dict[str, int]]] = [
    ("herman", {"N": 17}),
    ("consensus", {"N": 7, "K": 2}),
    ("consensus", {"N": 8, "K": 2}),
    ("cluster", {"N": 512}),
    ("tandem", {"c": 2047}),
]
QUESTIONS: list[tuple[str, dict[str, int], str]] = [
    ("cluster", {"N": 64}, 'P=? [ F<=2000 !"minimum" ]'),
    ("cluster", {"N": 64}, 'R{"time_not_min"}=? [ C<=200 ]'),
    ("cluster", {"N": 128}, 'P=? [ F<=20 !"minimum" ]'),
    ("herman", {"N": 13}, 'P=? [ F<=20000 "stable" ]'),
    ("herman", {"N": 13}, 'R=? [ F "stable" ]'),
    ("tandem", {"c": 300}, 'P=? [ F<=4 "second_full" ]'),
    ("consensus", {"N": 4, "K": 2}, 'Pmin=? [ F<=5000 "finished" ]'),
]


def model_of(name: str, constants: dict[str, int], device: str) -> Model:
    """A model of the gallery, without its symmetries: they are for lumping to find."""
    return galton.load(MODELS / f"{name}.prism", **constants).build(device=device)


def speed(device: str, large: bool, repeat: int, threads: int) -> None:
    """Transitions a second."""
    print(f"{'model':28}{'states':>13}{'transitions':>14}{'blocks':>12}{'rounds':>8}{'s':>9}{'million/s':>11}")
    for name, constants in LARGE if large else SMALL:
        model = model_of(name, constants, device)
        sight = Sight((), tuple(model.labels))
        fastest = float("inf")
        for _ in range(repeat + (device != "cpu")):  # the first run on a device compiles
            start = time.perf_counter()
            found = partition(model, sight, threads=threads)
            fastest = min(fastest, time.perf_counter() - start)
        blocks = "given up" if found.first is None else f"{len(found.first):,}"
        title = f"{name} {','.join(f'{key}={value}' for key, value in constants.items())}"
        rate = model.n_transitions / fastest / 1e6
        sizes = f"{model.n_states:>13,}{model.n_transitions:>14,}{blocks:>12}{found.rounds:>8,}"
        print(f"{title:28}{sizes}{fastest:>9.4f}{rate:>11.1f}", flush=True)


def fit(repeat: int, threads: int) -> None:
    """What an entry costs in splitting, and in a sweep of steps over the same model."""
    print(f"{'model':28}{'ns an entry':>13}{'ns in a step':>14}{'ratio':>8}{'passes':>8}")
    for name, constants in SMALL:
        model = model_of(name, constants, "cpu")
        sight = Sight((), tuple(model.labels))
        label = next(label for label in model.labels if label not in ("init", "deadlock"))
        operator = "Pmax" if model.has_choices else "P"
        bound = f"<={200 / float(model.exit_rates.max()):.6g}" if model.is_continuous else "<=200"
        splitting = stepping = float("inf")
        for _ in range(repeat):
            start = time.perf_counter()
            found = partition(model, sight, threads=threads)
            splitting = min(splitting, (time.perf_counter() - start) / found.entries)
            answer = galton.check(model, f'{operator}=? [ F{bound} "{label}" ]', lump=False, eps=1e-3)
            done = sum(
                work.seconds / max(work.iterations, 1) for s in answer.steps for work in s.work if work.iterations
            )
            stepping = min(stepping, done / model.n_transitions) if done else stepping
        title = f"{name} {','.join(f'{key}={value}' for key, value in constants.items())}"
        passes = found.entries / model.n_transitions
        print(f"{title:28}{splitting * 1e9:>13.1f}{stepping * 1e9:>14.2f}{splitting / stepping:>8.0f}{passes:>8.1f}")


def pays(repeat: int) -> None:
    """Questions with lumping, without, and as it is by itself; from the model to the answer."""
    print(f"{'question':64}{'without':>9}{'always':>9}{'by itself':>11}")
    for name, constants, prop in QUESTIONS:
        model = model_of(name, constants, "cpu")
        seconds = []
        for lump in (False, True, None):
            best = float("inf")
            for _ in range(repeat):
                start = time.perf_counter()
                galton.check(model, prop, lump=lump)
                best = min(best, time.perf_counter() - start)
            seconds.append(best)
        title = f"{name} {','.join(f'{key}={value}' for key, value in constants.items())}: {prop}"
        print(f"{title:64}{seconds[0]:>9.3f}{seconds[1]:>9.3f}{seconds[2]:>11.3f}", flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["speed", "fit", "pays"], default="speed")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if given.what == "fit":
        fit(given.repeat, given.threads)
    elif given.what == "pays":
        pays(given.repeat)
    else:
        speed(given.device, given.large, given.repeat, given.threads)


if __name__ == "__main__":
    main()
