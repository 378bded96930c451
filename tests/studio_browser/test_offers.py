"""The six things that the studio offers, each as a script of what a person would do."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .processes import descendants

Visit = Callable[..., Any]
Picture = Callable[..., None]

MODEL = "[data-editor=model] .cm-content"
PROPERTIES = "[data-editor=properties] .cm-content"


def open_file(page: Any, name: str) -> None:
    """Open a file on the left."""
    page.locator(".file-name", has_text=re.compile(rf"^{re.escape(name)}$")).click()
    page.wait_for_selector(f"#pane-model .tab[aria-selected=true]:has-text('{name}')")


def answer(page: Any, name: str) -> str:
    """The value on the card of a property, once it is that of the text as it is."""
    card = page.locator(f".card[data-fresh=true]:has(.card-name:text-is('{name}')) .card-value")
    card.wait_for()
    return str(card.inner_text())


def set_constants(page: Any, **values: object) -> None:
    """Type values into the fields of constants."""
    for name, value in values.items():
        page.fill(f"#constant-{name}", str(value))


def hover_word(page: Any, line: Any, word: str) -> tuple[float, float]:
    """Put the mouse on a word of a line of an editor."""
    x, y = line.evaluate(
        """(line, word) => {
          const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf(word);
            if (at < 0) continue;
            const range = new Range();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + word.length);
            const box = range.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
          }
        }""",
        word,
    )
    page.mouse.move(x, y - 3)
    page.mouse.move(x, y)
    return x, y


def share(page: Any, what: str, item: str) -> None:
    """Choose an entry of a share menu."""
    page.get_by_role("button", name=f"Share {what}", exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def copied(page: Any) -> str:
    """What the last "copy as" put on the clipboard."""
    page.wait_for_selector(".toast:has-text('Copied')")
    text = str(page.evaluate("navigator.clipboard.readText()"))
    page.click(".toast button")
    return text


def test_editor(visit: Visit, picture: Picture) -> None:
    """Colours, completion, errors in the server's words, hover, outline, rename, format."""
    page = visit()
    open_file(page, "die.prism")
    assert answer(page, "six") == "0.16666667"
    colours = {
        page.locator(f"{MODEL} span", has_text=re.compile(f"^{word}$")).first.evaluate(
            "one => getComputedStyle(one).color"
        )
        for word in ("dtmc", "0", r"\[toss\]")
    }
    assert len(colours) == 3

    page.locator(".outline-entry", has_text="high").first.click()
    page.wait_for_selector("[data-editor=model] .cm-focused")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type('label "low" = no')
    page.wait_for_selector("[data-editor=model] .cm-tooltip-autocomplete li:has-text('node')")
    page.wait_for_timeout(500)
    assert page.locator("[data-editor=model] .cm-tooltip-autocomplete").is_visible()
    picture(page, "completion")
    page.keyboard.press("Escape")
    page.keyboard.type("thing<3;")
    problem = page.locator("#pane-model .problem.error")
    problem.filter(has_text="nothing").wait_for()
    page.wait_for_selector("[data-editor=model] .cm-lintRange-error")
    picture(page, "error")
    for _ in "nothing<3;":
        page.keyboard.press("Backspace")
    page.keyboard.type("node<3;")
    problem.wait_for(state="detached")
    page.wait_for_selector(".outline-entry:has-text('low')")

    place = hover_word(page, page.locator(f"{MODEL} .cm-line", has_text="low"), "node")
    page.wait_for_selector("[data-editor=model] .cm-galton-hover:has-text('0..7')")
    picture(page, "hover")

    page.mouse.click(*place)
    page.keyboard.press("F2")
    page.fill("dialog input", "place")
    page.keyboard.press("Enter")
    page.wait_for_selector(".toast:has-text('place now')")
    assert "node" not in page.locator("#pane-model .problem").all_inner_texts()
    page.wait_for_selector(".outline-entry:has-text('place')")
    assert answer(page, "six") == "0.16666667"
    page.keyboard.press("Alt+Shift+F")
    page.wait_for_selector(".toast:has-text('formatted')")
    picture(page, "renamed")


