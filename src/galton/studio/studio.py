"""What all pages of one server share: the project, the limits, the workers."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.websockets import WebSocketDisconnect

from .limits import Limits
from .page import Page, Socket
from .project import Project
from .workers import Pool

__all__ = ["Studio"]

DEVICES = [
    {"name": "auto", "words": "a CUDA device where there is one and it is worth it"},
    {"name": "cpu", "words": "the processor"},
    {"name": "cuda", "words": "a CUDA device"},
]


@dataclass(eq=False)
class Studio:
    """One project folder, shown to any number of pages; ``opened`` is the file that was asked for."""

    root: Path
    opened: str | None = None
    limits: Limits = field(default_factory=Limits)
    gone: type[Exception] = WebSocketDisconnect
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.project = Project(self.root.resolve(), self.limits.text_bytes, self.limits.files)
        self.pool = Pool(self.project.root)
        self.running = asyncio.Semaphore(self.limits.questions)
        self.pages: set[Page] = set()

    async def hello(self) -> dict[str, Any]:
        """What a page is told first."""
        return {
            "version": _version(),
            "protocol": 1,
            "project": {"name": self.project.name},
            "open": self.opened,
            "devices": DEVICES,
            "methods": await asyncio.to_thread(_methods),
            "limits": self.limits.told(),
        }

    async def serve(self, socket: Socket) -> None:
        """Talk with a page until it leaves."""
        if len(self.pages) >= self.limits.pages:
            await socket.close(4001, "too many pages are open")
            return
        page = Page(self, socket)
        self.pages.add(page)
        try:
            await page.run()
        finally:
            self.pages.discard(page)

    async def close(self) -> None:
        """The server ends: say goodbye, and leave nothing behind."""
        await asyncio.gather(*(page.goodbye("the studio ends") for page in self.pages))
        await self.pool.close()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("galton")
    except PackageNotFoundError:
        return "unknown"


def _methods() -> list[str]:
    from ..solve.methods import DEFAULT, METHODS, TIMED

    return [DEFAULT, *METHODS, *TIMED]
