"""The stand-in for CuPy: what it refuses, and that it has nothing CuPy has not."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from . import _names_with_cupy, played_cupy, played_device
from .arrays import _SIGNATURES, FUNCTIONS, ndarray
from .devices import CUDARuntimeError

CP = played_cupy()
ONES = CP.ones(3)
NUMBERS = np.arange(3)

REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("sums with arrays of the host", lambda: ONES + NUMBERS),
    ("the same the other way round", lambda: NUMBERS + ONES),
    ("arrays of the host without dimensions", lambda: ONES + np.asarray(1.0)),
    ("choosing from an array of the host", lambda: np.where(ONES > 0, NUMBERS, 0)),
    ("becoming one of them", lambda: np.asarray(ONES)),
    ("being a truth of the host", lambda: np.bool_(ONES.all())),
    ("an index of the host", lambda: ONES[NUMBERS]),
    ("an index of the device for the host", lambda: NUMBERS[CP.zeros(1, dtype=np.int32)]),
    ("values of the host", lambda: ONES.__setitem__(slice(None), NUMBERS)),
    ("a result on the host", lambda: CP.add(ONES, 1, out=np.empty(3))),
    ("an initial value of a maximum", lambda: np.max(ONES, initial=0.0)),
    ("the least of doubles, by place", lambda: CP.minimum.at(ONES, CP.zeros(1, dtype=np.int32), ONES[:1])),
    ("as many as an array says", lambda: np.repeat(ONES, CP.ones(3, dtype=np.int32))),
    ("keys one by one", lambda: CP.lexsort((ONES, ONES))),
    ("being a place in a list", lambda: [1, 2][CP.ones(1, dtype=np.int32)[0]]),
    ("a pointer into what has gaps", lambda: CP.zeros(8)[::2].data.ptr),
]


@pytest.mark.parametrize("attempt", [attempt for _, attempt in REFUSED], ids=[name for name, _ in REFUSED])
def test_refused(attempt: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        attempt()


def test_answers_stay_on_the_device() -> None:
    total = (CP.arange(4) * np.float64(2.0)).sum()
    assert isinstance(total, ndarray)
    assert (total.shape, float(total), f"{total:g}") == ((), 12.0, "12")
    assert isinstance(np.where(CP.arange(4) > 1, 1.0, np.inf), ndarray)
    assert isinstance(CP.ones(2) > np.float64(0.5), ndarray)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: np.maximum(ONES, 0.0),
        lambda: np.isnan(ONES),
        lambda: np.add(ONES, 1, out=ONES),
        lambda: np.add.reduceat(ONES, CP.zeros(1, dtype=np.int32)),
        lambda: np.float64(2) * ONES,
        lambda: np.float64(0.5) < ONES,
        lambda: np.bool_(True) & (ONES > 0),
    ],
    ids=["maximum", "isnan", "out", "reduceat", "number times array", "number below array", "truth and mask"],
)
def test_once_loaded_scipy_for_a_ufunc_of_numpy(attempt: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="loads all of SciPy"):
        attempt()


def test_operators_are_those_of_the_device() -> None:
    two = np.float64(2)
    numbers = CP.arange(3) * two
    assert (2.0 * numbers).tolist() == (numbers * two).tolist() == [0, 4, 8]
    assert (1 - numbers).tolist() == (-(numbers - 1)).tolist() == [1, -1, -3]
    assert (abs(-numbers) >= two).tolist() == (~(numbers < 2)).tolist() == [False, True, True]
    held = numbers
    held += two
    assert numbers.tolist() == CP.maximum(two, numbers + 0).tolist() == [2, 4, 6]


def test_a_device_computes_with_its_own_arrays_only() -> None:
    with played_device(2) as cupy:
        here = cupy.arange(3)
        with cupy.cuda.Device(1):
            there = cupy.arange(3)
            for attempt in (lambda: here + 1, lambda: here.sum(), lambda: there[here], lambda: cupy.unique(here)):
                with pytest.raises(ValueError, match="array device = 0 while current = 1"):
                    attempt()
            assert (cupy.asarray(here) + there).tolist() == [0, 2, 4]
            assert (here[1:].device.id, here.copy().device.id, here.get()[1]) == (0, 1, 1)
        assert cupy.cuda.Device().id == 0
        with pytest.raises(CUDARuntimeError, match="invalid device"):
            cupy.cuda.Device(2).use()


def test_modules_that_import_cupy_are_found() -> None:
    names = _names_with_cupy()
    assert len(names) > 15
    with played_device() as cupy:
        for name in names:
            assert cupy in vars(sys.modules[name]).values(), name
    for name in names:
        assert cupy not in vars(sys.modules[name]).values(), name


def test_one_number_of_an_array_is_a_view() -> None:
    numbers = CP.zeros(3)
    one = numbers[1]
    numbers[1] = 5
    assert float(one) == 5


def test_fresh_memory_is_not_zero() -> None:
    assert (CP.empty(3, dtype=np.int32) != 0).all()


def test_it_has_nothing_that_cupy_has_not() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    assert [name for name in FUNCTIONS if not hasattr(cupy, name)] == []
    own = [name for name in vars(ndarray) if not name.startswith("_") or name.endswith("__")]
    python = {"__module__", "__doc__", "__slots__", "__hash__", "__init__"}
    assert [name for name in own if name not in python and not hasattr(cupy.ndarray, name)] == []
    for name, parameters in _SIGNATURES.items():
        theirs = getattr(cupy, name)
        if inspect.isfunction(theirs):
            ours = inspect.signature(eval(f"lambda {parameters}: None", {"np": np}))
            # The first is never given by name.
            assert set([*ours.parameters][1:]) <= {*inspect.signature(theirs).parameters}, name
