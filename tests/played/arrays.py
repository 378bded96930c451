"""CuPy's arrays, played by NumPy's: the same answers, and the same refusals.

An array here wraps one of NumPy and is none. It does not mix with NumPy's arrays, does not become one unless it is
asked to (``get``), is indexed by its own kind, and its reductions are arrays without dimensions, as on a device where
nothing comes back before someone looks. It lies on one device, and only that device computes with it: others have to
copy it (``asarray``). Functions are those of CuPy that Galton uses, with CuPy's parameters: what
CuPy does not take, NumPy is not asked. Fresh memory holds garbage.

One refusal is stricter than CuPy's: NumPy's ufuncs, which CuPy takes, but only after loading SciPy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .devices import Device, devices, memory

__all__ = ["FUNCTIONS", "ndarray"]

GARBAGE = 0xDB


class Pointer:
    """``array.data``."""

    def __init__(self, host: np.ndarray) -> None:
        if not host.flags.c_contiguous:
            raise ValueError("a kernel would get the first number of an array that has gaps")
        self.ptr = host.ctypes.data


def _operator(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda self, *others: _computed(ufunc, self, *others)


def _reflected(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda self, other: _computed(ufunc, other, self)


def _in_place(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda self, other: _computed(ufunc, self, other, out=self)


class Operators:
    """What stands between arrays, or before one. It is the device's own, as with CuPy: NumPy has no part in it."""

    __slots__ = ()

    __lt__, __le__, __eq__ = _operator(np.less), _operator(np.less_equal), _operator(np.equal)
    __gt__, __ge__, __ne__ = _operator(np.greater), _operator(np.greater_equal), _operator(np.not_equal)
    __neg__, __pos__, __abs__ = _operator(np.negative), _operator(np.positive), _operator(np.absolute)
    __invert__ = _operator(np.invert)


for _name, _ufunc in {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}.items():
    setattr(Operators, f"__{_name}__", _operator(_ufunc))
    setattr(Operators, f"__r{_name}__", _reflected(_ufunc))
    setattr(Operators, f"__i{_name}__", _in_place(_ufunc))


