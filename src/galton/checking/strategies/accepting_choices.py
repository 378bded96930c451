"""What a strategy does in end components whose runs an automaton accepts: stay, and meet what is asked for again and
again.

Each generalised Rabin pair asks for one mark (:mod:`galton.automata.rabin`), so that no more memory is needed than the
automaton's state.
"""

from __future__ import annotations

import numpy as np

from ...automata.acceptance import Acceptance
from ...device.arrays import namespace
from ...model.sparse import Int32s, Mask, Model
from ...reduce.end_components import ways_inside
from ..automaton_product import Marks, pair_components
from .graph_choices import first_rows

__all__ = ["accepting_choices"]


def accepting_choices(model: Model, marks: Marks, acceptance: Acceptance, within: Mask | None) -> Int32s:
    """Return ``(states,)`` choices with which runs that are in accepted end components stay there and are accepted.

    It is -1 in other states; ``within`` are the states that the components may have, None for all.
    """
    choices: Int32s = namespace(model.columns).full(model.n_states, -1, dtype=np.int32)
    for pair, found, accepted in pair_components(model, marks, acceptance, within=within):
        # Who comes to where an earlier pair decides stays there, and is accepted.
        decided = choices >= 0
        mine = accepted & ~decided
        rows = first_rows(model, found.staying)
        if pair.inf:
            met = (marks & pair.inf != 0) | decided
            rows = np.where(mine & ~met, ways_inside(model, mine & ~met, accepted & met, found.staying), rows)
        choices = np.where(mine, rows, choices).astype(np.int32)
    return choices
