from __future__ import annotations

import pytest

from galton.lang import LanguageError, Source, check_program, parse_model, render
from galton.lang.program import Command, Hide, Leaf, Module, Parallel, Program, Rename


def check(text: str, **constants: bool | int | float | str) -> Program:
    return check_program(parse_model(Source("test", text)), constants)


def command_text(command: Command) -> str:
    """A command in one line, to compare with what it should say."""
    updates = []
    for update in command.updates:
        assignments = " & ".join(f"({a.variable}'={render(a.value)})" for a in update.assignments) or "true"
        updates.append(f"{render(update.probability)} : {assignments}" if update.probability else assignments)
    return f"[{command.action or ''}] {render(command.guard)} -> {' + '.join(updates)}"


def commands(module: Module) -> list[str]:
    return list(map(command_text, module.commands))


def test_a_whole_model() -> None:
    program = check(
        """
        // everything once
        const int N = 2*M;   const M = 2;   const double p = 1/4;   const bool fast = M > 1;
        global g : bool;
        module walk
          x : [-1..N] init M-1;
          n : int;
          [step] x<N & fast -> p : (x'=x+1) & (n'=n+1) + 1-p : true;
          [] edge -> (g'=!g);
        endmodule
        formula edge = x=N;
        label "edge" = edge & g;
        rewards "steps" [step] true : 1; x>0 : x/2; [] edge : p; endrewards
        rewards true : 1; endrewards
        dtmc
        """
    )
    assert program.type == "dtmc"
    assert program.constants == {"N": 4, "M": 2, "p": 0.25, "fast": True}
    assert not program.open_constants
    assert [(v.name, v.type, v.low, v.high, v.initial, v.module) for v in program.variables] == [
        ("g", "bool", 0, 1, 0, None),
        ("x", "int", -1, 4, 1, "walk"),
        ("n", "int", -(2**31), 2**31 - 1, 0, "walk"),
    ]
    assert program.modules[0].variables == ("x", "n")
    assert commands(program.modules[0]) == [
        "[step] x < N & fast -> p : (x'=x + 1) & (n'=n + 1) + 1 - p : true",
        "[] x = N -> (g'=!g)",
    ]
    assert program.system == Leaf("walk")
    assert program.actions == ("step",)
    assert {name: render(body) for name, body in program.labels.items()} == {"edge": "x = N & g"}
    assert [(r.name, len(r.items)) for r in program.rewards] == [("steps", 3), ("", 1)]
    assert [(i.transition, i.action, render(i.value)) for i in program.rewards[0].items] == [
        (True, "step", "1"),
        (False, None, "x / 2"),
        (True, None, "p"),
    ]
    assert program.initial is None
    assert render(program.formulas["edge"]) == "x = N"


@pytest.mark.parametrize(
    ("keyword", "kind"),
    [("", "mdp"), ("probabilistic", "dtmc"), ("stochastic", "ctmc"), ("nondeterministic", "mdp"), ("ctmc", "ctmc")],
)
def test_model_types(keyword: str, kind: str) -> None:
    assert check(f"module m endmodule {keyword}").type == kind


def test_old_constants_and_sets() -> None:
    program = check("rate r = 2; prob p = 1; module m x : [0..9]; [] x=1,3..5 & x!=4,8 -> r : true; endmodule")
    assert program.constants == {"r": 2.0, "p": 1.0}
    expected = "(x = 1 | x >= 3 & x <= 5) & !(x = 4 | x = 8)"
    assert render(program.modules[0].commands[0].guard) == expected


def test_defaults_of_variables() -> None:
    program = check("module m x : [3..5]; b : bool; i : int; j : int init -7; c : bool init true; endmodule")
    assert [v.initial for v in program.variables] == [3, 0, 0, -7, 1]


def test_initial_states() -> None:
    program = check("module m x : [0..5]; endmodule init x<3 endinit")
    assert program.initial is not None
    assert render(program.initial) == "x < 3"


# Formulas and renaming


def test_a_renaming_reaches_everything_a_module_uses() -> None:
    program = check(
        """
        mdp
        const int N1 = 1; const int N2 = 2;
        formula full = x1 = N1;
        formula other = x2 = 0;
        module first
          x1 : [0..N1] init N1;
          [go1] !full & other & max(x1, 0) < 3 -> (x1'=x1+1);
          [] x2 > 0 -> 0.5 : (x1'=0) + 0.5 : true;
        endmodule
        module second = first [x1=x2, x2=x1, N1=N2, go1=go2, max=min] endmodule
        module third = second [x2=x3, go2=go3] endmodule
        """
    )
    assert [(v.name, v.high, v.initial, v.module) for v in program.variables] == [
        ("x1", 1, 1, "first"),
        ("x2", 2, 2, "second"),
        ("x3", 2, 2, "third"),
    ]
    assert commands(program.modules[0]) == [
        "[go1] !(x1 = N1) & x2 = 0 & max(x1, 0) < 3 -> (x1'=x1 + 1)",
        "[] x2 > 0 -> 0.5 : (x1'=0) + 0.5 : true",
    ]
    assert commands(program.modules[1]) == [
        "[go2] !(x2 = N2) & x1 = 0 & min(x2, 0) < 3 -> (x2'=x2 + 1)",
        "[] x1 > 0 -> 0.5 : (x2'=0) + 0.5 : true",
    ]
    assert commands(program.modules[2])[0] == "[go3] !(x3 = N2) & x1 = 0 & min(x3, 0) < 3 -> (x3'=x3 + 1)"
    assert program.actions == ("go1", "go2", "go3")


