"""The studio for everyone: by keyboard alone, on narrow screens, in light and dark, with a screen reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import ROOT
from .test_offers import MODEL, answer, open_file, set_constants

Visit = Callable[..., Any]
Picture = Callable[..., None]

AXE = ROOT / "studio" / "node_modules" / "axe-core" / "axe.min.js"
TABS = ("answers", "curves", "states", "simulate", "synthesis")


def findings(page: Any) -> list[str]:
    """What axe finds serious or critical, in words."""
    if not AXE.is_file():
        pytest.skip("needs axe-core: npm ci in studio/")
    page.evaluate(AXE.read_text())
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {one['help']}: {node['target']} {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def test_keyboard_only(visit: Visit, picture: Picture) -> None:
    """Open, edit, ask, look at states and step through a path without a mouse."""
    page = visit()
    press, kind = page.keyboard.press, page.keyboard.type
    press("Alt+0")
    for _ in range(40):
        if page.evaluate("document.activeElement.innerText") == "die.prism":
            break
        press("Tab")
    ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring == "solid"  # one sees where one is
    press("Enter")
    assert answer(page, "six") == "0.16666667"
    seen = []
    for _ in range(4):
        press("F6")
        seen.append(page.evaluate("document.activeElement.closest('.pane').id"))
    assert sorted(seen) == ["pane-files", "pane-model", "pane-properties", "pane-work"]
    while page.evaluate("document.activeElement.closest('.pane').id") != "pane-properties":
        press("Shift+F6")
    press("Control+End")
    kind("P=? [ F d=5 ];")
    assert answer(page, "Property 7") == "0.16666667"
    press("Tab")  # leaves the editor
    page.wait_for_selector("[data-editor=properties] .cm-focused", state="detached")
    press("F1")
    page.wait_for_selector("dialog[open]")
    picture(page, "help")
    press("Escape")
    page.wait_for_selector("dialog", state="detached")
    press("Alt+3")
    page.wait_for_selector(".graph[data-drawn=true]")
    page.wait_for_selector("#tab-work-states:focus")
    press("ArrowRight")
    page.wait_for_selector(".step")
    while not page.evaluate("document.activeElement.classList.contains('step')"):
        press("Tab")
    press("Enter")
    page.wait_for_selector("text=1 step")
    press("Alt+1")
    while page.evaluate("document.activeElement.getAttribute('aria-label')") != "Share the answers":
        press("Tab")
    press("Enter")
    press("ArrowDown")
    press("Enter")
    page.wait_for_selector(".toast:has-text('Python')")
    press("Control+Enter")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_looks(visit: Visit, picture: Picture, width: int, scheme: str) -> None:
    """Every pane at both widths and in both themes: nothing sticks out, and axe finds nothing serious."""
    page = visit(width, 800, color_scheme=scheme, reduced_motion="reduce")
    narrow = width < 800
    found = findings(page)
    picture(page, f"{width}-{scheme}-start")
    if narrow:
        page.click(".narrow-bar >> text=Files")
    open_file(page, "die.prism")
    picture(page, f"{width}-{scheme}-text")
    if narrow:
        found += findings(page)
        page.click(".narrow-bar >> text=Work")
    set_constants(page, k=3)
    answer(page, "face")
    for tab in TABS:
        page.click(f"#tab-work-{tab}")
        if tab == "states":
            page.wait_for_selector(".graph[data-drawn=true]")
            page.focus(".graph")
            page.keyboard.press("ArrowDown")
            page.wait_for_selector(".detail")
        if tab == "simulate":
            page.wait_for_selector(".step")
        if tab == "answers":
            page.click("summary:has-text('Options')")
        picture(page, f"{width}-{scheme}-{tab}")
        found += findings(page)
        too_wide = page.evaluate(
            """() => [document.documentElement, document.querySelector('#panel-work')]
              .filter(one => one.scrollWidth > one.clientWidth).map(one => one.tagName)"""
        )
        assert not too_wide, tab
        if tab == "answers":
            page.click("summary:has-text('Options')")
    page.click("header >> text=Gallery")
    page.wait_for_selector(".gallery-card")
    found += findings(page)
    picture(page, f"{width}-{scheme}-gallery")
    assert not found, "\n".join(found)


def test_theme_switch(visit: Visit) -> None:
    """The switch overrides what the system wishes, and is remembered."""
    page = visit(color_scheme="dark")
    back = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(back)
    page.get_by_role("button", name="Colours").click()
    light = page.evaluate(back)
    assert light != dark
    page.reload()
    page.wait_for_selector(".file-name")
    assert page.evaluate(back) == light


def test_names_are_only_text(visit: Visit, project: Path) -> None:
    """HTML in labels, rewards, properties and file names is shown, never interpreted."""
    evil = "<img src=x onerror=document.title='broken'>"
    (project / "evil.prism").write_text(
        f'dtmc\nmodule m\n  x : [0..1] init 0;\n  [] true -> (x\'=1);\nendmodule\nlabel "{evil}" = x=1;\n'
        f'rewards "{evil}"\n  true : 1;\nendrewards\n'
    )
    (project / "evil.props").write_text(f'"{evil}": P=? [ F "{evil}" ];\n')
    (project / "<b>bold<b>.prism").write_text("dtmc\n")
    page = visit()
    page.wait_for_selector(".file-name:has-text('<b>bold<b>.prism')")
    open_file(page, "evil.prism")
    page.wait_for_selector(".outline-entry:has-text('onerror')")
    page.wait_for_timeout(600)
    for tab in TABS:
        page.click(f"#tab-work-{tab}")
        page.wait_for_timeout(300)
    page.locator(MODEL).get_by_text("onerror").first.hover()
    page.wait_for_timeout(500)
    assert page.locator("img[src=x], b").count() == 0
    assert page.title() == "Galton studio"
