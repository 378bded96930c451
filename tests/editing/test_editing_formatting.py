"""Formatting changes blanks and line breaks only, and nothing the second time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_programs import programs

from galton.editing import formatted
from galton.editing.files import MODEL_SUFFIXES, PROPERTY_SUFFIXES
from galton.editing.formatting import same_tokens
from galton.lang import LanguageError, Source, parse_model
from galton.lang.lexer import tokenize
from galton.lang.syntax import ModelFile, ModuleSyntax

ROOT = Path(__file__).parents[2]
GALLERY = sorted([*(ROOT / "models").glob("*.prism"), *(ROOT / "models").glob("*.props")])
SHARED = [ROOT.parent / "shared" / folder for folder in ("corpus", "prism-tests")]
SUFFIXES = tuple(suffix for suffix in (*MODEL_SUFFIXES, *PROPERTY_SUFFIXES) if suffix != ".jani")
COMMENT = re.compile(r'"[^"\n]*"|(//[^\n]*)')


def comments(text: str) -> list[str]:
    return [found.group(1).rstrip() for found in COMMENT.finditer(text) if found.group(1)]


def assert_kept(text: str, name: str) -> str:
    """Tokens, comments and blank lines stay, and a second time changes nothing."""
    new = formatted(text, name)
    assert same_tokens(text, new)
    assert comments(text) == comments(new)
    assert formatted(new, name) == new
    assert not [line for line in new.split("\n") if line != line.rstrip()]
    return new


def bare(file: ModelFile) -> list[object]:
    """What a file says, without places."""
    commands = [
        (
            m.name.name,
            [
                (
                    c.action and c.action.name,
                    c.guard,
                    [(u.probability, [(a.target.name, a.value) for a in u.assignments]) for u in c.updates],
                )
                for c in m.commands
            ],
        )
        for m in file.modules
        if isinstance(m, ModuleSyntax)
    ]
    rewards = [[(i.transition, i.action and i.action.name, i.guard, i.value) for i in r.items] for r in file.rewards]
    definitions = [(d.name.name, d.body) for d in (*file.formulas, *file.labels)]
    return [commands, rewards, definitions, [(c.name.name, c.type, c.value) for c in file.constants], file.initial]


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.name)
def test_gallery(path: Path) -> None:
    text = path.read_text()
    new = assert_kept(text, path.name)
    if path.suffix == ".prism":
        assert bare(parse_model(Source("old", text))) == bare(parse_model(Source("new", new)))


@pytest.mark.slow
@pytest.mark.skipif(not SHARED[0].exists(), reason="the shared folder is not here")
def test_corpora() -> None:
    paths = [path for folder in SHARED for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES]
    done = 0
    for path in paths:
        text = path.read_text(errors="replace")
        if len(text) > 50_000:
            continue
        try:
            formatted(text, path.name)
        except LanguageError:
            continue
        assert_kept(text, path.name)
        done += 1
    assert done > 100


@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.generate])  # shrinking such texts takes minutes
@given(programs(), st.randoms(use_true_random=False))
def test_random_programs_however_they_are_written(program: str, random: object) -> None:
    """Where the blanks were does not matter for what the text says, and is forgotten between tokens."""
    blanks = [" ", "  ", "\n", "\n\n  ", "\t", " // why\n"]
    tokens = tokenize(Source("program", program))[:-1]
    pieces = [program[token.span.start : token.span.end] + random.choice(blanks) for token in tokens]  # type: ignore[attr-defined]
    assert_kept("".join(pieces), "program.prism")
    assert_kept(program, "program.prism")


def test_a_model_in_one_line() -> None:
    text = (
        "dtmc const int N=3;formula f=x=N&!b;module m x:[0..N] init 0; b:bool;[go]x<N&!f->0.5:(x'=x+1)&(b'=true)"
        "+0.5:true;[] x = N -> true;endmodule module n=m[x=y,b=c,go=go] endmodule "
        'label "end"=x=N;rewards "r" [go]true:1; x = 1 : 2;endrewards system m||n endsystem'
    )
    assert assert_kept(text, "m.prism").splitlines() == [
        "dtmc",
        "const int N = 3;",
        "formula f = x=N & !b;",
        "module m",
        "  x : [0..N] init 0;",
        "  b : bool;",
        "  [go] x<N & !f -> 0.5:(x'=x+1) & (b'=true) + 0.5:true;",
        "  [] x = N -> true;",
        "endmodule",
        "",
        "module n = m [x=y,b=c,go=go] endmodule",
        'label "end" = x=N;',
        'rewards "r"',
        "  [go] true : 1;",
        "  x = 1 : 2;",
        "endrewards",
        "",
        "system m || n endsystem",
    ]


def test_comments_and_blank_lines() -> None:
    text = """// head
