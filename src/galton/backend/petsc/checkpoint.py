"""Explored models on disk, written by all ranks side by side, for any number of ranks to go on with.

Each rank writes one file: its arrays, one after the other. The manifest, which says what is where, comes last and takes
its place in one step; so a directory always holds a whole model, or none. There is a folder for each lowered program,
because properties may need different parts of a model. Where exploring was interrupted, the states known so far are
kept: who goes on looks at them again, and for what they lead to.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...device.arrays import offsets
from ...lang.source import GaltonError
from ...lower.lowering import Lowered
from ..cpu.explorer import reader_parts
from .halo import halo_of
from .model import RankModel
from .world import World

__all__ = ["Checkpoint", "current", "kept"]

MANIFEST = "manifest.json"
VERSION = 2
ALIGNED = 64

_CURRENT: list[Checkpoint] = []


def current() -> Checkpoint | None:
    """Where models are kept and read, if anywhere."""
    return _CURRENT[-1] if _CURRENT else None


@contextmanager
def kept(checkpoint: Path | None, resume: Path | None, everybody: World) -> Iterator[None]:
    """Keep models, and go on with models that were kept, for as long as this lasts."""
    if checkpoint is None and resume is None:
        yield
        return
    if resume is not None:
        with everybody.agreeing():
            if not any(resume.glob(f"*/{MANIFEST}")):
                raise GaltonError(f"{resume} holds nothing to go on with; --checkpoint writes it")
    if checkpoint is not None:
        with everybody.agreeing():
            _attempt(checkpoint, lambda: checkpoint.mkdir(parents=True, exist_ok=True))
    _CURRENT.append(Checkpoint(checkpoint, resume))
    try:
        yield
    finally:
        _CURRENT.pop()


@dataclass(frozen=True)
class Checkpoint:
    """Two directories, either of which may be missing: where models go, and where they come from."""

    to: Path | None
    source: Path | None

    # Writing.

    def write(self, lowered: Lowered, model: RankModel) -> None:
        """Keep a model; nothing is done where it came from the same place."""
        if self.to is None:
            return
        halo = model.halo
        arrays: dict[str, npt.NDArray[Any]] = {
            "states": model.states.words,  # type: ignore[union-attr]
            "row_starts": np.asarray(model.row_starts, dtype=np.int64),
            "columns": halo.numbers[model.columns],
            "initial": model.labels["init"],
            "deadlock": model.labels["deadlock"],
        }
        if model.values.dictionary is None:
            arrays["values"] = model.values.plain  # type: ignore[assignment]
        else:
            arrays["dictionary"], arrays["value_index"] = model.values.dictionary, model.values.index  # type: ignore[assignment]
        if model.choice_starts is not None:
            arrays["choice_starts"] = np.asarray(model.choice_starts, dtype=np.int64)
        if model.choice_actions is not None:
            arrays["choice_actions"] = model.choice_actions
        for number, name in enumerate(lowered.labels):
            arrays[f"label {number}"] = model.labels[name]
        for number, reward in enumerate(model.rewards.values()):
            for part in ("state", "choice"):
                if (found := getattr(reward, part)) is not None:
                    arrays[f"{part} reward {number}"] = found
        self._write(lowered, model.world, "model", arrays)

    def write_states(self, lowered: Lowered, everybody: World, words: npt.NDArray[np.uint64]) -> None:
        """Keep the states that were found before exploring ended early."""
        if self.to is not None:
            self._write(lowered, everybody, "states", {"states": words})

    def _write(self, lowered: Lowered, everybody: World, kind: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        assert self.to is not None
        folder = self.to / digest(lowered)
        token = everybody.comm.bcast(uuid.uuid4().hex[:12])
        path = folder / f"{token}-{everybody.rank:05}.bin"
        places: dict[str, Any] = {}
        with everybody.agreeing():
            _attempt(path, lambda: places.update(_written(path, arrays)))
        told = everybody.gathered({"file": path.name, "arrays": places, "bytes": path.stat().st_size})
        with everybody.agreeing():
            if everybody.rank == 0:
                manifest = {"version": VERSION, "kind": kind, "ranks": told, "written": time.time()}
                _attempt(folder, lambda: _replaced(folder / MANIFEST, json.dumps(manifest)))
        for old in folder.glob(f"*-{everybody.rank:05}.bin"):
            if old != path:
                old.unlink(missing_ok=True)

    # Reading.

    def read(self, lowered: Lowered, everybody: World) -> RankModel | None:
        """This rank's part of a model that was kept; None where there is none, or only states."""
        manifest = self._manifest(lowered, everybody)
        if manifest is None or manifest["kind"] != "model":
            return None
        from .explorer import model_of

        assert self.source is not None
        start = time.perf_counter()
        files = [_File(self.source / digest(lowered), entry) for entry in manifest["ranks"]]
        found: dict[str, Any] = {}
        with everybody.agreeing():
            for file in files:
                file.check()
            counts = np.array([file.length("states") for file in files], dtype=np.int64)
            bounds, total = offsets(counts), int(counts.sum())
            first, last = (total * rank // everybody.size for rank in (everybody.rank, everybody.rank + 1))
            parts = [
                (file, max(first - int(begin), 0), min(last - int(begin), int(count)))
                for file, begin, count in zip(files, bounds[:-1], counts, strict=True)
                if first < begin + count and last > begin
            ]
            found = _joined(parts, lowered, files)
        columns, n = found["columns"], last - first
        own = (columns >= first) & (columns < last)
        ghosts = np.unique(columns[~own])
        edges = np.array([total * rank // everybody.size for rank in range(everybody.size + 1)])
        owner = np.searchsorted(edges, ghosts, side="right") - 1
        halo = halo_of(everybody, n, [ghosts[owner == rank] - edges[rank] for rank in range(everybody.size)])
        found["columns"] = np.where(own, columns - first, n + np.searchsorted(ghosts, columns)).astype(np.int32)
        return model_of(lowered, halo, found, seconds={"read_s": time.perf_counter() - start})

    def read_states(
        self, lowered: Lowered, everybody: World, owners: Callable[[npt.NDArray[np.uint64]], npt.NDArray[np.int32]]
    ) -> list[npt.NDArray[np.uint64]]:
        """States of this rank that were known before; none where nothing was kept."""
        manifest = self._manifest(lowered, everybody)
        if manifest is None or manifest["kind"] != "states":
            return []
        assert self.source is not None
        entries = manifest["ranks"][everybody.rank :: everybody.size]
        words = np.empty((0, lowered.words), dtype=np.uint64)
        with everybody.agreeing():
            read = [_File(self.source / digest(lowered), entry) for entry in entries]
            for file in read:
                file.check()
            words = np.concatenate([words, *(file["states"][:] for file in read)])
        owner = owners(words)
        return everybody.swap([words[owner == rank] for rank in range(everybody.size)])

    def _manifest(self, lowered: Lowered, everybody: World) -> dict[str, Any] | None:
        if self.source is None:
            return None
        folder, found = self.source / digest(lowered), None
        with everybody.agreeing():
            if not folder.joinpath(MANIFEST).exists():
                if self.to is not None and self.to.resolve() == self.source.resolve():
                    pass  # it is still to be written
                else:
                    raise GaltonError(
                        f"{self.source} was made for another model, other constants or other properties; ask those, or "
                        "explore anew without --resume (--full keeps a model that all properties can use)"
                    )
            else:
                found = json.loads(folder.joinpath(MANIFEST).read_text())
                if found.get("version") != VERSION:
                    raise GaltonError(f"{folder} was written by another version of Galton; explore anew")
        return found


@dataclass(frozen=True)
class _File:
    """The arrays that one rank wrote."""

    folder: Path
    entry: Mapping[str, Any]

    @property
    def path(self) -> Path:
        return self.folder / str(self.entry["file"])

    def check(self) -> None:
        """Say so where the file is not what was written."""
        if not self.path.exists() or self.path.stat().st_size != self.entry["bytes"]:
            raise GaltonError(f"{self.path} is missing or cut short, so there is nothing to go on with; explore anew")

    def __contains__(self, name: str) -> bool:
        return name in self.entry["arrays"]

    def length(self, name: str) -> int:
        return int(self.entry["arrays"][name]["shape"][0])

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        place = self.entry["arrays"][name]
        shape = tuple(place["shape"])
        if 0 in shape:
            return np.zeros(shape, dtype=place["dtype"])
        return np.memmap(self.path, dtype=place["dtype"], mode="r", offset=place["offset"], shape=shape)


def _joined(parts: list[tuple[_File, int, int]], lowered: Lowered, files: list[_File]) -> dict[str, Any]:
    """The arrays of some states of some files, as an explorer gives them; columns are numbers among all states."""
    choices, rows = [], []
    for file, first, last in parts:
        begin, end = first, last
        if "choice_starts" in file:
            begin, end = (int(file["choice_starts"][state]) for state in (first, last))
        choices.append((begin, end))
        rows.append(tuple(int(file["row_starts"][choice]) for choice in (begin, end)))

    def of_states(name: str, kind: Any = None) -> npt.NDArray[Any]:
        return _concatenated([file[name][first:last] for file, first, last in parts], kind)

    def of_choices(name: str, kind: Any = None) -> npt.NDArray[Any]:
        return _concatenated([f[name][a:b] for (f, _, _), (a, b) in zip(parts, choices, strict=True)], kind)

    lengths = [np.diff(f["row_starts"][a : b + 1]) for (f, _, _), (a, b) in zip(parts, choices, strict=True)]
    starts = offsets(_concatenated(lengths, np.int64))
    columns = [f["columns"][a:b] for (f, _, _), (a, b) in zip(parts, rows, strict=True)]
    found: dict[str, Any] = {
        "states": np.concatenate(
            [np.empty((0, lowered.words), dtype=np.uint64), *(f["states"][a:b] for f, a, b in parts)]
        ),
        "row_starts": starts.astype(np.int32) if len(starts) and starts[-1] < 2**31 - 1 else starts,
        "columns": _concatenated(columns, np.int64),
        "initial": np.flatnonzero(of_states("initial", np.bool_)).astype(np.int32),
        "deadlocks": np.flatnonzero(of_states("deadlock", np.bool_)).astype(np.int32),
        "labels": [of_states(f"label {number}", np.bool_) for number in range(len(lowered.labels))],
        **_values(parts, rows),
    }
    for kind, of in (("state", of_states), ("choice", of_choices)):
        names = [f"{kind} reward {number}" for number in range(len(lowered.program.reward_names))]
        found[f"{kind}_rewards"] = [of(name, np.float64) if name in files[0] else None for name in names]
    if "choice_starts" in files[0]:
        counts = [np.diff(file["choice_starts"][a : b + 1]) for file, a, b in parts]
        found["choice_starts"] = offsets(_concatenated(counts, np.int64), np.int32)
    if "choice_actions" in files[0]:
        found["choice_actions"] = of_choices("choice_actions", np.uint16)
    return found


def _concatenated(parts: list[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=kind), *parts]).astype(kind, copy=False)


def _values(parts: list[tuple[_File, int, int]], rows: list[Any]) -> dict[str, npt.NDArray[Any]]:
    """The numbers of the matrix: as places in one dictionary where all files have one, and there are few."""
    coded = all("dictionary" in file for file, _, _ in parts)
    known = np.unique(np.concatenate([np.empty(0), *(file["dictionary"] for file, _, _ in parts)])) if coded else None
    if known is not None and len(known) <= 1 << 16:
        kind: Any = np.uint8 if len(known) <= 1 << 8 else np.uint16
        found = [
            np.searchsorted(known, file["dictionary"])[file["value_index"][a:b]].astype(kind)
            for (file, _, _), (a, b) in zip(parts, rows, strict=True)
        ]
        return {"dictionary": known, "value_index": _concatenated(found, kind)}
    plain = [
        file["values"][a:b] if "values" in file else file["dictionary"][file["value_index"][a:b]]
        for (file, _, _), (a, b) in zip(parts, rows, strict=True)
    ]
    return {"values": _concatenated(plain, np.float64)}


def _written(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    path.parent.mkdir(parents=True, exist_ok=True)
    places: dict[str, Any] = {}
    with path.open("wb") as file:
        for name, array in arrays.items():
            file.write(b"\0" * (-file.tell() % ALIGNED))
            flat = np.ascontiguousarray(array)
            places[name] = {"offset": file.tell(), "dtype": flat.dtype.str, "shape": list(flat.shape)}
            flat.tofile(file)
        file.flush()
        os.fsync(file.fileno())
    return places


def _replaced(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _attempt(path: Path, write: Callable[[], None]) -> None:
    try:
        write()
    except OSError as error:
        raise GaltonError(f"{path} cannot be written: {error.strerror or error}") from error


def digest(lowered: Lowered) -> str:
    """What tells lowered programs apart: everything that an explorer looks at."""
    program = lowered.program
    parts = [
        program.type,
        [(f.name, f.word, f.shift, f.bits, f.low) for f in lowered.fields],
        [(op, kind, args, value) for op, kind, args, value, *_ in lowered.graph.nodes],
        [(c.guard, [(u.probability, u.assignments) for u in c.updates]) for c in lowered.commands],
        [(p.action, [list(f) for f in p.factors]) for p in lowered.products],
        lowered.actions,
        [(r.structure, r.action, r.guard, r.value) for r in lowered.rewards],
        program.reward_names,
        list(lowered.labels.items()),  # arrays are kept in this order
        lowered.initial,
        lowered.initial_ranges,
        [(v.initial, v.high) for v in program.variables],
        lowered.terminal,
        lowered.orbits is not None and lowered.orbits.pieces(lowered.fields),
        reader_parts(lowered),
    ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:20]
