"""What methods require of equations. Reductions and questions guarantee it; the planner holds one against the other."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from ..lang.source import GaltonError

__all__ = ["Requirement", "UnmetRequirementError", "insist"]


class Requirement(Enum):
    """A property of equations; its value says it in words."""

    ONE_SOLUTION = "one solution: every strategy leaves the unknowns, or costs infinitely much"
    NOT_NEGATIVE = "numbers that are not negative"
    CHAIN = "a chain: one row per unknown"
    SEGMENTS = "unknowns in the order of components, successors first"
    ON_HOST = "a matrix in the memory of the host"


class UnmetRequirementError(GaltonError):
    """A method that cannot solve these equations."""


# What to say, and to try, where a requirement is not met.
ADVICE = {
    Requirement.CHAIN: "solves the equations of chains, and an MDP has choices; take value-iteration, gauss-seidel, "
    "policy-iteration, optimistic or interval",
    Requirement.SEGMENTS: "goes component by component, and on a device all unknowns are solved together; take it with "
    "--device cpu, or name the method inside alone",
    Requirement.ON_HOST: "needs the matrix in the memory of the host; take it with --device cpu",
    Requirement.NOT_NEGATIVE: "is for numbers that are not negative, and some here are; there is no method for them",
    Requirement.ONE_SOLUTION: "needs equations with one solution, and here a strategy may stay among the unknowns for "
    "ever; their end components have to be collapsed",
}


def insist(name: str, requires: Iterable[Requirement], guaranteed: Iterable[Requirement]) -> None:
    """Raise an error that says what to do where a method requires what nothing guarantees."""
    missing = [requirement for requirement in Requirement if requirement in set(requires) - set(guaranteed)]
    if missing:
        raise UnmetRequirementError(f"{name} {ADVICE[missing[0]]}")
