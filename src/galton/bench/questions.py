"""Questions about models of the gallery, and one of them asked in a process of its own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .child import measured
from .experiment import Options

__all__ = [
    "MOST",
    "Instance",
    "Question",
    "ask",
    "ask_there",
    "disagreement",
    "import_all",
    "why_no_device",
    "why_not",
]


@dataclass(frozen=True)
class Question:
    """A question about a family of models."""

    model: str
    constant: str
    prop: str
    method: str


@dataclass(frozen=True)
class Instance:
    """A member of a family.

    Attributes
    ----------
    size
        The constant of the family.
    others
        Further constants.
    label
        What a paper calls it, where that is not the model with its size.
    """

    question: Question
    size: int
    others: tuple[tuple[str, int], ...] = ()
    label: str = ""

    @property
    def name(self) -> str:
        """As tables show it."""
        return self.label or f"{self.question.model} {self.size:,}"

    @property
    def constants(self) -> dict[str, int]:
        """The values of all constants."""
        return {self.question.constant: self.size, **dict(self.others)}


SAME = 1e-3  # of a value: that little changes does not say that little is missing
MOST = 200_000  # sweeps; the most that is printed is 37,931


def ask(instance: Instance, options: Options, **choices: Any) -> dict[str, Any]:
    """The answer to an instance, with times; ``choices`` are those of :class:`galton.Settings`, and ``device``.

    ``error`` where there is none, or where a device that was named did not give it.
    """
    question = instance.question
    return ask_there(
        f"{__name__}:answer",
        options,
        place_of(choices.pop("device", options.device)),
        path=str(options.models / f"{question.model}.prism"),
        constants=instance.constants,
        prop=question.prop,
        choices={"method": question.method, "max_iterations": MOST, **choices},
    )


def ask_there(function: str, options: Options, device: str, **given: Any) -> dict[str, Any]:
    """What a function gives on a device, in a process of its own; ``error`` where it did not run there."""
    on_device = device.startswith("cuda")
    if on_device and (missing := why_not(options) or _why_not_these(device)):
        return {"error": missing}
    found = measured(function, options, device=device, **given)
    if on_device and "error" not in found and found["placement"]["backend"] != "cuda":
        return {"error": found["placement"]["reason"]}
    return found


def disagreement(*answers: dict[str, Any]) -> str:
    """What is wrong with answers to one question, by methods that stop when little changes; empty where nothing is."""
    values = [found["value"] for found in answers if "error" not in found]
    if not values or max(values) - min(values) <= SAME * max(abs(value) for value in values):
        return ""
    return f"values differ: {' and '.join(map(repr, dict.fromkeys(values)))}"


def place_of(device: str) -> str:
    """The device meant: without any, ``auto`` is the CPU, and what was measured there is not measured again."""
    return "cpu" if device == "auto" and why_no_device() else device


def why_not(options: Options) -> str:
    """Why nothing is to be measured on a device; empty where it is."""
    return "--device cpu was asked for" if options.device == "cpu" else why_no_device()


def _why_not_these(device: str) -> str:
    """Why devices cannot be used that are named by numbers; empty where they can."""
    from ..device.cuda.runtime import import_cupy
    from ..device.placement import Request

    numbers = Request.parse(device).numbers
    count = import_cupy().cuda.runtime.getDeviceCount() if numbers else 0
    if all(number < count for number in numbers):
        return ""
    return "there is only one CUDA device" if count == 1 else f"there are only {count} CUDA devices"


@cache
def why_no_device() -> str:
    """Why no CUDA device can be used; empty where one can."""
    from ..device.cuda.runtime import import_cupy
    from ..device.errors import DeviceError

    try:
        import_cupy()
    except DeviceError:
        return "there is no CUDA device"
    return ""


def answer(path: str, constants: dict[str, int], prop: str, device: str, choices: dict[str, Any]) -> dict[str, Any]:
    """One question in this process: sizes, sweeps, and the seconds of building, analysing and solving.

    The whole model is built first, so that nothing is cut short at the goals; the file is read before the clock runs,
    and so is what Python imports. A device compiles an explorer for each model, once on a machine: that time is apart.
    """
    import time

    from ..api import check
    from ..programs import load
    from ..solve.settings import Settings

    import_all(device)
    begin = time.perf_counter()
    program = load(Path(path), **constants)
    start = time.perf_counter()
    model = program.build(device=device, threads=choices.get("threads"))
    built = time.perf_counter()
    result = check(model, prop, settings=Settings(**choices))
    end = time.perf_counter()
    sweeping = [step for step in result.work if step.iterations]  # none where the graph tells everything
    solving = max(sweeping, key=lambda step: step.iterations, default=None)
    compiling = float(model.info.get("compile_s", 0.0))
    return {
        "seconds": end - start - compiling,
        "load_s": start - begin,
        "compile_s": compiling,
        "build_s": built - start - compiling,
        "check_s": end - built,
        "solve_s": solving.seconds if solving else 0.0,
        "n": model.n_states,
        "transitions": model.n_transitions,
        "iterations": solving.iterations if solving else 0,
        "value": result.value[-1] if isinstance(result.value, tuple) else result.value,
        "placement": asdict(result.placement),
        "warnings": list(result.warnings),
        "plan": [(step.step, step.detail, step.seconds) for step in result.work],
    }


def import_all(device: str) -> None:
    """Import what answers may need, so that no clock measures it; what only a device needs where one may be used."""
    import pkgutil
    from importlib import import_module

    places = ["backend.cpu", "checking", "explore", "graph", "lower", "reduce", "solve"]
    places += ["backend.cuda"] if device.startswith("cuda") else []
    for place in places:
        package = import_module(f"galton.{place}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
