"""BiCGStab chosen by hand on a device: scalars stay there, and what lies between two products is fused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from played import memory, played_device
from played.arrays import ndarray
from systems import random_pair, to_host
from test_cuda_system import matrix_of

import galton
from galton.backend.bicgstab import Iteration
from galton.backend.formats import FORMATS
from galton.backend.protocol import Span
from galton.solve.methods import bicgstab

WALK = """
dtmc
module walk
  x : [0..60] init 20;
  [] x>0 & x<60 -> 0.5 : (x'=x-1) + 0.3 : (x'=x+1) + 0.2 : (x'=min(x+3,60));
  [] x=0 | x=60 -> true;
endmodule
"""
STEP = [
    "dots",
    "begin_step",
    "turn",
    "multiply",
    "dots",
    "half_step",
    "subtract",
    "multiply",
    "dots",
    "end_step",
    "settle",
]
BROUGHT_HOME = ("get", "__float__", "__int__", "__bool__", "item", "tolist")


class Record:
    """What happens on the device while steps are made, and at other times."""

    def __init__(self) -> None:
        self.launched: list[str] = []
        self.brought = {"steps": 0, "between": 0}
        self.steps = self.calls = self.allocated = 0
        self.at = "between"


@contextmanager
def recorded() -> Iterator[Record]:
    record, run = Record(), Iteration.run

    def steps(self: Iteration, count: int) -> None:
        record.at, before, record.steps, record.calls = (
            "steps",
            memory.allocations,
            record.steps + count,
            record.calls + 1,
        )
        run(self, count)
        record.at, record.allocated = "between", record.allocated + memory.allocations - before

    with ExitStack() as stack:
        from galton.device.cuda.kernels import Kernels

        launch = Kernels.launch

        def launched(self: Kernels, kernel: str, *arguments: Any, **options: Any) -> None:
            record.launched += [kernel] if record.at == "steps" else []
            launch(self, kernel, *arguments, **options)

        for name in BROUGHT_HOME:
            original = getattr(ndarray, name)

            def counted(self: Any, *arguments: Any, _original: Any = original) -> Any:
                record.brought[record.at] += 1
                return _original(self, *arguments)

            stack.enter_context(patch.object(ndarray, name, counted))
        stack.enter_context(patch.object(Kernels, "launch", launched))
        stack.enter_context(patch.object(Iteration, "run", steps))
        yield record


@pytest.mark.parametrize("format", ["csr", "csr-vector", "ell", "sliced", "half-sliced"])
@pytest.mark.parametrize("prop", ["P=? [ F x=60 ]", "S=? [ x=60 ]"])
def test_no_scalar_comes_home_within_eight_iterations(format: str, prop: str) -> None:
    """Each iteration brought two home, and a product was three kernels."""
    program = galton.parse(WALK if prop.startswith("P") else WALK.replace("x=0 | x=60 -> true", "x=0 | x=60 -> (x'=9)"))
    expected = float(galton.check(program, prop, device="cpu").value)
    settings = galton.Settings(method="bicgstab", eps=1e-10, format=format)
    with played_device(), recorded() as record:
        found = galton.check(program, prop, settings=settings, device="cuda")
    assert found.value == pytest.approx(expected, rel=1e-8)
    assert found.warnings == ()
    assert record.steps == bicgstab.ON_DEVICE * record.calls
    assert record.launched == STEP * record.steps
    assert (record.brought["steps"], record.allocated) == (0, 0)
    assert record.calls > 0


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("scaled", [True, False])
def test_products_in_every_format(xp: Any, format: str, scaled: bool) -> None:
    """With constants and without, and taken from x; over slices these were not to be had."""
    from galton.backend.cuda.layout import lay_out
    from galton.backend.cuda.system import System

    random = np.random.default_rng(5)
    pair, x = random_pair(random, size=90, scaled=scaled), random.random(90)
    known = pair.reference
    scale = None if known.scale is None or not scaled else xp.asarray(known.scale)
    constant = xp.asarray(known.constant)
    layout = lay_out(matrix_of(pair, xp), format, scale=scale, constant=constant)
    system, y = System(layout, scale, constant, 0, compact=True), xp.empty(90)
    values = np.empty(90)
    known.row_values(x, values, Span(0, 90))
    without = values - known.constant
    for with_constant, from_x, expected in (
        (True, False, values),
        (False, False, without),
        (False, True, x - without),
        (True, True, x - values),
    ):
        system.multiply(xp.asarray(x), y, None, with_constant=with_constant, from_x=from_x)
        np.testing.assert_allclose(to_host(y), expected, rtol=1e-12, atol=1e-14)
    system.row_values(xp.asarray(x), y, Span(0, 90))
    np.testing.assert_allclose(to_host(y), values, rtol=1e-13)
