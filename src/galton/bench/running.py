"""Running experiments, and writing down what came out."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from ..io.output import replacing
from .experiment import Cell, Experiment, Found, Options, Row
from .pages import page
from .report import index, readable

__all__ = ["finished", "machine", "run", "run_all", "write"]


def run(experiment: Experiment, options: Options, watch: Callable[[Row], None] | None = None) -> Found:
    """The rows of an experiment; ``watch`` is told of each when it is there."""
    start, rows = time.perf_counter(), []
    for row in experiment.run(options):
        rows.append(row)
        if watch:
            watch(row)
    return Found(
        experiment=experiment,
        rows=tuple(rows),
        seconds=time.perf_counter() - start,
        options=options,
        machine=machine(),
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def run_all(
    experiments: Sequence[Experiment], options: Options, watch: Callable[[Experiment, Row], None]
) -> Iterator[Found]:
    """Experiments in their order, several beside each other where ``options.jobs`` allows it.

    Cells wait for each other (:class:`.child.Turns`), so that no thread of ours has to.
    """
    if options.jobs == 1:
        for experiment in experiments:
            yield run(experiment, options, partial(watch, experiment))
        return
    with ThreadPoolExecutor(len(experiments)) as pool:
        waiting = [pool.submit(run, one, options, partial(watch, one)) for one in experiments]
        try:
            for found in waiting:
                yield found.result()
        except BaseException:
            options.measurements.turns.given_up.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


@cache
def machine() -> dict[str, Cell]:
    """What numbers depend on: the machine, and the versions of what runs there."""
    from importlib.metadata import PackageNotFoundError, version

    found: dict[str, Cell] = {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": _memory(),
        "device": _device(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "galton": version("galton"),
        "commit": _commit(),
    }
    for package in ("numpy", "scipy", "cupy-cuda12x", "cupy-cuda13x", "stormpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"


def _device() -> str:
    """The names of the CUDA devices, and how many there are of each."""
    from ..device.cuda.runtime import import_cupy
    from ..device.errors import DeviceError

    try:
        runtime = import_cupy().cuda.runtime
    except DeviceError:
        return "no CUDA device"
    names = [runtime.getDeviceProperties(number)["name"].decode() for number in range(runtime.getDeviceCount())]
    return ", ".join(f"{names.count(name)} × {name}" for name in dict.fromkeys(names))


def _commit() -> str:
    """The commit that this file is in, with a word where files have changed since; empty where it is in none.

    Who installs Galton from a commit and not in its repository may say which by the variable ``GALTON_COMMIT``.
    """
    if named := os.environ.get("GALTON_COMMIT"):
        return named
    here = Path(__file__)
    commands = (
        ["ls-files", "--error-unmatch", here.name],
        ["describe", "--always", "--exclude=*", "--dirty=, changed"],
    )
    said = ""
    for command in commands:
        try:
            done = subprocess.run(["git", *command], cwd=here.parent, capture_output=True, text=True)
        except OSError:
            return ""
        if done.returncode:
            return ""
        said = done.stdout.strip()
    return said


def write(found: Found, folder: Path) -> None:
    """The figures as JSON, the picture where there is one, a page with both, and a page that leads to all pages."""
    folder.mkdir(parents=True, exist_ok=True)
    name = found.experiment.name
    if found.experiment.draw:
        found.experiment.draw(found, folder / f"{name}.png")
    record = found.to_json()
    _replace(folder / f"{name}.html", page(record, folder))
    _replace(folder / f"{name}.json", json.dumps(record, indent=1))
    _replace(folder / "index.html", index(readable(folder)))


def _replace(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text)


def finished(experiment: Experiment, options: Options, folder: Path) -> dict[str, Any] | None:
    """What was written about an experiment, where the same machine, version and options would be used again."""
    try:
        record: dict[str, Any] = json.loads((folder / f"{experiment.name}.json").read_text())
        same = record["options"] == options.to_json() and record["machine"] == machine()
    except (OSError, ValueError, KeyError):
        return None
    return record if same else None
