"""From the file to the answer on a CUDA device, beside the CPU of the same machine, Storm, and what documents print.

    python bench/gpu.py [--only tandem,cluster] [--others] [--cpu SECONDS] [--timeout 120] [--json FILE [--go-on]]
                        [--storm 8] [--storm-on "consensus N=8@700,c=1023"] [--storm-timeout 600]

Every run is the command line in a process of its own. On the device there are two: the first has to compile what no run
before it has (``--once`` leaves it out); the second is the one that counts. With ``--cpu`` the same questions go to the
CPU with all its cores, for so long at most, after that; with ``--storm N`` to Storm as it comes, if ``stormpy`` can be
imported, beside all that: N at a time, because it uses one core and may need long, in the order of ``--storm-on``,
where a number after @ is the limit for those instances. The bounds must agree, or the program ends with an error.

With ``--go-on`` what the file of ``--json`` has is kept, with what took too long, and only what it lacks is asked.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from documents import INSTANCES, OTHERS, UNLIKE, Instance
from measure import Question, measure

MODELS = Path(__file__).resolve().parent.parent / "models"
ANALYSIS = ("graph analysis", "bottom components", "prob0", "equations")
COLUMNS = (
    *("instance", "property", "states", "transitions", "first process", "process", "compile", "explore", "analyse"),
    *("solve", "total", "sweeps", "value", "width", "printed", "CPU", "Storm"),
)

Answer = dict[str, Any]


def galton(instance: Instance, device: str, timeout: float) -> Answer:
    """The answer, as the command line gives it in JSON, and the seconds of the whole process."""
    command = [sys.executable, "-m", "galton", "check", str(MODELS / f"{instance.model}.prism")]
    command += ["--const", instance.constants, "--prop", instance.prop, "--device", device, "--json", "--explain"]
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer in {timeout:g} s", "process_s": timeout}
    process = time.perf_counter() - start
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        answer = {"error": (done.stderr.strip() or f"code {done.returncode}")[-1500:]}
    answer.pop("model", None)  # where the file is says nothing about the machine that matters
    if isinstance(answer.get("error"), dict):
        answer["error"] = answer["error"]["message"]
    return {**answer, "process_s": process, "said": done.stderr.strip()}


def storm(instance: Instance, timeout: float) -> Answer:
    """Storm's answer to the same."""
    constants = dict(part.split("=") for part in instance.constants.split(","))
    question = Question(instance.name, str(MODELS / f"{instance.model}.prism"), constants, instance.prop)
    return measure("storm-default", question, timeout=timeout)


def agree(a: Answer, b: Answer | None) -> bool:
    """Whether two answers can both be right; Storm's is a number with a precision."""
    if b is None or "error" in a or "error" in b or "timeout" in b or a.get("lower") is None:
        return True
    low, high = float(a["lower"]), float(a["upper"])
    if "lower" in b and b["lower"] is not None:
        return low <= float(b["upper"]) and float(b["lower"]) <= high
    slack = 2e-6 * abs(float(b["value"]))
    return low - slack <= float(b["value"]) <= high + slack


def cells(record: dict[str, Any]) -> list[str]:
    """A row of the table."""
    device, first = record["cuda"], record["first"]
    row = [record["name"], f"`{record['property']}`"]
    if "error" in device:
        row += [""] * 10 + [str(device["error"]).splitlines()[0][:60]] + [""]
    else:
        steps = [(step["step"], step["seconds"]) for step in device["plan"]]
        analysed = sum(seconds for name, seconds in steps if name in ANALYSIS)
        build = device["build"]
        explored = sum(build.get(f"{name}_s", 0.0) for name in ("discover", "sort", "count", "fill", "assemble"))
        low, high = float(device["lower"]), float(device["upper"])
        value = device["value"][-1] if isinstance(device["value"], list) else device["value"]
        row += [f"{device['states']:,}", f"{device['transitions']:,}"]
        row += ["" if first is None else f"{first['process_s']:.2f}", f"{device['process_s']:.2f}"]
        row += [f"{build.get('compile_s', 0.0):.2f}", f"{explored:.3f}", f"{analysed:.3f}"]
        row += [f"{sum(seconds for _, seconds in steps) - analysed:.3f}", f"{device['total_s']:.2f}"]
        row += [f"{device['iterations']:,}", f"{value:.9g}", f"{(high - low) / high if high else 0.0:.0e}"]
    unlike = "*" if record["name"].startswith(UNLIKE) else ""
    row.append("" if record["printed"] is None else f"{record['printed']:g}{unlike}")
    for other in (record["cpu"], record["storm"]):
        seconds = None if other is None else other.get("total_s", other.get("s"))
        late = other is not None and ("error" in other or "timeout" in other)
        row.append("" if other is None else f">{other.get('process_s', seconds):.0f}" if late else f"{seconds:.2f}")
    return row


