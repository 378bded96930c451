"""Random paths on a CUDA device and, where it cannot follow them, on the CPU: the paths are the same."""

from __future__ import annotations

from ..device.errors import DeviceError, device_errors
from ..model.random_paths import Batch, PathQuestion, Sample
from .program_paths import ProgramPaths

__all__ = ["DeviceFirst"]


class DeviceFirst:
    """Paths of a program on the current device; what goes wrong there is told, and the CPU takes over."""

    def __init__(self, paths: ProgramPaths, question: PathQuestion):
        self._host = paths
        self.device, self.trouble = "cuda", ""
        try:
            with device_errors("there is not enough memory on the device"):
                self._there = paths.on_device(question)
        except DeviceError as error:
            self._give_up(error)

    def earnings(self) -> tuple[float, float, float, float]:
        """The least and the most that a state earns, and that a step does."""
        return self._host.earnings()

    def sample(self, question: PathQuestion, batch: Batch) -> Sample:
        """Follow these paths until the question is settled for each."""
        if not self.trouble:
            try:
                with device_errors("there is not enough memory on the device"):
                    return self._there.sample(question, batch)
            except DeviceError as error:
                self._give_up(error)
        return self._host.sample(question, batch)

    def _give_up(self, error: DeviceError) -> None:
        self.device, self.trouble = "cpu", f"{error}; paths were followed on the CPU instead"