class ndarray(Operators):
    """``cupy.ndarray``."""

    __slots__ = ("_host", "_place")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, host: Any, place: int | None = None) -> None:
        self._host: np.ndarray = np.asarray(host)
        self._place = devices.current if place is None else place  # views lie where their array lies

    def _here(self) -> np.ndarray:
        """Its numbers, for the device that computes."""
        if self._place != devices.current:
            raise ValueError(
                "Array device must be same as the current device: "
                f"array device = {self._place} while current = {devices.current}"
            )
        return self._host

    # Where CuPy and NumPy meet.

    def get(self) -> np.ndarray:
        """A copy on the host."""
        return self._host.copy()

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        raise TypeError(
            f"NumPy's {ufunc.__name__} of an array on a device: CuPy loads all of SciPy for that, which takes 0.35 s; "
            f"call namespace(array).{ufunc.__name__} of galton.device.arrays, or use an operator that has the array, "
            "not a NumPy number, on its left"
        )

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, options: Any) -> Any:
        ours = FUNCTIONS.get(function.__name__)
        return NotImplemented if ours is None else ours(*args, **options)

    # What an array is.

    dtype = property(lambda self: self._host.dtype)
    shape = property(lambda self: self._host.shape)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    flags = property(lambda self: self._host.flags)
    data = property(lambda self: Pointer(self._host))
    device = property(lambda self: Device(self._place))
    T = property(lambda self: ndarray(self._host.T, self._place))

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, where: Any) -> ndarray:
        found = self._host[_index(where)]
        if isinstance(found, np.ndarray) and (np.shares_memory(found, self._host) or not found.size):
            return ndarray(found, self._place)
        if not isinstance(found, np.ndarray):  # one number: CuPy gives a view, not a copy
            whole = _index(where)
            return ndarray(self._host[(*whole, ...) if isinstance(whole, tuple) else (whole, ...)], self._place)
        self._here()
        return fresh(found)

    def __setitem__(self, where: Any, value: Any) -> None:
        self._here()[_index(where)] = _operand(value)

    # One number, when it is asked for.

    def __bool__(self) -> bool:
        return bool(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __format__(self, how: str) -> str:
        return format(self._host, how)

    def __repr__(self) -> str:
        return f"played({self._host!r})"

    def __str__(self) -> str:
        return str(self._host)

    def item(self) -> Any:
        """The only number."""
        return self._host.item()

    def tolist(self) -> Any:
        """On the host."""
        return self._host.tolist()

    # Others.

    def view(self, dtype: Any = None) -> ndarray:
        """The same bytes as another type."""
        return ndarray(self._host.view(dtype) if dtype is not None else self._host.view(), self._place)

    def astype(self, dtype: Any, copy: bool = True) -> ndarray:
        """As another type."""
        if not copy and self.dtype == dtype:
            return self
        return fresh(self._here().astype(dtype))

    def copy(self) -> ndarray:
        """Another array, on the device that is used."""
        return fresh(self._host.copy())

    def fill(self, value: Any) -> None:
        """One number everywhere."""
        self._here().fill(_operand(value))

    def reshape(self, *shape: Any) -> ndarray:
        """In another shape."""
        return ndarray(self._host.reshape(*shape), self._place)

    def transpose(self, *axes: int) -> ndarray:
        """With other axes first."""
        return ndarray(self._host.transpose(*axes), self._place)

    def ravel(self) -> ndarray:
        """In one dimension."""
        return ndarray(self._host.ravel(), self._place)

    def max(self, axis: Any = None) -> ndarray:
        """The greatest."""
        return fresh(self._here().max(axis))

    def min(self, axis: Any = None) -> ndarray:
        """The least."""
        return fresh(self._here().min(axis))

    def sum(self, axis: Any = None, dtype: Any = None) -> ndarray:
        """The sum."""
        return fresh(self._here().sum(axis, dtype=dtype))

    def any(self, axis: Any = None) -> ndarray:
        """Whether any are true."""
        return fresh(self._here().any(axis))

    def all(self, axis: Any = None) -> ndarray:
        """Whether all are true."""
        return fresh(self._here().all(axis))

    def argmax(self, axis: Any = None) -> ndarray:
        """Where the greatest is."""
        return fresh(self._here().argmax(axis))

    def nonzero(self) -> tuple[ndarray, ...]:
        """Where numbers are not 0."""
        return tuple(map(fresh, self._here().nonzero()))

    def argmin(self, axis: Any = None) -> ndarray:
        """Where the least is."""
        return fresh(self._here().argmin(axis))


def fresh(found: Any) -> ndarray:
    """An array in memory of its own."""
    host = np.asarray(found)
    memory.allocate(host)
    return ndarray(host)


def _computed(ufunc: np.ufunc, *inputs: Any, **options: Any) -> Any:
    """What a ufunc or an operator of CuPy gives."""
    if not set(options) <= {"out", "dtype", "casting"}:
        raise TypeError(f"CuPy does not take {sorted(options)}")
    out = options.get("out")
    if out is not None and not isinstance(out, ndarray):
        raise TypeError("the result of a device's arrays cannot be written to a NumPy array")
    with np.errstate(all="ignore"):  # a device does not warn
        found = ufunc(*map(_operand, inputs), **{name: _inner(value) for name, value in options.items()})
    if out is not None:
        return out
    return tuple(map(fresh, found)) if isinstance(found, tuple) else fresh(found)


def _operand(value: Any) -> Any:
    """What stands beside a device's array: another, or a number."""
    if isinstance(value, ndarray):
        return value._here()
    if isinstance(value, (bool, int, float, np.generic)):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def _index(where: Any) -> Any:
    if isinstance(where, tuple):
        return tuple(map(_index, where))
    if isinstance(where, np.ndarray):
        raise TypeError("an index on the host; CuPy would copy it to the device, every time")
    return where._here() if isinstance(where, ndarray) else where


def _inner(value: Any) -> Any:
    """A parameter, whatever it is; no array of NumPy."""
    if isinstance(value, ndarray):
        return value._here()
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, (tuple, list)):
        return type(value)(map(_inner, value))
    return value


# Functions.


def _created(name: str) -> Callable[..., ndarray]:
    """``zeros`` and the like: there is no array among the parameters."""
    numpy = getattr(np, name)

    def function(*args: Any, **options: Any) -> ndarray:
        return fresh(numpy(*map(_inner, args), **{key: _inner(value) for key, value in options.items()}))

    return function


def _empty(shape: Any, dtype: Any = float) -> ndarray:
    host = np.empty(shape, dtype=dtype)
    host.reshape(-1).view(np.uint8).fill(GARBAGE)
    return fresh(host)


def _sent(given: Any, dtype: Any = None) -> ndarray:
    if isinstance(given, ndarray):
        here = given
        if given._place != devices.current:
            memory.crossed(given.nbytes, given._place)
            here = given.copy()
        return here if dtype is None or here.dtype == dtype else here.astype(dtype)
    memory.crossed(np.asarray(given).nbytes, None)
    return fresh(np.array(given, dtype=dtype))


def _copied(given: Any, dtype: Any = None) -> ndarray:
    there = isinstance(given, ndarray)
    if not there or given._place != devices.current:
        memory.crossed(given.nbytes if there else np.asarray(given).nbytes, given._place if there else None)
    return fresh(np.array(given._host if there else given, dtype=dtype))


def _asnumpy(given: Any) -> np.ndarray:
    return given.get() if isinstance(given, ndarray) else np.asarray(given)


