"""Document 003, Figures 2 and 3: dot plots of the gallery's matrices."""

from __future__ import annotations

from pathlib import Path

import pytest

from galton.bench import patterns
from galton.bench.experiment import Options
from galton.bench.running import run, write

MODELS = Path(__file__).parents[2] / "models"


@pytest.mark.slow
@pytest.mark.parametrize(("place", "missing"), [(0, 3), (1, 1)])
def test_pictures_of_the_models_that_there_are(place: int, missing: int, tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    experiment = patterns.EXPERIMENTS[place]
    found = run(experiment, Options(models=MODELS))
    assert sum(row.skipped == "the gallery has no such model" for row in found.rows) == missing
    write(found, tmp_path)
    picture = image.imread(tmp_path / f"{experiment.name}.png")[..., :3]
    assert 0.01 < (picture.min(axis=2) < 0.6).mean() < 0.3


def test_what_breadth_first_numbering_does_to_the_models_of_the_paper() -> None:
    """The packets of brp come to lie along the diagonal, and herman stays as it is."""
    rows = {row.instance.split()[0]: row.measured for row in run(patterns.EXPERIMENTS[1], Options(models=MODELS)).rows}
    assert rows["brp"]["bfs_bandwidth"] < rows["brp"]["bandwidth"] / 10
    assert rows["herman"]["bfs_distance"] == rows["herman"]["distance"]
