"""Models in files: the explicit formats of PRISM and Storm, Matrix Market, MATLAB, NumPy, Graphviz.

>>> from pathlib import Path
>>> from tempfile import mkdtemp
>>> from galton.model import Model
>>> chain = Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]])
>>> path = Path(mkdtemp()) / "coin.tra"
>>> [written.name for written in write_model(chain, path)]
['coin.tra']
>>> read_model(path).same_as(chain)
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..lang.model_types import ModelType
from ..lang.program import Program
from ..model.sparse import Model, ModelError
from .errors import FileError
from .formats import ALL, ALL_OF_IT, COMPRESSIONS, SUFFIXES, check_suffixes, expanded, is_model_file, left_out
from .output import replacing

__all__ = [
    "COMPRESSIONS",
    "SUFFIXES",
    "FileError",
    "check_suffixes",
    "is_model_file",
    "left_out",
    "read_model",
    "write_model",
]

_REWARDS = (".srew", ".trew")
_COMPANIONS = (".sta", ".lab", *_REWARDS)


def write_model(
    model: Model | Program,
    paths: str | Path | Iterable[str | Path],
    *,
    exact: bool = False,
    compression: str | None = None,
) -> list[Path]:
    """Write a model to files, each in the format its suffix says.

    Parameters
    ----------
    model
        The model, wherever it is; or a program, for ``.jani`` files, which keep its commands.
    paths
        A file, or several, with the suffixes of :data:`SUFFIXES`; ``model.all`` stands for all files of PRISM's
        explicit format that have something to say. A model with several reward structures has its rewards in numbered
        files: ``model.srew`` becomes ``model1.srew``, ``model2.srew`` and so on.
    exact
        PRISM writes 16 significant digits, and so do its formats here, to compare line by line with PRISM's files. With
        ``exact`` they have a 17th where a number needs it to be read back unchanged. Other formats are always exact.
    compression
        For ``.umb`` files, ``"gzip"`` or ``"xz"``: smaller, and slower.

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
    >>> _ = galton.write_model(chain, path)
    >>> print(path.read_text(), end="")
    # Transitions (DTMC)
    2 3
    0 0 0.5
    0 1 0.5
    1 1 1
    """
    if isinstance(model, Program):
        return _write_program(model, paths)
    model, written = model.to_host(), []
    if compression is not None and compression not in COMPRESSIONS:
        raise ModelError(f"a .umb file is compressed by {' or '.join(COMPRESSIONS)}, not by {compression!r}")
    for path in check_suffixes(expanded(_listed(paths), model)):
        if path.suffix in _REWARDS:
            written += _write_rewards(model, path, exact)
            continue
        if path.suffix == ".npz":
            from .npz import write_npz

            write_npz(model, path)
        elif path.suffix == ".umb":
            from .umb_write import write_umb

            write_umb(model, path, compression)
        elif path.suffix == ".mat":
            from .mat import write_mat

            write_mat(model, path)
        else:
            _write(path, _text(model, path.suffix, exact))
        written.append(path)
    return written


def _write_program(program: Program, paths: str | Path | Iterable[str | Path]) -> list[Path]:
    from .jani import write_jani

    given = [Path(path) for path in _listed(paths)]
    for path in given:
        if path.suffix != ".jani":
            raise ModelError(f"{path} is for states, and a program has commands: give program.build() instead")
    for path in given:
        write_jani(program, path)
    return given


def read_model(
    paths: str | Path | Iterable[str | Path], type: ModelType | None = None, *, fix_deadlocks: bool = True
) -> Model:
    """Read a model: a file that holds all of it, or a ``.tra`` or ``.mtx`` file with others beside it.

    Parameters
    ----------
    paths
        One path, or several. One ``.tra`` or ``.mtx`` file alone is read with the ``.sta``, ``.lab``, ``.srew`` and
        ``.trew`` files of its name beside it; of several, exactly those are read. ``model.srew`` stands for
        ``model1.srew``, ``model2.srew`` … where only those exist, and ``.trew`` likewise.
    type
        What the transitions are. Otherwise the file tells; or else three numbers in the header of a ``.tra`` file mean
        an MDP, rows that sum to 1 a DTMC, anything else a CTMC.
    fix_deadlocks
        Whether states without transitions get a loop and the label ``"deadlock"``; otherwise they are an error.

    Returns
    -------
    Model
        The model, checked. Without labels, its initial state is 0.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import galton
    >>> path = Path(mkdtemp()) / "coin.tra"
    >>> _ = path.write_text("2 3\\n0 0 0.5\\n0 1 0.5\\n1 1 1\\n")
    >>> galton.read_model(path)
    <dtmc: 2 states, 3 transitions>
    """
    given = [Path(path) for path in _listed(paths)]
    if isinstance(paths, (str, Path)):
        given = with_companions(given[0])
    files: dict[str, list[Path]] = {suffix: [] for suffix in SUFFIXES}
    for path in check_suffixes(given):
        files[path.suffix] += _numbered(path) if path.suffix in _REWARDS else [path]
    bases = [path for suffix, found in files.items() if suffix not in _COMPANIONS for path in found]
    if len(bases) != 1:
        found = f"{len(bases)} are given" if bases else "none is given"
        raise ModelError(f"a model is read from one .tra, .mtx, .npz, .umb, .drn or .mat file; {found}")
    for suffix in (".sta", ".lab"):
        if len(files[suffix]) > 1:
            raise ModelError(f"a model has one {suffix} file; {len(files[suffix])} are given")
    try:
        if bases[0].suffix in (".tra", ".mtx"):
            return _read_text(bases[0], files, type, fix_deadlocks)
        if len(given) > 1:
            article = "an" if bases[0].suffix in (".npz", ".mat", ".m") else "a"
            raise ModelError(f"{article} {bases[0].suffix} file holds a whole model; give it alone")
        return _read_whole(bases[0], type, fix_deadlocks)
    except ModelError as error:
        raise error if str(bases[0]) in str(error) or len(given) > 1 else FileError(str(error), bases[0]) from None


def with_companions(path: Path) -> list[Path]:
    """A file, and the files of PRISM's explicit format that lie beside it and have its name."""
    if path.suffix == ALL:
        path = path.with_suffix(ALL_OF_IT[0])
    if path.suffix not in (".tra", ".mtx"):
        return [path]
    found = [path]
    for suffix in _COMPANIONS:
        beside = path.with_suffix(suffix)
        # die1.srew may be one of several of die.tra, or the only one of die1.tra
        others = suffix in _REWARDS and not path.with_stem(f"{path.stem}1").exists()
        if beside.exists() or (others and _numbered(beside)[0].exists()):
            found.append(beside)
    return found


