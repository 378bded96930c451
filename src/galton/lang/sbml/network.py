"""What a reaction network is, once it is read: whole numbers of molecules, and reactions with their propensities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Channel", "Constant", "Network", "Species"]


@dataclass(frozen=True)
class Constant:
    """A parameter, or the size of a compartment; ``value`` is an expression, or None where the file has none."""

    name: str
    value: str | None
    what: str


@dataclass(frozen=True)
class Species:
    """A species by the name of its variable, and by that of the file.

    ``bound`` is None where nothing bounds it: then ``most`` is the constant that does.
    """

    name: str
    id: str
    initial: int
    most: str
    bound: int | None = None


@dataclass(frozen=True)
class Channel:
    """A reaction in one direction.

    ``needs`` says how many molecules of which species have to be there, ``changes`` what it does to them. Its
    propensity is ``coefficient`` times the number of ways to draw what it needs, one molecule after the other.
    """

    name: str
    id: str
    coefficient: str
    needs: Mapping[str, int]
    changes: Mapping[str, int]


@dataclass(frozen=True)
class Network:
    """A network: its species and channels are by the names of variables."""

    title: str
    constants: tuple[Constant, ...]
    species: tuple[Species, ...]
    channels: tuple[Channel, ...]
    formulas: tuple[tuple[str, str], ...] = ()
