"""``galton.experiment``: the rows are those of single questions, of the command line, and of any executor."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import galton
from galton import Experiment, GaltonError

MODELS = Path(__file__).parents[2] / "models"
DIE, HERMAN = MODELS / "die.prism", MODELS / "herman.prism"
WALK = "dtmc const int N; const double p; module m x : [0..N]; [] x<N -> p:(x'=x+1)+1-p:true; endmodule"
BOUNDED = "const int T; P=? [ F<=T x=N ]"


@pytest.fixture
def walk() -> galton.Program:
    return galton.parse(WALK, N=1, p=0.5)


def values(found: Experiment) -> list[list[Any]]:
    return [[*row.constants.values(), *(result.value for result in row.results)] for row in found]  # type: ignore[union-attr]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows with every model that is built."""
    import galton.explore

    built: list[int] = []
    build = galton.explore.build
    monkeypatch.setattr(galton.explore, "build", lambda *a, **k: built.append(1) or build(*a, **k))
    return built


def test_rows_are_the_answers_to_single_questions(walk: galton.Program) -> None:
    found = galton.experiment(walk, [BOUNDED, "P=? [ F<=3 x=1 ]"], N=[1, 2], T=range(2, 5), p=0.25)
    assert found.constants == ("N", "T")
    assert found.properties == ("P=? [ F<=T x=N ]", "P=? [ F<=3 x=1 ]")
    rows = values(found)
    assert [row[:2] for row in rows] == [[n, t] for n in (1, 2) for t in (2, 3, 4)]
    for n, t, bounded, first in rows:
        single = galton.check(galton.parse(WALK, N=n, p=0.25), BOUNDED, T=t)
        assert single.lower <= bounded <= single.upper
        assert first == pytest.approx(1 - 0.75**3)
    assert found.column() == [row[2] for row in rows]
    assert found.column("P=? [ F<=3 x=1 ]") == [row[3] for row in rows]
    assert found[0]["N"] == 1
    assert repr(found[0]) == "<N=1, T=2: 0.4375, 0.578125>"


def test_values_of_constants_come_in_many_forms(walk: galton.Program) -> None:
    forms: list[Any] = [[1, 2, 3], (1, 2, 3), range(1, 4), np.arange(1, 4), "1:3", (n for n in (1, 2, 3))]
    for form in forms:
        assert galton.experiment(walk, "P=? [ F<=3 x=N ]", N=form).column() == [0.875, 0.5, 0.125]
    fractions = galton.experiment(walk, "P=? [ X x=1 ]", p=["1/4", Fraction(1, 2), np.float64(0.75), 1])
    assert [row["p"] for row in fractions] == [0.25, 0.5, 0.75, 1]
    assert fractions.column() == [0.25, 0.5, 0.75, 1]
    single = galton.experiment(walk, "P=? [ F<=3 x=N ]", constants={"N": 3})
    assert (len(single), single.constants, single.column()) == (1, (), [0.125])


def test_only_what_changes_is_built(walk: galton.Program, monkeypatch: pytest.MonkeyPatch) -> None:
    built = counted(monkeypatch)
    galton.experiment(walk, [BOUNDED, "P=? [ F<=3 x=1 ]"], N=[1, 2, 3], T=range(20))
    assert len(built) == 3


def test_a_bound_that_runs_is_answered_in_one_pass(walk: galton.Program, monkeypatch: pytest.MonkeyPatch) -> None:
    from galton.checking import answering

    monkeypatch.setattr(answering, "_check", lambda *_: pytest.fail("a point was asked alone"))
    found = galton.experiment(walk, BOUNDED, N=2, T=range(1, 50))
    assert found.column()[:3] == [0, 0.25, 0.5]


def test_models_paths_and_files_of_properties(walk: galton.Program) -> None:
    expected = galton.experiment(galton.parse(WALK, N=2, p=0.5), BOUNDED, T=[1, 2]).column()
    model = galton.parse(WALK, N=2, p=0.5).build()
    assert galton.experiment(model, "const int T; P=? [ F<=T x=2 ]", T=[1, 2]).column() == expected
    faces = galton.experiment(DIE, MODELS / "die.props", k=range(1, 8))
    assert faces.properties[:2] == ("face", "six")
    assert faces.column("face") == pytest.approx([1 / 6] * 6 + [0])
    assert faces[0].results[0].name == "face"


def same_as_alone(executor: Executor, subject: Any) -> None:
    props = ['filter(max, R=? [ F "stable" ])', 'const int T; P=? [ F<=T "stable" ]']
    given: dict[str, Any] = {"T": [1, 2]} if isinstance(subject, galton.Model) else {"N": [3, 5, 7], "T": [1, 2]}
    alone = galton.experiment(subject, props, **given)
    assert values(galton.experiment(subject, props, executor=executor, **given)) == values(alone)


def test_any_executor_gives_the_same_rows() -> None:
    subjects = (HERMAN, galton.load(HERMAN, N=5).build(device="cpu"))  # workers have it from the host
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        for subject in subjects:
            same_as_alone(threads, subject)
            same_as_alone(processes, subject)


