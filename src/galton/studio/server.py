"""The web server: the page, its files, and one WebSocket for each page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from .security import App, Gate, Guarded
from .studio import Studio

__all__ = ["STATIC", "Server", "application"]

STATIC = Path(__file__).parent / "static"
LONGEST_FORM = 4096
HEAD_SECONDS = 10.0  # that a browser has to say what it wants
MOST_CONNECTIONS = 256
YEAR = 31_536_000


def application(studio: Studio, gate: Gate, static: Path = STATIC) -> App:
    """All that the server answers, behind the gate."""

    async def index(request: Request) -> Response:
        token = request.query_params.get("token")
        if token is not None:
            if not gate.is_token(token):
                return PlainTextResponse("this token is not, or no longer, the one that galton studio printed\n", 403)
            return gate.welcome(_onwards())
        if not gate.has_session(request):
            if gate.password is not None:
                return _form()
            return PlainTextResponse("open the address that galton studio printed: it has a token\n", 403)
        page = static / "index.html"
        if not page.is_file():
            return PlainTextResponse("the page has not been built; run: make studio\n", 503)
        return FileResponse(page, headers={"cache-control": "no-cache"})

    async def login(request: Request) -> Response:
        if gate.password is None:
            return PlainTextResponse("there is no password\n", 404)
        form = await _form_of(request)
        right = gate.is_password(form.get("password", ""))
        if right is None:
            return PlainTextResponse("too many wrong passwords; wait a minute\n", 429)
        await asyncio.sleep(0.2)  # so that trying takes time
        return gate.welcome(_onwards()) if right else _form("this is not the password", 403)

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        with suppress(WebSocketDisconnect, RuntimeError):
            await studio.serve(socket)
        with suppress(WebSocketDisconnect, RuntimeError):
            await socket.close()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        studio.pool.prepare()
        yield
        await studio.close()

    routes: list[Any] = [
        Route("/", index),
        Route("/login", login, methods=["POST"]),
        WebSocketRoute("/ws", talk),
        Mount("/", _Static(directory=static, check_dir=False)),
    ]
    return Guarded(Starlette(routes=routes, lifespan=lifespan), gate)


class _Static(StaticFiles):
    """The files of the page. Vite gives those in assets new names when they change, so browsers may keep them."""

    async def get_response(self, path: str, scope: Any) -> Response:
        """A file."""
        found = await super().get_response(path, scope)
        found.headers["cache-control"] = f"max-age={YEAR}, immutable" if path.startswith("assets/") else "no-cache"
        return found


def _onwards() -> Response:
    """Lead to the page without the token in its address. A redirect would lose the cookie of who follows a link."""
    return HTMLResponse('<!doctype html><meta http-equiv="refresh" content="0;url=/"><title>Galton</title>')


def _form(wrong: str = "", status: int = 200) -> Response:
    told = f"<p role=alert>{escape(wrong)}</p>" if wrong else ""
    return HTMLResponse(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Galton studio</title>"
        '<meta name=viewport content="width=device-width"><main><h1>Galton studio</h1>'
        f"{told}<form method=post action=/login><label>Password <input type=password name=password autofocus "
        "autocomplete=current-password></label> <button>Open</button></form></main></html>",
        status,
    )


async def _form_of(request: Request) -> dict[str, str]:
    """What a small form says."""
    from urllib.parse import parse_qsl

    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_FORM:
            return {}
    return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=8))


@dataclass(eq=False)
class Server:
    """The server of one studio, from ``start`` to ``stop``; ``port`` 0 takes any that is free."""

    root: Path
    host: str = "127.0.0.1"
    port: int = 0
    password: str | None = None
    opened: str | None = None
    limits: Any = None
    names: tuple[str, ...] = ()
    static: Path = STATIC

    async def run(self, ready: Any = None) -> None:
        """Serve until somebody stops it; ``ready`` is called with the gate once it answers."""
        import socket

        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # With the protocol named, asyncio switches off Nagle's algorithm, which holds each second message for 40 ms.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((self.host, self.port))
        port = int(listening.getsockname()[1])
        gate = Gate(self.host, port, self.password, self.names)
        studio = Studio(self.root, self.opened, **({} if self.limits is None else {"limits": self.limits}))
        config = uvicorn.Config(
            application(studio, gate, self.static),
            ws="websockets-sansio",
            ws_max_size=studio.limits.message_bytes,
            ws_per_message_deflate=False,
            ws_ping_interval=20,
            ws_ping_timeout=20,
            http="h11",
            proxy_headers=False,
            h11_max_incomplete_event_size=16_384,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=3,
            limit_concurrency=MOST_CONNECTIONS,
            access_log=False,
            log_level="error",
            server_header=False,
            date_header=False,
        )
        self.gate, self.studio = gate, studio
        self._server = uvicorn.Server(config)
        serving = asyncio.create_task(self._server.serve(sockets=[listening]))
        reaping = asyncio.create_task(self._reap())
        try:
            while not self._server.started and not serving.done():
                await asyncio.sleep(0.005)
            if ready is not None and not serving.done():
                ready(self)
            await serving
        finally:
            reaping.cancel()
            listening.close()

    def stop(self) -> None:
        """End; :meth:`run` returns soon."""
        self._server.should_exit = True

    async def _reap(self) -> None:
        """Close connections that never say what they want: they would take the places of others."""
        since: dict[Any, float] = {}
        while True:
            await asyncio.sleep(1.0)
            now = time.monotonic()
            open_now = {c for c in self._server.server_state.connections if getattr(c, "cycle", self) is None}
            since = {c: since.get(c, now) for c in open_now}
            for connection, first in since.items():
                if now - first > HEAD_SECONDS and connection.transport is not None:
                    connection.transport.abort()
