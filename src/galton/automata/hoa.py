"""Automata in the Hanoi Omega-Automata format, version 1, written.

The format is that of Babiak et al., "The Hanoi Omega-Automata Format", CAV 2015. Spot, Owl and PRISM read it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .acceptance import ALL, NONE, Acceptance, Gate, Mark
from .automaton import Automaton
from .diagrams import Cube

Edge = tuple[list[Cube], int, list[int]]  # the letters, the successor, the marks


def to_hoa(automaton: Automaton, name: str = "") -> str:
    """Return the text of an automaton.

    Examples
    --------
    >>> from galton.automata import parse_ltl, to_hoa, translate
    >>> print(to_hoa(translate(*parse_ltl("G F a"))))
    HOA: v1
    States: 1
    Start: 0
    AP: 1 "a"
    acc-name: Buchi
    Acceptance: 1 Inf(0)
    properties: trans-labels explicit-labels trans-acc complete deterministic
    --BODY--
    State: 0
      [!0] 0
      [0] 0 {0}
    --END--
    """
    named = acceptance_name(automaton.acceptance)
    propositions = " ".join([str(len(automaton.propositions)), *map(_quoted, automaton.propositions)])
    lines = ["HOA: v1"]
    lines += [f"name: {_quoted(name)}"] if name else []
    lines += [f"States: {automaton.n_states}", f"Start: {automaton.initial}", f"AP: {propositions}"]
    lines += [f"acc-name: {named}"] if named else []
    lines += [
        f"Acceptance: {automaton.n_marks} {acceptance_text(automaton.acceptance)}",
        "properties: trans-labels explicit-labels trans-acc complete deterministic",
        "--BODY--",
    ]
    for state in range(automaton.n_states):
        lines.append(f"State: {state}")
        for cubes, successor, marks in edges_of(automaton, state):
            shown = f" {{{' '.join(map(str, marks))}}}" if marks else ""
            lines.append(
                f"  [{label_text(cubes, [str(i) for i in range(len(automaton.propositions))])}] {successor}{shown}"
            )
    return "\n".join([*lines, "--END--"])


def edges_of(automaton: Automaton, state: int) -> list[Edge]:
    """Return the edges of a state, one for each successor and set of marks."""
    diagrams, found = automaton.diagrams, automaton.edges[state]
    return [
        (
            diagrams.cover(diagrams.where(found, leaf)),
            leaf[0],
            [m for m in range(automaton.n_marks) if leaf[1] >> m & 1],
        )
        for leaf in diagrams.leaves(found)
    ]


def label_text(cubes: Sequence[Cube], names: Sequence[str], true: str = "t") -> str:
    """Return a disjunction of conjunctions of literals."""
    texts = ["&".join(f"{'' if value else '!'}{names[i]}" for i, value in cube) or true for cube in cubes]
    return " | ".join(texts) or "f"


def acceptance_text(acceptance: Acceptance) -> str:
    """Return the text of a condition, as in ``Fin(0) & (Inf(1) | Inf(2))``."""
    if isinstance(acceptance, Mark):
        return f"{acceptance.operator}({acceptance.number})"
    if not acceptance.operands:
        return "t" if acceptance.operator == "&" else "f"
    parts = [f"({acceptance_text(p)})" if isinstance(p, Gate) else acceptance_text(p) for p in acceptance.operands]
    return f" {acceptance.operator} ".join(parts)


def acceptance_name(acceptance: Acceptance) -> str:
    """Return the name that the format has for a condition, where it has one for exactly this text."""
    if acceptance in (ALL, NONE):
        return "all" if acceptance == ALL else "none"
    if isinstance(acceptance, Mark):
        return "" if acceptance.number else {"Inf": "Buchi", "Fin": "co-Buchi"}[acceptance.operator]
    marks = _marks(acceptance)
    if [mark.number for mark in marks] != list(range(len(marks))):
        return ""
    kinds = [[mark.operator for mark in _marks(part)] for part in acceptance.operands]
    flat = all(isinstance(part, Mark) for part in acceptance.operands)
    if flat and kinds == [["Fin"], ["Inf"]]:
        return "Rabin 1" if acceptance.operator == "&" else "Streett 1"
    if flat and len({kind for (kind,) in kinds}) == 1:
        ((kind,), *_) = kinds
        if (acceptance.operator, kind) in (("&", "Inf"), ("|", "Fin")):
            return f"generalized-{'Buchi' if kind == 'Inf' else 'co-Buchi'} {len(kinds)}"
    dual = "&" if acceptance.operator == "|" else "|"
    if any(
        isinstance(p, Mark) or p.operator != dual or not all(isinstance(q, Mark) for q in p.operands)
        for p in acceptance.operands
    ):
        return ""
    if all(kind == ["Fin", "Inf"] for kind in kinds):
        return f"{'Rabin' if acceptance.operator == '|' else 'Streett'} {len(kinds)}"
    if acceptance.operator == "|" and all(kind == ["Fin"] + ["Inf"] * (len(kind) - 1) for kind in kinds):
        return f"generalized-Rabin {len(kinds)} {' '.join(str(len(kind) - 1) for kind in kinds)}"
    return ""


def _marks(acceptance: Acceptance) -> list[Mark]:
    if isinstance(acceptance, Mark):
        return [acceptance]
    return [mark for part in acceptance.operands for mark in _marks(part)]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