def _of_arrays(name: str, signature: str) -> Callable[..., Any]:
    """A function of arrays, with the parameters that CuPy has."""
    numpy = getattr(np, name)
    parameters = inspect.signature(eval(f"lambda {signature}: None"))

    def function(*args: Any, **options: Any) -> Any:
        given = parameters.bind(*args, **options)
        arrays = [value for value in given.arguments.values() if isinstance(value, (ndarray, tuple, list))]
        if not arrays:
            raise TypeError(f"{name} needs an array of the device")
        out = given.arguments.get("out")
        with np.errstate(all="ignore"):
            found = numpy(*map(_inner, given.args), **{key: _inner(value) for key, value in given.kwargs.items()})
        if out is not None:
            return out
        return tuple(map(fresh, found)) if isinstance(found, tuple) else fresh(found)

    return function


def _repeat(array: ndarray, repeats: Any, axis: Any = None) -> ndarray:
    if isinstance(repeats, (ndarray, np.ndarray)):
        raise TypeError("repeat takes counts of the host only: a number, or a list of them")
    return fresh(np.repeat(array._here(), repeats, axis))


def _lexsort(keys: Any) -> ndarray:
    if not isinstance(keys, ndarray):
        raise TypeError("lexsort takes one array of keys")
    return fresh(np.lexsort(keys._here()))


def _searchsorted(array: ndarray, found: Any, side: str = "left") -> ndarray:
    if not isinstance(found, ndarray):
        raise NotImplementedError("Only cupy.ndarray is supported")
    return fresh(np.searchsorted(array._here(), found._here(), side))


class Ufunc:
    """A ufunc of CuPy: called, or ``at`` places; no ``reduceat``."""

    AT: ClassVar = ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")

    def __init__(self, name: str) -> None:
        self._numpy: np.ufunc = getattr(np, name)

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        if not any(isinstance(value, ndarray) for value in inputs):
            raise TypeError("a ufunc of the device needs an array there")
        return _computed(self._numpy, *inputs, **options)

    def at(self, array: ndarray, places: Any, values: Any) -> None:
        """In place, each place as often as it is named."""
        if self._numpy.__name__ not in self.AT:
            raise NotImplementedError
        if self._numpy in (np.minimum, np.maximum) and array._host.dtype == np.float64:
            raise TypeError("CuPy's atomic minimum and maximum of doubles round to single precision")
        self._numpy.at(array._here(), _index(places), _operand(values))


_SIGNATURES = {
    "abs": "x, out=None",
    "append": "arr, values, axis=None",
    "all": "a, axis=None, out=None, keepdims=False",
    "any": "a, axis=None, out=None, keepdims=False",
    "argmax": "a, axis=None",
    "argmin": "a, axis=None",
    "argsort": "a, axis=-1, kind=None",
    "array_equal": "a1, a2, equal_nan=False",
    "ascontiguousarray": "a, dtype=None",
    "bincount": "x, weights=None, minlength=0",
    "broadcast_to": "array, shape",
    "clip": "a, a_min, a_max, out=None",
    "concatenate": "tup, axis=0, out=None, *, dtype=None",
    "count_nonzero": "a, axis=None",
    "cumsum": "a, axis=None, dtype=None, out=None",
    "diff": "a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue",
    "einsum": "subscripts, *operands",
    "empty_like": "a, dtype=None",
    "flatnonzero": "a",
    "full_like": "a, fill_value, dtype=None",
    "isin": "element, test_elements, assume_unique=False, invert=False",
    "max": "a, axis=None, out=None, keepdims=False",
    "min": "a, axis=None, out=None, keepdims=False",
    "nonzero": "a",
    "ones_like": "a, dtype=None",
    "partition": "a, kth, axis=-1",
    "sort": "a, axis=-1, kind=None",
    "stack": "tup, axis=0",
    "sum": "a, axis=None, dtype=None, out=None, keepdims=False",
    "unique": "ar, return_index=False, return_inverse=False, return_counts=False",
    "where": "condition, x, y",
    "zeros_like": "a, dtype=None",
}
# fmt: off
_UFUNCS = (
    "add", "ceil", "divide", "equal", "floor", "fmin", "greater", "isfinite", "isinf", "isnan", "ldexp", "less",
    "less_equal", "log", "logical_and", "logical_not", "logical_or", "maximum", "minimum", "mod", "multiply",
    "negative", "nextafter", "not_equal", "power", "signbit", "sqrt", "subtract",
)
# fmt: on

FUNCTIONS: dict[str, Any] = {
    **{name: _created(name) for name in ("arange", "full", "ones", "zeros")},
    **{name: _of_arrays(name, signature) for name, signature in _SIGNATURES.items()},
    **{name: Ufunc(name) for name in _UFUNCS},
    "array": _copied,
    "asarray": _sent,
    "asnumpy": _asnumpy,
    "empty": _empty,
    "lexsort": _lexsort,
    "ndim": lambda array: array.ndim,
    "shape": lambda array: array.shape,
    "repeat": _repeat,
    "searchsorted": _searchsorted,
}
