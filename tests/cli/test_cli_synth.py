"""``galton synth``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import MODELS, galton

from galton.device.cuda import runtime
from galton.device.errors import DeviceError

SIR = MODELS / "sir.prism"
SMALL = ("--const", "S0=8,I0=2,R0=0", "--param", "ki=0.01:0.1", "--param", "kr=0.1:0.5")
CERTAIN = "P>=0.5 [ ill>0 U[5,10] ill=0 ]"
NUMBER = "P=? [ ill>0 U[5,10] ill=0 ]"


def test_threshold(tmp_path: Path) -> None:
    csv, kept = tmp_path / "sir.csv", tmp_path / "sir.json"
    found = galton("synth", SIR, *SMALL, "--prop", CERTAIN, "--tolerance", 0.1, "--json", kept, "--csv", csv)
    assert found.code == 0
    assert found.err == ""
    assert CERTAIN in found.out
    for word in ("true", "false", "undecided", "of the space", "steps"):
        assert word in found.out
    written = json.loads(kept.read_text())
    assert written["complete"]
    assert len(csv.read_text().splitlines()) == 1 + len(written["boxes"])


def test_optimum_and_resume(tmp_path: Path) -> None:
    kept = tmp_path / "sir.json"
    first = galton("synth", SIR, *SMALL, "--prop", NUMBER, "--maximize", "--tolerance", 0.2, "--json", kept)
    assert first.code == 0
    assert "maximum between" in first.out
    assert "best point tried: ki=" in first.out
    more = ("--maximize", "--tolerance", 0.1)
    resumed = galton("synth", SIR, *SMALL, "--prop", NUMBER, *more, "--resume", kept, "--json", tmp_path / "more.json")
    assert resumed.code == 0
    at_once = galton("synth", SIR, *SMALL, "--prop", NUMBER, *more, "--json", tmp_path / "once.json")
    assert at_once.code == 0
    boxes = [json.loads((tmp_path / name).read_text())["boxes"] for name in ("more.json", "once.json")]
    assert boxes[0] == boxes[1]


def test_resume_needs_nothing_else(tmp_path: Path) -> None:
    model, kept = tmp_path / "sir.prism", tmp_path / "sir.json"
    model.write_text(SIR.read_text())
    props = tmp_path / "sir.props"
    props.write_text(f'"ends": {CERTAIN};\n"number": {NUMBER};')
    words = ("--props", props, "--name", "ends", "--tolerance", 0.1)
    first = galton("synth", model, *SMALL, *words, "--json", kept)
    assert (first.code, first.err) == (0, "")
    after = galton("synth", model, props, *SMALL, *words[2:])  # where galton check takes it, too
    assert after.out.splitlines()[:4] == first.out.splitlines()[:4]
    again = galton("synth", "--resume", kept, "--tolerance", 0.02)
    assert (again.code, again.err) == (0, "")
    told = galton("synth", model, *SMALL, "--props", props, "--name", 1, "--tolerance", 0.02, "--resume", kept)
    assert again.out.splitlines()[:4] == told.out.splitlines()[:4]
    model.write_text(model.read_text() + "// changed")
    changed = galton("synth", "--resume", kept)
    assert changed.code == 0
    assert "has changed since" in changed.err


def test_what_is_missing() -> None:
    assert galton("synth").err == "error: a model is needed, unless earlier regions tell which\n"
    assert "a property is needed" in galton("synth", SIR, *SMALL).err
    both = galton("synth", SIR, *SMALL, "--prop", CERTAIN, "--props", MODELS / "sir.props")
    assert (both.code, "not both" in both.err) == (2, True)


def test_a_device_that_is_not_there_leaves_it_to_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise DeviceError("there is no CUDA device")

    monkeypatch.setattr(runtime, "import_cupy", missing)
    found = galton("synth", SIR, *SMALL, "--prop", CERTAIN, "--device", "cuda")
    assert found.code == 0
    assert found.err == "warning: there is no CUDA device; synthesised on the CPU\n"


def test_all_values() -> None:
    found = galton("synth", SIR, *SMALL, "--prop", NUMBER, "--accuracy", 0.3)
    assert found.code == 0
    assert "boxes, values from" in found.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--prop", NUMBER], "this property has no threshold"),
        (["--prop", CERTAIN, "--device", "cuda:0,1"], "synthesis uses one device, and 'cuda:0,1' names 2"),
        (["--prop", CERTAIN, "--param", "ki=1:2"], "a parameter is given twice"),
        (["--prop", CERTAIN, "--param", "zz=1:2"], "has no constant 'zz' that could be a parameter"),
        (["--prop", CERTAIN, "--json", "/nowhere/at/all.json"], "there is no folder /nowhere/at"),
        (["--prop", CERTAIN, "--plot", "a.txt"], "'.txt' is no kind of picture"),
        (["--prop", CERTAIN, "--resume", "missing.json"], "missing.json"),
        (["--prop", "P>=0.5 [ F ill=0 ]"], "needs a time bound"),
        (["--prop", CERTAIN, "--prop", NUMBER], "synth answers one property, and here are 2; ask each in a run of its"),
        (["--prop", "P>=0.5 [ F<=1 well ]"], "--prop:1:15: error: unknown name 'well'"),
        (
            ["--prop", CERTAIN, "--param", "ki=0.01:0.1,kr=0.1:0.2"],
            "is more than one parameter; give each an option of its own: --param ki=0.01:0.1 --param kr=0.1:0.2",
        ),
        (["--prop", CERTAIN, "--tolerance", "2"], "a tolerance of 2 leaves the whole space undecided"),
    ],
)
def test_mistakes(arguments: list[str], told: str) -> None:
    found = galton("synth", SIR, *SMALL, *arguments)
    assert found.code == 2
    assert told in found.err
    assert found.out == ""


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("sir.png", "sir.svg"):
        found = galton("synth", SIR, *SMALL, "--prop", CERTAIN, "--tolerance", 0.5, "--plot", tmp_path / name)
        assert found.code == 0
        assert (tmp_path / name).stat().st_size > 1000
    one = ("--const", "S0=8,I0=2,R0=0,ki=0.05", "--param", "kr=0.1:0.5")
    assert galton("synth", SIR, *one, "--prop", NUMBER, "--accuracy", 0.2, "--plot", tmp_path / "one.png").code == 0


def test_pages(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    page = tmp_path / "sir.html"
    assert galton("synth", SIR, *SMALL, "--prop", CERTAIN, "--tolerance", 0.5, "--plot", page).code == 0
    assert "kr: 0.1 to" in page.read_text(encoding="utf-8")


def test_forward() -> None:
    found = galton("synth", SIR, *SMALL, "--prop", CERTAIN, "--tolerance", 0.2, "--direction", "forward")
    assert found.code == 0
    assert "of the space" in found.out
    inner = "P>=0.5 [ F<=1 P>=0.5 [ F<=1 ill=0 ] ]"
    refused = galton("synth", SIR, *SMALL, "--prop", inner, "--direction", "forward")
    assert refused.code != 0
    assert "forward bounds are about the initial state alone" in refused.err
    assert "hint: ask with --direction backward" in refused.err


def test_explain_says_where_and_why() -> None:
    found = galton("synth", SIR, *SMALL, "--prop", CERTAIN, "--explain", "--device", "cpu")
    assert found.code == 0
    assert "placement  the CPU (asked for)" in found.out
    assert "model      <ctmc with parameters" in found.out
