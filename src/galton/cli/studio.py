"""``galton studio``: models in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import telling

if TYPE_CHECKING:
    from ..studio.server import Server

MISSING = "the studio needs Starlette and uvicorn; pip install 'galton[studio]' brings them"
UNBUILT = (
    "the page of the studio has not been built, as in a source tree; make studio builds it, and wheels have it already"
)


def studio(
    subject: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL|FOLDER]",
            help="A model, whose folder is then the project, or a project folder; the current one if not given.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port to listen at; 0 for any that is free.")
    ] = 0,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen at. Others than this machine's own need a password.")
    ] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page in a browser.")
    ] = True,
    password: Annotated[
        str | None,
        typer.Option(
            "--password",
            envvar="GALTON_STUDIO_PASSWORD",
            help="What visitors have to type. Better given as the variable, which others do not see.",
            show_default=False,
            show_envvar=True,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", help="A name by which browsers may call this machine.", show_default=False
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds-per-question", min=1, help="When a question is given up, in seconds.")
    ] = 600,
    memory: Annotated[
        float | None,
        typer.Option(
            "--memory",
            metavar="MB",
            min=64,
            help="Memory for a question; half of the machine's if not given.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Open the studio: edit models, ask, look at states, step through paths, and find parameters, in the browser.

    It works without a network, and only for who knows the address that is printed: it has a token. Files of the project
    folder are read and written, and no others. Ctrl-C ends it.

    \b
    Examples:
      galton studio models/die.prism
      galton studio models --port 8080 --no-browser
      galton studio . --host 0.0.0.0 --password 'a long one' --allow-host lab.example.org
    """
    import asyncio
    from tempfile import TemporaryDirectory

    from ..lang import GaltonError

    where = Path.cwd() if subject is None else subject
    if not where.exists():
        raise GaltonError(f"{where} is not there; name a model, or a folder")
    server = _server(where, host, port, password, tuple(allow_host or ()), seconds, memory)
    if not (server.static / "index.html").is_file():
        telling.warn(UNBUILT)

    def ready(running: Server) -> None:
        telling.say(f"the studio is open at {running.gate.address}")
        telling.say("Ctrl-C ends it")
        if browser:
            import webbrowser

            webbrowser.open(_door(running.gate.address, Path(folder)).as_uri())

    with TemporaryDirectory(prefix="galton-studio-") as folder:
        try:
            asyncio.run(server.run(ready))
        except OSError as error:
            raise GaltonError(f"cannot listen at {host}, port {port}: {error.strerror}") from None


def _door(address: str, folder: Path) -> Path:
    """A file that leads to an address: as an argument of the browser, other users of the machine could read it."""
    from html import escape

    door = folder / "open.html"
    door.touch(0o600)
    door.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}"><title>Galton</title>'
    )
    return door


def _server(
    where: Path,
    host: str,
    port: int,
    password: str | None,
    names: tuple[str, ...],
    seconds: float,
    memory: float | None,
) -> Any:
    from ..lang import GaltonError

    try:
        from ..studio.limits import MIB, Limits
        from ..studio.security import is_loopback
        from ..studio.server import Server
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] == "galton":
            raise
        raise GaltonError(MISSING) from None
    if password is not None and len(password) < 8:
        raise GaltonError("a password has at least 8 characters")
    if not is_loopback(host) and password is None:
        raise GaltonError(
            f"at {host} others can reach the studio, which runs what they ask and writes files: give a --password"
        )
    limits = Limits(seconds=seconds) if memory is None else Limits(seconds=seconds, memory_bytes=int(memory * MIB))
    is_file = where.is_file()
    root = where.resolve().parent if is_file else where.resolve()
    return Server(
        root,
        host=host,
        port=port,
        password=password,
        opened=where.resolve().name if is_file else None,
        limits=limits,
        names=names,
    )
