"""The boxes of PRISM-PSY, looked at again: the same bounds, and no box that one calls true and the other false.

In these models no two transitions of a state share a parameter; where they do, the bounds here are closer.

Its runs are not part of this repository; without the folder beside it, there is nothing to compare.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from galton.synth import evaluator, transient
from galton.synth.api import Synthesis

BASELINES = Path(__file__).parents[2].parent / "shared" / "baselines"
# Tolerances for what PSY cuts from the Poisson distribution without adding it to its bounds.
CASES = {
    "sir_max_100_120_t010": 1e-7,
    "sir_thr_165_215_t010": 1e-6,
    "g1s_thr_t010": 1e-7,
    "g1s_min_t020": 1e-7,
    "am39_full_t050": 1e-7,
}
SAMPLE = 48  # boxes of each case

pytestmark = pytest.mark.skipif(not BASELINES.exists(), reason="the runs of PRISM-PSY are not here")


def prepared(case: dict[str, Any], **asked: Any) -> Synthesis:
    path = BASELINES / "psy-models" / case["model"]
    ranges = {name: (low, high) for name, (low, high) in case["space"].items()}
    return Synthesis.prepare(path, case["property"], ranges, {}, **asked)


def boxes_of(case: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower corners, upper corners and bounds."""
    boxes = [box for kind in case["regions"].values() for box in kind]
    chosen = boxes[:: max(1, len(boxes) // SAMPLE)]
    corners = np.array([[box["region"][name] for name in case["space"]] for box in chosen])
    bounds = np.array([[box["lower"], box["upper"]] for box in chosen])
    return corners[:, :, 0], corners[:, :, 1], bounds


@pytest.mark.parametrize("name", CASES)
def test_same_bounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Bounds depend on the rate, and PSY's is exact, and that of all states.
    monkeypatch.setattr(transient, "rounded_up", lambda rates: rates)
    monkeypatch.setattr(evaluator, "WORTH_TRUNCATING", np.inf)
    case = json.loads((BASELINES / "psy-regions" / f"{name}.json").read_text())
    asked = {"accuracy": 1.0} if "=?" in case["property"] else {}
    low, high, expected = boxes_of(case)
    lower, upper = prepared(case, **asked).evaluator.bounds(low, high)
    np.testing.assert_allclose(lower, expected[:, 0], atol=CASES[name], rtol=0)
    np.testing.assert_allclose(upper, expected[:, 1], atol=CASES[name], rtol=0)


def test_no_contradictions() -> None:
    case = json.loads((BASELINES / "psy-regions" / "g1s_thr_t010.json").read_text())
    regions = prepared(case, tolerance=0.2).run()
    for verdict, opposite in (("true", regions.false), ("false", regions.true)):
        for theirs in case["regions"][verdict]:
            corners = [theirs["region"][name] for name in case["space"]]
            for mine in opposite:
                apart = [mine.high[p] <= low or mine.low[p] >= high for p, (low, high) in enumerate(corners)]
                assert any(apart)


def test_optimum_overlaps() -> None:
    case = json.loads((BASELINES / "psy-regions" / "g1s_min_t020.json").read_text())
    regions = prepared(case, minimize=True, tolerance=0.2).run()
    assert regions.optimum is not None
    theirs = case["regions"]["optimising"]
    assert regions.optimum[0] <= max(box["upper"] for box in theirs)
    assert regions.optimum[1] >= min(box["lower"] for box in theirs)
