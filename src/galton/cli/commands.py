"""Commands as all of Galton's are: ``-h`` for help, ``-q`` to hear less, ``-v`` to hear more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption
from typer.models import CommandFunctionType

from ..progress import QUIET, VERBOSE
from . import telling

__all__ = ["Commands"]

CONTEXT = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A command with the options that all have."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its own options, then those that all have."""
        return [*self.params, *_LOUDNESS, *filter(None, [self.get_help_option(ctx)])]


class Commands(typer.Typer):
    """A group of such commands."""

    def __init__(self, **options: Any):
        super().__init__(rich_markup_mode=None, context_settings=CONTEXT, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Add a command."""
        return super().command(name, cls=options.pop("cls", Command), **options)


def _loudness(names: list[str], level: int, help: str) -> TyperOption:
    def chosen(context: Any, parameter: Any, given: bool) -> None:
        if given:
            telling.set_loudness(level)

    switch: dict[str, Any] = {"is_flag": True, "default": False, "show_default": False, "expose_value": False}
    return TyperOption(param_decls=names, callback=chosen, help=help, **switch)


_LOUDNESS = [
    _loudness(["--quiet", "-q"], QUIET, "Print answers and errors only: no warnings, no progress."),
    _loudness(["--verbose", "-v"], VERBOSE, "Print more: what was done, what it cost, progress also in a log."),
]
