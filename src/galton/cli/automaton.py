"""``galton automaton``: what a formula of linear temporal logic is as an automaton."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..automata import Automaton


def automaton(
    formula: Annotated[str, typer.Argument(help="A formula, such as 'G F a -> G F b'.", show_default=False)],
    hoa: Annotated[bool, typer.Option("--hoa", help="Write it in the Hanoi Omega-Automata format.")] = False,
) -> None:
    """Translate a formula of linear temporal logic to a deterministic automaton, and show it.

    A formula has names or "quoted names" as propositions, ! & | -> <-> between them, and the temporal operators X
    (next), F (some time), G (always), U (until), W (weak until), R (release) and M (strong release). Steps may be
    bounded: F<=5 a, G[2,4] a, a U<3 b. Here ! X F G bind tightest, as in Spot and Owl; inside P=? [ … ] the operators
    F and G reach to the end, as in PRISM.

    The automaton reads a word letter by letter; a letter says which propositions hold. Some of its edges have marks,
    and the acceptance condition tells which marks a run must meet infinitely often (Inf) or must not (Fin).

    \b
    Examples:
      galton automaton 'G (request -> F grant)'
      galton automaton 'G F a -> G F b' --hoa > fair.hoa
    """
    from ..automata import parse_ltl, render, to_hoa, translate

    parsed, names = parse_ltl(formula)
    found = translate(parsed, names)
    text = render(parsed, names)
    typer.echo(to_hoa(found, text) if hoa else summary(found, text))


def summary(found: Automaton, formula: str) -> str:
    """An automaton for a person."""
    from ..automata.hoa import acceptance_name, acceptance_text, edges_of, label_text

    condition = acceptance_text(found.acceptance)
    name = acceptance_name(found.acceptance)
    states = f"{found.n_states} state{'s' if found.n_states > 1 else ''}, deterministic and complete"
    lines = [
        f"{typer.style('formula', bold=True)}     {formula}",
        f"{typer.style('automaton', bold=True)}   {states}; runs begin in state {found.initial}",
        f"{typer.style('acceptance', bold=True)}  {condition}" + (f" ({name})" if name else ""),
    ]
    for state in range(found.n_states):
        lines.append(typer.style(f"state {state}", bold=True))
        for cubes, successor, marks in edges_of(found, state):
            shown = f"  {{{', '.join(map(str, marks))}}}" if marks else ""
            lines.append(f"  {label_text(cubes, found.propositions, 'any letter')}  ->  {successor}{shown}")
    return "\n".join(lines)
