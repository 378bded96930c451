"""``galton fmt``: files in one style, or why not."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from command_line import MODELS, galton

UGLY = "dtmc module m x:bool; [] x->(x'=!x); endmodule\n"
NEAT = "dtmc\nmodule m\n  x : bool;\n  [] x -> (x'=!x);\nendmodule\n"


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    (tmp_path / "m.prism").write_text(UGLY)
    return tmp_path / "m.prism"


def test_files_are_written(ugly: Path) -> None:
    done = galton("fmt", ugly)
    assert (done.code, done.out) == (0, "")
    assert f"formatted {ugly}" in done.err
    assert ugly.read_text() == NEAT
    assert galton("fmt", ugly).err == ""


def test_check_writes_nothing(ugly: Path) -> None:
    done = galton("fmt", "--check", ugly.parent)
    assert (done.code, done.out) == (1, f"would change {ugly}\n")
    assert ugly.read_text() == UGLY
    ugly.write_text(NEAT)
    assert galton("fmt", "--check", ugly.parent).code == 0


def test_difference(ugly: Path) -> None:
    done = galton("fmt", "--diff", ugly)
    assert done.code == 0
    assert "-dtmc module m x:bool; [] x->(x'=!x); endmodule\n" in done.out
    assert "+  x : bool;\n" in done.out
    assert ugly.read_text() == UGLY


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(UGLY))
    assert galton("fmt", "-").out == NEAT
    monkeypatch.setattr(sys, "stdin", io.StringIO("P=?[F x]"))
    assert galton("fmt", "-", "--stdin-name", "a.props").out == "P=? [ F x ]\n"


def test_a_mistake_leaves_the_file_and_formats_the_others(ugly: Path) -> None:
    wrong = ugly.with_name("a.prism")
    wrong.write_text("dtmc const int N\n")
    done = galton("fmt", ugly.parent)
    assert done.code == 2
    assert f"{wrong}:1:17: error: expected ';' after the constant 'N', found the end of the text" in done.err
    assert wrong.read_text() == "dtmc const int N\n"
    assert ugly.read_text() == NEAT


def test_old_bytes_and_line_ends_stay(ugly: Path) -> None:
    ugly.write_bytes(b"// caf\xe9\r\n" + UGLY.replace("\n", "\r\n").encode())
    assert galton("fmt", ugly).code == 0
    assert ugly.read_bytes() == b"// caf\xe9\r\n" + NEAT.replace("\n", "\r\n").encode()


def test_a_file_that_is_not_there() -> None:
    done = galton("fmt", MODELS / "nowhere.prism")
    assert done.code == 2
    assert "nowhere.prism" in done.err
