"""PRISM's own tests of properties: all annotated results are met; a table names what is not supported, and why."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from prism_files import SHARED

SCRIPT = SHARED / "accept" / "prism_tests.py"

# Reasons, as the messages begin.
MULTI = "several objectives at once, multi(…), are not supported"
BOUND = "with a bound on the path is not supported"  # A [ F<=k … ], which PRISM refuses as well

# Files below "functionality", and how many of their properties are not supported.
UNSUPPORTED: dict[str, dict[str, int]] = {
    "verify/dtmcs/ltl/lec17dtmc.pm.nonprob.props": {BOUND: 2},
    "verify/mdps/multi-general/bug1.nm.props": {MULTI: 3},
    "verify/mdps/multi-general/consensus_multi3.nm.props": {MULTI: 1},
    "verify/mdps/multi-general/consensus_multi4.nm.props": {MULTI: 1},
    "verify/mdps/multi-general/consensus_multi5.nm.props": {MULTI: 1},
    "verify/mdps/multi-general/simple11.nm.props": {MULTI: 4},
    "verify/mdps/multi-general/simple2.nm.props": {MULTI: 2},
    "verify/mdps/multi-general/simple3.nm.props": {MULTI: 1},
    "verify/mdps/multi-general/simple4.nm.props": {MULTI: 8},
    "verify/mdps/multi-general/simple5.nm.props": {MULTI: 4},
    "verify/mdps/multi-general/simple6.nm.props": {MULTI: 4},
    "verify/mdps/multi-general/simple7.nm.props": {MULTI: 4},
    "verify/mdps/multi-general/simple9.nm.props": {MULTI: 5},
    "verify/mdps/multi-general/test-cumulative1.nm.props": {MULTI: 6},
    "verify/mdps/multi-general/test1.nm.props": {MULTI: 2},
    "verify/mdps/multi-general/test2.nm.props": {MULTI: 4},
    "verify/mdps/multi-general/test3.nm.props": {MULTI: 2},
    "verify/mdps/multi-pareto/simple11.nm.props": {MULTI: 5},
    "verify/mdps/multi-pareto/simple2.nm.props": {MULTI: 3},
    "verify/mdps/multi-pareto/simple3.nm.props": {MULTI: 1},
    "verify/mdps/multi-pareto/simple4.nm.props": {MULTI: 5},
    "verify/mdps/multi-pareto/simple9.nm.props": {MULTI: 1},
    "verify/mdps/multi-pareto/test1.nm.props": {MULTI: 2},
    "verify/mdps/multi-pareto/test2.nm.props": {MULTI: 1},
    "verify/mdps/multi-pareto/test3.nm.props": {MULTI: 2},
    "verify/mdps/rewards/total-reward-2.nm.props": {MULTI: 1},
    "verify/mdps/rewards/total-reward-3.nm.props": {MULTI: 1},
}


@pytest.mark.slow
@pytest.mark.skipif(not SCRIPT.exists(), reason="PRISM's tests are not here")
def test_properties(tmp_path: Path) -> None:
    galton, out = f"{shlex.quote(sys.executable)} -m galton", tmp_path / "out.json"
    done = subprocess.run([sys.executable, SCRIPT, "--galton", galton, "--json", out], capture_output=True, text=True)
    records = json.loads(out.read_text())
    assert [record for record in records if record["outcome"] == "failed"] == [], done.stdout
    assert sum(record["outcome"] == "passed" for record in records) >= 868
    found: dict[str, Counter[str]] = {}
    for record in records:
        if record["outcome"] == "unsupported":
            reason = next(reason for reason in (MULTI, BOUND) if reason in record["why"])
            found.setdefault(record["props"].removeprefix("functionality/"), Counter())[reason] += 1
    assert found == UNSUPPORTED
