"""``galton plot-matrix``: the matrix of a model as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .options import Constants, FixDeadlocks, MaxStates, Memory, ModelFile, Threads


def plot_matrix(
    model: ModelFile,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The picture: .png, .pdf, .svg, .html.", show_default=False)
    ],
    const: Constants = None,
    order: Annotated[
        list[str] | None,
        typer.Option(
            "--order",
            metavar="NAME",
            help="How states are numbered: canonical (by the values of variables), bfs (breadth first), rcm (reverse "
            "Cuthill-McKee). Repeat it for several side by side; canonical and bfs if not given.",
            show_default=False,
        ),
    ] = None,
    threads: Threads = None,
    max_states: MaxStates = None,
    memory: Memory = None,
    fix_deadlocks: FixDeadlocks = True,
) -> None:
    """Draw the matrix of a model: a dot for every transition, for large models how many there are in each pixel.

    How far transitions are from the diagonal is printed for each numbering of the states.

    \b
    Examples:
      galton plot-matrix models/herman.prism -c N=7 --out herman.png
      galton plot-matrix models/kanban.prism -c t=2 --order rcm --out kanban.pdf
    """
    from ..backend.formats import check_names
    from ..io.output import check_writable
    from ..plot.matrix import check_kind, pattern
    from ..plot.matrix import plot_matrix as plot

    orders = list(dict.fromkeys(order or ["canonical", "bfs"]))
    for name in orders:
        check_names(None, name)
    check_kind(out)  # before the work, not after it
    check_writable(out)
    built = options.build_model(
        options.load_program(model, const),
        threads=threads,
        max_states=max_states,
        memory=memory,
        fix_deadlocks=fix_deadlocks,
    )
    drawn = [pattern(built, name) for name in orders]
    given = f" ({', '.join(const)})" if const else ""
    plot(drawn, out, f"{model.stem}{given}: {built.n_states:,} states, {built.n_transitions:,} transitions")
    for one in drawn:
        typer.echo(f"{one.title}: {one.mean_distance:,.1f} from the diagonal in the mean, {one.bandwidth:,} at most")
    typer.echo(f"{out}  {out.stat().st_size:,} bytes")
