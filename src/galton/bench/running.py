"""Running experiments, and writing down what came out."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..io.output import replacing
from .experiment import Experiment, Found, Options, Row

__all__ = ["machine", "run", "write"]


def run(experiment: Experiment, options: Options, watch: Callable[[Row], None] | None = None) -> Found:
    """The rows of an experiment; ``watch`` is told of each when it is there."""
    start, rows = time.perf_counter(), []
    for row in experiment.run(options):
        rows.append(row)
        if watch:
            watch(row)
    found = Found(
        experiment=experiment, rows=tuple(rows), seconds=time.perf_counter() - start, machine=machine(options)
    )
    return found


def machine(options: Options) -> dict[str, Any]:
    """What the figures depend on."""
    from importlib.metadata import version

    return {
        "cores": os.cpu_count(),
        "processor": _processor(),
        "python": platform.python_version(),
        "galton": version("galton"),
        "device": options.device,
        "sizes": options.sizes,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def write(found: Found, folder: Path) -> None:
    """The figures as JSON, and the picture where there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / f"{found.experiment.name}.json") as file:
        file.write(json.dumps(found.to_json(), indent=1))
    if found.experiment.draw:
        found.experiment.draw(found, folder / f"{found.experiment.name}.png")