def table(records: list[dict[str, Any]]) -> str:
    """What was measured, as docs/gpu/solve.md has it, in seconds."""
    head = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    return "\n".join([*head, *(f"| {' | '.join(cells(record))} |" for record in records)])


def chosen(instances: Sequence[Instance], parts: str) -> list[Instance]:
    """Those whose names or properties have one of the parts in them, in the order of the parts; all without parts."""
    wanted = _split(parts)
    found = [one for part in wanted for one in instances if part in f"{one.name} {one.prop}"]
    return list(dict.fromkeys(found))


def _split(parts: str) -> list[str]:
    """The parts between commas, but for commas between constants, as in ``consensus N=6,K=4``."""
    return re.findall(r"(?:[^,]|,(?=\w+=))+", parts) or [""]


def limits(instances: Sequence[Instance], parts: str, usual: float) -> dict[Instance, float]:
    """How long Storm may look at which instances; the first part that names an instance counts."""
    found: dict[Instance, float] = {}
    for part in _split(parts):
        name, _, limit = part.partition("@")
        for one in instances:
            if name in f"{one.name} {one.prop}":
                found.setdefault(one, float(limit or usual))
    return found


def measured(instance: Instance, given: argparse.Namespace) -> dict[str, Any]:
    """What Galton does with an instance."""
    first = None if given.once else galton(instance, "cuda", given.timeout)
    failed = first is not None and "error" in first
    device = first if failed else galton(instance, "cuda", given.timeout)
    names = {"name": instance.name, "property": instance.prop, "printed": instance.printed}
    return {**names, "first": first, "cuda": device, "cpu": None, "storm": None}


def write(records: list[dict[str, Any]], known: list[dict[str, Any]], path: Path | None) -> None:
    """After every run: whatever ends the program later, this is kept, with what was known before of others."""
    if path:
        merged = {(record["name"], record["property"]): record for record in (*known, *records)}
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(list(merged.values()), indent=1))
        beside.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of names of instances, separated by commas")
    parser.add_argument("--others", action="store_true", help="more questions, to see all methods")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--cpu", type=float, metavar="SECONDS", help="beside the CPU, for so long at most")
    parser.add_argument("--storm", type=int, default=0, metavar="N", help="beside Storm, so many at a time")
    parser.add_argument("--storm-on", default="", help="parts of names, as for --only, each with @SECONDS or not")
    parser.add_argument("--storm-timeout", type=float, default=600)
    parser.add_argument("--once", action="store_true", help="no first run with empty caches")
    parser.add_argument("--json", type=Path, help="write all that was measured")
    parser.add_argument("--go-on", action="store_true", help="keep what that file has, and ask what it lacks")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the table of what such a file holds, and end")
    given = parser.parse_args()
    if given.table:
        print(table(json.loads(given.table.read_text())))
        return
    instances = chosen((*INSTANCES, *(OTHERS if given.others else ())), given.only)
    asked = limits(instances, given.storm_on, given.storm_timeout) if given.storm else {}
    if given.go_on and not given.json:
        parser.error("--go-on needs the file of --json to go on from")
    known = json.loads(given.json.read_text()) if given.go_on and given.json.exists() else []
    before = {(record["name"], record["property"]): record for record in known}
    asked = {one: limit for one, limit in asked.items() if not before.get((one.name, one.prop), {}).get("storm")}
    records: list[dict[str, Any]] = []
    with ThreadPoolExecutor(max(given.storm, 1)) as pool:
        peers = {pool.submit(storm, instance, limit): instance for instance, limit in asked.items()}
        for instance in instances:
            if (instance.name, instance.prop) in before:
                records.append(before[instance.name, instance.prop])
                continue
            records.append(measured(instance, given))
            print(" | ".join(cells(records[-1])), flush=True)
            if records[-1]["cuda"].get("said"):
                print(f"  {records[-1]['cuda']['said']}", flush=True)
            write(records, known, given.json)
        for instance, record in zip(instances, records if given.cpu else (), strict=False):
            if record["cpu"]:
                continue
            record["cpu"] = galton(instance, "cpu", given.cpu)
            print(" | ".join(cells(record)), flush=True)
            write(records, known, given.json)
        for peer in as_completed(peers):
            records[instances.index(peers[peer])]["storm"] = peer.result()
            write(records, known, given.json)
    wrong = 0
    for record in records:
        for other in (record["cpu"], record["storm"]):
            if not agree(record["cuda"], other):
                wrong += 1
                print(f"DISAGREE on {record['name']}: {record['cuda'].get('value')}, {other and other.get('value')}")
    print("", table(records), sep="\n")
    if wrong:
        raise SystemExit(f"{wrong} answers disagree")


if __name__ == "__main__":
    main()
