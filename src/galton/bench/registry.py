"""All experiments, by name; the modules of each paper are loaded when they are asked for."""

from __future__ import annotations

from importlib import import_module

from ..lang.source import GaltonError
from ..lang.stream import nearest
from .experiment import Experiment

__all__ = ["all_experiments", "find"]

COMMANDS = ("list", "report", "synth")  # of galton bench, that may have been meant
# Each has EXPERIMENTS, in the order of its paper.
MODULES = ("matrices", "programs", "synthesis", "sweeps", "layouts", "patterns", "decisions", "open_questions")


def all_experiments() -> dict[str, Experiment]:
    """Every table and figure of the papers, by name."""
    found: dict[str, Experiment] = {}
    for module in MODULES:
        for experiment in import_module(f".{module}", __package__).EXPERIMENTS:
            assert experiment.name not in found, f"{experiment.name} twice"
            found[experiment.name] = experiment
    return dict(sorted(found.items(), key=lambda item: _place(item[0])))


def _place(name: str) -> tuple[str, str, int]:
    paper, kind, *number = name.split("-")
    return paper, kind, int(number[0]) if number else 0


def find(names: list[str]) -> list[Experiment]:
    """Experiments by name, by a paper's number, or all of them."""
    known = all_experiments()
    found: dict[str, Experiment] = {}
    for name in names:
        chosen = [one for one in known if name in ("all", one, one.partition("-")[0])]
        if not chosen:
            hint = nearest(name, [*known, "all", *COMMANDS]) or "galton bench list shows all"
            raise GaltonError(f"there is no experiment '{name}'; {hint}")
        found |= {one: known[one] for one in chosen}
    return list(found.values())