dtmc // type


// about m
module m // behind
// first
x:bool; // of x
   y : bool;   // of y

// before the command
[] x // inside
-> true;
// last
endmodule
// foot"""
    assert (
        assert_kept(text, "m.prism")
        == """// head
dtmc  // type

// about m
module m  // behind
  // first
  x : bool;  // of x
  y : bool;  // of y

  // before the command
  [] x  // inside
      -> true;
  // last
endmodule

// foot
"""
    )


def test_what_was_lined_up_stays_so() -> None:
    text = """dtmc
const double a   = 1;    // one
const double long = 2;  // two
module m
  x     : [0..3] init 0;
  other : bool;
  [a]    x=0      -> 0.5   : true + 0.5 : true;
  [long] x=1 & other -> 0.25 : true + 0.75 : true;
  [b] x=2 -> true;

  [c] x=3 -> true;
endmodule
"""
    assert (
        assert_kept(text, "m.prism")
        == """dtmc
const double a    = 1;  // one
const double long = 2;  // two
module m
  x     : [0..3] init 0;
  other : bool;
  [a]    x=0         -> 0.5  : true + 0.5 : true;
  [long] x=1 & other -> 0.25 : true + 0.75 : true;
  [b]    x=2         -> true;

  [c] x=3 -> true;
endmodule
"""
    )


def test_properties() -> None:
    text = """const int k;label "a"=x=1;
"p" :P = ? [F<=k "a"&!"b"];  P>= 0.5[ "a" U [1,k] x = 2 ]
R { "cost" } max =? [C<=5];filter( max,P=?[X "a"],x>0 )
P=? [ (F a) & (G b) ];
multi( Pmax=?[F a],R{"r"}<= 5 [C] ) ;
S=?[x=1];  T=?[ F a]; quantile( min b, P>0.9[F<=b "a"] );
P=? [ F a || G b ]; x=1?2 : 3;
P=? [ true
      U x=1 ]
"""
    assert assert_kept(text, "p.props").splitlines() == [
        "const int k;",
        'label "a" = x=1;',
        '"p": P=? [ F<=k "a" & !"b" ];',
        'P>=0.5 [ "a" U[1,k] x = 2 ]',
        'R{"cost"}max=? [ C<=5 ];',
        'filter(max,P=? [ X "a" ],x>0)',
        "P=? [ (F a) & (G b) ];",
        'multi(Pmax=? [ F a ],R{"r"}<=5 [ C ]);',
        "S=? [ x=1 ];",
        "T=? [ F a ];",
        'quantile(min b, P>0.9 [ F<=b "a" ]);',
        "P=? [ F a || G b ];",
        "x=1 ? 2 : 3;",
        "P=? [ true",
        "      U x=1 ]",
    ]


def test_mistakes_are_refused() -> None:
    with pytest.raises(LanguageError, match="expected ';'"):
        formatted("dtmc const int N")
    with pytest.raises(LanguageError, match="expected"):
        formatted("P=? [ F ];", "p.props")


def test_line_ends_stay_what_they_are() -> None:
    assert (
        formatted("dtmc\r\nmodule m\r\nx:bool;\r\nendmodule\r\n") == "dtmc\r\nmodule m\r\n  x : bool;\r\nendmodule\r\n"
    )
    assert formatted("") == ""
