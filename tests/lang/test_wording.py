"""Messages speak of options to who typed a command, and of keywords to who wrote Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import galton
from galton.lang.wording import for_command_line, in_python, worded

PACKAGE = Path(galton.__file__).parent
DIE = Path(__file__).parents[2] / "models" / "die.prism"
OPEN = "dtmc const int N; const double p; module m x : [0..N]; [] x<N -> p:(x'=x+1) + 1-p:true; endmodule"


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("give it with --const N=…,p=…", "give it as N=…, p=…"),
        ("give them with --const", "give them as keyword arguments"),
        ("give a parameter with --param name=low:high", "give a parameter as name=(low, high)"),
        ("without --no-fix-deadlocks they get a self-loop", "without fix_deadlocks=False they get a self-loop"),
        ("raise the limit with --max-states, or --memory", "raise the limit with max_states, or memory_mb"),
        ("--method jacobi runs on the CPU", 'method="jacobi" runs on the CPU'),
        ("and --device is cpu", "and device is cpu"),
        ("take it with --device cuda:1", 'take it with device="cuda:1"'),
        ("--method topological:jor, or none", 'method="topological:jor", or none'),
        ("regions as galton synth --json writes them", "regions as galton synth --json writes them"),
        ("leave --method away", "leave method away"),
        ("a - b -- c", "a - b -- c"),
    ],
)
def test_the_words_of_python(typed: str, written: str) -> None:
    assert in_python(typed) == worded(typed) == written
    with for_command_line():
        assert worded(typed) == typed
    assert worded(typed) == written


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: galton.parse(OPEN), "give it as N=…, p=…"),
        (lambda: galton.check(DIE, "const int k; P=? [ F d=k ]"), "give it as k=…"),
        (lambda: galton.check(DIE, "P=? [ F d=6 ]", method="jacobi", exact=True), "beside exact=True"),
        (lambda: galton.parse(OPEN, N=9, p=0.5).build(max_states=2), "raise the limit with max_states"),
        (
            lambda: galton.check(DIE, "P=? [ F pp=1 ]"),
            "known names: node, d; for a constant of this name, write const d",
        ),
        (lambda: galton.check(DIE, 'P=? [ F "end" ]'), 'known labels: "init", "deadlock", "done", "high"'),
        (lambda: galton.check(DIE, 'R{"coins"}=? [ F d=6 ]'), 'known reward structures: "tosses"'),
        (lambda: galton.load(DIE, q=3), "has no constant 'q'; none of its constants needs a value"),
    ],
)
def test_errors_in_python(ask: Callable[[], object], said: str) -> None:
    with pytest.raises(galton.GaltonError) as caught:
        ask()
    assert said in str(caught.value)
    assert "--" not in str(caught.value)


def texts() -> Iterator[tuple[str, str]]:
    """All texts below the command line that name an option, but for docstrings and the command line's own."""
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        if place.parts[0] in ("cli", "bench") or place.name in ("wording.py", "kernels.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if "\n" not in text and re.search(r"(?<![\w-])--[a-z]", text):
                yield str(place), text


def test_every_message_that_names_an_option_can_be_told_in_python() -> None:
    found = list(texts())
    assert len(found) > 20
    left = [(place, text) for place, text in found if re.search(r"--[a-z]", in_python(text)) and "galton " not in text]
    assert [one for one in left if "autfilt" not in one[1]] == []
