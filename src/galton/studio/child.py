"""What runs in a worker: it reads asks from standard input, and answers them one after the other.

It ends when the server does. Whatever libraries print goes to standard error, not between the answers.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import IO, Any

from ..lang.source import GaltonError
from ..progress import listen
from .asks.desk import Desk
from .frames import END, HEAD, NEWS, READY, Kind, frame, read_head
from .trouble import trouble, trouble_of

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answer until the server ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    end_with_the_server()
    child = Child(Path(sys.argv[1]), answers)
    child.warm_up()
    os.chdir(sys.argv[1])
    child.run(sys.stdin.buffer)


def end_with_the_server() -> None:
    """Have the kernel end this process with the one that started it; where it cannot, the pipe tells."""
    import ctypes

    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return


class Child:
    """Answers asks, and can be interrupted in each of them."""

    def __init__(self, root: Path, answers: IO[bytes]):
        self._answers = answers
        self._lock = threading.Lock()
        self._asks: queue.Queue[dict[str, Any]] = queue.Queue()
        self._busy = False
        self._desk = Desk(root, self._news)
        self._id = 0

    def warm_up(self) -> None:
        """Import what answers need."""
        from .asks import warm_up

        warm_up()

    def run(self, asks: IO[bytes]) -> None:
        """Answer until there is nobody to ask."""
        signal.signal(signal.SIGINT, self._interrupted)
        threading.Thread(target=self._read, args=(asks,), daemon=True).start()
        listen(self._desk.progress)
        self._send(READY, {})
        while True:
            try:
                self._answer(self._asks.get())
            except KeyboardInterrupt:  # it came too late
                continue

    def _read(self, asks: IO[bytes]) -> None:
        while head := asks.read(HEAD.size):
            length, _ = read_head(head)
            self._asks.put(json.loads(asks.read(length)))
        os._exit(0)

    def _interrupted(self, *_: object) -> None:
        if self._busy:
            self._busy = False
            raise KeyboardInterrupt

    def _answer(self, message: dict[str, Any]) -> None:
        self._id = message["id"]
        try:
            self._busy = True
            found = self._desk.answer(message)
            self._busy = False
            end = {"event": "result", "result": found}
        except KeyboardInterrupt:
            end = {"event": "stopped", "reason": "slot"}
        except GaltonError as error:
            end = {"event": "error", "error": trouble_of(error, self._desk.files)}
        except MemoryError:
            advice = "the question needs more memory than there is"
            end = {"event": "error", "error": trouble("limit", advice)}
        except Exception:
            traceback.print_exc()
            told = "this is a mistake in Galton; what happened stands where the studio was started"
            end = {"event": "error", "error": trouble("internal", f"{sys.exc_info()[1]!r}"[:500], told)}
        finally:
            self._busy = False
        self._send(END, {"id": self._id, **end})

    def _news(self, event: dict[str, Any]) -> None:
        self._send(NEWS, {"id": self._id, **event})

    def _send(self, kind: Kind, message: dict[str, Any]) -> None:
        body = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
        with self._lock:
            self._answers.write(frame(kind, body))
            self._answers.flush()


if __name__ == "__main__":
    main()
