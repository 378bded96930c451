"""The formats of models in files, by suffix: what each holds, and so what it leaves out of a model.

A whole format keeps a model in one file. PRISM's explicit format is a set of files of one name, each with a part: the
transitions are its base, the others are companions. Pictures are only written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from .errors import FileError

if TYPE_CHECKING:
    from ..model.sparse import Model

__all__ = [
    "COMPRESSIONS",
    "FORMATS",
    "MODEL_SUFFIXES",
    "SUFFIXES",
    "Format",
    "check_suffixes",
    "expanded",
    "is_model_file",
    "left_out",
]

Part = Literal["transitions", "actions", "initial", "labels", "state", "choice", "transition", "states"]
EVERYTHING: frozenset[Part] = frozenset(
    ("transitions", "actions", "initial", "labels", "state", "choice", "transition", "states")
)
COMPRESSIONS = ("gzip", "xz")
"""How a ``.umb`` file may be compressed."""


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes
    ----------
    suffix, what
        How its names end, and what is in it, in a few words.
    role
        ``"whole"`` for a model in a file, ``"base"`` for one that companions may complete, ``"companion"``, or
        ``"picture"`` for what nobody reads back.
    holds
        The parts of a model that it keeps.
    chains_only
        Whether it cannot say which rows belong to a state, and so holds no MDP.
    """

    suffix: str
    what: str
    role: Literal["whole", "base", "companion", "picture"]
    holds: frozenset[Part]
    chains_only: bool = False


FORMATS: dict[str, Format] = {
    known.suffix: known
    for known in (
        Format(".tra", "transitions", "base", frozenset(("transitions", "actions"))),
        Format(".sta", "states", "companion", frozenset(("states",))),
        Format(".lab", "labels", "companion", frozenset(("initial", "labels"))),
        Format(".srew", "state rewards", "companion", frozenset(("state",))),
        Format(".trew", "transition rewards", "companion", frozenset(("choice", "transition"))),
        Format(".mtx", "Matrix Market", "base", frozenset(("transitions",)), chains_only=True),
        Format(".npz", "everything", "whole", EVERYTHING),
        Format(".umb", "unified Markov binary", "whole", EVERYTHING),
        Format(".drn", "Storm's explicit format", "whole", EVERYTHING - {"transition"}),
        Format(".mat", "MATLAB's data", "whole", EVERYTHING),
        Format(".m", "MATLAB's language", "picture", EVERYTHING),
        Format(".dot", "Graphviz", "picture", EVERYTHING - {"state", "choice", "transition"}),
    )
}
SUFFIXES = {known.suffix: known.what for known in FORMATS.values()}
"""The files Galton knows, and what is in them."""
MODEL_SUFFIXES = frozenset(known.suffix for known in FORMATS.values() if known.role in ("whole", "base"))
"""The files that a model can be read from."""
ALL, ALL_OF_IT = ".all", (".tra", ".sta", ".lab", ".srew", ".trew")
"""PRISM's name for all its explicit files together, and those files."""


def is_model_file(path: str | Path) -> bool:
    """Whether a name is that of an explicit model, and not of a program.

    >>> is_model_file("die.tra"), is_model_file("die.prism")
    (True, False)
    """
    suffix = Path(path).suffix
    return suffix in MODEL_SUFFIXES or suffix == ALL


NONE: Mapping[str, str] = MappingProxyType({})
PROGRAM_SUFFIXES = (".jani", ".prism", ".pm", ".nm", ".sm", ".xml", ".sbml")  # files that are no explicit models


def check_suffixes(paths: Iterable[str | Path], also: Mapping[str, str] = NONE) -> list[Path]:
    """Complain about the first file whose suffix is not one of :data:`SUFFIXES`: before a long build, not after it.

    ``also`` are others that could have been given, and what is in them.
    """
    checked = [Path(path) for path in paths]
    for path in checked:
        if path.suffix in PROGRAM_SUFFIXES:
            written = "; galton convert and galton.write_model(program, …) write them" if path.suffix == ".jani" else ""
            raise FileError(f"{path.suffix} files hold programs, not states; galton.load reads them{written}", path)
        if path.suffix not in SUFFIXES:
            known = ", ".join(
                f"{suffix} ({what})" for suffix, what in {**also, ALL: "all files of PRISM", **SUFFIXES}.items()
            )
            raise FileError(f"the suffix {path.suffix!r} is not one Galton knows", path, expected=known)
    return checked


