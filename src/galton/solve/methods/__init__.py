"""The methods that can be chosen by hand, by name; each is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from ...lang.source import GaltonError
from ...lang.stream import nearest
from ..requirements import Requirement, insist

if TYPE_CHECKING:
    from ..equations import Equations
    from ..settings import Settings
    from ..solution import Solution
    from .base import Method

__all__ = [
    "BACKWARD",
    "DEFAULT",
    "FORWARD",
    "MEANT_FOR",
    "METHODS",
    "RATIONAL",
    "RELAXED",
    "TIMED",
    "TIMED_ON_HOST",
    "TOPOLOGICAL",
    "balances",
    "check_name",
    "find",
    "inner_name",
    "insist_on_choices",
    "method",
    "requirements",
    "runs_on_device",
    "sweeps_in_formats",
    "sweeps_in_single",
]

DEFAULT = "sound"
TOPOLOGICAL = "topological"
FORWARD, BACKWARD, RATIONAL = TIMED = ("adaptive-uniformisation", "uniformisation", "rational-krylov")
TIMED_ON_HOST = (FORWARD, RATIONAL)
MEANT_FOR = {
    FORWARD: "CTMCs within a time, from one state",
    BACKWARD: "CTMCs within a time",
    RATIONAL: "CTMCs within a time",
}
INNER = "value-iteration"  # what works inside if nothing is said
RELAXED = ("jor", "sor")  # those that take --omega

# All others, for unbounded paths and rewards: the module of each has its METHOD.
METHODS = (
    "jacobi",
    "jor",
    "gauss-seidel",
    "backward-gauss-seidel",
    "sor",
    "power",
    "bicgstab",
    "gmres",
    "direct",
    "value-iteration",
    "policy-iteration",
    "optimistic",
    "interval",
)


def method(name: str) -> Method:
    """A method by its name."""
    found: Method = import_module(f".{name.replace('-', '_')}", __package__).METHOD
    return found


def find(name: str) -> tuple[Callable[[Equations, Settings, Method], Solution] | None, Method]:
    """What ``--method`` says: a method alone, or one inside another that goes component by component."""
    check_name(name)
    outer, _, inner = name.partition(":")
    if outer != TOPOLOGICAL:
        return None, method(outer)
    from .topological import solve

    return solve, method(inner or INNER)


def inner_name(name: str | None) -> str | None:
    """The method that does the work: the one inside, for one that goes component by component."""
    outer, _, inner = (name or "").partition(":")
    return name if outer != TOPOLOGICAL else inner or INNER


def runs_on_device(name: str) -> bool:
    """Whether a method needs nothing but primitives; going component by component needs an order that devices lack."""
    return not _required_by(name) & {Requirement.ON_HOST, Requirement.SEGMENTS}


def balances(name: str) -> bool:
    """Whether a method finds stationary distributions; each component is solved by itself, whatever goes around it."""
    outer, found = find(name)
    return outer is None and found.balances is not None


def sweeps_in_single(name: str) -> bool:
    """Whether a method may sweep with vectors in single precision on a device."""
    outer, found = find(name)
    return outer is None and found.in_single


def sweeps_in_formats(name: str) -> bool:
    """Whether the format of the matrix makes a difference to a method on a device."""
    return find(name)[1].in_formats


def requirements(settings: Settings) -> tuple[str, frozenset[Requirement]]:
    """The method for unbounded questions, and what it requires of their equations."""
    name = settings.method if settings.by_hand and settings.method else DEFAULT
    return name, _required_by(name)


def _required_by(name: str) -> frozenset[Requirement]:
    if name == DEFAULT:
        return frozenset({Requirement.ONE_SOLUTION, Requirement.NOT_NEGATIVE})
    outer, inner = find(name)
    return inner.requires if outer is None else inner.requires | {Requirement.SEGMENTS}


def insist_on_choices(settings: Settings) -> None:
    """Refuse a method for chains where states have choices."""
    name, required = requirements(settings)
    insist(inner_name(name) or name, required & {Requirement.CHAIN}, ())


def check_name(name: str) -> None:
    """Refuse names that nobody has."""
    outer, colon, inner = name.partition(":")
    if name in METHODS or name in (DEFAULT, *TIMED, TOPOLOGICAL) or (outer == TOPOLOGICAL and inner in METHODS):
        return
    if colon and outer in (*METHODS, DEFAULT, *TIMED):
        raise GaltonError(f"only {TOPOLOGICAL} takes another method inside, as in {TOPOLOGICAL}:gauss-seidel")
    wrong = inner if outer == TOPOLOGICAL else name
    hint = nearest(wrong, METHODS if outer == TOPOLOGICAL else (*METHODS, DEFAULT, *TIMED, TOPOLOGICAL))
    where = f" to go inside {TOPOLOGICAL}" if outer == TOPOLOGICAL else ""
    known = ", ".join(METHODS if where else (DEFAULT, *METHODS, *TIMED, f"{TOPOLOGICAL}[:METHOD]"))
    raise GaltonError(f"there is no method '{wrong}'{where}{f'; {hint}' if hint else ''} (there are {known})")
