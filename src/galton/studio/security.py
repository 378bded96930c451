"""Who may talk to the studio: those who know the token or the password, from the studio's own page.

A page of another site can make a browser send requests here, and may even have its own name point here (DNS
rebinding). So each request needs a cookie that only our answers set and that browsers send from our own pages only, its
Host has to be one of our names, and where it could change something its Origin has to be that Host.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response

__all__ = ["Gate", "Guarded", "is_loopback"]

MOST_SESSIONS = 256
TRIES, TRY_SECONDS = 10, 60.0  # wrong passwords in a time, after which nobody is listened to
SAFE = ("GET", "HEAD")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@dataclass(eq=False)
class Gate:
    """Knows the names of the server, the token and the password, and who has shown one of them."""

    host: str
    port: int
    password: str | None = None
    names: tuple[str, ...] = ()  # by which it may be called besides
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _sessions: OrderedDict[str, None] = field(default_factory=OrderedDict)
    _wrong: deque[float] = field(default_factory=deque)

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers share cookies between ports."""
        return f"galton_studio_{self.port}"

    @property
    def address(self) -> str:
        """What to open in a browser."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={self.token}"

    def knows_host(self, header: str | None) -> bool:
        """Whether a request was meant for this server. A name that we do not know may be anybody's.

        Numbers cannot be made to point elsewhere, so where the server can be reached from outside they are all right.
        """
        if not header or len(header) > 300:
            return False
        name, port = _split(header)
        own = {"localhost", "127.0.0.1", "::1", *self.names}
        if is_loopback(self.host):
            return name in {*own, self.host} and port == str(self.port)
        return name in own or name == self.host or _is_address(name)

    def is_own_origin(self, headers: Headers) -> bool:
        """Whether a page of this server sent a request."""
        origin, host = headers.get("origin"), headers.get("host", "")
        if origin not in (f"http://{host}", f"https://{host}"):
            return False
        return headers.get("sec-fetch-site") in (None, "same-origin")

    def has_session(self, connection: HTTPConnection) -> bool:
        """Whether who asks has shown the token or the password before."""
        found = connection.cookies.get(self.cookie, "")
        return any(hmac.compare_digest(found.encode(), known.encode()) for known in self._sessions)

    def is_token(self, given: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def is_password(self, given: str) -> bool | None:
        """Whether this is the password; None for who tries too often."""
        now = time.monotonic()
        while self._wrong and now - self._wrong[0] > TRY_SECONDS:
            self._wrong.popleft()
        if len(self._wrong) >= TRIES:
            return None
        right = self.password is not None and hmac.compare_digest(given.encode(), self.password.encode())
        if not right:
            self._wrong.append(now)
        return right

    def welcome(self, response: Response) -> Response:
        """Let a browser in."""
        session = secrets.token_urlsafe(32)
        self._sessions[session] = None
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        response.set_cookie(self.cookie, session, httponly=True, samesite="strict", path="/")
        return response


def _split(host: str) -> tuple[str, str]:
    """The name and the port of a Host; the port may be left out."""
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        return name.lower(), rest.removeprefix(":") or "80"
    name, _, port = host.partition(":")
    return name.lower().rstrip("."), port or "80"


def headers_of(host: str) -> Iterable[tuple[bytes, bytes]]:
    """What every answer says to the browser: trust nothing but ourselves."""
    policy = "; ".join(
        [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            f"connect-src 'self' ws://{host} wss://{host}",
            "worker-src 'self' blob:",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )
    told = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
    }
    return [(name.encode(), value.encode()) for name, value in told.items()]


@dataclass(frozen=True)
class Guarded:
    """An application behind the gate. ``open_paths`` are those for who has no session yet."""

    app: App
    gate: Gate
    open_paths: tuple[str, ...] = ("/", "/login")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        host = headers.get("host", "") if self.gate.knows_host(headers.get("host")) else "localhost"

        async def told(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                kept = [(k, v) for k, v in message.get("headers", []) if k.lower() != b"server"]
                message = {**message, "headers": [*kept, *headers_of(host)]}
            await send(message)

        if refusal is None:
            await self.app(scope, receive, told)
        elif scope["type"] == "websocket":
            await receive()  # the connection
            await send({"type": "websocket.close", "code": 4003, "reason": refusal})
        else:
            await PlainTextResponse(f"{refusal}\n", 403)(scope, receive, told)

    def _refusal(self, scope: Scope, headers: Headers) -> str | None:
        gate, connection = self.gate, HTTPConnection(scope)
        if not gate.knows_host(headers.get("host")):
            return "this server has another name; open the address that galton studio printed"
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE
        if changes and not gate.is_own_origin(headers):
            return "this comes from another site"
        if (scope["type"] == "websocket" or scope["path"] not in self.open_paths) and not gate.has_session(connection):
            return "open the address that galton studio printed: it has a token that this one lacks"
        return None
