"""Models in files: PRISM's explicit formats, Matrix Market, NumPy archives.

>>> from pathlib import Path
>>> from tempfile import mkdtemp
>>> from galton.model import Model
>>> chain = Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]])
>>> path = Path(mkdtemp()) / "coin.tra"
>>> [written.name for written in write_model(chain, [path])]
['coin.tra']
>>> read_model([path]).same_as(chain)
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ..lang.model_types import ModelType
from ..model.sparse import Model, ModelError
from ..model.validation import finish
from ..model.values import Values
from .errors import FileError
from .output import replacing

__all__ = ["SUFFIXES", "FileError", "check_suffixes", "read_model", "write_model"]

SUFFIXES = {
    ".tra": "transitions",
    ".sta": "states",
    ".lab": "labels",
    ".srew": "state rewards",
    ".trew": "transition rewards",
    ".mtx": "Matrix Market",
    ".npz": "everything",
}
"""The files Galton knows, and what is in them."""


def check_suffixes(paths: Iterable[str | Path]) -> list[Path]:
    """Complain about the first file whose suffix is not one of :data:`SUFFIXES`: before a long build, not after it."""
    checked = [Path(path) for path in paths]
    for path in checked:
        if path.suffix not in SUFFIXES:
            known = ", ".join(f"{suffix} ({what})" for suffix, what in SUFFIXES.items())
            raise FileError(f"the suffix {path.suffix!r} is not one Galton knows", path, expected=known)
    return checked


def write_model(model: Model, paths: Iterable[str | Path], *, exact: bool = False) -> list[Path]:
    """Write a model to files, each in the format its suffix says.

    Parameters
    ----------
    model
        The model, wherever it is.
    paths
        Files with the suffixes of :data:`SUFFIXES`. A model with several reward structures has its rewards in numbered
        files: ``model.srew`` becomes ``model1.srew``, ``model2.srew`` and so on.
    exact
        PRISM writes 16 significant digits, and so do its formats here, to compare line by line with PRISM's files. With
        ``exact`` they have a 17th where a number needs it to be read back unchanged. Other formats are always exact.

    Returns
    -------
    list of Path
        The files written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import galton
    >>> chain = galton.Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]])
    >>> path = Path(mkdtemp()) / "coin.tra"
    >>> _ = galton.write_model(chain, [path])
    >>> print(path.read_text(), end="")
    # Transitions (DTMC)
    2 3
    0 0 0.5
    0 1 0.5
    1 1 1
    """
    model, written = model.to_host(), []
    for path in check_suffixes(paths):
        if path.suffix == ".npz":
            from .npz import write_npz

            write_npz(model, path)
            written.append(path)
        elif path.suffix in (".srew", ".trew"):
            written += _write_rewards(model, path, exact)
        else:
            _write(path, _text(model, path.suffix, exact))
            written.append(path)
    return written


def read_model(paths: Iterable[str | Path], type: ModelType | None = None) -> Model:
    """Read a model: an ``.npz`` file alone, or a ``.tra`` or ``.mtx`` file with any of the others.

    Parameters
    ----------
    paths
        ``model.srew`` stands for ``model1.srew``, ``model2.srew`` … where only those exist, and ``.trew`` likewise.
    type
        What the transitions are. Otherwise a comment in the file tells; or else three numbers in its header mean an
        MDP, rows that sum to 1 a DTMC, anything else a CTMC.

    Returns
    -------
    Model
        The model, checked. Without labels, its initial state is 0. States without transitions get a loop and the label
        ``"deadlock"``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import galton
    >>> path = Path(mkdtemp()) / "coin.tra"
    >>> _ = path.write_text("2 3\\n0 0 0.5\\n0 1 0.5\\n1 1 1\\n")
    >>> galton.read_model([path])
    <dtmc: 2 states, 3 transitions>
    """
    files: dict[str, list[Path]] = {suffix: [] for suffix in SUFFIXES}
    given = check_suffixes(paths)
    for path in given:
        files[path.suffix] += _numbered(path) if path.suffix in (".srew", ".trew") else [path]
    bases = [*files[".tra"], *files[".mtx"], *files[".npz"]]
    if len(bases) != 1:
        found = f"{len(bases)} are given" if bases else "none is given"
        raise ModelError(f"a model is read from one .tra, .mtx or .npz file; {found}")
    for suffix in (".sta", ".lab"):
        if len(files[suffix]) > 1:
            raise ModelError(f"a model has one {suffix} file; {len(files[suffix])} are given")
    if files[".npz"]:
        return _read_archive(bases[0], len(given), type)
    return _read_text(bases[0], files, type)


def _read_archive(path: Path, given: int, type: ModelType | None) -> Model:
    from .npz import read_npz

    if given > 1:
        raise ModelError("an .npz file holds a whole model; give it alone")
    model = read_npz(path)
    if type is not None and type != model.type:
        raise FileError(f"this is a {model.type}, not a {type}", path)
    return model


def _read_text(base: Path, files: dict[str, list[Path]], type: ModelType | None) -> Model:
    from .lab import read_lab
    from .mtx import read_mtx
    from .rewards import read_rewards
    from .sta import read_sta
    from .tra import read_tra

    matrix = read_tra(base, type) if base.suffix == ".tra" else read_mtx(base, type)
    labels = read_lab(files[".lab"][0], matrix.n_states) if files[".lab"] else {}
    labels["deadlock"] = matrix.parts.deadlocks | labels.get("deadlock", False)
    initial = np.flatnonzero(labels["init"]) if "init" in labels else np.zeros(1)
    model = Model(
        type=matrix.type,
        choice_starts=matrix.parts.choice_starts,
        row_starts=matrix.parts.row_starts,
        columns=matrix.parts.columns,
        values=Values.compress(matrix.parts.values),
        initial=initial.astype(np.int32),
        labels=labels,
        rewards=read_rewards(files[".srew"], files[".trew"], matrix),
        actions=matrix.actions,
        choice_actions=matrix.choice_actions,
        states=read_sta(files[".sta"][0], matrix.n_states) if files[".sta"] else None,
    )
    return finish(model)


def _text(model: Model, suffix: str, exact: bool) -> Iterator[bytes]:
    from .lab import lab_text
    from .mtx import mtx_text
    from .sta import sta_text
    from .tra import tra_text

    if suffix == ".tra":
        return tra_text(model, exact=exact)
    return {".sta": sta_text, ".lab": lab_text, ".mtx": mtx_text}[suffix](model)


def _write_rewards(model: Model, path: Path, exact: bool) -> list[Path]:
    from .rewards import srew_text, trew_text

    if not model.rewards:
        raise ModelError(f"the model has no rewards to write to {path.name}")
    text = srew_text if path.suffix == ".srew" else trew_text
    written = [path]
    if len(model.rewards) > 1:
        written = [path.with_stem(f"{path.stem}{number}") for number in range(1, len(model.rewards) + 1)]
    for name, file in zip(model.rewards, written, strict=True):
        _write(file, text(model, name, exact=exact))
    return written


def _write(path: Path, blocks: Iterator[bytes]) -> None:
    first = next(blocks)  # what cannot be written is noticed here, before a file is made
    with replacing(path, "binary") as file:
        file.write(first)
        file.writelines(blocks)


def _numbered(path: Path) -> list[Path]:
    if path.exists():
        return [path]
    found: list[Path] = []
    while (numbered := path.with_stem(f"{path.stem}{len(found) + 1}")).exists():
        found.append(numbered)
    return found or [path]
