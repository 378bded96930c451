"""Which names files of models and properties have, and which belong together; nothing is read here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

__all__ = ["MODEL_SUFFIXES", "PROPERTY_SUFFIXES", "is_model_name", "is_property_name", "model_for"]

MODEL_SUFFIXES = (".prism", ".pm", ".nm", ".sm", ".mdp", ".dtmc", ".ctmc", ".prm", ".jani")
PROPERTY_SUFFIXES = (".props", ".prop", ".pctl", ".csl", ".ltl", ".prctl")


def is_model_name(name: str) -> bool:
    """Whether a file is a model that can be edited, by its name."""
    return name.lower().endswith(MODEL_SUFFIXES)


def is_property_name(name: str) -> bool:
    """Whether a file holds properties, by its name."""
    return name.lower().endswith(PROPERTY_SUFFIXES)


def model_for(properties: str, names: Iterable[str]) -> str | None:
    """Which of the files of a folder is the model of a property file: the one with its stem, or the only one.

    >>> model_for("brp.props", ["brp.prism", "die.prism"]), model_for("all.props", ["die.prism", "die.props"])
    ('brp.prism', 'die.prism')
    """
    models = sorted(name for name in names if is_model_name(name))
    stem = PurePath(properties).stem
    same = [name for name in models if PurePath(name).stem == stem]
    if same:
        return same[0]
    return models[0] if len(models) == 1 else None
