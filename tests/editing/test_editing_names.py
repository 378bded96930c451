"""Names: where they are declared and used, what is said about them, and what becomes of them under another name."""

from __future__ import annotations

import re
import time
from itertools import product
from pathlib import Path
from string import ascii_lowercase

import pytest

from galton.editing import (
    Document,
    ModelDocument,
    Position,
    PropertyDocument,
    RenameRefused,
    applied,
    completions,
    definition,
    diagnostics,
    highlights,
    hover,
    outline,
    references,
    renamable,
    rename,
)
from galton.editing.names import declarations, mentions
from galton.lang import Source, check_program, parse_model, parse_properties
from galton.lang.lexer import KEYWORDS

ROOT = Path(__file__).parents[2]
MODELS = sorted((ROOT / "models").glob("*.prism"))
MODEL = """mdp
// How far it goes.
const int N;
const double p = 1/4;
formula far = x=N | y=N;
module walk
  x : [0..N] init 0;
  [go] x<N & !far -> p : (x'=x+1) + 1-p : (x'=0);
  [stay] true -> (x'=min(x, N));
endmodule
module run = walk [x=y, go=hop] endmodule
label "end" = far;
rewards "go" // the action, not this
  [go] true : 1;
endrewards
system walk |[stay]| run {hop<-jump} endsystem
"""
PROPERTIES = """const int k = 2*N;
"reach": Pmax=? [ F<=k "end" ]; // "end"
R{"go"}min=? [ F x=N ];
filter(max, "reach", y>0);
quantile(min N2, Pmax>0.5 [ F<=N2 "end" ]);
"""


def documents() -> tuple[ModelDocument, PropertyDocument]:
    model = ModelDocument(MODEL, "m.prism", {"N": 3})
    return model, PropertyDocument(PROPERTIES, "m.props", model, {"N": 3})


def at(document: Document, text: str, inside: int = 0) -> Position:
    return document.lines.position(document.text.index(text) + inside)


def lines(document: Document, text: str, inside: int = 0) -> list[tuple[str, int]]:
    found = references(document, at(document, text, inside), documents())
    return [(place.document, place.range.start.line) for place in found]


def test_references() -> None:
    model, props = documents()
    assert lines(model, "x : [0") == [("m.prism", i) for i in (4, 6, 7, 7, 7, 7, 8, 8, 10)] + [("m.props", 2)]
    assert lines(model, "[go] x", 1) == [("m.prism", 7), ("m.prism", 10), ("m.prism", 13)]
    assert lines(model, '"go"', 1) == [("m.prism", 12), ("m.props", 2)]
    assert lines(props, '"end"', 2) == [("m.prism", 11), ("m.props", 1), ("m.props", 4)]
    assert lines(props, '"reach", y', 2) == [("m.props", 1), ("m.props", 3)]
    assert lines(model, "walk [x", 0) == [("m.prism", 5), ("m.prism", 10), ("m.prism", 15)]
    assert lines(model, "y=N") == [("m.prism", 4), ("m.prism", 10), ("m.props", 3)]
    assert lines(model, "hop<-") == [("m.prism", 10), ("m.prism", 15)]


def test_definitions() -> None:
    model, props = documents()
    (place,) = definition(props, at(props, "x=N"))
    assert (place.document, place.range.start) == ("m.prism", Position(6, 2))
    (place,) = definition(model, at(model, "y=N"))  # a variable of a copy is declared by its renaming
    assert place.range.start == at(model, "y, go")
    assert [found.range.start.line for found in definition(model, at(model, "[go] true", 1))] == [7]
    assert definition(model, at(model, "mdp")) == []


def test_hover() -> None:
    model, props = documents()

    def told(document: Document, text: str, inside: int = 0) -> str:
        found = hover(document, at(document, text, inside))
        return found.text if found else ""

    assert "given from outside: **3**" in told(model, "N;")
    assert "How far it goes." in told(props, "N;")
    assert "double, a constant: **0.25**" in told(model, "p : (x")
    assert "from 0 to 3, at first 0" in told(props, "x=N")
    assert "module `run`" in told(model, "y=N")
    assert "A formula, bool." in told(model, "far ->")
    assert "x = N | y = N" in told(props, '"end"', 1)
    assert "An action of the module `walk`" in told(model, "[go] true", 1)
    assert "2 modules synchronise" in told(model, "[stay]|", 1)
    assert "min(a: number, b: number, …) → int or double" in told(model, "min(x")
    assert "The greatest probability" in told(props, "Pmax")
    assert "A property." in told(props, '"reach", y', 1)
    assert told(props, '// "end"', 4) == ""


def labels(document: Document, text: str, inside: int = 0) -> list[str]:
    return [found.label for found in completions(document, at(document, text, inside))]


def test_completion() -> None:
    model, props = documents()
    assert labels(props, '"end" ];', 1) == ["end", "init", "deadlock", "reach"]
    assert labels(props, '"go"', 1) == ["go"]
    assert labels(PropertyDocument("", model=model), "")[:3] == ["Pmin=?", 'R{"go"}min=?', "Smin=?"]
    assert labels(model, "[go] true", 1) == ["go", "stay", "hop"]
    assert labels(model, "walk [x") == ["walk", "run"]
    assert labels(ModelDocument(""), "")[:4] == ["dtmc", "ctmc", "mdp", "const"]
    begun = ModelDocument(
        MODEL.replace("endmodule\nmodule run", "  [go] x=1 -> (\nendmodule\nmodule run"), before=model
    )
    assert labels(begun, "x=1 -> (", 8)[:2] == ["x'", "y'"]
    assert labels(model, "// How", 5) == []


