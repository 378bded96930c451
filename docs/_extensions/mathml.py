"""Formulas as MathML, which browsers draw by themselves: MathJax would come from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def markup(node: nodes.Element, *, block: bool) -> str:
    """The formula of a node."""
    return str(tex2mathml(node.astext().strip(), as_block=block))


def visit_math(translator: Any, node: nodes.math) -> None:
    translator.body.append(markup(node, block=False))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{markup(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
