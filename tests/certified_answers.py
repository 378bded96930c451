"""Every answer about a small model, certified: what a test asks, the verifier confirms beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from unittest.mock import patch

import galton
from galton.certify import certified
from galton.checking import answering as checking
from galton.checking.automaton_reading import Reading
from galton.lang.program import Program
from galton.lang.resolution import Question
from galton.model.sparse import Model
from galton.solve.settings import Settings
from galton.verifier import UncertifiableError, steps

SMALL = 300  # states
REPEATED = 10**5  # products, for bounds on steps, which the verifier makes one after the other
PRECISE = 1e-12  # what is asked for more precisely than this has bounds that only rounding keeps apart


@contextmanager
def certified_answers() -> Iterator[None]:
    """While this lasts, an answer that could be certified and is not confirmed is an error."""
    ask = checking._check

    def ask_and_certify(
        program: Program,
        model: Model,
        question: Question,
        settings: Settings,
        strategy: bool,
        reading: Reading | None,
    ) -> galton.Result:
        found = ask(program, model, question, settings, strategy, reading)
        if reading is not None:  # about a product, for which there are no certificates
            return found
        certain = found.proved and found.value is not None and settings.eps >= PRECISE
        if model.n_states <= SMALL and certain and not settings.fair:  # certificates are about all strategies
            with suppress(UncertifiableError):
                certified(found, program, model, question)
        return found

    with patch.object(checking, "_check", ask_and_certify), patch.object(steps, "MANY", REPEATED):
        yield