def test_names_of_the_text_before_the_mistake() -> None:
    before = ModelDocument(MODEL, constants={"N": 3})
    diagnostics(before)
    broken = ModelDocument(MODEL.replace("const double p = 1/4;", "const double p = ;"), before=before)
    assert "p" in labels(broken, "p : (x'", 1)


def fresh(name: str, texts: list[str]) -> str:
    """An unused name of the same length."""
    letters = ascii_lowercase.upper() + ascii_lowercase
    for parts in product(letters, repeat=len(name)):
        found = "".join(parts)
        if found not in KEYWORDS and not any(found in text for text in texts):
            return found
    raise AssertionError("no name is left")


@pytest.mark.parametrize("path", [*MODELS, None], ids=lambda path: path.name if path else "text")
def test_everything_can_be_renamed_and_means_the_same(path: Path | None) -> None:
    """A name of the same length leaves all places, so that the whole program can be compared."""
    if path is None:
        text, asked = MODEL, PROPERTIES
    else:
        text, asked = path.read_text(), path.with_suffix(".props").read_text()
    open_ones = [declared for declared in parse_model(Source("m", text)).constants if declared.value is None]
    constants = {declared.name.name: True if declared.type == "bool" else 3 for declared in open_ones}
    model = ModelDocument(text, "m.prism", constants)
    props = PropertyDocument(asked, "m.props", model, constants)
    names = list(declarations(model).items())
    for (space, name), declaration in [*names[:4], *names[4 :: max(len(names) // 4, 1)]]:
        new = fresh(name, [text, asked])
        edits = rename(model, model.lines.position(declaration.span.start), new, [props])
        assert len(edits["m.prism"]) == len(mentions(model, space, name))
        after = applied(text, edits["m.prism"])
        given = {new if known == name and space == "value" else known: value for known, value in constants.items()}
        assert re.sub(rf"\b{new}\b", name, told(after, given)) == told(text, constants)
        asked_after = repr(parse_properties(Source("p", applied(asked, edits.get("m.props", [])))))
        assert re.sub(rf"\b{new}\b", name, asked_after) == repr(parse_properties(Source("p", asked)))


def told(text: str, constants: dict[str, int]) -> str:
    """All that a program says, with places."""
    program = check_program(parse_model(Source("m", text)), constants)
    parts = (program.constants, program.variables, program.modules, program.system, program.actions)
    return repr((*parts, program.labels, program.rewards, program.initial, program.formulas))


def refusal(document: Document, text: str, inside: int, name: str) -> str:
    with pytest.raises(RenameRefused) as refused:
        rename(document, at(document, text, inside), name, documents())
    return str(refused.value)


def test_what_cannot_be_renamed() -> None:
    model, _ = documents()
    assert refusal(model, "x : [", 0, "N") == "there is a 'N' already, in m.prism at line 3"
    assert refusal(model, "x : [", 0, "k") == "there is a 'k' already, in m.props at line 1"
    assert refusal(model, "x : [", 0, "go") == "there is a 'go' already, in m.prism at line 8"  # a renaming has both
    assert refusal(model, "x : [", 0, "module") == "'module' is a word of the language and cannot be a name"
    assert refusal(model, "x : [", 0, "2x").startswith("'2x' is no name")
    assert refusal(model, "mdp", 0, "x1") == "'mdp' is a word of the language"
    assert refusal(model, '"end"', 1, "init") == 'the label "init" is built in'
    broken = ModelDocument(MODEL.replace("x=N |", "x= |"), "m.prism")
    assert refusal(broken, "x : [", 0, "z") == "m.prism cannot be read at line 5: mend that first"
    unknown = ModelDocument("dtmc module m x : bool; [] q -> true; endmodule")
    assert refusal(unknown, "q ", 0, "z") == "nothing declares 'q'"
    assert renamable(unknown, at(unknown, "q ")) is None
    found = renamable(model, at(model, '"end"', 2))
    assert found is not None
    assert found.start == at(model, '"end"', 1)


@pytest.mark.parametrize("name", ["brp", "herman", "wlan"])
def test_nothing_fails_on_the_way(name: str) -> None:
    """Texts that end anywhere, with a cursor there, as somebody types them."""
    text, asked = ((ROOT / "models" / f"{name}{suffix}").read_text() for suffix in (".prism", ".props"))
    start = text.index("\nmodule")
    model = None
    for cut in range(start, len(text), max((len(text) - start) // 25, 1)):
        model = ModelDocument(text[:cut], before=model)
        ask_all(model, cut)
    for cut in range(0, len(asked), max(len(asked) // 15, 1)):
        ask_all(PropertyDocument(asked[:cut], model=model), cut)


def ask_all(document: Document, offset: int) -> None:
    place = document.lines.position(offset)
    diagnostics(document)
    outline(document)
    for ask in (hover, completions, definition, references, renamable):
        ask(document, place)
    assert len({(t.line, t.column) for t in highlights(document)}) == len(highlights(document))


def test_a_long_text_answers_at_once() -> None:
    lines = [f"  [a{i % 9}] x={i} & ok -> 1/3:(x'={i + 1}) + 2/3:(x'={max(i - 1, 0)});" for i in range(12_000)]
    text = "\n".join(["dtmc", "formula ok = x>=0;", "module m", "  x : [0..12000];", *lines, "endmodule"])
    model = ModelDocument(text)
    assert diagnostics(model) == []
    place = Position(6000, text.split("\n")[6000].index("ok"))
    start = time.process_time()
    assert hover(model, place)
    assert completions(model, place)
    assert definition(model, place)
    assert highlights(model, 6000, 6050)
    assert time.process_time() - start < 0.4  # 0.01 s, where nothing else runs
