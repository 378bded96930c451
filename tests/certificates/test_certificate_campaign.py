"""Random models: a short run of ``campaign.py``, and the same with a verifier that has been tampered with."""

from __future__ import annotations

import collections
from pathlib import Path

import pytest
from campaign import MISTAKES, one
from certificate_models import random_case

from galton.verifier.conditions import _Check


def run(seeds: range, corrupted: int, folder: Path) -> collections.Counter[str]:
    """Counts of what came out, up to the first mistake."""
    counts: collections.Counter[str] = collections.Counter()
    for seed in seeds:
        if one(random_case(seed), counts, corrupted, folder):
            break
    return counts


def test_certificates_of_random_models_are_verified_and_corrupted_ones_refused(tmp_path: Path) -> None:
    counts = run(range(120), 3, tmp_path)
    assert not any(counts[kind] for kind in MISTAKES), counts
    assert counts["verified"] > 110
    assert counts["corrupted claims refused"] > 300
    assert counts["corrupted files refused"] > 300
    assert counts["random bounds accepted, rightly"] > 30


@pytest.mark.parametrize("part", ["_all", "_drift", "_falls", "_every_row", "_infinite", "_average"])
def test_the_campaign_notices_a_condition_that_is_not_checked(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Check, part, lambda *arguments, **options: None)
    counts = run(range(400), 4, tmp_path)
    assert counts["corrupted claims accepted"] + counts["random bounds accepted, wrongly"] > 0, counts