def _listed(paths: str | Path | Iterable[str | Path]) -> list[str | Path]:
    return [paths] if isinstance(paths, (str, Path)) else list(paths)


def _read_whole(path: Path, type: ModelType | None, fix_deadlocks: bool) -> Model:
    if path.suffix == ".drn":
        from .drn_read import read_drn

        return read_drn(path, type, fix_deadlocks=fix_deadlocks)
    if path.suffix == ".umb":
        from .umb_read import read_umb

        model = read_umb(path, fix_deadlocks=fix_deadlocks)
    elif path.suffix == ".mat":
        from .mat import read_mat

        return read_mat(path, type, fix_deadlocks=fix_deadlocks)
    elif path.suffix == ".npz":
        from .npz import read_npz

        model = read_npz(path)
    else:
        what = SUFFIXES[path.suffix]
        raise FileError(f"models are written as {path.suffix} ({what}), and not read from it", path)
    if type is not None and type != model.type:
        raise FileError(f"this is a {model.type}, not a {type}", path)
    return model


def _read_text(base: Path, files: dict[str, list[Path]], type: ModelType | None, fix_deadlocks: bool) -> Model:
    from .lab import read_lab
    from .matrix import complete
    from .mtx import read_mtx
    from .rewards import read_rewards
    from .sta import read_sta
    from .tra import read_tra

    matrix = read_tra(base, type) if base.suffix == ".tra" else read_mtx(base, type)
    labels = read_lab(files[".lab"][0], matrix.n_states) if files[".lab"] else {}
    rewards = read_rewards(files[".srew"], files[".trew"], matrix)
    states = read_sta(files[".sta"][0], matrix.n_states) if files[".sta"] else None
    return complete(matrix, labels, rewards, states, fix_deadlocks=fix_deadlocks)


def _text(model: Model, suffix: str, exact: bool) -> Iterator[bytes]:
    from .dot import dot_text
    from .drn_write import drn_text
    from .lab import lab_text
    from .matlab import matlab_text
    from .mtx import mtx_text
    from .sta import sta_text
    from .tra import tra_text

    if suffix == ".tra":
        return tra_text(model, exact=exact)
    writers = {".sta": sta_text, ".lab": lab_text, ".mtx": mtx_text, ".drn": drn_text, ".m": matlab_text}
    return {**writers, ".dot": dot_text}[suffix](model)


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
