"""A device that is asked for is set up while Python imports; one that is not there does no harm."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import pytest

from galton.cli.setting_up import set_up


class Driver:
    """Notes what it is asked for."""

    def __init__(self, works: int = 0) -> None:
        self.works = works
        self.retained: list[int] = []

    def cuInit(self, flags: int) -> int:
        return self.works

    def cuDevicePrimaryCtxRetain(self, context: Any, number: int) -> int:
        self.retained.append(number)
        return 0


def waited_for(device: str) -> None:
    before = set(threading.enumerate())
    set_up(device)
    for thread in set(threading.enumerate()) - before:
        thread.join()


@pytest.mark.parametrize(
    ("device", "retained"),
    [("cuda", [0]), ("cuda:1", [1]), ("cuda:2,3", [2]), ("auto", []), ("cpu", []), ("cuda:x", []), ("cpu:0", [])],
)
def test_which_devices_are_set_up(device: str, retained: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver)
    waited_for(device)
    assert driver.retained == retained


def test_a_driver_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(works=100)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver)
    waited_for("cuda")
    assert not driver.retained


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", absent)
    waited_for("cuda")