def test_answers(visit: Visit, picture: Picture) -> None:
    """Constants as sliders and fields, answers while one types, several side by side, and curves."""
    page = visit()
    open_file(page, "die.prism")
    page.wait_for_selector(".card:has-text('Needs a value for k')")
    set_constants(page, k=3)
    assert answer(page, "face") == "0.16666667"
    page.focus("input[type=range]")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert page.input_value("#constant-k") == "9"
    assert answer(page, "face") == "0"
    page.locator(".card[data-fresh=true]").nth(5).wait_for()
    page.fill(".ask input", "P=? [ F d>=5 ]")
    page.keyboard.press("Enter")
    assert answer(page, "Your question").startswith("0.3333")
    page.locator(PROPERTIES).get_by_text("d=6").click()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("| d=5 ")
    page.wait_for_selector(".card[data-fresh=true]:has(.card-name:text-is('six')) .card-value:text-matches('^0.3333')")
    page.locator(".card .how summary").first.click()
    picture(page, "cards")
    share(page, "the answers", "Copy as command")
    assert copied(page).startswith("galton check die.prism")
    share(page, "the answers", "Copy as Python")
    assert "import galton" in copied(page)

    page.click("#tab-work-curves")
    page.check(".sweep:has-text('k') input[type=checkbox]")
    page.fill("input[aria-label='k from']", "1")
    page.fill("input[aria-label='k to']", "8")
    page.fill("input[aria-label='k step']", "1")
    for name in ("upper_half", "rests", "tosses", "three_tosses"):
        page.uncheck(f".choices label:has-text('{name}') input")
    page.click("button:has-text('Draw')")
    page.wait_for_selector("#curves-plot .scatterlayer .trace")
    page.wait_for_selector("summary:has-text('Table')")
    assert "8 points of 8" in page.locator(".toolbar", has_text="Draw").inner_text()
    page.wait_for_timeout(300)
    picture(page, "curves")
    with page.expect_download() as taken:
        share(page, "the curves", "Export CSV")
    assert "0.1666" in Path(taken.value.path()).read_text()
    with page.expect_download() as taken:
        share(page, "the curves", "Save the picture as SVG")
    assert "<svg" in Path(taken.value.path()).read_text()


def test_states(visit: Visit, picture: Picture) -> None:
    """The graph with values as colours, search, sets, a table that is read by pages, the matrix."""
    page = visit()
    open_file(page, "die.prism")
    answer(page, "six")
    page.click("#tab-work-states")
    page.wait_for_selector(".graph[data-drawn=true]")
    assert "13 states, 20 transitions" in page.locator("#panel-work").inner_text()
    page.select_option("label:has-text('Colour') select", label="six")
    page.wait_for_selector(".scale:has-text('P=? [ F d=6 ]')")
    page.focus(".graph")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(".detail:has-text('initial')")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(".detail:has-text('Leads to')")
    box = page.locator(".graph").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 24)
    page.fill("input[aria-label='Find states by an expression']", "d>4 | node=0")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=3 found")
    picture(page, "graph")
    for kind in ("distance", "bscc"):
        page.select_option("label:has-text('Colour') select", kind)
        page.wait_for_function("() => document.querySelector('#panel-work').innerText.match(/component|distance|step/)")
    picture(page, "components")
    page.select_option("label:has-text('Colour') select", label="never: six")
    page.wait_for_selector("#panel-work .muted:has-text('probability is 0')")
    with page.expect_download() as taken:
        share(page, "the graph", "Export DOT")
    assert "digraph" in Path(taken.value.path()).read_text()

    open_file(page, "tandem.prism")
    set_constants(page, c=127)
    page.click("#tab-work-states")
    page.click("button:has-text('Build')")
    grid = page.locator("[role=grid]")
    grid.wait_for()
    page.wait_for_selector("#panel-work:has-text('32,640 states')")
    page.wait_for_selector(".grid-row:has-text('initial')")
    grid.focus()
    page.keyboard.press("End")
    page.wait_for_selector(".grid-row.chosen:has-text('32639')")
    page.fill("input[aria-label='Find states by an expression']", "first=127 & second>120")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=/\\d+ states found/")
    picture(page, "table")
    with page.expect_download() as taken:
        share(page, "the states", "Export CSV")
    assert Path(taken.value.path()).read_text().startswith("state,")
    page.click("#tab-states-matrix")
    page.wait_for_selector(".matrix figcaption")
    picture(page, "matrix")
    share(page, "the matrix", "Copy as command")
    assert "galton plot-matrix" in copied(page)


