"""Where the boxes of a synthesis are looked at: decided here, with the reason, and nowhere else."""

from __future__ import annotations

from ..backend import BACKENDS, Backend
from ..device.cuda import runtime
from ..device.errors import DeviceError
from ..device.placement import Placement, Request
from ..lang import GaltonError

PATIENCE = 1.5  # seconds on the CPU: about what setting up a device takes
SPEED = 1.5e9  # entries of the matrix times boxes that a thread of the CPU goes over in a second

__all__ = ["Place", "one_device"]


def one_device(device: str) -> Request:
    """What a user asked for, if that is the CPU or one device."""
    request = Request.parse(device)
    if len(request.numbers) > 1:
        raise GaltonError(
            f"synthesis uses one device, and '{device}' names {len(request.numbers)}; name one of them, as in "
            f"cuda:{request.numbers[0]}"
        )
    return request


class Place:
    """Where boxes are looked at.

    What is asked for by name is decided at once. With ``auto`` the CPU begins; boxes move to a device when those that
    come next would take the CPU longer than setting one up. A device that fails leaves the rest to the CPU.

    ``only_cpu`` is the reason where nothing but the CPU can answer; ``placement`` says where boxes are looked at now.
    """

    def __init__(self, request: Request, device: str, threads: int, only_cpu: str | None = None) -> None:
        self._numbers, self._threads = request.numbers, threads
        self._spent = self._worked = 0.0
        self._may_move = False
        if request.kind == "cpu":
            self.placement = Placement.cpu("asked for", device)
        elif only_cpu is not None:
            there = Placement.cpu(only_cpu, device)
            self.placement = there if request.kind == "auto" else there.instead(only_cpu, told=True)
        elif request.kind == "auto":
            self.placement = Placement.cpu("there is little to compute", device)
            self._may_move = True
        else:
            self.placement = Placement("cuda", "asked for", device)
            self._set_up("synthesised on the CPU", told=True)

    @property
    def backend(self) -> Backend:
        """Who looks at boxes now."""
        return BACKENDS[self.placement.backend]

    @property
    def undecided(self) -> bool:
        """Whether boxes may still move to a device."""
        return self._may_move

    def decide(self, work: float) -> bool:
        """Move to a device, if boxes are worth that; ``work`` is how many entries of the matrix they go over.

        Returns whether they moved.
        """
        if not self._may_move or self._spent + self.seconds(work) <= PATIENCE:
            return False
        self._may_move = False
        self.placement = Placement("cuda", "the CPU would take longer than to set up a device", self.placement.asked)
        self._set_up("the CPU went on", told=False)
        return self.placement.backend != "cpu"

    def seconds(self, work: float) -> float:
        """What work will take on the CPU, by what it took so far."""
        return work * self._spent / self._worked if self._worked else work / (SPEED * self._threads)

    def worked(self, work: float, seconds: float) -> None:
        """Note what work took on the CPU."""
        self._spent, self._worked = self._spent + seconds, self._worked + work

    def failed(self, error: DeviceError) -> None:
        """Leave the rest to the CPU, and tell everybody why."""
        self.placement = self.placement.instead(f"{error}; the CPU went on", told=True)

    def _set_up(self, instead: str, *, told: bool) -> None:
        """Make a device ready; who did not ask for one need not hear that there is none, unless he asks why."""
        try:
            if self._numbers:
                runtime.select(self._numbers)
            else:
                runtime.import_cupy()
        except DeviceError as error:
            self.placement = self.placement.instead(f"{error}; {instead}", told=told)
