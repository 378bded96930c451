"""Progress: nothing moves backwards, the time left is told, and nobody is disturbed who does not look."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from unittest.mock import patch

import numpy as np
import pytest

import galton
from galton import progress
from galton.checking.watching import Exploring, Synthesizing, Watcher
from galton.progress import duration, loudness, task


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Iterator[Clock]:
    found = Clock()
    with patch("galton.progress.time", found), patch("galton.checking.watching.time", found), loudness(progress.USUAL):
        yield found


class Log:
    """Standard error where nobody looks."""

    def __init__(self, captured: pytest.CaptureFixture[str]):
        self._captured, self._text = captured, ""

    def getvalue(self) -> str:
        self._text += self._captured.readouterr().err
        return self._text


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> Log:
    return Log(capsys)


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_what_is_done_stays_done(clock: Clock, log: Log) -> None:
    work = task()
    for done in (0.1, 0.4, 0.2, 0.5, 2.0):
        clock.now += 1
        work.tell("boxes", done)
        assert work.done == min(max(done, 0.4 if done > 0.1 else 0.1), 1.0)


def test_time_left(clock: Clock, log: Log) -> None:
    work = task()
    work.tell("rows", 0.0)
    assert work.left is None
    clock.now += 10
    work.tell("rows", 0.25)
    assert work.left == pytest.approx(30)
    assert work.line == "rows, 25%, about 30 s left, 10 s"


def test_time_left_of_work_that_somebody_had_begun(clock: Clock, log: Log) -> None:
    """A search that goes on at 90 % has not done these in a second."""
    work = task()
    clock.now += 1
    work.tell("decided", 0.9)
    clock.now += 10
    work.tell("decided", 0.95)
    assert work.left == pytest.approx(10)


def test_plain_lines_now_and_then_where_nobody_looks(clock: Clock, log: Log) -> None:
    work = task()
    for second in range(100):
        work.tell(f"{second} rows", second / 100)
        clock.now += 1
    work.close()
    lines = log.getvalue().splitlines()
    assert lines == [
        "30 rows, 30%, about 1 min 10 s left, 30 s",
        "60 rows, 60%, about 40 s left, 1 min",
        "90 rows, 90%, about 10 s left, 1 min 30 s",
    ]
    assert "\x1b" not in log.getvalue()
    assert "\r" not in log.getvalue()


@pytest.mark.parametrize(("level", "lines"), [(progress.QUIET, 0), (progress.USUAL, 0), (progress.VERBOSE, 3)])
def test_quiet_and_verbose(level: int, lines: int, clock: Clock, log: Log) -> None:
    with loudness(level):
        work = task()
        for _ in range(10):
            clock.now += 1
            work.tell("steps")
    assert len(log.getvalue().splitlines()) == lines


def test_a_terminal_sees_a_bar_that_goes_away(clock: Clock) -> None:
    pytest.importorskip("rich")
    with patch("sys.stderr", Screen()) as screen, patch.dict("os.environ", {"TERM": "xterm", "COLUMNS": "100"}):
        outer, inner = task(), task()
        outer.tell("1 of 4 rows", 0.25)
        clock.now += 0.5
        inner.tell("12,000 states")
        assert screen.getvalue() == ""  # what is quick is not shown
        clock.now += 1
        inner.tell("20,000 states")
        shown = screen.getvalue()
        assert "━" in shown
        assert "1 of 4 rows, 25%" in shown
        assert "20,000 states" in shown
        inner.close()
        outer.close()
        assert screen.getvalue().endswith("\x1b[2K")


def test_a_dumb_terminal_gets_lines(clock: Clock) -> None:
    with patch("sys.stderr", Screen()) as screen, patch.dict("os.environ", {"TERM": "dumb"}):
        work = task()
        clock.now += 31
        work.tell("rows", 0.5)
        assert screen.getvalue() == "rows, 50%, 31 s\n"


def watcher() -> Watcher:
    model = galton.Model.from_matrix("dtmc", np.eye(3))
    return Watcher(model, "P=? [ F x ]")


def test_counts_of_solvers_go_on_when_they_begin_again(clock: Clock, log: Log) -> None:
    watch = watcher()
    lines = []
    for sweeps, residual in ((100, 1e-3), (200, 1e-5), (250, 1e-4), (10, 1e-1)):
        watch({"method": "jacobi", "sweeps": sweeps, "residual": residual})
        lines.append(watch._task.text)
    assert lines == [
        "jacobi, 100 sweeps, residual 0.001",
        "jacobi, 200 sweeps, residual 1e-05",
        "jacobi, 250 sweeps, residual 1e-05",
        "jacobi, 260 sweeps, residual 0.1",
    ]


def test_bounds_of_solvers_only_become_narrower(clock: Clock, log: Log) -> None:
    watch = watcher()
    for lower, upper in ((0.1, 0.9), (0.2, 0.95), (0.15, 0.7)):
        watch({"lower": lower, "upper": upper})
    assert watch._task.text == "bounds 0.2 to 0.7"
    watch({"lower": 0.8, "upper": 0.9})  # of another part
    assert watch._task.text == "bounds 0.8 to 0.9"


def test_steps_up_to_a_horizon_have_an_end(clock: Clock, log: Log) -> None:
    watch = watcher()
    watch({"iterations": 0, "horizon": 1000})
    clock.now += 5
    watch({"iterations": 250, "horizon": 1000})
    assert watch._task.left == pytest.approx(15)
    watch({"iterations": 10, "horizon": 500})  # another part: its bar begins, and no other goes back
    assert watch._task.done == pytest.approx(0.02)


def test_rows_of_a_model_have_an_end(clock: Clock, log: Log) -> None:
    with Exploring() as watch:
        clock.now += 2
        watch(4_000_000, 9_000_000, 0)
        assert watch._task.text == "4,000,000 states, 9,000,000 transitions, 2.0 M states/s"
        assert watch._task.done is None
        watch(5_000_000, 9_000_000, 1_000_000)
        assert watch._task.done == pytest.approx(0.2)


def test_boxes_of_a_synthesis(clock: Clock, log: Log) -> None:
    watch = Synthesizing(tolerance=0.1)
    watch({"regions": 10, "steps": 1000, "decided": 0.45})
    assert watch._task.text == "10 boxes, 1,000 steps, 45.0% decided"
    assert watch._task.done == pytest.approx(0.5)
    watch({"regions": 11, "steps": 1100})  # told in between
    assert watch._task.text == "11 boxes, 1,100 steps, 45.0% decided"
    optimum = Synthesizing()
    optimum({"regions": 1, "steps": 1, "lower": 0.0, "upper": 1.0, "best": (0.2, 0.3)})
    assert optimum._task.text == "1 boxes, 1 steps, optimum between 0.2 and 0.3, values from 0 to 1"
    assert optimum._task.done is None


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.4, "59 s"), (60, "1 min"), (125, "2 min 5 s"), (3600, "1 h 0 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_experiments_in_python_tell_the_same_way(clock: Clock, log: Log) -> None:
    walk = galton.parse("dtmc const int N; module m x : [0..9]; [] x<N -> (x'=x+1); endmodule")
    tick: Callable[..., object] = lambda *_: setattr(clock, "now", clock.now + 40)  # noqa: E731
    with patch("galton.experiments._Task.__call__", autospec=True, side_effect=_slowly(tick)):
        galton.experiment(walk, "P=? [ F x=N ]", N=range(1, 4), progress=True)
    assert log.getvalue().splitlines()[0] == "1 of 3 models, 33%, 40 s"


def _slowly(tick: Callable[..., object]) -> Callable[..., object]:
    from galton.experiments import _Task

    usual = _Task.__call__

    def call(self: _Task) -> object:
        tick()
        return usual(self)

    return call
