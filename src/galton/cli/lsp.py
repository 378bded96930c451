"""``galton lsp``: an editor's server."""

from __future__ import annotations

from typing import Annotated

import typer


def lsp(
    tcp: Annotated[
        str | None,
        typer.Option(
            "--tcp",
            metavar="HOST:PORT",
            help="Listen there instead of using standard input and output, for people who work on it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Help an editor with models and property files, by the Language Server Protocol.

    Editors start this command and talk to it on standard input and output: mistakes as one types, hover, completion,
    outline, definitions, references, renaming, formatting and colours. docs/editor.md says how to set them up. It
    needs pygls: pip install 'galton[lsp]'.

    \b
    Example:
      galton lsp --tcp localhost:7777
    """
    from ..lang.source import GaltonError

    try:
        from ..lsp.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs"):
            raise
        raise GaltonError("galton lsp needs pygls, which is not installed: pip install 'galton[lsp]'") from None
    host, port = None, None
    if tcp is not None:
        host, _, number = tcp.rpartition(":")
        if not host or not number.isdigit():
            raise GaltonError(f"--tcp takes a host and a port, as in localhost:7777, and not {tcp}")
        port = int(number)
    serve(host, port)
