"""Install a wheel as a stranger would, and use it: ``make test-wheel``.

The environment is empty and has no compiler: its PATH holds the environment's own programs and nothing else, and pip
may install wheels only. Start-up goals are those promised to users: a question about a die within 0.3 s and an import
within 0.15 s. They are processor seconds, which do not count other people's work; the median of some runs must be
within the goal, on a machine that is busy or unknown (``CI=true``) within a multiple of it.

Before that, the files of the wheel are compared with those of the source tree: what a pattern in ``pyproject.toml``
leaves out by mistake is only missed by the command that needs it.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
DIE = """
dtmc
module die
  s : [0..7];  d : [0..6];
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> 0.5 : (s'=3) + 0.5 : (s'=4);
  [] s=2 -> 0.5 : (s'=5) + 0.5 : (s'=6);
  [] s=3 -> 0.5 : (s'=1) + 0.5 : (s'=7) & (d'=1);
  [] s=4 -> 0.5 : (s'=7) & (d'=2) + 0.5 : (s'=7) & (d'=3);
  [] s=5 -> 0.5 : (s'=7) & (d'=4) + 0.5 : (s'=7) & (d'=5);
  [] s=6 -> 0.5 : (s'=2) + 0.5 : (s'=7) & (d'=6);
  [] s=7 -> true;
endmodule
"""
TOOLS = ("gcc", "g++", "cc", "c++", "clang", "cmake", "ninja", "make")
RUNS = 9
SLACK = 3.0 if os.environ.get("CI") == "true" or os.getloadavg()[0] >= (os.cpu_count() or 1) else 1.0
GOALS = {"import": 0.15, "die": 0.3}  # seconds
MADE = r"galton/_core\.[\w.-]+\.so|galton-[\w.]+\.dist-info/.+"  # what a wheel has and the source tree has not
LICENCES = f"galton-{VERSION}.dist-info/licenses"
PAGE = "galton/studio/static/index.html"


def wheel_for(folder: Path, tag: str) -> Path:
    """The wheel of a folder for an interpreter."""
    fitting = sorted(folder.glob(f"galton-{VERSION}-{tag}-*manylinux*.whl"))
    if len(fitting) != 1:
        sys.exit(f"there should be one manylinux wheel for {tag} in {folder}, and there are {len(fitting)}: make wheel")
    return fitting[0]


def wanted(root: Path = ROOT) -> set[str]:
    """The files that a wheel is for: the package with the page of the studio, the gallery, and licences."""
    package = root / "src/galton"
    files = [path for path in package.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".so")]
    gallery = {f"galton/gallery/{path.name}" for path in (root / "models").iterdir()}
    licences = {f"{LICENCES}/LICENSE", f"{LICENCES}/licenses/nanobind.txt", "galton/studio/static/licenses.md"}
    return {f"galton/{path.relative_to(package).as_posix()}" for path in files} | gallery | licences | {PAGE}


def differences(wheel: Path, root: Path = ROOT) -> list[str]:
    """What is missing in a wheel, and what it holds besides."""
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if not name.endswith("/")}
    files = wanted(root)
    missing = [f"{name} is missing" for name in sorted(files - names)]
    strange = [f"{name} should not be there" for name in sorted(names - files) if not re.fullmatch(MADE, name)]
    return missing + strange


class Place:
    """An environment without a compiler, in a folder of its own."""

    def __init__(self, python: str, folder: Path) -> None:
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        self.folder, self.bin = folder / "work", folder / "venv/bin"
        self.folder.mkdir()
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "http"))}
        self.environment = kept | {"PATH": str(self.bin), "HOME": str(folder), "LANG": "C.UTF-8"}

    def run(self, *command: str | Path, code: int = 0) -> str:
        """What a command prints; it must end with this code."""
        done = subprocess.run(
            [self.bin / command[0], *command[1:]],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        if done.returncode != code:
            sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def seconds(self, *command: str) -> float:
        """Processor seconds of a command, the median of some runs."""
        taken = []
        for _ in range(RUNS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.run(*command)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return statistics.median(taken)


def check(condition: bool, what: str) -> None:
    if not condition:
        sys.exit(f"wrong: {what}")
    print(f"  {what}")


def check_contents(wheel: Path) -> None:
    if wrong := differences(wheel):
        sys.exit("\n  ".join([f"{wheel.name} is not what the source tree is:", *wrong]))
    check(True, f"{wheel.name} has the package, the page, the gallery and licences")


def try_wheel(wheel: Path, python: str) -> None:
    check_contents(wheel)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(python, Path(folder))
        look = f"import shutil; print([name for name in {TOOLS} if shutil.which(name)])"
        check(place.run("python", "-c", look).strip() == "[]", "there is no compiler")
        place.run("python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel)
        check(True, f"{wheel.name} was installed, {time.perf_counter() - start:.0f} s")
        home = place.run("python", "-c", "import galton, galton._core as core; print(galton.__file__, core.__file__)")
        check(str(ROOT) not in home, "what is imported is what was installed")
        check(place.run("galton", "--version").split()[-1] == VERSION, f"the version is {VERSION}")
        check("002-table-1" in place.run("galton", "bench", "list"), "the experiments of the papers are there")
        place.run("galton", "gallery", "models")
        gallery = place.run("galton", "check", "models/die.prism", "models/die.props", "-c", "k=6", "--name", "six")
        check("=  0.16666667" in gallery, "the gallery is copied, and its die shows six")
        (place.folder / "die.prism").write_text(DIE)
        question = ("galton", "check", "die.prism", "--prop", "P=? [ F d=6 ]")
        check("=  0.16666667" in place.run(*question), "a die shows six with probability 0.16666667")
        place.run(*question, "--certificate", "six.json")
        proved = place.run("galton", "verify", "die.prism", "P=? [ F d=6 ]", "six.json")
        check(proved.startswith("verified"), "the proof of that was verified")
        place.run("galton", "check", "die.prism", "--prop", "P>=0.5 [ F d=6 ]", code=1)
        check(True, "it is not half, and the exit code says so")
        exact = "import galton; print(galton.check('die.prism', 'P=? [ F d=6 ]', exact=True).exact)"
        check(place.run("python", "-c", exact).strip() == "1/6", "in Python, it is 1/6 exactly")
        empty = place.seconds("python", "-c", "pass")
        imported = place.seconds("python", "-c", "import galton") - empty
        answered = place.seconds(*question)
        for what, taken in (("import", imported), ("die", answered)):
            limit = GOALS[what] * SLACK
            check(taken <= limit, f"{what}: {taken:.3f} processor seconds, median of {RUNS} (limit {limit:.2f})")
    print(f"the wheel works, {time.perf_counter() - start:.0f} s in all")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", default=["python3"], help="interpreters to install wheels for")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="the folder of wheels, or one wheel")
    parser.add_argument("--contents", type=Path, metavar="WHEEL", help="only look at what is in this wheel")
    options = parser.parse_args()
    if options.contents:
        check_contents(options.contents)
        return
    for python in options.pythons:
        tag = subprocess.run(
            [python, "-c", "import sys; print(f'cp{sys.version_info[0]}{sys.version_info[1]}')"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        wheel = options.dist if options.dist.is_file() else wheel_for(options.dist, tag)
        try_wheel(wheel.resolve(), python)


if __name__ == "__main__":
    main()
