from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from studio_client import Page, Running, running

MODELS = Path(__file__).resolve().parents[2] / "models"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with some models of the gallery."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("die", "consensus", "sir", "tandem", "herman"):
        for suffix in (".prism", ".props"):
            shutil.copy(MODELS / f"{name}{suffix}", folder)
    return folder


@pytest.fixture(scope="module")
def studio(project: Path) -> Iterator[Running]:
    """A studio that all tests of a file share."""
    with running(project) as found:
        yield found


@pytest.fixture(scope="module")
def page(studio: Running) -> Iterator[Page]:
    """A page that all tests of a file share."""
    with studio.page() as found:
        yield found
