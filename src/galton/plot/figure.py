"""A figure of Matplotlib that notebooks show, whether pyplot was imported or not."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

__all__ = ["NotebookFigure"]


class NotebookFigure(Figure):
    """A figure that knows itself as a picture."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=100)
        return buffer.getvalue()
