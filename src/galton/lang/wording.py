"""Messages in the words of who reads them: options for who typed a command, keywords for who wrote Python.

A message is written once, as for the command line: ``give it with --const N=…``. Errors show it in the words of Python,
``give it as N=…``, unless :func:`for_command_line` says that somebody typed a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["counted", "for_command_line", "in_python", "worded"]

_typed = False

# Switches that are on or off, and options whose keyword has another name.
_SWITCHES = (
    "certificate",
    "counterexample",
    "exact",
    "fair",
    "maximize",
    "minimize",
    "single",
    "strategy",
)
_KEYWORDS = {
    "--absolute": "relative=False",
    "--no-fix-deadlocks": "fix_deadlocks=False",
    "--memory": "memory_mb",
    **{f"--{name}": f"{name}=True" for name in _SWITCHES},
}
# Options with a word behind them; not one of those that go on with the sentence.
_CHOICES = ("method", "device", "direction", "format", "order", "split")
_SENTENCE = "and|are|as|away|beside|does|for|gives|in|is|of|on|or|others|runs|that|to|where|which|with"
_CONSTANT = re.compile(r"(?:with )?--const (\w+=[^\s;)]*(?:,\w+=[^\s;)]*)*)")
_PARAMETER = re.compile(r"(?:with )?--param (\w+)=(\w+):(\w+)")
_CHOICE = re.compile(rf"--({'|'.join(_CHOICES)}) (?!(?:{_SENTENCE})\b)([\w:-]*\w)")
_COMMAND = re.compile(r"(galton [a-z-]+ --[a-z-]+)")  # stays what it is
_OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")


def counted(count: int, what: str) -> str:
    """How many there are.

    >>> counted(1, "state"), counted(2000, "state")
    ('1 state', '2,000 states')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


@contextmanager
def for_command_line() -> Iterator[None]:
    """Let messages speak of options for a while."""
    global _typed
    before, _typed = _typed, True
    try:
        yield
    finally:
        _typed = before


def worded(message: str) -> str:
    """A message in the words of who reads it."""
    return message if _typed or "--" not in message else in_python(message)


def in_python(message: str) -> str:
    """A message that speaks of keywords in the place of options.

    >>> in_python("give it with --const N=…,p=…")
    'give it as N=…, p=…'
    >>> in_python("leave --single away, or take --method interval with a larger --max-iterations")
    'leave single=True away, or take method="interval" with a larger max_iterations'
    """
    return "".join(part if part.startswith("galton ") else _translated(part) for part in _COMMAND.split(message))


def _translated(message: str) -> str:
    message = _CONSTANT.sub(lambda found: f"as {found[1].replace(',', ', ')}", message)
    message = _PARAMETER.sub(r"as \1=(\2, \3)", message)
    message = message.replace("with --const", "as keyword arguments").replace("--const", "keyword arguments")
    message = message.replace("with --param", "as name=(low, high)").replace("--param", "name=(low, high)")
    message = _CHOICE.sub(r'\1="\2"', message)
    return _OPTION.sub(lambda found: _KEYWORDS.get(found[0], found[0][2:].replace("-", "_")), message)
