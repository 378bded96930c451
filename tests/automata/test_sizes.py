"""How small automata are: well-known formulas with the number of states of their automata, complete ones.

For most of them no deterministic automaton is smaller, whatever its acceptance condition: words tell all states apart.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from galton.automata import Automaton, parse_ltl, translate
from galton.automata.hoa import acceptance_text

# Patterns of Dwyer, Avrunin and Corbett ("Patterns in property specifications for finite-state verification", 1999)
# and the formulas of Etessami and Holzmann (2000) and of Somenzi and Bloem (2000).
SMALLEST = [
    ("G F a", 1),
    ("F G a", 1),
    ("G F a -> G F b", 1),
    ("(G F a -> G F b) & (G F c -> G F d)", 1),
    ("G F (F a & G F b)", 1),
    ("!(G F p <-> G F q)", 1),
    ("G (a U b U !a)", 1),
    ("(F G a | G F b) & (F G c | G F d)", 1),
    ("G p", 2),
    ("F p", 2),
    ("p U q", 3),
    ("p U (q U r)", 4),
    ("(p U q U r) | (q U r U p) | (r U p U q)", 3),
    ("p U (q & G r)", 4),
    ("p U (q & X (r U s))", 5),
    ("p U (q & X (r & (F (s & X (F (t & X (F (u & X (F v)))))))))", 9),
    ("F (p & X G q)", 2),
    ("F (p & X (q & X F r))", 4),
    ("F (q & X (p U r))", 3),
    ("G (p -> (q U r))", 3),
    ("F (p & X F (q & X F (r & X F s)))", 5),
    ("G (p -> q U (G r | G s))", 6),
    ("F p U G q", 2),
    ("G p U q", 5),
    ("(X p U q) | !X (p U (p & q))", 1),
    ("G (p -> F q) & ((X p U q) | !X (p U (p & q)))", 2),
    ("!G (p -> X (q R r))", 3),
    ("F p & F !p", 4),
    ("(X q & r) R X (((s U p) R r) U (s R r))", 6),
    ("G (q | X G p) & G (r | X G !p)", 4),
    ("F r -> (!p U r)", 4),
    ("G ((q & !r & F r) -> (!p U r))", 4),
    ("G (q & !r -> (!p W r))", 3),
    ("G !q | F (q & F p)", 3),
    ("G (q & !r -> (!r U (p & !r)))", 3),
    ("!p W (p W (!p W (p W G !p)))", 6),
    ("F r -> (!p U (s | r))", 4),
    ("G !q | F (q & (!p W s))", 4),
    ("G (p -> F s)", 2),
    ("F r -> (p -> (!r U (s & !r))) U r", 4),
    ("G (q -> G (p -> F s))", 3),
    ("G ((q & !r & F r) -> (p -> (!r U (s & !r))) U r)", 4),
    ("G (q & !r -> ((p -> (!r U (s & !r))) W r))", 4),
    ("F p -> (!p U (s & !p & X (!p U t)))", 4),
    ("G (a | F (b & G c))", 3),
    ("F (a & G F b) | (G c U d)", 8),
    ("G (s | G (p | (s & X (t & F G q))))", 5),
    ("(a U X X b) | F G c", 8),
    ("G (a -> F<=3 b)", 5),
    ("F<=3 a", 6),
    ("G (a -> G<=3 b)", 5),
]
# Owl (Emerson–Lei automata by way of the normal form) has, made complete, so many states according to the tables of
# sizes in its repository, data/formulas/sizes/dela.normalform.semantic.json.
BESIDE_OWL = [
    ("(F a & G b) | (F c & G a) | (F d & G c)", 18, 18),
    ("G a | G b | F G c | F G d", 4, 5),
    ("F G a | F G b | F G c | F G d | F G e", 1, 5),
    ("F (a & (b R c))", 3, 3),
    ("G (F a | (b U c))", 3, 2),
    ("G F (a & X b) & G F (c & X d) & G F (e & X f)", 6, 6),
    ("F G a & G F b & F G (b | X !a)", 2, 1),
    ("F G a & G F b & G F (a & X b)", 2, 3),
    ("G F a & G F !a & G (a | X F b)", 2, 4),
    ("G (a | X X b) & G (c | X X d) & G (e | X X f)", 65, 65),
    (
        "G (a | F b) & G (c | F d) & G (e | F f) & G ((!b & !d) | (!f & (!b | !d)))"
        " & G (a | X c | F (b & d)) & G (a | X e | F (b & f)) & G (c | X e | F (d & f))",
        25,
        163,
    ),
    ("a | G (b | (a & F b))", 4, 5),
    ("(a U b) | (F c & ((G !a) M (!b | X !a)))", 10, 12),
    ("F (a & G !b) | (((X !a) R !b) & X (a U (a & b)))", 2, 5),
    ("(((a U b) & (F G b | G F a) & (F G c | G F d)) | ((a U d) & (F G b | G F d) & (F G c | G F a)))", 7, 7),
    ("(G F a & X G b & F G (a | c)) | (G F d & X X e & F G (d | f))", 8, 8),
    ("G F (a & (!b M !a)) | G F (!a & (b W a))", 2, 3),
    ("F G a | F G b | (F G c & G F !d) | F G (c | X d)", 2, 4),
]


def told_apart(automaton: Automaton) -> int:
    """How many states differ in which of many random words they accept: no deterministic automaton has fewer."""
    random = Random(1)
    n = len(automaton.propositions)

    def letters(length: int, density: float) -> list[int]:
        return [sum(1 << i for i in range(n) if random.random() < density) for _ in range(length)]

    words = [
        (letters(random.randrange(6), density), letters(1 + random.randrange(4), density))
        for density in (0.1, 0.3, 0.5, 0.7, 0.9)
        for _ in range(300)
    ]
    return len({tuple(replace(automaton, initial=q).accepts(*w) for w in words) for q in range(automaton.n_states)})


@pytest.mark.parametrize(("formula", "states"), SMALLEST)
def test_no_automaton_is_smaller(formula: str, states: int) -> None:
    automaton = translate(*parse_ltl(formula))
    assert automaton.n_states == states
    assert told_apart(automaton) == states


@pytest.mark.parametrize(("formula", "states", "owl"), BESIDE_OWL)
def test_sizes_beside_those_of_owl(formula: str, states: int, owl: int) -> None:
    assert translate(*parse_ltl(formula)).n_states == states
    assert states <= owl + 1


def test_a_bound_of_k_steps_takes_about_k_states() -> None:
    for k in (10, 40):
        assert translate(*parse_ltl(f"G (a -> F<={k} b)")).n_states == k + 2
        assert translate(*parse_ltl(f"a U<={k} b")).n_states == k + 3


@pytest.mark.parametrize(
    ("formula", "condition"),
    [
        ("G a", "Inf(0)"),
        ("G a & F b", "Inf(0)"),
        ("F a & G F b", "Inf(0)"),
        ("G F a | G F b", "Inf(0)"),
        ("F G a & F G b", "Fin(0)"),
        ("G F a -> G F b", "Fin(0) | Inf(1)"),
        ("F G a | F G !a", "Fin(0) | Fin(1)"),
        ("a | !a", "t"),
        ("a & !a", "f"),
    ],
)
def test_conditions_say_no_more_than_they_must(formula: str, condition: str) -> None:
    assert acceptance_text(translate(*parse_ltl(formula)).acceptance) == condition