class Later(Executor):
    """An executor of one's own, which works backwards."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.waiting: list[tuple[Future[Any], Callable[..., Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, fn))
        if len(self.waiting) == 3:
            for waiting, work in reversed(self.waiting):
                waiting.set_result(work())
        return future


def test_rows_come_in_order_whoever_is_first(walk: galton.Program) -> None:
    found = galton.experiment(walk, "P=? [ F<=3 x=N ]", N=[1, 2, 3], executor=Later())
    assert found.column() == [0.875, 0.5, 0.125]


def test_progress(walk: galton.Program, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[int, int]] = []
    galton.experiment(walk, "P=? [ F<=3 x=N ]", N=[1, 2, 3], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    galton.experiment(walk, "P=? [ F<=3 x=N ]", N=[1, 2, 3], progress=False)
    assert capsys.readouterr().err == ""


def test_a_line_of_progress_says_what_is_left(
    walk: galton.Program, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("galton.progress.QUIET_SECONDS", 0.0)
    monkeypatch.setattr("galton.progress.LINE_SECONDS", 0.0)
    galton.experiment(walk, "P=? [ F<=3 x=N ]", N=[1, 2], progress=True)
    assert "1 of 2 models, 50%" in capsys.readouterr().err


def test_what_is_wrong_with_a_property_shows_before_anything_is_built(
    walk: galton.Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = counted(monkeypatch)
    with pytest.raises(galton.LanguageError, match="unknown name 'y'"):
        galton.experiment(walk, "P=? [ F y=1 ]", N=[1, 2])
    with pytest.raises(GaltonError, match="what it runs through is empty"):
        galton.experiment(walk, "P=? [ F x=1 ]", N=[])
    with pytest.raises(GaltonError, match="the model declares no constant 'M', and neither does the property"):
        galton.experiment(walk, "P=? [ F x=1 ]", M=[1, 2])
    with pytest.raises(GaltonError, match="the value of a constant is a number"):
        galton.experiment(walk, "P=? [ F x=1 ]", N=object())
    with pytest.raises(GaltonError, match="a model that is built has none"):
        galton.experiment(galton.Model.from_matrix("dtmc", [[1]]), "P=? [ F true ]", N=[1])
    assert not built


def test_errors_of_single_rows_do_not_lose_the_others(walk: galton.Program) -> None:
    with pytest.warns(UserWarning, match="1 of 3 answers are errors; the first is "):
        found = galton.experiment(walk, "P=? [ F<=3 x=N ]", N=[1, -1, 2])
    assert found.column() == [0.875, None, 0.5]
    assert len(found.errors) == 1
    assert "error: " in found._repr_html_()
    assert "1 errors" in repr(found)
    with pytest.raises(GaltonError):
        galton.experiment(walk, "P=? [ F<=3 x=N ]", N=[-1, -2])


def test_who_loses_patience_keeps_the_rows_that_are_done(walk: galton.Program) -> None:
    def enough(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    found = galton.experiment(walk, "P=? [ F<=3 x=N ]", N=[1, 2, 3], progress=enough)
    assert (found.column(), found.interrupted) == ([0.875, 0.5], True)
    assert "interrupted" in repr(found)


def test_a_table_has_values_and_bounds() -> None:
    pytest.importorskip("pandas")
    table = galton.experiment(DIE, "const int k; P=? [ F d=k ]", k=[1, 7]).to_pandas()
    name = "P=? [ F d=k ]"
    assert list(table.columns) == ["k", name, f"{name} lower", f"{name} upper"]
    assert table[name].tolist() == pytest.approx([1 / 6, 0])
    assert (table[f"{name} lower"] <= table[name]).all()
    several = galton.experiment(HERMAN, 'R=? [ F "stable" ]', N=[3, 5]).to_pandas()
    assert several['R=? [ F "stable" ] max'].tolist() == pytest.approx([4 / 3, 16 / 5])
    truths = galton.experiment(DIE, "const int k; P>=0.1 [ F d=k ]", k=[1, 7]).to_pandas()
    assert truths["P>=0.1 [ F d=k ]"].tolist() == [True, False]


def test_plots(tmp_path: Path, walk: galton.Program) -> None:
    image = pytest.importorskip("matplotlib.image")
    found = galton.experiment(walk, BOUNDED, N=[1, 2], T=range(1, 6))
    figure = found.plot(tmp_path / "walk.png", x="T", log="y")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_yscale(), axes.get_xscale()) == ("T", "log", "linear")
    assert len(axes.lines) == 2
    assert image.imread(tmp_path / "walk.png").std() > 0.05
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert len(found.plot().axes[0].lines) == 5  # over N, a curve for each T
    with pytest.raises(GaltonError, match=r"no constant 'M' runs through several values; .*N, T"):
        found.plot(x="M")
    with pytest.raises(GaltonError, match=r"'\.txt' is no kind of picture"):
        found.plot(tmp_path / "walk.txt")
    with pytest.raises(GaltonError, match="log is True, False, 'x', 'y' or 'xy'"):
        found.plot(log="z")
    with pytest.raises(GaltonError, match="a plot needs a constant that runs"):
        galton.experiment(walk, "P=? [ F x=1 ]").plot()


def test_a_page_shows_the_rows() -> None:
    page = galton.experiment(DIE, "const int k; P=? [ F d=k ]", k=range(200))._repr_html_()
    assert "<th>k</th><th>P=? [ F d=k ]</th>" in page
    assert "… and 100 more rows" in page


def test_workers_need_no_terminal_and_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker gets the text of the model, not its path."""
    copy = tmp_path / "die.prism"
    copy.write_text(DIE.read_text())
    program = galton.load(copy)
    os.remove(copy)
    with ThreadPoolExecutor(1) as pool:
        assert len(galton.experiment(program, "const int k; P=? [ F d=k ]", k=[1, 2], executor=pool)) == 2
