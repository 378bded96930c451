"""The studio in a real browser: Chromium, driven by Playwright, against a server with a project of its own.

Pictures of every script go to ``build/studio``, which git ignores. Where the browser, Playwright or the built page are
missing, all of it is skipped with the reason; ``make test-studio`` installs and builds what is needed.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
PICTURES = ROOT / "build" / "studio"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
FILES = ["die", "tandem", "consensus", "sir"]
OWN = {
    # Three ways to choose, of which none is the best for both goals.
    "aims.prism": """mdp
module m
  s : [0..3] init 0;
  [left]  s=0 -> 0.8 : (s'=1) + 0.2 : (s'=3);
  [both]  s=0 -> 0.5 : (s'=1) + 0.45 : (s'=2) + 0.05 : (s'=3);
  [right] s=0 -> 0.9 : (s'=2) + 0.1 : (s'=3);
  [] s>0 -> true;
endmodule
label "left" = s=1;
label "right" = s=2;
""",
    "aims.props": """"front": multi(Pmax=? [ F "left" ], Pmax=? [ F "right" ]);
"best": Pmax=? [ F "left" ];
"three": multi(Pmax=? [ F "left" ], Pmax=? [ F "right" ], Pmin=? [ F s=3 ]);
"four": multi(Pmax=? [ F "left" ], Pmax=? [ F "right" ], Pmin=? [ F s=3 ], Pmin=? [ F s=1 ]);
"bounds": multi(P>=0.6 [ F "left" ], P>=0.2 [ F "right" ]);
""",
    # Three rates, one after the other.
    "three.prism": """ctmc
const double p;
const double q;
const double r;
module m
  s : [0..3] init 0;
  [] s=0 -> p : (s'=1);
  [] s=1 -> q : (s'=2);
  [] s=2 -> r : (s'=3);
endmodule
""",
    "three.props": '"through": P>=0.3 [ F<=2 s=3 ];\n',
    # Ten million states, which nothing makes fewer, and a million steps: more than anybody waits for.
    "large.prism": """dtmc
module m
  x : [0..3199] init 0;
  y : [0..3199] init 0;
  [] true -> 0.25 : (x'=min(x+1,3199)) + 0.25 : (x'=max(x-1,0)) + 0.25 : (y'=min(y+1,3199)) + 0.25 : (y'=max(y-1,0));
endmodule
""",
    "large.props": "P=? [ F<=1000000 x=3199 & y>=3100 ];\n",
}


def _missing() -> str | None:
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "needs playwright: make test-studio"
    if CHROMIUM is None:
        return "needs Chromium: apt-get install chromium"
    try:
        from galton.studio.server import STATIC
    except ImportError as error:
        return f"needs galton[studio]: {error}"
    if not (STATIC / "index.html").is_file():
        return "needs the page, which is not built: make studio"
    return None


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a user would have it."""
    reason = _missing()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("project") / "my-models"
    folder.mkdir()
    for name in FILES:
        for ending in (".prism", ".props"):
            shutil.copy(MODELS / f"{name}{ending}", folder)
    for name, text in OWN.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="session")
def server(project: Path) -> Iterator[subprocess.Popen[str]]:
    """The studio of the project, as ``galton studio`` starts it."""
    command = [sys.executable, "-m", "galton", "studio", str(project), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    yield process
    process.send_signal(signal.SIGINT)
    process.wait(10)


@pytest.fixture(scope="session")
def address(server: subprocess.Popen[str]) -> str:
    """Where the studio is, with its token."""
    assert server.stdout is not None
    for line in server.stdout:
        found = re.search(r"http://\S+", line)
        if found:
            return found[0]
    raise AssertionError("the studio ended at once")


@pytest.fixture(scope="session")
def browser(project: Path) -> Iterator[Any]:
    """One browser for all scripts."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


def _complaint(message: Any) -> list[str]:
    """What the console says is wrong. Browsers look for a favicon.ico on the way to the page; there is none."""
    where = message.location.get("url", "")
    return [f"{message.text} ({where})"] if message.type == "error" and not where.endswith("/favicon.ico") else []


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Open the studio as somebody with this window and these wishes; what the console complains of fails the test."""
    contexts, complaints = [], []

    def go(width: int = 1280, height: int = 800, **wishes: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **wishes)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.extend(_complaint(message)))
        page.goto(address)
        page.wait_for_selector(".status:has-text('No model is open'), .status:has-text('.prism')")
        return page

    yield go
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[[Any, str], None]:
    """Save what the page looks like now."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    script = re.sub(r"^test_|\[.*", "", request.node.name)

    def save(page: Any, name: str = "") -> None:
        page.screenshot(path=PICTURES / f"{script}{'-' if name else ''}{name}.png", animations="disabled")

    return save
