"""``python -m galton``."""

from .cli import program

program()