def test_simulation(visit: Visit, picture: Picture) -> None:
    """Steps by hand and at random, as a table and a plot, under a strategy that is shown."""
    page = visit()
    open_file(page, "die.prism")
    answer(page, "six")
    page.click("#tab-work-simulate")
    page.locator(".step").first.click()
    page.wait_for_selector(".trace tr:nth-child(2)")
    page.locator(".step").last.click()
    page.wait_for_selector(".trace tr:nth-child(3)")
    page.click("button[aria-label='One step back']")
    page.wait_for_selector(".trace tr:nth-child(3)", state="detached")
    page.click("button:has-text('+10')")
    page.wait_for_selector("text=11 steps")
    page.click("button:has-text('Play')")
    page.wait_for_selector("text=13 steps")
    page.click("button:has-text('Pause')")
    picture(page, "table")
    page.click("button:text-is('Plot')")
    page.wait_for_selector("#path-plot .scatterlayer .trace")
    page.wait_for_timeout(200)
    picture(page, "plot")
    share(page, "the path", "Copy as command")
    assert copied(page).startswith("galton simulate die.prism")
    with page.expect_download() as taken:
        share(page, "the path", "Export CSV")
    assert Path(taken.value.path()).read_text().startswith("step,")

    page.click("#tab-work-answers")
    open_file(page, "aims.prism")
    answer(page, "best")
    page.click("#tab-work-simulate")
    page.click("button:has-text('Start again')")
    page.select_option("label:has-text('Choices are made') select", label="by the best strategy for best")
    page.wait_for_selector(".step.by-strategy")
    assert "left" in page.locator("li:has(.by-strategy)").inner_text()
    page.click("button:text-is('Table')")
    picture(page, "strategy")


def test_synthesis(visit: Visit, picture: Picture) -> None:
    """Regions in one, two and three dimensions, bounds on hover, questions at points, and a Pareto front."""
    page = visit()
    open_file(page, "sir.prism")
    set_constants(page, S0=9, I0=1, R0=0, ki=0.05, kr=0.1)
    page.click("#tab-work-synthesis")
    page.check(".sweep:has-text('ki') input[type=checkbox]")
    page.select_option("select[aria-label=Property]", "own")
    page.fill("input[aria-label='Property in words of the language']", "P>=0.4 [ F<=20 ill=0 ]")
    page.click("button:has-text('Refine')")
    page.wait_for_selector("text=/% decided/")
    page.wait_for_selector("#regions-canvas")
    picture(page, "one")
    page.check(".sweep:has-text('kr') input[type=checkbox]")
    page.click("button:has-text('Refine')")
    canvas = page.locator("#regions-canvas[aria-label*='kr']")
    canvas.wait_for()
    page.wait_for_selector(".running", state="detached")
    canvas.hover(position={"x": 250, "y": 150})
    page.wait_for_selector(".hover-note:has-text('from')")
    canvas.click(position={"x": 250, "y": 150})
    page.wait_for_selector(".points li")
    page.click("button:has-text('Ask at this point')")
    page.wait_for_selector(".points li:nth-child(2)")
    page.locator("#regions-canvas").scroll_into_view_if_needed()
    picture(page, "two")
    share(page, "the regions", "Copy as command")
    assert "galton synth sir.prism" in copied(page)
    with page.expect_download() as taken:
        share(page, "the regions", "Export JSON")
    assert json.loads(Path(taken.value.path()).read_text())

    open_file(page, "three.prism")
    page.wait_for_selector(".sweep:has-text('q')")
    for name, low in (("p", 0.5), ("q", 0.5), ("r", 0.5)):
        page.check(f".sweep:has(code:text-is('{name}')) input[type=checkbox]")
        page.fill(f"input[aria-label='{name} from']", str(low))
        page.fill(f"input[aria-label='{name} to']", "3")
    page.select_option("select[aria-label=Property]", index=0)
    page.fill("label:has-text('Tolerance') input", "0.1")
    page.click("button:has-text('Refine')")
    page.wait_for_selector("label:has-text('Slice at')")
    page.wait_for_selector(".running", state="detached")
    page.wait_for_timeout(500)
    page.locator("#regions-solid").scroll_into_view_if_needed()
    picture(page, "three")

    open_file(page, "aims.prism")
    answer_card = ".card:has(.card-name:text-is('front'))"
    page.click("#tab-work-answers")
    page.click(f"{answer_card} button:has-text('Draw the Pareto front')")
    page.click("button:has-text('Draw')")
    page.wait_for_selector("#pareto-plot .scatterlayer .trace")
    page.wait_for_timeout(200)
    picture(page, "pareto")
    share(page, "the Pareto front", "Copy as Python")
    assert "aims.props" in copied(page)


