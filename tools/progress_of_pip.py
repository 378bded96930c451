"""Run pip and tell in one line how far the compiler is: ``python tools/progress_of_pip.py install --editable .``

The first build compiles the C++ core, which takes a minute or more. Pip says either nothing or thousands of words; this
shows what it is at, the files that ninja has compiled and those it will. What pip said is shown if it fails. Only the
standard library is used: nothing else is there yet.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator

COMPILED = re.compile(r"^\s*\[(\d+)/(\d+)\]")
STAGES = {  # how a line of pip's begins, and what that means to those who wait
    "Installing build dependencies": "fetching what the build needs",
    "Preparing editable metadata": "reading the project",
    "Preparing metadata": "reading the project",
    "Building editable for galton": "compiling the C++ core",
    "Building wheel for galton": "compiling the C++ core",
    "Installing collected packages": "installing",
}
FETCHED = re.compile(r"^\s*(?:Downloading|Using cached) (\S+?)-\d")
ANEW = "\r\x1b[K"  # the line again from its beginning
SELDOM = 10.0  # seconds between lines of a log
KEPT = 400  # lines that are shown after a failure


class Teller:
    """One line that changes on a terminal; a new line now and then elsewhere."""

    def __init__(self, write: Callable[[str], object], terminal: bool, clock: Callable[[], float] = time.monotonic):
        self._write, self._terminal, self._clock = write, terminal, clock
        self._start, self._last, self._said = clock(), float("-inf"), ""

    def tell(self, text: str) -> None:
        now = self._clock()
        if self._terminal:
            self._write(f"{ANEW}{text}  ({now - self._start:.0f} s)")
        elif now - self._last >= SELDOM and text != self._said:
            self._write(f"{text}  ({now - self._start:.0f} s)\n")
            self._last, self._said = now, text

    def end(self, text: str) -> None:
        """The last word, in a line of its own."""
        self._write(f"{ANEW if self._terminal else ''}{text}  ({self._clock() - self._start:.0f} s)\n")


def stages(lines: Iterable[str]) -> Iterator[str]:
    """What to tell about the lines that pip prints, where they mean something."""
    yield "asking pip"
    for line in lines:
        if compiled := COMPILED.match(line):
            yield f"compiling the C++ core: {compiled[1]} of {compiled[2]} files"
        elif fetched := FETCHED.match(line):
            yield f"fetching {fetched[1]}"
        elif found := next((told for begins, told in STAGES.items() if line.strip().startswith(begins)), None):
            yield found


def kept(lines: Iterable[str], said: deque[str]) -> Iterator[str]:
    """The lines, remembered for those who want to know why it failed."""
    for line in lines:
        said.append(line)
        yield line


def main(arguments: list[str]) -> int:
    """Run pip with these arguments, verbosely, and show where it is."""
    command = [sys.executable, "-m", "pip", *arguments, "--verbose", "--disable-pip-version-check"]
    teller = Teller(lambda text: (sys.stderr.write(text), sys.stderr.flush()), sys.stderr.isatty())
    said: deque[str] = deque(maxlen=KEPT)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        assert pip.stdout is not None
        for text in stages(kept(pip.stdout, said)):
            teller.tell(text)
    if pip.returncode:
        teller.end("pip failed; this is what it said last:")
        sys.stderr.writelines(said)
    else:
        teller.end("installed")
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
