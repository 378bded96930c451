"""What an editor underlines is what the command line says, and all of it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from galton.editing import ModelDocument, PropertyDocument, diagnostics
from galton.lang import LanguageError, Source, check_program, model_parser, parse_model, parse_properties

ROOT = Path(__file__).parents[2]
MODELS = sorted((ROOT / "models").glob("*.prism"))
BAD = sorted((ROOT / "tests" / "bad").glob("*.pr*"))
GOOD = """dtmc
const int N = 3;
formula at_end = x=N;
module m
  x : [0..N] init 0;
  [go] x<N -> 0.5:(x'=x+1) + 0.5:(x'=0);
endmodule
label "end" = at_end;
rewards "steps" [go] true : 1; endrewards
"""


def said(document: ModelDocument | PropertyDocument) -> list[tuple[int, int, str, str | None]]:
    """Errors: line, column, message and hint; places count from 1, as people are told them."""
    found = [one for one in diagnostics(document) if one.severity == "error"]
    return [(one.range.start.line + 1, one.range.start.column + 1, one.message, one.hint) for one in found]


def first_error(path: Path) -> LanguageError:
    """What the command line would say."""
    source = Source(path.name, path.read_text())
    try:
        if path.suffix == ".prism":
            check_program(parse_model(source))
        else:
            for prop in parse_properties(source).properties:
                _ = prop.expression
    except LanguageError as error:
        return error
    raise AssertionError("this should be wrong")


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
@pytest.mark.parametrize("path", BAD, ids=lambda path: path.name)
def test_mistakes_are_those_of_the_command_line(path: Path, long: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    error = first_error(path)
    monkeypatch.setattr(model_parser, "LONG", 0 if long else 1 << 14)
    kind = ModelDocument if path.suffix == ".prism" else PropertyDocument
    found = diagnostics(kind(path.read_text(), path.name))
    expected = (*error.source.position(error.span.start), error.message, error.hint)
    assert expected in [(d.range.start.line + 1, d.range.start.column + 1, d.message, d.hint) for d in found]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_nothing_is_wrong_with_the_gallery(path: Path) -> None:
    model = ModelDocument(path.read_text())
    properties = PropertyDocument(path.with_suffix(".props").read_text(), model=model)
    found = [*diagnostics(model), *diagnostics(properties)]
    assert {one.severity for one in found} <= {"hint"}
    assert all("needs a value for the constant" in one.message for one in found)


def test_all_mistakes_of_grammar_at_once() -> None:
    text = """dtmc
const int N = ;
module m
  x : [0..3) init 0;
  y : [0..3] init 0;
  [] y=0 -> (y'=1)
  [] y==1 -> (y'=2);
  [] y=2 -> 0.5 (y'=1);
  stray;
  [] y=3 -> (y'=0);
label "a = y=1;
label "b" = z=1 & x=1 & N=2;
"""
    assert [(line, message.partition(",")[0]) for line, _, message, _ in said(ModelDocument(text))] == [
        (2, "expected an expression"),
        (4, "expected ']'"),
        (6, "expected ';' after the command"),
        (7, "expected an expression"),
        (8, "expected ':' after the probability"),
        (9, "expected a command or 'endmodule'"),
        (11, "expected a command or 'endmodule'"),
        (11, "unclosed quotation mark"),
        (12, "unknown name 'z'"),  # but not x and N, which stand in what could not be read
    ]


def test_all_other_mistakes_at_once() -> None:
    text = """mdp
const int N = true;
const int a1 = b1; const int b1 = a1;
formula f = g; formula g = f;
module m
  x : [2..1];
  y : [0..1] init 7;
  [a] x=true -> (y'=1);
  [a] zz=1 -> (y'=0.5);
  [b] f=1 -> (q'=1);
endmodule
module m2 = nothing [x=x2] endmodule
label "l" = x2+1;
label "l" = true;
rewards "r" [c] true : 1; x : 2; endrewards
init x endinit
"""
    assert [line for line, *_ in said(ModelDocument(text))] == [2, 3, 4, 6, 7, 8, 9, 12, 14, 15, 15, 16]


def test_an_open_constant_is_no_mistake() -> None:
    text = GOOD.replace("N = 3", "N")
    assert said(ModelDocument(text)) == []
    hints = diagnostics(ModelDocument(text))
    assert [(h.severity, h.hint) for h in hints] == [("hint", "give it with --const N=…")]
    assert diagnostics(ModelDocument(text, constants={"N": "1+1", "of_properties": 3})) == []
    ((_, _, message, _),) = said(ModelDocument(text, constants={"N": "0.5"}))
    assert message == "the constant 'N' is of type int, and this is of type double"


def test_properties_are_checked_against_their_model() -> None:
    text = """const int N = 1;
const int k;
label "mine" = x+1;
P=? [ F "ned" ];
P=? [ F<=k "end" ];
Pmax=? [ F "end" ];
R{"cost"}=? [ F "end" ];
P>2 [ F "end" ];
P=? [ F x= ];
"""
    model = ModelDocument(GOOD)
    assert [line for line, *_ in said(PropertyDocument(text, model=model))] == [1, 3, 4, 7, 8, 9]
    assert said(PropertyDocument('P=? [ F "end" ]', model=ModelDocument(GOOD.replace("dtmc", "mdp"))))
    assert said(PropertyDocument('P=? [ F "other" ]')) == []  # without a model, only the grammar can be wrong


def test_a_mistake_in_the_model_is_not_told_twice() -> None:
    model = ModelDocument(GOOD.replace('label "end" = at_end;', 'label "end" = ;'))
    assert len(said(model)) == 1
    assert said(PropertyDocument('P=? [ F "end" ]', model=model)) == []


def test_places_are_exact_in_long_texts() -> None:
    """The core shares equal expressions, which then have the place of the first."""
    lines = [f"  [] x={i} & y -> (x'={i + 1});" for i in range(4000)]
    lines[1234] = lines[1234].replace("& y", "& z")
    lines[2345] = lines[2345].replace("(x'", "(y'")
    text = "\n".join(["dtmc", "module m", "  x : [0..4000];", "  y : bool;", *lines, "endmodule"])
    assert [(line, column) for line, column, *_ in said(ModelDocument(text))] == [(1239, 15), (2350, 24)]
    broken = text.replace("[] x=3000 &", "[] x=3000 @", 1)
    assert [(line, column) for line, column, *_ in said(ModelDocument(broken))][-1] == (3005, 13)


def test_a_long_text_is_looked_at_quickly() -> None:
    """Two megabytes take about half a second of a core (``bench/texts.py`` makes such texts); here with slack."""
    lines = [f"  [] x={i} -> 1/3:(x'={i + 1}) + 2/3:(x'={max(i - 1, 0)});" for i in range(12_000)]
    lines[6000] = lines[6000].replace("1/3:", "1/3")
    text = "\n".join(["dtmc", "module m", "  x : [0..12000];", *lines, "endmodule"])
    start = time.process_time()
    (found,) = diagnostics(ModelDocument(text))
    assert found.range.start.line == 6003
    assert time.process_time() - start < 2.0
