"""Files that were cut off, changed or made to do harm: our error with the file's name, soon, with little memory."""

from __future__ import annotations

import json
import lzma
import random
import resource
import struct
import time
import zlib
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import galton
from galton.io import FileError, read_model, write_model
from galton.io.tar import read_tar, write_tar
from galton.lang.source import GaltonError
from galton.model import Model

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = [".umb", ".drn", ".mat", ".npz", ".tra", ".lab", ".sta", ".trew", ".mtx"]
CHANGES = 40
WORDS = [b"0", b"-1", b"1000000000000", b"2147483648", b"1e400", b"nan", b"", b"[", b'"']
VALUES: list[Any] = [0, -1, 3, 7, 128, 10**12, 1e9, "x", "double", "rational", None, [], {}, True]


@pytest.fixture(scope="module")
def models() -> list[Model]:
    """A chain in steps, one in time, and an MDP."""
    cases = [("die", {}), ("tandem", {"c": 1}), ("consensus", {"N": 2, "K": 1})]
    return [galton.load(ROOT / f"models/{name}.prism", **c).build(transition_rewards=True) for name, c in cases]


def read_safely(path: Path, base: Path | None = None) -> None:
    """Read; an error has to be ours, and name a file."""
    start = time.process_time()
    try:
        read_model(path if base is None else [base, path])
    except GaltonError as error:
        told = str(error)
    else:
        told = path.name
    assert path.name in told or (base is not None and base.name in told)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_changed_bytes(suffix: str, models: list[Model], tmp_path: Path) -> None:
    rng = random.Random(suffix)
    for model in models:
        if (suffix == ".mtx" and model.has_choices) or (suffix == ".trew" and len(model.rewards) > 1):
            continue
        good, base = tmp_path / f"good{suffix}", tmp_path / "good.tra"
        write_model(model, [base, good])
        data = good.read_bytes()
        companion = base if suffix in (".lab", ".sta", ".trew") else None
        for _ in range(CHANGES):
            (tmp_path / f"bad{suffix}").write_bytes(changed(data, rng))
            read_safely(tmp_path / f"bad{suffix}", companion)


def changed(data: bytes, rng: random.Random) -> bytes:
    """Cut off, with other bytes, with a part twice or missing, or with another number in it."""
    kind, place = rng.randrange(4), rng.randrange(len(data))
    if kind == 0:
        return data[:place]
    if kind == 1:
        return data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    if kind == 2:
        end = min(len(data), place + rng.randint(1, 200))
        return data[:place] + data[end:] if rng.random() < 0.5 else data[:end] + data[place:]
    end = place
    while end < len(data) and data[end : end + 1].isdigit():
        end += 1
    return data[:place] + rng.choice(WORDS) + data[end:]


def test_changed_members(models: list[Model], tmp_path: Path) -> None:
    """Archives that are whole, with an index or an array that is not."""
    rng = random.Random(18)
    path = tmp_path / "m.umb"
    for model in models:
        write_model(model, path)
        good = {name: data.copy() for name, data in read_tar(path).items()}
        for _ in range(60):
            members = dict(good)
            name = rng.choice(["index.json", *members])
            if name == "index.json":
                index = json.loads(members[name].tobytes())
                change_somewhere(index, rng)
                members[name] = np.frombuffer(json.dumps(index).encode(), dtype=np.uint8)
            elif rng.random() < 0.2:
                del members[name]
            else:
                members[name] = np.frombuffer(changed(members[name].tobytes() + b"\0", rng), dtype=np.uint8)
            write_tar(path, members.items())
            read_safely(path)


def change_somewhere(value: Any, rng: random.Random) -> None:
    """Another value somewhere in a tree."""
    while True:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = rng.choice(list(keys))
        if isinstance(value[key], (dict, list)) and value[key] and rng.random() < 0.9:
            value = value[key]
        else:
            value[key] = rng.choice(VALUES)
            return


