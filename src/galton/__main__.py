"""``python -m galton``."""

from .cli import main

main()
