"""Valuations decoded from packed words, and states that are Python objects."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from galton.model import Field, ListedStates, PackedStates, State


def packed() -> PackedStates:
    """Four states of three variables in two words; c has one value and no bits."""
    fields = (Field("a", "int", -2, 0, 3, 2), Field("b", "bool", 0, 0, 1, 1), Field("c", "int", 9, 1, 0, 0))
    words = np.array([[0b00000, 0], [0b00010, 0], [0b01010, 0], [0b11000, 0]], dtype=np.uint64)
    return PackedStates(fields, words)


def test_decoding() -> None:
    states = packed()
    assert len(states) == 4
    assert states.variables == ("a", "b", "c")
    assert states[2] == {"a": -1, "b": True, "c": 9}
    assert states[-1] == states[np.int32(3)] == State({"a": 1, "b": False, "c": 9})
    assert list(states) == [states[i] for i in range(4)]
    assert [state.a for state in states[1:3]] == [-2, -1]
    assert states[2].b is True
    assert states.column("a").dtype == np.int32
    assert states.column("b").dtype == np.bool_
    assert [states.column(name).tolist() for name in "abc"] == [
        [-2, -2, -1, 1],
        [False, True, True, False],
        [9, 9, 9, 9],
    ]
    with pytest.raises(IndexError):
        states[4]


def test_find() -> None:
    states = packed()
    assert [states.find(state) for state in states] == [0, 1, 2, 3]
    assert states.find(a=1) == 3
    assert states.find({"a": -2}, b=True) == 1
    for values, message in [
        ({"a": 5}, "no state has a=5; a is between -2 and 1"),
        ({"a": 0}, "no state has a=0; a is between -2 and 1"),
        ({"a": 1, "b": True}, "no state has a=1, b=True: each of these values occurs, but not together"),
        ({"a": -2}, "2 states have a=-2, the first is 0; give b, c as well"),
        ({"z": 1}, "no variable 'z'; there are a, b, c"),
    ]:
        with pytest.raises(KeyError) as caught:
            states.find(**values)
        assert caught.value.args[0] == message


def test_state() -> None:
    state = State({"s": 7, "d": 6})
    assert repr(state) == "(s=7, d=6)"
    assert state.s == state["s"] == 7
    assert state == {"d": 6, "s": 7} != {"s": 7}
    assert {state: 1}[State({"d": 6, "s": 7})] == 1
    assert pickle.loads(pickle.dumps(state)) == state
    with pytest.raises(AttributeError, match="a state cannot be changed"):
        state.s = 1
    with pytest.raises(AttributeError, match="no variable 'x'; there are s, d"):
        _ = state.x


@given(st.data())
def test_packing_and_unpacking(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 5))
    kinds = [st.integers(-(2**31), 2**31 - 1), st.integers(0, 6), st.just(4), st.booleans()]
    columns = {
        f"v{i}": np.array(data.draw(st.lists(kind, min_size=n, max_size=n)), dtype=bool if kind is kinds[3] else int)
        for i, kind in enumerate(data.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=6)))
    }
    states = PackedStates.from_columns(columns)
    assert len(states) == n
    for name, column in columns.items():
        assert states.column(name).tolist() == column.tolist()
        assert [state[name] for state in states] == column.tolist()
    # The first variable is in the most significant bits, so packed rows compare as tuples of values do.
    rows = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    assert sorted(range(n), key=lambda i: rows[i]) == sorted(range(n), key=lambda i: states.words[i].tolist())
    again = pickle.loads(pickle.dumps(states))
    assert list(again) == list(states)


def test_more_than_32_bits_are_refused() -> None:
    with pytest.raises(ValueError, match=r"variable 'x' ranges over -1\.\.4294967295, more than 32 bits hold"):
        PackedStates.from_columns({"x": [-1, 2**32 - 1]})


def test_listed_states() -> None:
    @dataclass(frozen=True)
    class Point:
        x: int
        up: bool

    states = ListedStates(("x", "up"), [Point(3, True), Point(4, False)])
    assert states.find(Point(4, False)) == 1
    assert states.column("x").tolist() == [3, 4]
    assert states[1] == Point(4, False)
    assert list(states[1:]) == [Point(4, False)]
    with pytest.raises(KeyError, match="no state 'x' among the 2 states"):
        states.find("x")
    with pytest.raises(KeyError, match="no variable 'z'; there are x, up"):
        states.column("z")
    plain = pickle.loads(pickle.dumps(ListedStates(None, ["a", "b"])))
    assert plain.find("b") == 1