def test_pareto_fronts(visit: Visit, picture: Picture) -> None:
    """Two goals are a curve, three a body that can be turned, four a table; one after the other in the same place."""
    page = visit()
    open_file(page, "aims.prism")
    page.locator(".card[data-fresh=true]").nth(4).wait_for()
    page.click("#tab-work-synthesis")
    page.click("#tab-synth-pareto")
    chosen = page.locator("select[aria-label=Objectives]")
    names = [text.partition(":")[0] for text in chosen.locator("option").all_inner_texts()]
    assert names == ["front", "three", "four"]  # the others have no Pareto set
    flat, solid = page.locator("#pareto-plot .scatterlayer .trace"), page.locator("#pareto-plot canvas")
    for name, columns in (("three", 3), ("front", 2), ("three", 3), ("four", 4), ("front", 2)):
        chosen.select_option(label=chosen.locator("option", has_text=f"{name}:").inner_text())
        page.click("button:has-text('Draw')")
        page.wait_for_function(f"() => document.querySelectorAll('#panel-synth th').length === {columns}")
        if columns == 4:
            page.wait_for_selector("text=More than three objectives have no picture")
        else:
            (flat if columns == 2 else solid).first.wait_for()
        assert (flat.count() > 0, solid.count() > 0) == (columns == 2, columns == 3)
        assert page.locator("#panel-synth tbody tr").count() >= 2
        page.wait_for_timeout(300)
        picture(page, name)
    with page.expect_download() as taken:
        share(page, "the Pareto front", "Export CSV")
    assert "0.45" in Path(taken.value.path()).read_text()


def test_strategies_of_several_goals(visit: Visit, picture: Picture) -> None:
    """A path follows one of the strategies that meet bounds together, or that of a corner of a Pareto set."""
    page = visit()
    open_file(page, "aims.prism")
    answer(page, "bounds")
    page.click("#tab-work-simulate")
    page.wait_for_selector(".step")
    who, which = page.get_by_label("Choices are made"), page.get_by_label("Strategy", exact=True)

    def taken() -> str:
        return str(page.locator("li:has(.by-strategy)").inner_text())

    who.select_option(label="by the best strategy for front")
    page.wait_for_selector(".step.by-strategy")
    assert which.locator("option").count() == 3
    corners = [text.partition(":")[2] for text in which.locator("option").all_inner_texts()]
    assert [corner.count("F") for corner in corners] == [2, 2, 2]
    assert "right" in taken()
    which.select_option("3")
    page.wait_for_selector("li:has(.by-strategy):has-text('left')")
    assert "left" in taken()
    page.click("button:text-is('+1')")
    page.wait_for_selector("text=1 step")
    assert "left" in page.locator(".trace tr").nth(2).inner_text()

    who.select_option(label="by the best strategy for bounds")
    page.wait_for_selector("option:has-text('by chance')", state="attached")
    assert "probability 0." in which.inner_text()
    picture(page, "chance")
    which.select_option("1")
    page.wait_for_selector(".step.by-strategy")
    share(page, "the path", "Copy as command")
    assert "--strategy aims-strategy.json:1" in copied(page)
    open_file(page, "consensus.prism")
    set_constants(page, N=2, K=2)
    assert who.input_value() == ""  # the next model has other questions


