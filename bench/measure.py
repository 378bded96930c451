"""One question to one tool, in a process of its own: from the file to the answer.

The clock runs from before the file is read until the answer is there; what the tools import is imported before, and
the time of the whole process is kept beside it. Galton is called through its command line, so that it does what people
get: it explores no more than the property needs, and answers with proved bounds. Storm is called the way its
documentation shows: properties go along to the builder, which also explores no more than they need.

This file is also the program that runs in such a process.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

TOOLS = ("galton", "storm-default", "storm-plain")
PRECISION = 1e-6  # of all tools: Galton's default, and Storm's


@dataclass(frozen=True)
class Question:
    """A property of a model file, and what is known about its value."""

    id: str
    model: str
    constants: dict[str, Any]
    text: str
    declared: str = ""  # constants that the text uses, as its file declares them
    expected: tuple[float, float] | None = None  # bounds, with the accuracy that their source claims

    @property
    def given(self) -> str:
        """The constants as both command lines write them."""
        values = {
            name: str(value).lower() if isinstance(value, bool) else value for name, value in self.constants.items()
        }
        return ",".join(f"{name}={value}" for name, value in values.items())


def measure(
    tool: str, question: Question, *, threads: int | None = None, timeout: float, python: str = sys.executable
) -> dict[str, Any]:
    """The answer of a tool, and its times in seconds; in place of the answer ``error``, or ``timeout``.

    Galton is the one of the interpreter ``python``.
    """
    if tool != "galton":
        from galton.bench.peers import in_storm  # not in the process of Storm, whose memory is measured

        question = replace(question, text=in_storm(question.text))
    command = [python, __file__, json.dumps([tool, threads, asdict(question)])]
    # As on Galton's command line: a thread of NumPy's BLAS that only spins would take a core from what is measured.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"s": timeout, "timeout": True}
    process = time.perf_counter() - start
    try:
        return {**json.loads(done.stdout.splitlines()[-1]), "process_s": process}
    except (IndexError, ValueError):
        reason = (done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"])[-1]
        return {"s": process, "error": reason}


def fastest(tools: Sequence[str], question: Question, repeat: int, **how: Any) -> dict[str, dict[str, Any]]:
    """All tools in turns, so that they see the same machine; of each the fastest run, or the first that failed."""
    best: dict[str, dict[str, Any]] = {}
    for _ in range(repeat):
        for tool in tools:
            if not failed(best.get(tool, {})):
                run = measure(tool, question, **how)
                known = best.get(tool, run)
                best[tool] = run if failed(run) or run["s"] < known["s"] else known
    return best


def failed(run: dict[str, Any]) -> bool:
    """Whether a run ended without an answer."""
    return "error" in run or "timeout" in run


# Inside of such a process.


def ask_galton(question: Question, threads: int | None) -> dict[str, Any]:
    """Galton's answer, by its command line."""
    import contextlib
    import importlib
    import io
    import pkgutil

    import galton

    for module in pkgutil.walk_packages(galton.__path__, "galton."):
        # Not what only a device needs: the command line does not load it either.
        if not module.name.endswith("__main__") and "cuda" not in module.name:
            importlib.import_module(module.name)
    from typer.main import get_command

    from galton.cli import app

    galton_command = get_command(app)  # its options are set up once, like an import
    arguments = ["check", question.model, "--json", "--explain", "--eps", repr(PRECISION)]
    arguments += ["--prop", f"{question.declared}\n{question.text}"]
    arguments += ["--const", question.given] if question.constants else []
    arguments += ["--threads", str(threads)] if threads else []
    said = io.StringIO()
    start, cpu = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(said):
        galton_command.main(arguments, "galton", standalone_mode=False)
    times = {"s": time.perf_counter() - start, "cpu_s": time.process_time() - cpu}
    answer = json.loads(said.getvalue())
    if "error" in answer:
        return {**times, "error": answer["error"]["message"]}
    kept = ("lower", "upper", "states", "transitions", "method", "iterations", "build_s", "check_s", "plan")
    return {**times, "value": answer["value"], **{name: answer[name] for name in kept}}


def ask_storm(question: Question, *, plain: bool) -> dict[str, Any]:
    """Storm's answer: sound, as is its default, or with the environment that promises nothing."""
    import stormpy

    start, cpu = time.perf_counter(), time.process_time()
    program = stormpy.parse_prism_program(question.model, prism_compatibility=True)
    properties = stormpy.parse_properties(f"{question.declared}\n{question.text}", program)
    program, (asked,) = stormpy.instantiate_constants(program, question.given, properties)
    model = stormpy.build_model(program, [asked])
    built = time.perf_counter()
    how: dict[str, Any] = {"environment": stormpy.Environment()} if plain else {}
    if any(part in question.text for part in ("^{", "||", "quantile(")):
        how["only_initial_states"] = True  # Storm answers these for no others
    result = stormpy.model_checking(model, asked, **how)
    value = max(result.get_value(state) for state in model.initial_states)
    end = time.perf_counter()
    value = "Infinity" if math.isinf(value) else value
    times = {"s": end - start, "cpu_s": time.process_time() - cpu, "build_s": built - start, "check_s": end - built}
    return {**times, "value": value, "states": model.nr_states, "transitions": model.nr_transitions}


def main() -> None:
    import resource

    tool, threads, question = json.loads(sys.argv[1])
    asked = Question(**question)
    found = ask_galton(asked, threads) if tool == "galton" else ask_storm(asked, plain=tool == "storm-plain")
    found["mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main()
