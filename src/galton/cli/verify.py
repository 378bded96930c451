"""``galton verify``: whether a certificate proves what it claims."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .options import Constants, ModelFile


def verify(
    model: ModelFile,
    prop: Annotated[str, typer.Argument(metavar="PROPERTY", help="The property, as for check --prop.")],
    certificate: Annotated[Path, typer.Argument(metavar="FILE", help="What check --certificate wrote.")],
    const: Constants = None,
) -> None:
    """Verify a certificate: exactly, and without the code that found the answer.

    All states of the model are built from the text; then every condition of docs/certificates.md is looked at. The exit
    code is 0 when the certificate proves its claim, 1 when it does not, and 2 when it could not be read.

    \b
    Example:
      galton check models/die.prism -p 'P=? [ F d=6 ]' --certificate six.json
      galton verify models/die.prism 'P=? [ F d=6 ]' six.json
    """
    from ..verifier import RefusedError
    from ..verifier.api import verify as verified

    certificate.stat()  # a file that is not there shows before anything is built
    try:
        found = verified(model, prop, certificate, constants=options.read_constants(const or []))
    except RefusedError as error:
        typer.echo(f"refused: {error}", err=True)
        raise typer.Exit(1) from None
    if found.holds is not None:
        typer.echo(f"verified: {found.prop} is {'true' if found.holds else 'false'}")
    typer.echo(f"verified: the value in the initial states lies in [{found.lower!r}, {found.upper!r}]")
