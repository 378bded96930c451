"""Where a question runs, and why: decided once, carried along, told to whoever asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..lang.source import GaltonError

__all__ = ["AUTO", "Placement", "Request"]

AUTO = "auto"  # what everybody gets who does not name a device


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asked for.

    >>> Request.parse("cuda:0,1")
    Request(kind='cuda', numbers=(0, 1))
    """

    kind: Literal["auto", "cpu", "cuda", "mpi"]
    numbers: tuple[int, ...] = ()  # of CUDA devices, where the user named some

    @classmethod
    def parse(cls, text: str) -> Request:
        """Read ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``cuda:0,1`` or ``mpi``."""
        kind, colon, numbers = text.partition(":")
        if (kind != "cuda" and colon) or kind not in ("auto", "cpu", "cuda", "mpi"):
            raise GaltonError(
                f"there is no device '{text}'; give auto, cpu, cuda, numbers of devices as in cuda:0,1, or mpi"
            )
        try:
            given = tuple(int(number) for number in numbers.split(",")) if colon else ()
        except ValueError:
            raise GaltonError(f"'{text}' does not name devices by their numbers, as cuda:0,1 does") from None
        return cls(kind, given)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a model lies and where questions about it run.

    Attributes
    ----------
    backend
        The folder of :mod:`galton.backend` that does the work.
    reason
        Why there, in words.
    asked
        What the user asked for.
    devices
        The numbers of several devices that share the rows of matrices; empty for one. The model itself lies on the
        first of them or, where it does not fit there, on the host.
    streams
        Whether the model is larger than the device, so that its parts go there one after the other.
    trouble
        What a device could not do, in words; told to everybody, whatever was asked for.
    """

    backend: str
    reason: str
    asked: str = AUTO
    devices: tuple[int, ...] = ()
    streams: bool = False
    trouble: tuple[str, ...] = ()

    @classmethod
    def cpu(cls, reason: str, asked: str = "cpu") -> Placement:
        """On the CPU."""
        return cls("cpu", reason, asked)

    @property
    def chosen(self) -> bool:
        """Whether Galton chose the place, and not the user."""
        return self.asked == AUTO

    def instead(self, reason: str, *, told: bool) -> Placement:
        """On the CPU after all; ``told`` says whether the user has to know, or only who asks why."""
        trouble = (*self.trouble, reason) if told else self.trouble
        return replace(self, backend="cpu", reason=reason, devices=(), trouble=trouble)

    def __str__(self) -> str:
        where = {"cpu": "the CPU", "cuda": "a CUDA device", "petsc": "MPI ranks"}.get(self.backend, self.backend)
        if len(self.devices) > 1:
            where = f"the CUDA devices {', '.join(map(str, self.devices))}"
        return f"{where} ({self.reason})"
