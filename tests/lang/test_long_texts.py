"""Long texts are read with the help of the core, and nobody can tell but by the time it takes."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from galton.explore import build
from galton.lang import LanguageError, Source, check_program, model_parser, parse_model
from galton.lang.depth import DeepRecursion
from galton.lang.expressions import Binary, Expression, children
from galton.lang.long_texts import read_long
from galton.lang.model_parser import ModelParser
from galton.lang.source import Span, read_source
from galton.lang.syntax import ModelFile, ModuleSyntax

TESTS = Path(__file__).parents[1]
MODELS = sorted((TESTS.parent / "models").glob("*.prism"))
BAD = sorted((TESTS / "bad").glob("*.prism"))

# What the core reads, what it leaves to the parser, and both in turn.
ODD = """// a comment, with ümlauts
ctmc
const int N = 3; const double r = 1.5e-3;
formula busy = x=1 | (y!=2 & !b);
module m
  x : [0..N] init 0; y : [0..3]; b : bool;
  [] x=0 & y<2 -> r : (x'=1) & (b'=!b) + 2*r/3 : (y'=min(y+1, 3)) + .5 : true;
  [go] x=1,3 -> 1e-2 : (x'=0);        // an old set
  [go] x=1..2 & b -> (x'=func(max, x-1, 0));
  [] (x>=1) & (-x<-(0)) -> (b ? 1 : 2.0) : (x'=x-1);
  [] busy => 2^x^1>1 <=> b -> 007 : (y'=(0));
  [a] a0|b|b|b -> true;
  [] x*2-1+y>=3 -> 1/3 : (x'=floor(x/2)) & (y'=mod(y+1, 4));
endmodule
module n = m [x=x2, y=y2, b=b2, go=stop] endmodule
module k
  z : bool;
  [stop] !z & x=0 & y<2 -> (z'=true);
endmodule
formula a0 = x=0;
label "a" = x=0 & y<2;
label "set" = x=1,2;
rewards x=0 : 1; [go] true : y/2; x=1,2 : 3; [] b : 2; endrewards
rewards "r" x<2 & y<2 : x; endrewards
init x=0 & y=0 & !b & x2=0 & y2=0 & !b2 & !z endinit
"""


@pytest.fixture
def every_text_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_parser, "LONG", 0)


def plain(source: Source) -> ModelFile:
    return ModelParser(source).model()


def roots(file: ModelFile) -> Iterator[tuple[Expression, Span]]:
    """The whole expressions of a text, with what else has a place."""
    for definition in (*file.formulas, *file.labels):
        yield definition.body, definition.name.span
    for structure in file.rewards:
        for item in structure.items:
            yield item.guard, item.span
            yield item.value, item.action.span if item.action else item.span
    for module in file.modules:
        for command in module.commands if isinstance(module, ModuleSyntax) else ():
            yield command.guard, command.span
            for update in command.updates:
                yield update.probability or command.guard, update.span
                for assignment in update.assignments:
                    yield assignment.value, assignment.target.span


def parts(expression: Expression) -> Iterator[Expression]:
    yield expression
    for child in children(expression):
        yield from parts(child)


@pytest.mark.parametrize("source", [*map(read_source, MODELS), Source("odd", ODD)], ids=lambda s: Path(s.name).stem)
def test_the_core_reads_what_the_parser_reads(source: Source) -> None:
    found, expected = read_long(source), plain(source)
    assert found is not None
    assert found.shares_expressions
    assert found._replace(shares_expressions=False) == expected
    assert [span for _, span in roots(found)] == [span for _, span in roots(expected)]
    assert [root.span for root, _ in roots(found)] == [root.span for root, _ in roots(expected)]


def test_shared_parts_stand_where_one_of_them_was_written() -> None:
    for path in MODELS:
        source = read_source(path)
        found = read_long(source)
        assert found is not None
        places = {(repr(part), part.span) for root, _ in roots(plain(source)) for part in parts(root)}
        for root, _ in roots(found):
            assert all((repr(part), part.span) in places for part in parts(root))


def test_equal_parts_are_one_object_within_a_module_and_not_beyond() -> None:
    text = "dtmc module a x:[0..2]; [] x=0&true -> (x'=1); [] x=0&false -> (x'=1); endmodule "
    text += "module b y:[0..2]; [] x=0&true -> (y'=1); endmodule"
    found = read_long(Source("text", text))
    assert found is not None
    one, other, beyond = (c.guard for m in found.modules if isinstance(m, ModuleSyntax) for c in m.commands)
    assert isinstance(one, Binary)
    assert isinstance(other, Binary)
    assert isinstance(beyond, Binary)
    assert one.left is other.left
    assert one.left == beyond.left
    assert one.left is not beyond.left


@pytest.mark.usefixtures("every_text_is_long")
@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_messages_are_those_of_the_parser(path: Path) -> None:
    source = Source(path.name, path.read_text())
    with pytest.raises(LanguageError) as caught:
        check_program(parse_model(source))
    assert str(caught.value) + "\n" == path.with_suffix(".expected").read_text()


WRONG = [
    "[] x=0 -> (x'=1); : foo endmodule",
    "[] x=0 -> (x'=1); endmodule [] x=0 -> (x'=1);",
    "[] x=0 -> (x'=1); [] x=0 -> 0.5:(x'=1) + (x'=0); endmodule",
    "[] x=0 -> (x'=1); [] x=0 -> (x'=1) + (x'=0); endmodule",
    "[] x=0 -> (x'=1); [] (x=0)+1>0 -> (x'=1); endmodule",  # right as a guard, wrong as a number
    "[] x=0 & true -> (x'=1); [] x=1 -> (x=0) : (x'=0); endmodule",
    "[] x=0 -> (x'=1); [] x=1 -> (x'=99999999999); endmodule",
    "[] x=0 -> (x'=1); [] x=1 -> 1e999 : (x'=1); endmodule",
    "[] x=0 -> (x'=1); [] x=1 -> (x'=1) [] true -> true; endmodule",
    "[] x=0 -> (x'=1); [] x' = 1 -> (x'=1); endmodule",
    "[] x=0 -> (x'=1); [] \"goal\" -> (x'=1); endmodule",
    "[] x=0 -> (x'=1); [] x=0 -> (x'=1) & (x'=1); endmodule",
    "[] x=0 -> (x'=1); [] x==0 -> (x'=1); endmodule",
    "[] x=0 -> (x'=1); [] x=0 -> (x'=1); ä endmodule",
    "[] x=0 -> (x'=1); [] " + "(" * 9000 + "x" + ")" * 9000 + "=0 -> (x'=1); endmodule",
    "[] x=0 -> (x'=1);",
    "[] x=0 -> (x'=1); endmodule formula f = ; ",
    '[] x=0 -> (x\'=1); endmodule label "l" = x ; ',
    "[] x=0 -> (x'=1); endmodule rewards x=0 : 1; x=0 : x=0; endrewards",
    "[] x=0 -> (x'=1); endmodule rewards x=0 : 1; x=0 1; endrewards",
]


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_a_mistake_after_a_run_is_told_where_it_is(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source("text", f"dtmc module m x : [0..1]; {text}")
    told = []
    for long in (1 << 60, 0):
        monkeypatch.setattr(model_parser, "LONG", long)
        with pytest.raises(LanguageError) as caught:
            check_program(parse_model(source))
        told.append(str(caught.value))
    assert told[0] == told[1]


def test_deep_and_long_expressions_are_the_same_or_left_to_the_parser() -> None:
    for guard in (
        "(" * 300 + "x=0" + ")" * 300,
        "(" * 600 + "x=0" + ")" * 600,
        " + ".join(["x"] * 1000) + " > 3",
        " & ".join(f"x!={i}" for i in range(200)),
        "!" * 500 + "(x=0)",
        "x>" + "x=1 ? 1 : " * 300 + "0",
        "x>" + "-" * 700 + "1",
    ):
        source = Source("text", f"dtmc module m x:[0..9]; [] {guard} -> (x'=0); endmodule")
        with DeepRecursion(source):
            found = read_long(source)
            assert found is not None
            assert found._replace(shares_expressions=False) == plain(source)


SMALL = [
    (entry["file"], instance["constants"])
    for entry in json.loads((TESTS.parent / "models" / "gallery.json").read_text())["models"]
    for instance in entry["instances"][:1]
    if instance["states"] < 3000 and entry["file"].endswith(".prism")
]


@pytest.mark.parametrize(("file", "constants"), SMALL, ids=[file for file, _ in SMALL])
def test_models_are_the_same_bit_for_bit(
    file: str, constants: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = []
    for long in (1 << 60, 0):
        monkeypatch.setattr(model_parser, "LONG", long)
        parsed = parse_model(read_source(TESTS.parent / "models" / file))
        assert parsed.shares_expressions == (long == 0)
        models.append(build(check_program(parsed, constants), threads=1))
    assert list(models[0].differences(models[1])) == []


def test_the_collector_of_cycles_goes_on_afterwards() -> None:
    assert gc.isenabled()
    parse_model(Source("text", "dtmc module m x:bool; [] true -> (x'=!x); endmodule"))
    with pytest.raises(LanguageError):
        parse_model(Source("text", "dtmc module m x:bool; [] true -> "))
    assert gc.isenabled()