def expanded(paths: Iterable[str | Path], model: Model | None = None) -> list[Path]:
    """The files to write: ``model.all`` stands for all of PRISM's, but for those that would be empty."""
    found: list[Path] = []
    for path in map(Path, paths):
        if path.suffix != ALL:
            found.append(path)
            continue
        found += [path.with_suffix(suffix) for suffix in ALL_OF_IT if model is None or _has(model, suffix)]
    return list(dict.fromkeys(found))


def _has(model: Model, suffix: str) -> bool:
    there = parts_of(model)
    return suffix in (".tra", ".lab") or any(part in there for part in FORMATS[suffix].holds)


def left_out(model: Model, paths: Iterable[Path]) -> Mapping[Path, list[str]]:
    """In words, what of a model is in none of the files that belong together, by the first of them.

    >>> from galton.model import Model
    >>> chain = Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]], labels={"done": [1]})
    >>> left_out(chain, [Path("coin.mtx")])
    {PosixPath('coin.mtx'): ["the label 'done'"]}
    >>> left_out(chain, [Path("coin.mtx"), Path("coin.lab")])
    {PosixPath('coin.mtx'): []}
    """
    there = parts_of(model)
    found: dict[Path, list[str]] = {}
    for together in _sets(paths):
        held = frozenset[Part]().union(*(FORMATS[path.suffix].holds for path in together))
        lost = [what for part, what in there.items() if part not in held]
        if "transition" in there and "transition" not in held and "choice" in held:
            lost = [what for what in lost if what != there["transition"]]
            lost.append(f"{there['transition']}, but for the mean of each choice")
        if together[0].suffix == ".umb" and model.has_rates and _rounds(model):
            lost.append("the last digit of some rates, which become exit rates and probabilities")
        found[together[0]] = lost
    return found


def _rounds(model: Model) -> bool:
    """Whether exit rates and probabilities do not give all rates back."""
    from .quotients import quotients

    rates, exits = model.values.array(), np.repeat(model.exit_rates, np.diff(model.row_starts))
    return bool((quotients(rates, exits) * exits != rates).any())


def _sets(paths: Iterable[Path]) -> list[list[Path]]:
    """Files that make up one model: those of PRISM of the same name, or a file alone."""
    found: dict[Path, list[Path]] = {}
    for path in paths:
        alone = FORMATS[path.suffix].role in ("whole", "picture")
        found.setdefault(path if alone else path.with_suffix(""), []).append(path)
    return list(found.values())


def parts_of(model: Model) -> dict[Part, str]:
    """The parts that a model has, each in words."""
    found: dict[Part, str] = {"transitions": "the transitions"}
    if model.choice_actions is not None and model.choice_actions.any():
        found["actions"] = "the names of actions"
    if model.initial.tolist() != [0]:
        found["initial"] = "the initial states" if len(model.initial) > 1 else "the initial state"
    names = [name for name, mask in model.labels.items() if name != "init" and (name != "deadlock" or mask.any())]
    if names:
        found["labels"] = _listed("label", names)
    parts: dict[Part, str] = {"state": "states", "choice": "choices", "transition": "single transitions"}
    for part, whose in parts.items():
        having = [name for name, rewards in model.rewards.items() if _is_there(getattr(rewards, part))]
        if part == "choice":  # those of transitions say the same, and more
            having = [name for name in having if model.rewards[name].transition is None]
        if having:
            found[part] = f"{_listed('reward', having)} of {whose}"
    if model.states is not None:
        variables = model.states.variables
        found["states"] = _listed("value", list(variables)) if variables else "what the states are"
    return found


def _is_there(array: object) -> bool:
    return array is not None and bool(array.any())  # type: ignore[attr-defined]


def _listed(what: str, names: list[str]) -> str:
    shown = ", ".join(repr(name) if name else "without a name" for name in names[:4])
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    if what == "value":
        return f"the values of {shown}{more}"
    return f"the {what}{'s' if len(names) > 1 else ''} {shown}{more}"
