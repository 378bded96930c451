"""The same question about a formula, asked in different ways: the answers have to agree."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
from ltl_pairs import Pair

import galton
from galton.checking.answering import check
from galton.checking.automaton_product import product
from galton.checking.automaton_reading import Reading, reading_of
from galton.checking.result import Result
from galton.explore import build
from galton.explore.evaluate import evaluate_states
from galton.lang import Source, parse_properties
from galton.lang.program import Program
from galton.lang.resolution import Question, resolve
from galton.lower.reader import READER, Reader
from galton.model.sparse import Model


def asked(program: Program, prop: str) -> tuple[Program, Question]:
    """A property in the context of a program."""
    context, (question,) = resolve(parse_properties(Source("property", prop)), program, {})
    return context, question


def reading(program: Program, prop: str) -> Reading:
    """The automaton of a property that is explored with the program; it has to be."""
    context, question = asked(program, prop)
    found = reading_of(question, context)
    assert found is not None, prop
    return found


def without_ends(reader: Reader) -> Reader:
    """A reader that goes on for ever, as the product of a model does."""
    return Reader(reader.propositions, reader.successor, reader.initial, np.zeros(len(reader.final), dtype=np.bool_))


def both_products(program: Program, prop: str) -> tuple[Model, Model]:
    """The product that the explorer makes of all of a program, and that of its model."""
    found = reading(program, prop)
    lowered = build(program, reader=without_ends(found.reader))
    model = build(program)
    source = Source("property", prop)
    masks = evaluate_states(program, model, found.reader.propositions, source)
    explicit = product(model, found.automaton, masks, model.initial)
    return lowered, explicit.model


def same_products(program: Program, prop: str) -> str:
    """What differs between both products, in words; empty where nothing does."""
    lowered, explicit = both_products(program, prop)
    if (lowered.n_states, lowered.n_choices) != (explicit.n_states, explicit.n_choices):
        return (
            f"{lowered.n_states} states and {lowered.n_choices} choices, {explicit.n_states} and {explicit.n_choices}"
        )
    if lowered.n_transitions != explicit.n_transitions:
        return f"{lowered.n_transitions} transitions and {explicit.n_transitions}"
    ours, theirs = (np.sort(model.values[:]) for model in (lowered, explicit))
    return "" if np.array_equal(ours, theirs) else "other values"


def on_the_model(program: Program, prop: str) -> Result:
    """The answer by way of the product with a model that was built before."""
    return galton.check(build(program), prop)


def ask_of(model: Model, program: Program, prop: str) -> Result:
    """The answer of a model whose states have the variables of a program."""
    context, question = asked(program, prop)
    return check(context, model, question)


def meet(one: Result, other: Result) -> bool:
    """Whether two answers can both be right."""
    if isinstance(one.value, bool) or isinstance(other.value, bool):
        return one.value == other.value
    assert one.lower is not None
    assert one.upper is not None
    assert other.lower is not None
    assert other.upper is not None
    return max(one.lower, other.lower) <= min(one.upper, other.upper)


def storms_answers(pair: Pair) -> list[float]:
    """What Storm says to the questions of a pair."""
    import stormpy

    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.prism"
        path.write_text(pair.program)
        program = stormpy.parse_prism_program(str(path), prism_compatibility=True, simplify=False)
        for text in pair.questions:
            (prop,) = stormpy.parse_properties(text, program)
            model = stormpy.build_model(program, [prop])
            found.append(stormpy.model_checking(model, prop).get_value(model.initial_states[0]))
    return found


def agrees(result: Result, number: float) -> bool:
    """Whether an answer holds a number of Storm, which is precise to about 1e-6, relatively.

    A least probability it has as one minus a greatest, so that only its distance from 1 is: 5e-5 off for 0.0004947827.
    """
    assert result.lower is not None
    assert result.upper is not None
    slack = 2e-6 * abs(number) + 1e-9
    if result.formula.startswith("Pmin"):
        slack += 2e-6 * abs(1 - number)
    return math.isfinite(number) and result.lower - slack <= number <= result.upper + slack


def memory_states(model: Model) -> int:
    """How many states of the automaton occur in a product."""
    assert model.states is not None
    return len(np.unique(model.states.column(READER)))
