"""A model in a few lines, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from ..device.arrays import on_host
from ..lang.markup import facts
from .sparse import Model

__all__ = ["model_html"]

MANY = 12  # labels, rewards, variables and initial states that are listed


def model_html(model: Model) -> str:
    """A table about a model; its initial states by their variables."""
    rows = [("type", model.type.upper()), ("states", f"{model.n_states:,}")]
    if model.has_choices:
        rows.append(("choices", f"{model.n_choices:,}"))
    rows.append(("transitions", f"{model.n_transitions:,}"))
    several = len(model.initial) > 1
    rows.append((f"initial state{'s' * several}", _initial(model)))
    rows.append(("variables", _some((model.states.variables if model.states is not None else None) or ())))
    rows.append(("labels", _some([f"{name} ({int(mask.sum()):,})" for name, mask in model.labels.items()])))
    rows.append(("rewards", _some([name or "(unnamed)" for name in model.rewards])))
    rows.append(("actions", _some([name for name in model.actions if name])))
    rows.append(("memory", f"{model.memory / 1e6:,.1f} MB"))
    if model.build_seconds is not None:
        rows.append(("built in", f"{model.build_seconds:.3g} s"))
    rows += [("warning", warning) for warning in model.warnings]
    return facts(rows)


def _initial(model: Model) -> str:
    first = on_host(model.initial[:MANY]).tolist()
    shown = [str(number) if model.states is None else model.states.describe(number) for number in first]
    return _some(shown, len(model.initial))


def _some(parts: Sequence[str], count: int | None = None) -> str:
    total = len(parts) if count is None else count
    return ", ".join(parts[:MANY]) + (f", … ({total:,} in all)" if total > MANY else "")
