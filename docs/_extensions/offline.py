"""A page that would load something from elsewhere is a warning, and so an error: readers may have no network."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

FAR = r"""["']?(?:https?:)?//[^"')]*"""
LOADED = re.compile(rf"""<(?:script|img|iframe|source)\b[^>]*\bsrc={FAR}|<link\b[^>]*\bhref={FAR}""")
LOADED_BY_STYLES = re.compile(rf"""(?:@import\s+(?:url\()?|url\(){FAR}""")
LOGGER = logging.getLogger(__name__)


def loaded_from_elsewhere(page: Path) -> list[str]:
    """What a page or a style sheet asks others for; links that a reader follows do not count."""
    pattern = LOADED_BY_STYLES if page.suffix == ".css" else LOADED
    return pattern.findall(page.read_text(errors="replace"))


def look(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        for page in sorted([*Path(app.outdir).rglob("*.html"), *Path(app.outdir).rglob("*.css")]):
            for found in loaded_from_elsewhere(page):
                logging.getLogger(__name__).warning(
                    "%s is loaded from elsewhere: %s", page.relative_to(app.outdir), found
                )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", look)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