def test_cut_off_everywhere(models: list[Model], tmp_path: Path) -> None:
    """No part of a binary file is a model, wherever it ends."""
    for suffix, compression in ((".umb", None), (".umb", "gzip"), (".umb", "xz"), (".npz", None)):
        path = tmp_path / f"m{suffix}"
        write_model(models[0], path, compression=compression)
        data = path.read_bytes()
        end = len(data) - 512 * (suffix == ".umb" and compression is None)  # tar ends with two empty records
        for place in range(0, end, max(1, end // 40)):
            path.write_bytes(data[:place])
            with pytest.raises(FileError, match=path.name):
                read_model(path)


def test_promises_that_the_file_is_too_short_for(tmp_path: Path) -> None:
    """Found before any room is made: none of these may take more than a few megabytes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = "@type: DTMC\n@nr_states\n1000000000000\n@nr_choices\n1\n@model\nstate 0 init\n\taction 0\n\t\t0 : 1\n"
    (tmp_path / "m.drn").write_text(text)
    with pytest.raises(FileError, match=r"m\.drn:3: error: this file does not hold 1000000000000 states"):
        read_model(tmp_path / "m.drn")
    for name in ("#states", "#choices", "#branches"):
        promising(tmp_path / "m.umb", name, 10**9)
        with pytest.raises(FileError, match=r"m\.umb: error: .*(bytes, not|does not rise)"):
            read_model(tmp_path / "m.umb")
    header = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
    flags, size = struct.pack("<4I", 6, 8, 6, 0), struct.pack("<2I2i", 5, 8, 30000, 30000)
    rest = struct.pack("<2I", 1, 1) + b"P".ljust(8, b"\0") + struct.pack("<2I", 9, 0)
    body = flags + size + rest
    (tmp_path / "m.mat").write_bytes(header + struct.pack("<2I", 14, len(body)) + body)
    with pytest.raises(FileError, match=r"m\.mat: error: this file is broken: P has 0 numbers, and the shape"):
        read_model(tmp_path / "m.mat")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


def promising(path: Path, name: str, count: int) -> None:
    """A .umb file of two states that claims to have more of something."""
    write_model(Model.from_matrix("mdp", np.eye(2), row_groups=[0, 1, 2]), path)
    members = dict(read_tar(path))
    index = json.loads(members["index.json"].tobytes())
    index["transition-system"][name] = count
    members["index.json"] = np.frombuffer(json.dumps(index).encode(), dtype=np.uint8)
    write_tar(path, list(members.items()))


@pytest.mark.parametrize("pack", [lzma.compress, lambda data: zlib.compress(data, wbits=31)], ids=["xz", "gzip"])
def test_bombs(pack: Any, tmp_path: Path) -> None:
    """A few kilobytes that would become much more are not unpacked to the end."""
    path = tmp_path / "bomb.umb"
    path.write_bytes(pack(bytes(1 << 24)))
    message = r"bomb\.umb: error: .* bytes become more than .*; that is no model"
    few, ratio = patch("galton.io.compression.FEW_BYTES", 1 << 20), patch("galton.io.compression.BEST_RATIO", 100)
    with few, ratio, pytest.raises(FileError, match=message):
        read_model(path)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    """Arrays of objects are refused, not loaded."""
    path = tmp_path / "m.npz"
    np.savez(path, header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FileError, match="this is not a model"):
        read_model(path)


def test_slow_lines(tmp_path: Path) -> None:
    """Lines made to keep a parser busy: each is refused at once."""
    (tmp_path / "good.tra").write_text("1 1\n0 0 1\n")
    (tmp_path / "m.lab").write_text('0="init"\n0: ' + "1" * 5000 + "x\n")
    head = "@type: DTMC\n@model\n"
    for line in ('state 0 "' + ' "' * 5001, "state 0" + " " * 20000 + "[", "state 0 " + "a " * 20000 + "[0"):
        (tmp_path / "m.drn").write_text(f"{head}{line}\n\taction 0\n\t\t0 : 1\n")
        read_safely(tmp_path / "m.drn")
    read_safely(tmp_path / "m.lab", tmp_path / "good.tra")
