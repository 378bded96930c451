"""What Python holds after a question: numbers, values in all states, tables, and pages of a notebook."""

from __future__ import annotations

import inspect
import math
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from asking import COIN, GAMBLE, assert_number

import galton
from galton import GaltonError

MODELS = Path(__file__).parents[2] / "models"
DIE = MODELS / "die.prism"
CHAIN = galton.Model.from_matrix("dtmc", [[0, 0.75, 0.25], [0, 1, 0], [0, 0, 1]], labels={"won": [2]})
WEIGHED = "mdp module m s : [0..3]; [a] s=0 -> 0.3:(s'=1)+0.7:(s'=2); [b] s=0 -> (s'=3); [] s>0 -> true; endmodule"


def gambler(euros: int) -> list[tuple[float, int]]:
    """A fair game, until nothing or ten euros are left."""
    return [] if euros in (0, 10) else [(0.5, euros - 1), (0.5, euros + 1)]


# The function itself.


def test_check_is_a_function_that_help_explains() -> None:
    assert inspect.isfunction(galton.check)
    assert list(inspect.signature(galton.check).parameters)[:2] == ["subject", "prop"]
    assert "Parameters" in (inspect.getdoc(galton.check) or "")
    assert inspect.isfunction(galton.experiment)


def test_the_functions_stay_functions_whatever_is_imported() -> None:
    code = (
        "import galton, galton.api, galton.experiments, galton.checking.asking, galton.checking.experiment; "
        "print(*(type(getattr(galton, n)).__name__ for n in ('check', 'experiment', 'synthesize', 'load')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"function"}


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert galton.__version__ == version("galton")


# Numbers.


def test_a_result_is_a_number() -> None:
    quarter = galton.check(CHAIN, 'P=? [ X "won" ]')
    assert (quarter * 6, 6 * quarter, quarter + quarter, 1 - quarter, quarter - 1) == (1.5, 1.5, 0.5, 0.75, -0.75)
    assert (quarter / 2, 1 / quarter, quarter**2, 2**quarter) == (0.125, 4, 0.0625, 2**0.25)
    assert (-quarter, +quarter, abs(quarter), round(quarter, 1)) == (-0.25, 0.25, 0.25, 0.2)
    assert (int(quarter), float(quarter), math.sqrt(quarter)) == (0, 0.25, 0.5)
    assert [f"{quarter:.3f}", f"{quarter:>8.1%}", f"{quarter}", str(quarter)] == ["0.250", "   25.0%", "0.25", "0.25"]
    assert quarter < 0.3 <= 0.3
    assert quarter >= 0.25
    assert quarter > Fraction(1, 5)
    assert quarter <= quarter
    assert quarter == 0.25
    assert quarter != 0.3
    assert quarter == galton.check(CHAIN, 'P=? [ X "won" ]')
    assert hash(quarter) == hash(0.25)
    assert sum([quarter, quarter]) == 0.5
    assert sorted([quarter, 0.1]) == [0.1, quarter]
    assert np.array([quarter, quarter]).tolist() == [0.25, 0.25]
    assert (np.arange(3) * quarter).tolist() == [0, 0.25, 0.5]
    with pytest.raises(TypeError):
        quarter + "x"
    assert (quarter == "x") is False


def test_what_is_no_number_says_so() -> None:
    truth = galton.check(CHAIN, 'P>=0.5 [ F "won" ]')
    assert truth == False  # noqa: E712
    assert (f"{truth:>6}", str(truth)) == (" false", "false")
    with pytest.raises(TypeError, match="has no single number: it is false"):
        truth + 1
    several = galton.check(galton.load(MODELS / "herman.prism", N=3), 'R=? [ F "stable" ]')
    assert isinstance(several.value, tuple)
    assert f"{several:.2f}" == "0.00 to 1.33"
    with pytest.raises(TypeError, match="has no single number: it is 0 to 1"):
        several * 2


def test_many_values_of_a_constant_are_an_experiment() -> None:
    for many in (range(1, 7), "1:6"):
        with pytest.raises(GaltonError, match=r"'k' has 6 values; galton\.experiment"):
            galton.check(DIE, "const int k; P=? [ F d=k ]", k=many)  # type: ignore[arg-type]
    assert round(galton.check(DIE, "const int k; P=? [ F d=k ]", k=[3]), 4) == 0.1667  # type: ignore[arg-type]


def test_properties_in_a_file_of_jani(tmp_path: Path) -> None:
    from galton.io.jani import write_jani
    from galton.lang import Source, parse_properties

    path = tmp_path / "die.jani"
    write_jani(galton.load(DIE), path, [parse_properties(Source("p", '"six": P=? [ F d=6 ];'))])
    assert round(galton.check(path, str(path))["six"], 4) == 0.1667  # type: ignore[call-overload]


def test_integers_and_fractions_stay_what_they_are() -> None:
    count = galton.check(CHAIN, 'filter(count, "won")')
    assert f"{count:d}" == "1"
    assert isinstance(count + 1, int)
    sixth = galton.check(DIE, "P=? [ F d=6 ]", exact=True, device="cpu")
    assert (sixth * 6, sixth + Fraction(1, 3), sixth == Fraction(1, 6)) == (Fraction(1), Fraction(1, 2), True)
    assert f"{sixth:.3f}" == "0.167"


def test_results_travel() -> None:
    found = galton.check(CHAIN, 'P=? [ X "won" ]')
    again = pickle.loads(pickle.dumps(found))
    assert (again.value, again.about) == (found.value, found.about)
    assert again.values.array.tolist() == [0.25, 0, 1]


# Values in all states.


def test_values_are_right_in_every_state() -> None:
    """A fair game: who has k of ten euros wins with probability k/10, and plays k (10 - k) rounds."""
    model = galton.Model.from_function(gambler, initial=5, rewards={"rounds": lambda euros: euros not in (0, 10)})
    assert model.states is not None
    euros = model.states.column("euros")
    wins = galton.check(model, "P=? [ F euros=10 ]").values
    rounds = galton.check(model, 'R{"rounds"}=? [ F euros=0 | euros=10 ]').values
    for values, truth in ((wins, euros / 10), (rounds, euros * (10 - euros))):
        assert (values.lower <= truth).all()
        assert (truth <= values.upper).all()
        assert (values.upper - values.lower <= 2e-6 * truth + 1e-12).all()
        assert np.allclose(values, truth, rtol=1e-6, atol=1e-12)
    assert wins.at(euros=3) == pytest.approx(0.3)
    assert wins.at(3) == wins.at(euros=3) == wins[model.states.find(3)]
    assert len(wins) == 11
    assert np.max(wins) == 1


def test_values_of_a_program_are_those_of_all_its_states() -> None:
    """The answer itself explores no further than the target."""
    program = galton.parse("dtmc module m x : [0..3]; [] x<3 -> 0.5:(x'=x+1)+0.5:(x'=0); endmodule")
    values = galton.check(program, "P=? [ F<=2 x=2 ]").values
    assert values.model.n_states == 4
    assert values.array.tolist() == [0.25, 0.5, 1, 0]
    # Linear temporal logic is answered in a product, whose states are not those of the model.
    linear = galton.check(program, "P=? [ (F x=1) & (F x=2) ]").values
    assert np.allclose(linear, [1, 1, 0.5, 0])  # from 2 there is a way to 1 only by way of 0
    assert np.allclose(galton.check(program.build(), "P=? [ (F x=1) & (F x=2) ]").values, linear)


def test_values_over_time() -> None:
    light = galton.parse("ctmc module m x : [0..2]; [] x<2 -> x+1 : (x'=x+1); endmodule")
    values = galton.check(light, "P=? [ F<=1 x=2 ]").values
    truth = [(1 - math.exp(-1)) ** 2, 1 - math.exp(-2), 1]
    assert (values.lower <= truth).all()
    assert (truth <= values.upper).all()
    assert np.allclose(values, truth, rtol=2e-6)


def test_values_of_an_mdp_and_of_truths() -> None:
    model = galton.parse(WEIGHED).build()
    assert np.allclose(galton.check(model, "Pmax=? [ F s=2 ]").values, [0.7, 0, 1, 0])
    truths = galton.check(model, "P>=0.5 [ F s=2 ]").values
    assert truths.array.tolist() == [False, False, True, False]  # for all strategies
    assert truths.array.dtype == np.bool_


def test_values_that_bounds_do_not_decide_are_none() -> None:
    """A third of the thirds of doubles: no bounds tell whether the value is 1/2."""
    rows = [[1 / 3, 1 / 3, 1 / 3], [0, 1, 0], [0, 0, 1]]
    chain = galton.Model.from_matrix("dtmc", rows, labels={"won": [2]})
    found = galton.check(chain, 'P>=0.5 [ F "won" ]')
    assert found.value is None
    assert found.values.array.tolist() == [None, False, True]
    assert (found.values.lower[0], found.values.upper[0]) == (False, True)
    assert "undecided" in found.values._repr_html_()


def test_exact_values_are_fractions() -> None:
    values = galton.check(DIE, "P=? [ F d=6 ]", exact=True, device="cpu").values
    assert values.at(node=0, d=0) == Fraction(1, 6)
    assert values.at(node=6, d=0) == Fraction(2, 3)
    assert set(values.array) == {0, Fraction(1, 6), Fraction(1, 3), Fraction(2, 3), 1}


def test_values_as_a_table() -> None:
    pytest.importorskip("pandas")
    table = galton.check(DIE, "P=? [ F d=6 ]").values.to_pandas()
    assert list(table.index.names) == ["node", "d"]
    assert list(table.columns) == ["value", "lower", "upper"]
    assert table["value"][0, 0] == pytest.approx(1 / 6)
    assert table.loc[(7, 6), "value"] == 1
    model = galton.Model.from_function(gambler, initial=5)
    assert galton.check(model, "P=? [ F euros=10 ]").values.to_pandas()["value"][3] == pytest.approx(0.3)
    bare = galton.check(CHAIN, 'P=? [ F "won" ]').values.to_pandas()
    assert (bare.index.name, bare["value"].tolist()) == ("state", [0.25, 0, 1])


def test_tables_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(GaltonError, match="tables need pandas: pip install"):
        galton.check(CHAIN, 'P=? [ F "won" ]').values.to_pandas()
    with pytest.raises(GaltonError, match="tables need pandas: pip install"):
        galton.experiment(DIE, "const int k; P=? [ F d=k ]", k=[1]).to_pandas()


def test_what_has_no_values() -> None:
    multi = galton.check(galton.parse(WEIGHED), "multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ])")
    with pytest.raises(GaltonError, match="about the initial states only"):
        _ = multi.values
    row = galton.experiment(DIE, "const int k; P=? [ F d=k ]", k=[1, 2])[0]
    with pytest.raises(GaltonError, match=r"galton.check\(model, property\).values"):
        _ = row.result.values
    with pytest.raises(GaltonError, match="only numbers"):
        galton.check(CHAIN, 'P=? [ F "won" ]').values.at(s=1)
    with pytest.raises(KeyError, match="no state has euros=11"):
        galton.check(galton.Model.from_function(gambler, 5), "P=? [ F euros=10 ]").values.at(euros=11)


# Properties and models in all their forms.


def test_lists_and_files_of_properties() -> None:
    props = MODELS / "die.props"
    for given in (props, str(props)):
        results = galton.check(DIE, given, k=3)
        assert [result.name for result in results][:2] == ["face", "six"]
        assert_number(results["face"], 1 / 6)
    mixed = galton.check(galton.load(DIE), [props, "P=? [ F d>3 ]", '"low": P=? [ F d<4 & d>0 ]'], k=1)
    assert len(mixed) == len(results) + 2
    assert_number(mixed["P=? [ F d>3 ]"], 1 / 2)
    assert_number(mixed["low"], 1 / 2)
    assert len(mixed[:2]) == 2
    with pytest.raises(GaltonError, match="no property is called 'lwo'; did you mean 'low'"):
        mixed["lwo"]
    assert "low: <P=? [ F d<4 & d>0 ] = 0.5" in repr(mixed)


def test_one_model_is_built_for_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    import galton.explore

    built = []
    build = galton.explore.build
    monkeypatch.setattr(galton.explore, "build", lambda *a, **k: built.append(1) or build(*a, **k))
    galton.check(DIE, ["P=? [ F d=1 ]", "P=? [ F d=2 ]", 'R{"tosses"}=? [ F "done" ]'])
    assert built == [1]


def test_constants_of_a_program_may_be_given_with_the_question() -> None:
    herman = galton.load(MODELS / "herman.prism")
    longest = 'filter(max, R=? [ F "stable" ])'
    assert galton.check(herman, longest, N=5) == pytest.approx(3.2)
    assert galton.check(galton.load(MODELS / "herman.prism", N=3), longest, N=5) == pytest.approx(3.2)


def test_explicit_files_are_models(tmp_path: Path) -> None:
    galton.write_model(galton.load(DIE).build(), [tmp_path / "die.npz"])
    assert_number(galton.check(tmp_path / "die.npz", "P=? [ F d=6 ]"), 1 / 6)


@pytest.mark.parametrize(
    ("subject", "prop", "said"),
    [
        (gambler, "P=? [ F x=1 ]", "this is a function; galton.Model.from_function makes a model of it"),
        (
            7,
            "P=? [ F x=1 ]",
            "a galton.Program or the path of a file is needed, and this is of type int",
        ),
        (np.eye(2), "P=? [ F x=1 ]", r'galton.Model.from_matrix\("dtmc", …\) makes a model of it'),
        (COIN, "P=? [ F heads ]", r"galton.parse\(text\) makes a program of it"),
        (DIE, 7, "a property is a text such as 'P=. . F d=6 .'.*this is of type int"),
        (DIE, [], "nothing to check: there is no property"),
        (DIE, "P=? [ F d=1 ]; P=? [ F d=2 ]", "this text has 2; a list of properties, or the path of a file"),
    ],
)
def test_what_is_no_model_or_property_says_what_would_be(subject: object, prop: object, said: str) -> None:
    with pytest.raises(GaltonError, match=said):
        galton.check(subject, prop)  # type: ignore[call-overload]


def test_other_libraries_are_known_by_name() -> None:
    pandas, networkx = pytest.importorskip("pandas"), pytest.importorskip("networkx")
    with pytest.raises(GaltonError, match=r"Model.from_pandas\(…\)"):
        galton.check(pandas.DataFrame(), "P=? [ F x=1 ]")
    with pytest.raises(GaltonError, match=r"Model.from_networkx\(…\)"):
        galton.check(networkx.DiGraph(), "P=? [ F x=1 ]")


# Notebooks.


def test_pages_of_a_notebook() -> None:
    program = galton.load(MODELS / "consensus.prism", N=2, K=2)
    assert len(repr(program)) < 200
    assert "\n" not in repr(program)
    assert "process1 (7 commands)" in program._repr_html_()
    assert "without a value: N" in repr(galton.load(MODELS / "herman.prism"))
    assert "<td style='text-align:left;vertical-align:top'>(node=0, d=0)</td>" in galton.load(DIE).build()._repr_html_()
    game = galton.Model.from_function(gambler, 5, labels={"rich": lambda e: e == 10}, rewards={"<b>": lambda e: 1})
    page = game._repr_html_()
    assert "(euros=5)" in page
    assert "rich (1)" in page
    assert "&lt;b&gt;" in page
    result = galton.check(game, "P=? [ F euros<3 ]")
    assert "P=? [ F euros&lt;3 ]" in result._repr_html_()
    assert "the initial state (euros=5)" in result._repr_html_()
    assert "(euros=4)" in result.values._repr_html_()
    assert "<td>six</td>" in galton.check(DIE, MODELS / "die.props", k=1)._repr_html_()


def test_a_page_and_a_table_about_regions() -> None:
    text = "dtmc const double p; module m s : [0..1]; [] s=0 -> p:(s'=1)+1-p:true; endmodule"
    regions = galton.synthesize(galton.parse(text), "P>=0.5 [ F<=1 s=1 ]", p=(0.1, 0.9), volume=0.1)
    page = regions._repr_html_()
    assert "P&gt;=0.5" in page
    assert "0.1 to 0.9" in page
    assert f"{regions.volume(regions.true):.2%} of the space" in page
    best = galton.synthesize(galton.parse(text), "P=? [ F<=1 s=1 ]", maximize=True, p=(0.1, 0.9))
    assert "maximum" in best._repr_html_()
    pytest.importorskip("pandas")
    table = regions.to_pandas()
    assert len(table) == len(regions.boxes)
    assert table["volume"].sum() == pytest.approx(1)
    assert table[table["verdict"] == "true"]["lower"].min() >= 0.5


def test_tables_of_distributions_and_strategies() -> None:
    pytest.importorskip("pandas")
    table = galton.transient(DIE, 3).to_pandas()
    assert table["probability"].sum() == pytest.approx(1)
    assert table.loc[(7, 6), "probability"] == pytest.approx(1 / 8)
    page = galton.transient(DIE, 3, expression="d")._repr_html_()
    assert "<td>6</td><td>0.125</td>" in page
    strategy = galton.check(galton.parse(GAMBLE), "Pmax=? [ F s=3 ]", strategy=True).strategy
    assert strategy is not None
    assert len(strategy.to_pandas()) == 5
