"""One open page: what it asks goes to the project or to a lane, and the answers go back."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .buffers import Buffers
from .gallery import Gallery
from .lanes import LANES, Lane, Question
from .limits import MIB
from .trouble import RequestError, trouble, trouble_of

if TYPE_CHECKING:
    from .studio import Studio

__all__ = ["Page", "Socket"]

FILES_SECONDS = 2.0  # between looks at the project folder
REMEMBERED, REMEMBERED_BYTES = 64, 64 * MIB  # asks whose answers can be exported, and their texts
WAITING_BYTES = 256 * MIB  # of the texts of questions that wait
LONGEST_SLOT = 64
FEW_MESSAGES = 64  # on their way to a page; who sends more waits until it has read some


class Socket(Protocol):
    """What a page needs of its connection."""

    async def receive_text(self) -> str:
        """The next message."""

    async def send_text(self, data: str) -> None:
        """Send one."""

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        """Say goodbye."""


class _Gone(Exception):
    """The page is not there any more, or does not listen."""


@dataclass(eq=False)
class Page:
    """A page, from the moment it connects until it leaves."""

    studio: Studio
    socket: Socket
    buffers: Buffers = field(init=False)
    _lanes: dict[str, Lane] = field(default_factory=dict)
    _questions: dict[int, tuple[Lane, Question]] = field(default_factory=dict)
    _asked: OrderedDict[int, Question] = field(default_factory=OrderedDict)
    _last: float = field(default_factory=time.monotonic)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.buffers = Buffers(self.studio.project, self.studio.limits.text_bytes)
        self._outgoing: asyncio.Queue[str] = asyncio.Queue(FEW_MESSAGES)

    async def run(self) -> None:
        """Talk with the page until it leaves, is idle for too long or does not listen."""
        works = [self._talk(), self._deliver(), self._watch_files(), self._watch_idle()]
        tasks = [asyncio.create_task(work) for work in works]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in [*tasks, *self._tasks]:
                task.cancel()
            found = await asyncio.gather(*tasks, *self._tasks, return_exceptions=True)
            await asyncio.gather(*(lane.close() for lane in self._lanes.values()))
        for error in found:
            if isinstance(error, Exception) and not isinstance(error, (_Gone, self.studio.gone)):
                raise error

    async def send(self, message: dict[str, Any] | bytes) -> None:
        """Send a message; wait if the page has not read those before."""
        text = message.decode() if isinstance(message, bytes) else json.dumps(message, allow_nan=False)
        await self._outgoing.put(text)

    async def _deliver(self) -> None:
        """Send what there is; a page that does not read is given up."""
        while True:
            text = await self._outgoing.get()
            try:
                await asyncio.wait_for(self.socket.send_text(text), self.studio.limits.stuck_seconds)
            except TimeoutError:
                raise _Gone("the page does not read") from None

    async def _talk(self) -> None:
        await self.send({"id": 0, "event": "hello", "hello": await self.studio.hello()})
        while True:
            text = await self.socket.receive_text()
            self._last = time.monotonic()
            number = 0
            try:
                message = _read(text)
                if message["ask"] == "stop":
                    self._stop(message.get("stop"))
                    continue
                number = message["id"]
                await self._ask(number, message)
            except RequestError as error:
                await self.send({"id": number, "event": "error", "error": trouble_of(error)})
            except OSError as error:
                await self.send({"id": number, "event": "error", "error": trouble("refused", f"{error.strerror}")})

    def _stop(self, number: object) -> None:
        found = self._questions.get(number) if isinstance(number, int) else None
        if found is not None:
            lane, question = found
            self._begin(lane.stop(question, "by"))

    async def _ask(self, number: int, message: dict[str, Any]) -> None:
        ask = message.pop("ask")
        slot = message.pop("slot", None)
        del message["id"]
        if number in self._questions:
            raise RequestError("two asks with the same id")
        if slot is not None and (not isinstance(slot, str) or len(slot) > LONGEST_SLOT):
            raise RequestError("a slot is a short text")
        if ask in LANES:
            named = message.get("asked") if ask == "copy" else message
            texts = await asyncio.to_thread(self.buffers.texts_of, named if isinstance(named, dict) else {})
            await self._enqueue(number, ask, slot, message, texts)
        elif ask == "export":
            await self._export(number, slot, message)
        else:
            await self.send({"id": number, "event": "result", "result": await self._at_once(ask, message)})

    async def _enqueue(
        self, number: int, ask: str, slot: str | None, given: dict[str, Any], texts: dict[str, tuple[str, str]]
    ) -> None:
        name = LANES[ask if ask != "export" else given["asked"]["ask"]]
        if name not in self._lanes:
            running = None if name == "editing" else self.studio.running
            self._lanes[name] = Lane(name, self.studio.pool, self.studio.limits, self.send, running)
        lane = self._lanes[name]
        self._questions = {n: (home, q) for n, (home, q) in self._questions.items() if not q.over.is_set()}
        if slot is not None:
            for home, other in list(self._questions.values()):
                if other.slot == slot:
                    self._begin(home.stop(other, "slot"))
        waiting = {n: q for n, (_, q) in self._questions.items() if n != number}
        many = sum(other.waiting for other in self._lanes.values()) >= self.studio.limits.waiting
        if many or _bytes(waiting) > WAITING_BYTES:
            error = trouble("busy", "too many questions wait for an answer; stop some, or ask again later")
            await self.send({"id": number, "event": "error", "error": error})
            return
        question = Question(number, {"ask": ask, "given": given}, texts, slot)
        self._questions[number] = lane, question
        if ask != "export":
            self._asked[number] = question
            while len(self._asked) > 1 and (len(self._asked) > REMEMBERED or _bytes(self._asked) > REMEMBERED_BYTES):
                self._asked.popitem(last=False)
        lane.put(question)

    async def _export(self, number: int, slot: str | None, given: dict[str, Any]) -> None:
        """An earlier ask in another form. It is answered by who answered that, or by asking again."""
        earlier = self._asked.get(given["of"]) if isinstance(given.get("of"), int) else None
        if earlier is None:
            raise RequestError("what is to be exported is not there any more; ask again")
        asked = {"id": earlier.id, **earlier.message}
        save = given.get("save")
        if save is not None:
            self.buffers.check_new(save)
        await self._enqueue(number, "export", slot, {**given, "asked": asked}, earlier.texts)

    async def _at_once(self, ask: str, given: dict[str, Any]) -> Any:
        """What the server does itself: files and texts."""
        project, buffers = self.studio.project, self.buffers
        match ask:
            case "files":
                return {"files": await asyncio.to_thread(project.files)}
            case "read":
                text, stamp = await asyncio.to_thread(project.read, given.get("file"))
                return {"file": given.get("file"), "text": text, "stamp": stamp}
            case "write":
                return await asyncio.to_thread(buffers.write, given)
            case "create_folder":
                await asyncio.to_thread(project.create_folder, given.get("folder"))
            case "rename_file":
                await asyncio.to_thread(project.rename, given.get("file"), given.get("to"))
            case "delete_file":
                await asyncio.to_thread(project.delete, given.get("file"))
            case "gallery":
                return {"models": await asyncio.to_thread(Gallery().models)}
            case "gallery_open":
                return await asyncio.to_thread(Gallery().open, given.get("name"))
            case "buffer":
                return {"version": buffers.change(given)}
            case "buffer_close":
                buffers.close(given.get("file"))
                return {}
            case _:
                raise RequestError(f"nobody can ask {ask[:40]!r}")
        return {"files": await asyncio.to_thread(project.files)}

    async def _watch_files(self) -> None:
        """Tell of files that come, go and change, whoever does it."""
        before = await asyncio.to_thread(self.studio.project.files)
        while True:
            await asyncio.sleep(FILES_SECONDS)
            now = await asyncio.to_thread(self.studio.project.files)
            if now != before:
                before = now
                await self.send({"id": 0, "event": "files", "files": now})

    async def _watch_idle(self) -> None:
        idle = self.studio.limits.idle_seconds
        while True:
            await asyncio.sleep(min(idle, 10.0))
            if any(lane.busy for lane in self._lanes.values()):
                self._last = time.monotonic()
            elif time.monotonic() - self._last >= idle:
                await self.goodbye("nothing was asked for a long time")
                return

    async def goodbye(self, reason: str) -> None:
        """Say why the page is closed, if it listens."""
        with suppress(Exception):
            told = json.dumps({"id": 0, "event": "goodbye", "reason": reason})
            await asyncio.wait_for(self.socket.send_text(told), 1.0)
            await asyncio.wait_for(self.socket.close(4000, reason), 1.0)

    def _begin(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _bytes(questions: Mapping[int, Question]) -> int:
    """How long the texts of questions are; most of them share theirs."""
    texts = {id(text): len(text) for question in questions.values() for _, text in question.texts.values()}
    return sum(texts.values())


def _read(text: str) -> dict[str, Any]:
    """A message of the page."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise RequestError("a message is one JSON object") from None
    if not isinstance(message, dict) or not isinstance(message.get("ask"), str):
        raise RequestError("a message is an object with an ask")
    number = message.get("id")
    if message["ask"] != "stop" and (not isinstance(number, int) or isinstance(number, bool) or number <= 0):
        raise RequestError("an ask has an id above 0")
    return message
