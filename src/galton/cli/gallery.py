"""``galton gallery``: the models that come with Galton."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def gallery(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]", help="Where to copy them; they are listed if it is not given.", show_default=False
        ),
    ] = None,
) -> None:
    """List the models that come with Galton, or copy them.

    The examples of help and documentation ask about models/die.prism and others: copy them once, and they work. A
    file that is there already and is another one is left as it is, and nothing is copied.

    \b
    Examples:
      galton gallery
      galton gallery models
    """
    from ..studio.gallery import Gallery

    models = Gallery()
    if folder is None:
        found = models.models()
        width = max((len(entry["name"]) for entry in found), default=0)
        for entry in found:
            typer.echo(f"{entry['name']:{width}}  {entry['type']:4}  {entry['title']}")
        return
    typer.echo(f"{models.copy(folder)} files in {folder}: models, properties, and gallery.json, which lists them")