def test_reload(visit: Visit, picture: Picture, server: subprocess.Popen[str]) -> None:
    """A reload in the middle of a question ends it, and opens the same files; work that is not saved is asked for."""
    page = visit()
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    open_file(page, "die.prism")
    answer(page, "six")
    open_file(page, "large.prism")
    page.wait_for_selector(".running:has-text('states')")
    before = descendants(server.pid)
    page.reload()
    page.wait_for_selector("#pane-model .tab[aria-selected=true]:has-text('large.prism')")
    page.wait_for_selector(".running:has-text('states')")
    assert len(descendants(server.pid)) <= len(before)
    page.click(".running button:has-text('Stop')")
    page.locator("#pane-model .tab", has_text="die.prism").click()
    assert answer(page, "six") == "0.16666667"
    picture(page)
    assert not asked
    page.click("header >> text=Gallery")
    page.fill("input[aria-label='Find a model of the gallery']", "herman")
    page.click(".gallery-card")
    page.wait_for_selector("#pane-model .tab[aria-selected=true]:has-text('herman')")
    page.reload()  # it was not touched
    page.wait_for_selector("#pane-model .tab[aria-selected=true]")
    assert not asked
    page.click("header >> text=Gallery")
    page.fill("input[aria-label='Find a model of the gallery']", "herman")
    page.click(".gallery-card")
    page.wait_for_selector("#pane-model .tab[aria-selected=true]:has-text('herman')")
    page.locator(MODEL).click()
    page.keyboard.type("// mine\n")
    page.wait_for_timeout(300)
    page.reload()
    page.wait_for_selector(".file-name")
    assert asked == ["beforeunload"]


def test_project(visit: Visit, picture: Picture, project: Path) -> None:
    """A model of the gallery becomes a file of the project: opened, changed, saved, renamed, deleted."""
    page = visit()
    page.fill("input[aria-label='Find a model of the gallery']", "herman")
    picture(page, "gallery")
    page.click(".gallery-card")
    page.wait_for_selector("#pane-model .tab:has-text('herman.prism') .dot")
    page.wait_for_selector(".card[data-fresh=true] .card-value")
    page.keyboard.press("Control+Shift+S")
    page.wait_for_selector(".tab .dot", state="detached")
    assert (project / "herman.prism").read_text() == (Path(__file__).parents[2] / "models" / "herman.prism").read_text()
    assert (project / "herman.props").is_file()

    page.locator(MODEL).click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("// mine\n")
    page.wait_for_selector("#pane-model .tab:has-text('herman.prism') .dot")
    page.keyboard.press("Control+s")
    page.wait_for_selector("#pane-model .tab .dot", state="detached")
    assert (project / "herman.prism").read_text().startswith("// mine\n")

    page.get_by_role("button", name="More about herman.prism").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.fill("dialog input", "ring.prism")
    page.keyboard.press("Enter")
    page.wait_for_selector(".file-name:has-text('ring.prism')")
    assert (project / "ring.prism").is_file()
    for name in ("ring.prism", "herman.props"):
        page.get_by_role("button", name=f"More about {name}").click()
        page.get_by_role("menuitem", name="Delete").click()
        page.click("dialog button:has-text('Delete')")
        page.locator(".file-name", has_text=name).wait_for(state="detached")
        assert not (project / name).exists()

    page.keyboard.press("Alt+n")
    page.fill("dialog input", "fresh.prism")
    page.keyboard.press("Enter")
    page.wait_for_selector("#pane-model .tab:has-text('fresh.prism')")
    page.wait_for_selector(".status:has-text('no errors')")
    picture(page, "new")
    (project / "from-outside.prism").write_text("dtmc\n")
    page.wait_for_selector(".file-name:has-text('from-outside.prism')")
