"""Which options were given beside others, by the names of the parameters of a command."""

from __future__ import annotations

import typer

__all__ = ["given", "unfit_beside_matrix_free"]

# Options of galton check that are about a matrix, or about models that are built, by the names of its parameters.
UNFIT = {
    "sim": "--sim",
    "automaton": "--automaton",
    "method": "--method",
    "omega": "--omega",
    "fair": "--fair",
    "strategy": "--strategy",
    "apply": "--apply",
    "certificate": "--certificate",
    "counterexample": "--counterexample",
    "counterexample_file": "--counterexample-file",
    "lump": "--lump and --no-lump",
    "format": "--format",
    "order": "--order",
    "single": "--single",
    "exact": "--exact",
    "fix_deadlocks": "--no-fix-deadlocks",
}


def given(context: typer.Context, names: dict[str, str]) -> str | None:
    """The first of these options that was given, as it is written."""
    for name, option in names.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            return option
    return None


def unfit_beside_matrix_free(context: typer.Context) -> str | None:
    """The first option that was given and does not go together with --matrix-free."""
    return given(context, UNFIT)
