"""Build the C++ core with sanitizers and run the tests that drive it.

``python -m tests.sanitize`` does both builds over all of these tests, ``--quick`` over a few, ``address`` or ``thread``
one build. A build is kept in ``build/sanitize-*`` and only what changed is compiled again. CPython itself is not
instrumented: what it leaks is not looked at, and a race inside it is not seen.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "galton"
# Of what is written, only Python's part is captured: sanitizers write past it, and end the process.
PYTEST = ("-q", "-x", "-p", "no:cacheprovider", "--capture=sys")


@dataclass(frozen=True)
class Build:
    """A way to build the core, and the tests that it is for."""

    sanitizers: str
    runtime: str  # the library that must be loaded before Python is
    options: dict[str, str]
    tests: tuple[str, ...]
    quick: tuple[str, ...]


BUILDS = {
    "address": Build(
        sanitizers="address,undefined,float-cast-overflow",
        runtime="libasan.so",
        options={"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"},
        tests=(
            "tests/backend/test_system_kernels.py",
            "tests/backend/test_steps_kernels.py",
            "tests/graph",
            "tests/explore",
            "tests/ltl/test_products.py",
            "tests/mpi/test_rank_explorer.py",
            "tests/solve",
            "tests/synth/test_bounds.py",
        ),
        quick=(
            "tests/explore/test_packed_states.py",
            "tests/explore/test_mistakes_and_shapes.py",
            "tests/explore/test_expressions.py",
            "tests/explore/test_semantics.py",
            "tests/graph/test_graph_components.py",
            "tests/solve/test_proof.py",
        ),
    ),
    "thread": Build(
        sanitizers="thread",
        runtime="libtsan.so",
        options={"TSAN_OPTIONS": "halt_on_error=1"},
        tests=(
            "tests/backend/test_system_kernels.py",
            "tests/backend/test_steps_kernels.py",
            "tests/explore/test_against_oracle.py",
            "tests/explore/test_random_programs.py",
            "tests/explore/test_mistakes_and_shapes.py",
            "tests/graph/test_graph_large.py",
            "tests/ltl/test_products.py",
            "tests/mpi/test_rank_explorer.py",
            "tests/solve/test_sound.py",
            "tests/solve/test_gain.py",
            "tests/synth/test_bounds.py",
        ),
        quick=(
            "tests/explore/test_mistakes_and_shapes.py",
            "tests/solve/test_drift.py",
            "tests/solve/test_gain.py",
        ),
    ),
}


def main() -> int:
    """The exit code of the first build whose tests fail, 0 if none does."""
    parser = argparse.ArgumentParser(prog="python -m tests.sanitize", description=__doc__.splitlines()[0])
    parser.add_argument("builds", nargs="*", metavar="build", help=f"{' or '.join(BUILDS)}; all if none is named")
    parser.add_argument("--quick", action="store_true", help="a few of the tests")
    given = parser.parse_args()
    for name in given.builds or BUILDS:
        if name not in BUILDS:
            parser.error(f"there is no build {name!r}; there is {' and '.join(BUILDS)}")
        print(f"{name}: {BUILDS[name].sanitizers}", flush=True)
        core = compiled(name)
        if code := run_tests(name, core, BUILDS[name].quick if given.quick else BUILDS[name].tests):
            return code
    return 0


def compiled(name: str) -> Path:
    """The core of a build, up to date."""
    folder = ROOT / "build" / f"sanitize-{name}"
    tools = Path(sys.executable).parent
    configure = [
        *(tools / "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}"),
        *(f"-DPython_EXECUTABLE={sys.executable}", f"-DGALTON_SANITIZE={BUILDS[name].sanitizers}"),
        *("-DCMAKE_BUILD_TYPE=Debug", "--log-level=WARNING"),
    ]
    subprocess.run([*map(str, configure)], check=True)
    subprocess.run([str(tools / "cmake"), "--build", str(folder), "--", "--quiet"], check=True)
    return folder / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"


def run_tests(name: str, core: Path, tests: tuple[str, ...]) -> int:
    """Pytest with a copy of the package that has this core, in the place of the installed one."""
    site = core.parent / "site"
    shutil.rmtree(site, ignore_errors=True)
    package = shutil.copytree(PACKAGE, site / "galton", ignore=shutil.ignore_patterns("__pycache__", "_core*.so"))
    shutil.copy(core, package)
    build = BUILDS[name]
    environment = {
        **os.environ,
        **build.options,
        "LD_PRELOAD": " ".join(preloaded(build.runtime)),
        # Without `site` (-S) nothing redirects imports of the package to where it is installed for development.
        "PYTHONPATH": os.pathsep.join([str(site), sysconfig.get_path("purelib"), str(ROOT)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [*as_laid_out(name), sys.executable, "-S", "-m", "pytest", *PYTEST, *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def preloaded(sanitizer: str) -> Iterator[str]:
    """Paths of a sanitizer's library and of the one whose exceptions it watches."""
    for library in (sanitizer, "libstdc++.so.6"):
        found = subprocess.run(["c++", f"-print-file-name={library}"], check=True, capture_output=True, text=True)
        yield found.stdout.strip()


def as_laid_out(name: str) -> list[str]:
    """ThreadSanitizer wants memory where it used to be, which the newest kernels have to be told."""
    return ["setarch", platform.machine(), "-R"] if name == "thread" else []


if __name__ == "__main__":
    raise SystemExit(main())
