"""Questions of the acceptance corpus: a folder per benchmark with models, properties, and ``cases.json``."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from measure import Question

HERE = Path(__file__).resolve().parent
DEFAULT = HERE.parent.parent / "shared" / "corpus"


def questions(corpus: Path, ids: list[str]) -> list[Question]:
    """The cases of these names."""
    if not corpus.is_dir():
        raise SystemExit(f"the corpus is not at {corpus}; say where it is with --corpus FOLDER")
    found = []
    for case_id in ids:
        folder = corpus.joinpath(*case_id.split("/")[:2])
        file = folder / "cases.json"
        cases = json.loads(file.read_text())["cases"] if file.exists() else []
        case = next((case for case in cases if case["id"] == case_id), None)
        if case is None:
            raise SystemExit(f"the corpus at {corpus} has no case {case_id}")
        found.append(question(folder, case))
    return found


def question(folder: Path, case: dict[str, Any]) -> Question:
    """A case as a question."""
    declared = re.findall(r"^\s*const[^;]*;", (folder / case["props"]).read_text(), re.MULTILINE)
    return Question(
        id=case["id"],
        model=str(folder / case["model"]),
        constants=case["constants"],
        text=case["property"],
        declared=" ".join(declared),
        expected=expected(case),
    )


def expected(case: dict[str, Any]) -> tuple[float, float] | None:
    """Where the value lies, as far as the corpus knows."""
    known = case["expected"]
    if known is None:
        return None
    low, high = (float(known.get(name, known.get("value", math.nan))) for name in ("lower", "upper"))
    slack = case.get("rtol", 0.0) * max(abs(low), abs(high)) + 1e-12 * (abs(low) > 0)
    return (low, high) if math.isinf(low) else (low - slack, high + slack)
