"""What is released: one version, a workflow that does what is tried here, and tools that tell how far they are."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import galton

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import progress_of_pip  # noqa: E402
import try_wheel  # noqa: E402
import wheels  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = PROJECT["project"]["version"]
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")


# The version stands in pyproject.toml.


def test_there_is_one_version() -> None:
    assert galton.__version__ == VERSION
    (cited,) = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == VERSION
    assert re.search(r"^version = release = galton.__version__$", (ROOT / "docs/conf.py").read_text(), re.MULTILINE)


def test_the_page_of_installing_names_this_version() -> None:
    assert f"galton-{VERSION}-cp311-" in (ROOT / "docs/install.md").read_text()


def test_the_page_of_installing_names_every_extra() -> None:
    extras = set(PROJECT["project"]["optional-dependencies"]) - {"dev", "docs", "test"}  # these are for developers
    text = (ROOT / "docs/install.md").read_text()
    assert {extra for extra in extras if f"`{extra}`" not in text} == set()


# What is in packages.


def test_what_packages_leave_out_are_folders_of_the_repository() -> None:
    """``bench`` without a slash is ``src/galton/bench``, too: wheels had no ``galton bench``."""
    assert all(pattern.startswith("/") for pattern in PROJECT["tool"]["scikit-build"]["sdist"]["exclude"])


def packed(folder: Path, names: set[str]) -> Path:
    wheel = folder / "galton.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return wheel


def test_a_wheel_is_compared_with_the_source_tree(tmp_path: Path) -> None:
    made = {"galton/_core.cpython-311-x86_64-linux-gnu.so", f"galton-{VERSION}.dist-info/METADATA"}
    whole = try_wheel.wanted() | made
    assert {"galton/py.typed", "galton/bench/printed.json", "galton/gallery/enzyme.xml", try_wheel.PAGE} <= whole
    assert any(name.endswith(".cu") for name in whole)
    assert any(name.endswith(".cuh") for name in whole)
    assert try_wheel.differences(packed(tmp_path, whole)) == []
    wrong = try_wheel.differences(packed(tmp_path, whole - {try_wheel.PAGE} | {"tests/test_packaging.py"}))
    assert wrong == [f"{try_wheel.PAGE} is missing", "tests/test_packaging.py should not be there"]


# The workflow.


def workflow() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    found: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    return found


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_the_workflow_builds_tries_and_publishes() -> None:
    jobs = workflow()["jobs"]
    assert set(jobs) == {"wheels", "source", "publish"}
    assert set(jobs["publish"]["needs"]) == {"wheels", "source"}
    assert jobs["publish"]["permissions"]["id-token"] == "write"  # trusted publishing: there is no secret
    assert any(step.get("uses", "").startswith("pypa/gh-action-pypi-publish@") for step in jobs["publish"]["steps"])
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text()


def test_the_workflow_does_what_is_done_here() -> None:
    jobs = workflow()["jobs"]
    assert "python -m cibuildwheel --output-dir dist" in commands(jobs["wheels"])
    assert "python -m build --sdist --outdir dist" in commands(jobs["source"])
    assert all("make studio" in "".join(commands(jobs[name])) for name in ("wheels", "source"))  # before they pack
    assert '"-m", "build", "--sdist", "--outdir"' in (ROOT / "tools/wheels.py").read_text()
    assert "tools/try_wheel.py" in PROJECT["tool"]["cibuildwheel"]["test-command"]
    assert "tools/try_wheel.py" in (ROOT / "Makefile").read_text()


def test_the_tag_is_compared_with_the_version() -> None:
    (look,) = [line for line in commands(workflow()["jobs"]["publish"]) if "GITHUB_REF_NAME" in line]
    wanted = {f"v{VERSION}": 0, "v0.0.0": 1}
    for tag, code in wanted.items():
        line = look.replace("source/pyproject.toml", str(ROOT / "pyproject.toml"))
        assert (
            subprocess.run(["bash", "-c", line], env={"GITHUB_REF_NAME": tag, "PATH": "/usr/bin:/bin"}).returncode
            == code
        )


def test_wheels_are_built_for_all_supported_versions() -> None:
    pytest.importorskip("cibuildwheel")
    words = [sys.executable, "-m", "cibuildwheel", "--print-build-identifiers", "--platform", "linux", str(ROOT)]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert printed.split() == [f"cp{version.replace('.', '')}-manylinux_x86_64" for version in SUPPORTED]
    assert tuple(f"python{version}" for version in SUPPORTED) == wheels.PYTHONS
    assert PROJECT["project"]["requires-python"] == f">={SUPPORTED[0]}"


# The tools.


def test_only_interpreters_that_work_are_built_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert wheels.found(["no-such-python"]) == {}
    assert "no-such-python is not here" in capsys.readouterr().out


def test_a_wheel_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="make wheel"):
        try_wheel.wheel_for(tmp_path, "cp311")


PIP = """Collecting numpy>=1.26
  Downloading numpy-2.0.0-cp311-cp311-manylinux.whl (18 MB)
Building editable for galton (pyproject.toml): started
  [1/63] Building CXX object CMakeFiles/_core.dir/src/core/core.cpp.o
  [63/63] Linking CXX shared module _core.so
Installing collected packages: galton
"""


def test_what_pip_says_becomes_how_far_it_is() -> None:
    told = list(progress_of_pip.stages(PIP.splitlines()))
    assert told == [
        "asking pip",
        "fetching numpy",
        "compiling the C++ core",
        "compiling the C++ core: 1 of 63 files",
        "compiling the C++ core: 63 of 63 files",
        "installing",
    ]


def test_a_log_gets_a_line_now_and_then_and_a_terminal_one_line() -> None:
    for terminal, lines in ((False, 2), (True, 0)):
        said: list[str] = []
        times = iter([0.0, 0.0, 3.0, 12.0])
        teller = progress_of_pip.Teller(said.append, terminal, lambda times=times: next(times))
        for number in range(3):
            teller.tell(f"{number} files")
        assert "".join(said).count("\n") == lines
        assert "2 files  (12 s)" in said[-1]


def test_pip_that_fails_is_told_with_its_reason(capfd: pytest.CaptureFixture[str]) -> None:
    assert progress_of_pip.main(["install", "--no-index", "no-such-package-anywhere"]) != 0
    assert "No matching distribution found for no-such-package-anywhere" in capfd.readouterr().err
