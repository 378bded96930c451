"""No option is accepted and ignored: all combinations of question, method, format, order, precision and device.

Each is refused, by a message that names an option of it; or every option in it shows in what is done: in the kernels
that a played device launches and where, in the order that is made, and in what ``--explain`` prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest
from played import played_device
from played.devices import devices

import galton
from galton import GaltonError, Settings
from galton.backend.formats import FORMATS, ORDERS
from galton.checking.inspection import UsageError, check_choices, count_devices
from galton.checking.result import Result
from galton.lang import Source, parse_properties
from galton.lang.resolution import resolve
from galton.model.sparse import Model
from galton.solve.methods import METHODS, TIMED

CHAIN = """
dtmc
module walk
  x : [0..12] init 4;
  [] x>0 & x<12 -> 0.5 : (x'=x-1) + 0.3 : (x'=x+1) + 0.2 : (x'=min(x+3,12));
  [] x=0 | x=12 -> true;
endmodule
"""
RING = CHAIN.replace("x=0 | x=12 -> true", "x=0 | x=12 -> 0.5 : (x'=5) + 0.5 : (x'=7)")
CHOICES = CHAIN.replace("dtmc", "mdp").replace(
    "endmodule", "  [jump] x>1 & x<9 -> 0.4 : (x'=x-2) + 0.6 : (x'=x+2);\nendmodule"
)
TIMED_CHAIN = RING.replace("dtmc", "ctmc")
# A question of each kind, and of chains and MDPs where they are answered in other ways.
QUESTIONS = [
    (CHAIN, "P=? [ F x=12 ]"),
    (CHOICES, "Pmax=? [ F x=12 ]"),
    (CHAIN, "P=? [ F>=3 x=12 ]"),
    (CHAIN, "P=? [ F<=30 x=12 ]"),
    (CHOICES, "Pmin=? [ F<=30 x=12 ]"),
    (TIMED_CHAIN, "P=? [ F<=3 x=12 ]"),
    (RING, "S=? [ x=12 ]"),
    (CHAIN, "E [ F x=12 ]"),
]
BY_NAME = [None, *METHODS, *TIMED, "topological", "topological:jacobi"]
DEVICES = ["cpu", "cuda", "cuda:0,1"]
MAIN = (
    "sweep",
    "improve",
    "multiply",
    "row_values",
    "chain_steps",
    "bellman_steps",
    "sum_chunks",
    "drift_bounds",
    "outflow",
)


@dataclass
class Record:
    """What was done on a device."""

    launched: set[tuple[str, tuple[str, ...], int]] = field(default_factory=set)  # kernel, macros, device
    ordered: set[str] = field(default_factory=set)

    def has(self, *macros: str) -> bool:
        return any(kernel in MAIN and set(macros) <= set(given) for kernel, given, _ in self.launched)

    @property
    def used(self) -> set[int]:
        return {device for kernel, _, device in self.launched if kernel in (*MAIN, "propagate")}


record = Record()


@contextmanager
def recording() -> Iterator[None]:
    """A device with two cards, whose kernels are noted with the macros that they were compiled with."""
    with played_device(count=2), ExitStack() as stack:
        from galton.device.cuda.code import Text
        from galton.device.cuda.kernels import Kernels
        from galton.reduce import renumbering

        make, launch, places = Kernels.__init__, Kernels.launch, renumbering.places
        macros: dict[int, tuple[str, ...]] = {}

        def made(self: Kernels, text: Text) -> None:
            macros[id(self)] = text.options  # kernels are kept for ever
            make(self, text)

        def launched(self: Kernels, kernel: str, *arguments: Any, **options: Any) -> None:
            record.launched.add((kernel, macros.get(id(self), ()), devices.current))
            launch(self, kernel, *arguments, **options)

        def numbered(order: str, *arguments: Any) -> Any:
            record.ordered.add(order)
            return places(order, *arguments)

        stack.enter_context(patch.object(Kernels, "__init__", made))
        stack.enter_context(patch.object(Kernels, "launch", launched))
        stack.enter_context(patch.object(renumbering, "places", numbered))
        yield


def shown_format(name: str) -> bool:
    """Whether the matrix was read in a format."""
    match name:
        case "csr":
            return record.has("-DLAYOUT=CSR", "-DLANES=1")
        case "csr-vector":
            return record.has("-DLAYOUT=CSR", "-DLANES=4")
        case "ell":
            return record.has("-DLAYOUT=ELL")
        case "sliced":
            return record.has("-DLAYOUT=SLICED", "-DLANES=1")
        case "half-sliced":
            return record.has("-DLAYOUT=SLICED", "-DLANES=2")
    return any(kernel == "sum_chunks" for kernel, _, _ in record.launched)


def ignored(result: Result, settings: Settings, device: str) -> Iterator[str]:
    """The options that do not show in what was done."""
    said = "; ".join(work.detail for work in result.work)
    method = settings.method
    if method is not None and not result.method.startswith(method):
        yield f"--method {method}, by {result.method}"
    if settings.format is not None and not shown_format(settings.format):
        yield f"--format {settings.format}"
    if settings.order is not None:
        if ORDERS[settings.order] not in said:
            yield f"--order {settings.order}, unsaid"
        if settings.order != "canonical" and record.ordered != {settings.order}:
            yield f"--order {settings.order}, unmade"
    if settings.single and not record.has("-DREAL=float"):
        yield "--single"
    if count_devices(device) > 1 and record.used != {0, 1}:
        yield "several devices"


def names_an_option(message: str, settings: Settings, device: str) -> bool:
    given = {"format": settings.format, "order": settings.order, "single": settings.single}
    words = [word for word, value in given.items() if value]
    words += [settings.method] if settings.method else []
    words += ["several devices"] if count_devices(device) > 1 else []
    return any(word in message for word in words)


@pytest.mark.parametrize("together", [2, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("text", "prop"), QUESTIONS, ids=[f"{text.split()[0]} {prop}" for text, prop in QUESTIONS])
def test_every_option_shows_or_is_refused(text: str, prop: str, together: int) -> None:
    """All combinations are asked whether they are refused; those of up to so many options are then run."""
    program, wrong = galton.parse(text), []
    context, (question,) = resolve(parse_properties(Source("p", prop)), program, {})
    models: dict[str, Model] = {}
    expected = galton.check(program, prop, device="cpu").value
    with recording():
        for device, method, format, order, single in product(
            DEVICES, BY_NAME, [None, *FORMATS], [None, *ORDERS], [False, True]
        ):
            eps = 1e-4 if single else 1e-6  # sweeps over floats may swing between neighbours for ever
            settings = Settings(eps=eps, method=method, format=format, order=order, single=single)
            count = count_devices(device)
            case = f"{method=} {format=} {order=} {single=} {device=}"
            try:
                check_choices(question, context, settings, type=program.type, device=device, devices=count)
            except UsageError as error:
                if not names_an_option(str(error), settings, device):
                    wrong.append(f"{case}: {error}")
                continue
            if sum(map(bool, (method, format, order, single, count > 1))) > together:
                continue
            if device not in models:
                models[device] = program.build(device=device)
            record.launched.clear()
            record.ordered.clear()
            try:
                result = galton.check(models[device], prop, settings=settings)
            except GaltonError as error:
                if not names_an_option(str(error), settings, device):
                    wrong.append(f"{case}: {error}")
                continue
            wrong += [f"{case}: {option}" for option in ignored(result, settings, device)]
            if result.value != pytest.approx(expected, rel=1e-2):
                wrong.append(f"{case}: the answer is {result.value}, not {expected}")
    assert not wrong, "\n".join(wrong)