def test_a_renamed_formula_is_taken_as_it_is() -> None:
    program = check(
        """
        formula mine = x=1; formula yours = x=2;
        module first x : [0..3]; [] mine -> true; endmodule
        module second = first [x=y, mine=yours] endmodule
        """
    )
    assert commands(program.modules[1]) == ["[] x = 2 -> true"]


def test_formulas_may_use_later_ones_and_constants_may_use_formulas() -> None:
    program = check(
        """
        formula a = b | c; formula b = x=1; formula c = x=two; formula two = 1+1;
        const int N = two*2;
        module m x : [0..N]; [] a -> true; endmodule
        """
    )
    assert program.constants["N"] == 4
    assert commands(program.modules[0]) == ["[] x = 1 | x = 1 + 1 -> true"]


def test_an_expanded_formula_stands_where_it_was_used_and_its_parts_where_they_were_written() -> None:
    text = "formula f = x+1; module m x : [0..3]; [] f>2 -> true; endmodule"
    guard = check(text).modules[0].commands[0].guard
    left = guard.left  # type: ignore[attr-defined]
    assert text[left.span.start : left.span.end] == "f"
    assert text[left.right.span.start : left.right.span.end] == "1"


# Constants


def test_open_constants_wait_where_nothing_needs_them() -> None:
    text = """
        const int N; const double p; const int M = 2*N;
        module m x : bool; [] true -> p : (x'=M>3) + 1-p : true; endmodule
    """
    program = check(text)
    assert program.open_constants == {"N": "int", "p": "double"}
    assert program.constants == {}
    program = check(text, N=3, p="1/4")
    assert not program.open_constants
    assert program.constants == {"N": 3, "p": 0.25, "M": 6}


def test_bounds_insist_on_their_constants() -> None:
    text = "const int N; const int K; module m x : [0..N+K]; endmodule"
    with pytest.raises(
        LanguageError, match="the upper bound of 'x' needs a value for the constants 'N' and 'K'"
    ) as info:
        check(text)
    assert info.value.hint == "give it with --const N=…,K=…"
    assert check(text, N=1, K=2).variables[0].high == 3


# Composition

MODULES = """
    module a x : bool; [go] x -> true; [s] x -> true; endmodule
    module b y : bool; [go] y -> true; [t] y -> true; endmodule
    module c z : bool; [go] z -> true; endmodule
"""
A, B, C = Leaf("a"), Leaf("b"), Leaf("c")


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("a || b || c", Parallel((A, B, C), None)),
        ("a ||| b ||| c", Parallel((A, B, C), frozenset())),
        ("(a |[go,s]| b) ||| c", Parallel((Parallel((A, B), frozenset({"go", "s"})), C), frozenset())),
        ("a ||| b || c", Parallel((A, Parallel((B, C), None)), frozenset())),
        ("a/{s} || b || c", Parallel((Hide(A, frozenset({"s"})), B, C), None)),
        (
            "a{s<-u, go<-t}/{u} || b || c",
            Parallel((Hide(Rename(A, {"s": "u", "go": "t"}), frozenset({"u"})), B, C), None),
        ),
        ("(a || b || c)/{go}", Hide(Parallel((A, B, C), None), frozenset({"go"}))),
    ],
)
def test_systems(system: str, expected: object) -> None:
    program = check(f"{MODULES} system {system} endsystem")
    assert program.system == expected


def test_named_systems() -> None:
    pair = Parallel((A, B), None)
    text = 'system "pair" a || b endsystem'
    assert check(f'{MODULES} {text} system "pair" ||| c endsystem').system == Parallel((pair, C), frozenset())
    assert check(f'{MODULES} system "all" "pair" || c endsystem {text}').system == Parallel((pair, C), None)
    with pytest.raises(LanguageError, match='the system "pair" refers to itself'):
        check(f'{MODULES} system "pair" "pair" || c endsystem system "pair" endsystem')


def test_actions_come_in_the_order_of_commands_and_renamings_add_theirs() -> None:
    assert check(MODULES).actions == ("go", "s", "t")
    assert check(f"{MODULES} system a{{s<-u}} || b || c endsystem").actions == ("go", "s", "t", "u")
    assert check(MODULES).system == Parallel((A, B, C), None)


def test_rewards_may_name_an_action_that_a_renaming_makes() -> None:
    text = f"{MODULES} rewards [u] true : 1; endrewards"
    with pytest.raises(LanguageError, match="no module has the action 'u'"):
        check(text)
    assert check(f"{text} system a{{s<-u}} || b || c endsystem").rewards[0].items[0].action == "u"


def test_globals_may_be_written_by_any_module_without_an_action() -> None:
    text = "global g : bool; module a [{}] true -> (g'=true); endmodule module b [] true -> (g'=false); endmodule"
    assert len(check(text.format("")).modules) == 2
    with pytest.raises(LanguageError, match="the global variable 'g' cannot be written by a command with an action"):
        check(text.format("go"))
