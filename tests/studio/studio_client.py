"""A studio that runs in a thread of the test, and a page that talks with it."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from galton.studio.limits import Limits
from galton.studio.server import Server

MOST_SECONDS = 60.0


class Running:
    """A server that answers, and what one needs to know to talk with it."""

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop):
        self.server, self.loop = server, loop
        self.port, self.token = server.gate.port, server.gate.token
        self.own = f"127.0.0.1:{self.port}"

    def get(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> http.client.HTTPResponse:
        """One request; names of headers have _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        given = {"Host": self.own, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.putrequest(method, path, skip_host=True)
        for name, value in given.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(None if body is None else body.encode())
        response = connection.getresponse()
        response.text = response.read().decode()  # type: ignore[attr-defined]
        connection.close()
        return response

    def cookie(self) -> str:
        """That of a browser which opened the address."""
        response = self.get(f"/?token={self.token}")
        assert response.status == 200
        return response.headers["set-cookie"].partition(";")[0]

    @contextmanager
    def page(self, **options: Any) -> Iterator[Page]:
        """An open page."""
        headers = {"Cookie": self.cookie()}
        address = f"ws://{self.own}/ws"
        with connect(
            address, origin=f"http://{self.own}", additional_headers=headers, max_size=None, **options
        ) as socket:  # type: ignore[arg-type]
            yield Page(socket)

    def workers(self) -> list[int]:
        """The processes that the server has started and that live; other tests leave other children in this one."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    status = (entry / "stat").read_text().rpartition(")")[2].split()
                    command = (entry / "cmdline").read_bytes().split(b"\0")
                    if int(status[1]) == os.getpid() and status[0] != "Z" and b"galton.studio.child" in command:
                        found.append(int(entry.name))
        return found


class Page:
    """Asks, and collects what is said of each."""

    def __init__(self, socket: ClientConnection):
        self.socket = socket
        self.number = 0
        self.events: dict[int, list[dict[str, Any]]] = {}
        self.hello = self._receive(MOST_SECONDS)["hello"]

    def send(self, ask: str, slot: str | None = None, **fields: Any) -> int:
        """Ask; returns the id."""
        self.number += 1
        message = {"id": self.number, "ask": ask, **({} if slot is None else {"slot": slot}), **fields}
        self.events[self.number] = []
        self.socket.send(json.dumps(message))
        return self.number

    def stop(self, number: int) -> None:
        """Stop an ask."""
        self.socket.send(json.dumps({"ask": "stop", "stop": number}))

    def end(self, number: int, seconds: float = MOST_SECONDS) -> dict[str, Any]:
        """The last event of an ask."""
        while True:
            for event in self.events[number]:
                if event["event"] in ("result", "error", "stopped"):
                    return event
            self._receive(seconds)

    def parts(self, number: int) -> list[Any]:
        """The parts that came before the end."""
        return [event["part"] for event in self.events[number] if event["event"] == "part"]

    def wait_for(self, number: int, kind: str, seconds: float = MOST_SECONDS) -> dict[str, Any]:
        """The first event of a kind."""
        while True:
            for event in self.events[number]:
                if event["event"] == kind:
                    return event
                assert event["event"] not in ("result", "error", "stopped"), event
            self._receive(seconds)

    def ask(self, ask: str, **fields: Any) -> Any:
        """Ask and wait; what is wrong fails the test."""
        end = self.end(self.send(ask, **fields))
        assert end["event"] == "result", end
        return end["result"]

    def refused(self, ask: str, **fields: Any) -> dict[str, Any]:
        """Ask what has no answer; the trouble."""
        end = self.end(self.send(ask, **fields))
        assert end["event"] == "error", end
        found: dict[str, Any] = end["error"]
        return found

    def _receive(self, seconds: float) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=seconds))
        self.events.setdefault(message["id"], []).append(message)
        return message


@contextmanager
def running(root: Path, limits: Limits | None = None, **options: Any) -> Iterator[Running]:
    """A studio of a folder."""
    ready: threading.Event = threading.Event()
    found: list[Running] = []
    server = Server(root, limits=limits, **options)

    def serve() -> None:
        async def run() -> None:
            loop = asyncio.get_running_loop()

            def told(one: Server) -> None:
                found.append(Running(one, loop))
                ready.set()

            await server.run(told)

        asyncio.run(run())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield found[0]
    finally:
        found[0].loop.call_soon_threadsafe(server.stop)
        thread.join(20)
        assert not thread.is_alive()


MODELS_LARGE = """
mdp
const int N;
module a
  a : [0..N];
  [] a<N -> (a'=a+1);
  [] a>0 -> (a'=a-1);
endmodule
module b = a [ a = b ] endmodule
module c = a [ a = c ] endmodule
module d = a [ a = d ] endmodule
"""
