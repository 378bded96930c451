"""What can be asked of a worker: a function for each ask, by its name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..trouble import RequestError

if TYPE_CHECKING:
    from .desk import Desk
    from .reading import Given

__all__ = ["function_of", "warm_up"]

# The module of each, which is loaded when it is asked for; the function has the name of the ask.
HOME = {
    **dict.fromkeys(("diagnose", "hover", "complete", "definition", "references", "rename", "format"), "editing"),
    **dict.fromkeys(("check", "pareto", "synth_at"), "checking"),
    "experiment": "experiments",
    **dict.fromkeys(("build", "graph", "values", "sets", "states", "state", "matrix"), "states"),
    **dict.fromkeys(("sim_start", "sim_step", "sim_back", "sim_play", "sim_end"), "paths"),
    "synth": "regions",
    "export": "exporting",
    "copy": "copying",
}


def function_of(ask: str) -> Callable[[Desk, Given], Any]:
    """The function that answers an ask."""
    if ask not in HOME:
        raise RequestError(f"nobody can ask {ask[:40]!r}")
    found: Callable[[Desk, Given], Any] = getattr(import_module(f".{HOME[ask]}", __package__), ask.replace("-", "_"))
    return found


def warm_up() -> None:
    """Import what most answers need, and build a model once, so that the first answer comes as fast as others."""
    from ...api import check
    from ...programs import parse

    for name in ("checking", "editing", "states"):
        import_module(f".{name}", __package__)
    import_module("scipy.sparse.csgraph")
    program = parse("dtmc  module m  x : [0..2];  [] x<2 -> 0.5:(x'=x+1) + 0.5:(x'=0);  endmodule")
    check(program, "P=? [ F x=2 ]")
