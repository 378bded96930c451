"""The gallery: models to start from. They come with Galton and are only read."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from ..lang.source import GaltonError
from .trouble import RequestError

__all__ = ["Gallery"]


@cache
def _folder() -> Path:
    """Where the models are: inside the installed package or, in a source tree, beside it."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "gallery"
    return installed if installed.is_dir() else package.parents[1] / "models"


class Gallery:
    """The models and their properties."""

    def models(self) -> list[dict[str, Any]]:
        """All of them, in the order of the list."""
        return [self._entry(entry) for entry in self._listed()]

    def open(self, name: object) -> dict[str, Any]:
        """The texts of one model."""
        for entry in self._listed():
            if Path(entry["file"]).stem == name:
                properties = entry.get("properties_file")
                return {
                    "entry": self._entry(entry),
                    "model": self._text(entry["file"]),
                    "properties": None if properties is None else self._text(properties),
                }
        raise RequestError("no model of the gallery has this name")

    def copy(self, target: Path) -> int:
        """Copy all files to a folder, and count them; GaltonError if one is there already and is another."""
        files = sorted(path for path in _folder().iterdir() if path.is_file())
        texts = {target / path.name: path.read_bytes() for path in files}
        for path, text in texts.items():
            if path.exists() and path.read_bytes() != text:
                raise GaltonError(f"{path} is there already, and is another file: name a folder that has none")
        target.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            if not path.exists():
                path.write_bytes(text)
        return len(texts)

    def _listed(self) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = json.loads((_folder() / "gallery.json").read_text())["models"]
        except OSError:
            return []
        return [entry for entry in found if (_folder() / entry["file"]).is_file()]

    def _entry(self, entry: dict[str, Any]) -> dict[str, Any]:
        instances = entry.get("instances") or [{"constants": {}}]
        return {
            "name": Path(entry["file"]).stem,
            "title": entry["title"],
            "about": _about((_folder() / entry["file"]).read_text()),
            "type": entry["type"],
            "constants": {name: _shown(value) for name, value in instances[0]["constants"].items()},
            "properties": entry.get("properties_file") is not None,
        }

    def _text(self, file: str) -> dict[str, str]:
        return {"file": file, "text": (_folder() / file).read_text()}


def _about(text: str) -> str:
    """The comment that a model begins with, up to its first paragraph after the title."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    paragraphs = [part.strip() for part in "\n".join(lines).split("\n\n") if part.strip()]
    return " ".join((paragraphs[1] if len(paragraphs) > 1 else "".join(paragraphs)).split())


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
