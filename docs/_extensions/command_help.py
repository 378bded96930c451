"""``{command-help}``: the help of every command, as the program prints it."""

from __future__ import annotations

from typing import ClassVar

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from galton.cli import app

WIDTH = 100


def helps(command: click.Command, name: str, parent: click.Context | None = None) -> list[tuple[str, str]]:
    """Names and helps of a command and of those inside it, hidden ones left out."""
    context = command.make_context(
        name, [], parent=parent, resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH
    )
    found = [(context.command_path, command.get_help(context))]
    for inner, one in getattr(command, "commands", {}).items():
        if not one.hidden:
            found += helps(one, inner, context)
    return found


class CommandHelp(SphinxDirective):
    """A section for each command."""

    option_spec: ClassVar[dict[str, object]] = {}

    def run(self) -> list[nodes.Node]:
        sections: list[nodes.Node] = []
        for name, text in helps(get_command(app), "galton"):
            section = nodes.section(ids=[nodes.make_id(name)])
            section += nodes.title(text=name)
            section += nodes.literal_block(text, text, language="text")
            sections.append(section)
        return sections


def setup(sphinx: Sphinx) -> dict[str, bool]:
    sphinx.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
