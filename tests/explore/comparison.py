"""A built model against what the oracle says, and two builds against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import oracle

from galton.lang.program import Program
from galton.model.sparse import Model
from galton.model.states import PackedStates

RELATIVE = 1e-12

Entries = list[tuple[int, float]]
Choice = tuple[str, Entries, list[float]]  # action, targets with values, a reward for each structure


def check(program: Program, expected: oracle.Reachable, *, threads: Sequence[int]) -> Model:
    """Build with each number of threads; everything must be as expected and the same to the last bit."""
    assert list(differences(program.build(threads=1), expected)) == []
    chain = program.type != "mdp"
    models = [program.build(threads=count, transition_rewards=chain) for count in threads]
    for model in models:
        model.validate()
        assert list(differences(model, expected, of_transitions=chain)) == []
    for count, model in zip(threads[1:], models[1:], strict=True):
        assert list(changes(models[0], model)) == [], f"{threads[0]} and {count} threads"
    return models[0]


# Against the oracle


def differences(model: Model, expected: oracle.Reachable, *, of_transitions: bool = False) -> Iterator[str]:
    """Where a model is not what it should be, in words; ``of_transitions`` if it has the rewards of transitions."""
    states = list(expected.rows)
    found = [tuple(state.values()) for state in model.states or ()]
    if found != states:
        missing, extra = sorted(set(states) - set(found)), sorted(set(found) - set(states))
        yield f"states: {len(found)}, expected {len(states)}; missing {missing[:5]}, not reachable {extra[:5]}"
        return
    if model.type != expected.program.type:
        yield f"type {model.type}"
    number = {state: index for index, state in enumerate(states)}
    initial = sorted(number[state] for state in expected.initial)
    if model.initial.tolist() != initial:
        yield f"initial {model.initial.tolist()}, expected {initial}"
    yield from _label_differences(model, expected)
    if list(model.rewards) != expected.reward_names:
        yield f"rewards {list(model.rewards)}, expected {expected.reward_names}"
        return
    yield from _row_differences(model, expected, number)
    yield from _state_reward_differences(model, expected)
    if of_transitions:
        yield from _entry_reward_differences(model, expected, number)


def _label_differences(model: Model, expected: oracle.Reachable) -> Iterator[str]:
    initial = set(expected.initial)
    masks = {"init": [state in initial for state in expected.rows]}
    masks["deadlock"] = [row.deadlock for row in expected.rows.values()]
    for name in expected.program.labels:
        masks[name] = [row.labels[name] for row in expected.rows.values()]
    if list(model.labels) != list(masks):
        yield f"labels {list(model.labels)}, expected {list(masks)}"
        return
    for name, mask in masks.items():
        if model.labels[name].tolist() != mask:
            yield f"label {name}: {np.flatnonzero(model.labels[name])}, expected {np.flatnonzero(mask)}"


def _row_differences(model: Model, expected: oracle.Reachable, number: dict[oracle.State, int]) -> Iterator[str]:
    rewards = [_or_zeros(model.rewards[name].choice, model.n_choices) for name in expected.reward_names]
    ordered = oracle.canonical_order(expected.program)
    for state, row in expected.rows.items():
        wanted = [_expected_choice(choice, number) for choice in row.choices]
        found = _found_choices(model, number[state], rewards)
        if not _same_choices(found, wanted, ordered):
            yield f"choices of {state}:\n  found    {found}\n  expected {wanted}"
            return  # one is enough to look at


def _expected_choice(choice: oracle.Choice, number: dict[oracle.State, int]) -> Choice:
    entries = sorted((number[target], float(value)) for target, value in choice.distribution.items())
    return choice.action, entries, [float(reward) for reward in choice.rewards]


def _found_choices(model: Model, state: int, rewards: list[np.ndarray]) -> list[Choice]:
    transitions = model.transitions(state)
    return [
        (action, [(target, value) for value, target in pairs], [float(reward[choice]) for reward in rewards])
        for choice, (action, pairs) in zip(model.choices(state), transitions, strict=True)
    ]


def _same_choices(found: list[Choice], wanted: list[Choice], ordered: bool) -> bool:
    if len(found) != len(wanted):
        return False
    if ordered:
        return all(map(_same_choice, found, wanted))
    left = list(wanted)
    for choice in found:  # every one must find its own partner
        partner = next((other for other in left if _same_choice(choice, other)), None)
        if partner is None:
            return False
        left.remove(partner)
    return True


def _same_choice(found: Choice, wanted: Choice) -> bool:
    if found[0] != wanted[0] or [target for target, _ in found[1]] != [target for target, _ in wanted[1]]:
        return False
    values = [value for _, value in found[1]], [value for _, value in wanted[1]]
    return np.allclose(*values, rtol=RELATIVE, atol=0) and _close(found[2], wanted[2])


def _state_reward_differences(model: Model, expected: oracle.Reachable) -> Iterator[str]:
    for position, name in enumerate(expected.reward_names):
        wanted = [float(row.state_rewards[position]) for row in expected.rows.values()]
        found = _or_zeros(model.rewards[name].state, model.n_states)
        if not _close(found, wanted):
            yield f"state rewards {name!r}: {found}, expected {wanted}"


def _entry_reward_differences(
    model: Model, expected: oracle.Reachable, number: dict[oracle.State, int]
) -> Iterator[str]:
    """The rewards of single entries of a chain."""
    for position, name in enumerate(expected.reward_names):
        found = _or_zeros(model.rewards[name].transition, model.n_transitions)
        for state, row in expected.rows.items():
            entries: dict[oracle.State, Fraction] = row.entry_rewards[position] if row.entry_rewards else {}
            wanted = [float(reward) for _, reward in sorted((number[target], r) for target, r in entries.items())]
            part = found[model.row_starts[number[state]] : model.row_starts[number[state] + 1]]
            if not _close(part, wanted):
                yield f"rewards {name!r} of the transitions of {state}: {part}, expected {wanted}"
                return


def _or_zeros(part: np.ndarray | None, length: int) -> np.ndarray:
    return np.zeros(length) if part is None else part


def _close(found: Sequence[float] | np.ndarray, wanted: Sequence[float]) -> bool:
    return np.shape(found) == np.shape(wanted) and np.allclose(found, wanted, rtol=RELATIVE, atol=RELATIVE)


# Against another build


def changes(one: Model, other: Model) -> Iterator[str]:
    """The arrays in which two models differ by as much as a bit."""
    mine, theirs = dict(_arrays(one)), dict(_arrays(other))
    if list(mine) != list(theirs):
        yield f"parts {list(mine)} and {list(theirs)}"
    for name in mine.keys() & theirs.keys():
        if not _same_bits(mine[name], theirs[name]):
            yield f"{name} differ"


def _same_bits(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return type(one) is type(other) and bool(one == other)


def _arrays(model: Model) -> Iterator[tuple[str, Any]]:
    for name in ("type", "choice_starts", "row_starts", "columns", "initial", "actions", "choice_actions"):
        yield name, getattr(model, name)
    for name in ("plain", "dictionary", "index"):
        yield f"values.{name}", getattr(model.values, name)
    for name, mask in model.labels.items():
        yield f"label {name}", mask
    for name, rewards in model.rewards.items():
        for part in ("state", "choice", "transition"):
            yield f"rewards {name} {part}", getattr(rewards, part)
    assert isinstance(model.states, PackedStates)
    yield "fields", model.states.fields
    yield "words", model.states.words
