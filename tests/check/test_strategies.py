"""Strategies: written, read again and applied, they attain what they promise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from asking import COIN, GAMBLE, ask

import galton
from galton.checking.strategies.strategy import Strategy, StrategyError
from galton.checking.strategies.strategy_file import read_strategy, write_strategy
from galton.checking.strategies.strategy_value import StrategyMistakeError
from galton.device.arrays import is_on_host
from galton.model.sparse import Model

MODELS = Path(__file__).parents[2] / "models"

# Two choices without a name, and two with the same one; the goal is missed from y on.
TWINS = """
mdp
module twins
  s : [0..4];
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=0 -> (s'=1);
  [go] s=1 -> 0.9 : (s'=3) + 0.1 : (s'=4);
  [go] s=1 -> 0.2 : (s'=3) + 0.8 : (s'=4);
  [go] s=2 -> (s'=4);
  [stay] s=2 -> 0.5 : (s'=2) + 0.5 : (s'=1);
  [] s>2 -> true;
endmodule
rewards "r" s=2 : 1; [go] true : 4; endrewards
"""

# Waiting is better while there is time: the best choice depends on the steps that are left.
CLOCK = """
mdp
module timer
  s : [0..3];
  [wait] s=0 -> 0.5 : (s'=0) + 0.5 : (s'=1);
  [jump] s=0 -> 0.4 : (s'=2) + 0.6 : (s'=3);
  [] s=1 -> (s'=2);
  [] s>1 -> true;
endmodule
"""


def solved(text: str, prop: str) -> tuple[Model, Strategy, float]:
    model = galton.parse(text).build()
    found = galton.check(model, prop, strategy=True)
    assert found.device == ("cpu" if is_on_host(model.columns) else "cuda")
    assert found.strategy is not None
    return model, found.strategy, float(found)


MEMORYLESS = [
    (GAMBLE, "Pmax=? [ F s=3 ]", "P=? [ F s=3 ]"),
    (GAMBLE, "Pmin=? [ F s=3 ]", "P=? [ F s=3 ]"),
    (GAMBLE, "Pmax=? [ G s!=4 ]", "P=? [ G s!=4 ]"),
    (GAMBLE, "Pmin=? [ G s!=4 ]", "P=? [ G s!=4 ]"),
    (GAMBLE, "Pmax=? [ X s=1 ]", "P=? [ X s=1 ]"),
    (GAMBLE, 'R{"cost"}min=? [ F s>2 ]', 'R{"cost"}=? [ F s>2 ]'),
    (GAMBLE, 'R{"cost"}max=? [ F s>2 ]', 'R{"cost"}=? [ F s>2 ]'),
    (GAMBLE, "Tmax=? [ F s>2 ]", "T=? [ F s>2 ]"),
    (TWINS, "Pmax=? [ F s=3 ]", "P=? [ F s=3 ]"),
    (TWINS, "Pmin=? [ F s=3 ]", "P=? [ F s=3 ]"),
    (TWINS, 'R{"r"}max=? [ F s>2 ]', 'R{"r"}=? [ F s>2 ]'),
]
STEPS = [
    (CLOCK, "Pmax=? [ F<=1 s=2 ]", "P=? [ F<=1 s=2 ]"),
    (CLOCK, "Pmax=? [ F<=3 s=2 ]", "P=? [ F<=3 s=2 ]"),
    (CLOCK, "Pmax=? [ F<=6 s=2 ]", "P=? [ F<=6 s=2 ]"),
    (CLOCK, "Pmin=? [ F<=6 s=2 ]", "P=? [ F<=6 s=2 ]"),
    (CLOCK, "Pmin=? [ G<=4 s!=2 ]", "P=? [ G<=4 s!=2 ]"),
    (CLOCK, "Pmax=? [ F[2,5] s=2 ]", "P=? [ F[2,5] s=2 ]"),
    (CLOCK, "Pmax=? [ F>=3 s=1 ]", "P=? [ F>=3 s=1 ]"),
    (GAMBLE, 'R{"cost"}max=? [ C<=4 ]', 'R{"cost"}=? [ C<=4 ]'),
    (GAMBLE, 'R{"cost"}max=? [ I=2 ]', 'R{"cost"}=? [ I=2 ]'),
]


@pytest.mark.parametrize(("text", "optimal", "plain"), MEMORYLESS + STEPS)
def test_round_trip(text: str, optimal: str, plain: str, tmp_path: Path) -> None:
    model, strategy, value = solved(text, optimal)
    assert float(galton.check(strategy.induced(), plain)) == pytest.approx(value, rel=1e-5)
    path = tmp_path / "strategy.json"
    write_strategy(path, strategy, formula=optimal, constants={"N": 3})
    again, made = read_strategy(path, model)
    assert (made["property"], made["constants"]) == (optimal, {"N": 3})
    chain = again.induced()
    chain.validate()
    assert chain.type == "dtmc"
    assert float(galton.check(chain, plain)) == pytest.approx(value, rel=1e-5)


# Rounds that cost nothing, with ways out of different worth: a strategy has to leave, and by the right way.
ROUNDS = """
mdp
module rounds
  s : [0..7];
  [turn] s<4 -> (s'=mod(s+1, 4));
  [back] s>0 & s<4 -> 0.5 : (s'=s-1) + 0.5 : (s'=s);
  [out] s=1 -> 0.3 : (s'=6) + 0.7 : (s'=7);
  [out] s=3 -> 0.8 : (s'=5) + 0.2 : (s'=7);
  [turn] s=5 -> (s'=4);
  [turn] s=4 -> (s'=5);
  [out] s=4 -> 0.5 : (s'=6) + 0.5 : (s'=7);
  [] s>5 -> true;
endmodule
rewards "paid" [out] s<4 : s; [out] s=4 : 2; endrewards
"""


@pytest.mark.parametrize(
    ("model", "optimal"),
    [
        *((ROUNDS, f"P{optimum}=? [ F s={goal} ]") for optimum in ("min", "max") for goal in (6, 7)),
        (ROUNDS, "Pmin=? [ s<6 W s=6 ]"),
        (ROUNDS, 'R{"paid"}min=? [ F s>5 ]'),
        *(("consensus", f'P{optimum}=? [ F "finished" & "all_heads" ]') for optimum in ("min", "max")),
        *(("consensus", f'R{{"steps"}}{optimum}=? [ F "finished" ]') for optimum in ("min", "max")),
    ],
)
def test_what_a_strategy_is_worth(model: str, optimal: str) -> None:
    constants = {} if model == ROUNDS else {"N": 2, "K": 2}
    program = galton.parse(model if model == ROUNDS else (MODELS / f"{model}.prism").read_text(), **constants)
    built = program.build()
    found = galton.check(built, optimal, strategy=True)
    assert found.device == ("cpu" if is_on_host(built.columns) else "cuda")
    assert found.strategy is not None
    plain = optimal.replace("min", "", 1).replace("max", "", 1)
    assert float(galton.check(found.strategy.induced(), plain)) == pytest.approx(float(found), rel=1e-5)


def test_the_file_speaks_of_variables_and_actions(tmp_path: Path) -> None:
    _, strategy, _ = solved(GAMBLE, "Pmax=? [ F s=3 ]")
    assert repr(strategy) == "<strategy: memoryless, 5 states>"
    assert (strategy.choice(0), strategy.choice(1)) == (0, 1)
    write_strategy(tmp_path / "s.json", strategy)
    decisions = json.loads((tmp_path / "s.json").read_text())["decisions"]
    assert decisions == [
        {"state": {"s": 0}, "action": "a", "choice": 0},
        {"state": {"s": 1}, "action": "b", "choice": 1},
    ]


def test_choices_of_one_name_are_told_apart(tmp_path: Path) -> None:
    model, strategy, value = solved(TWINS, "Pmin=? [ F s=3 ]")
    path = tmp_path / "s.json"
    write_strategy(path, strategy)
    made = json.loads(path.read_text())
    twin = next(d for d in made["decisions"] if d["state"] == {"s": 1})
    assert twin["updates"] == [{"probability": 0.2, "state": {"s": 3}}, {"probability": 0.8, "state": {"s": 4}}]
    for decision in made["decisions"]:  # found by what they do, should the numbers be lost
        del decision["choice"]
    path.write_text(json.dumps(made))
    again, _ = read_strategy(path, model)
    assert float(galton.check(again.induced(), "P=? [ F s=3 ]")) == pytest.approx(value, rel=1e-5)


def test_steps(tmp_path: Path) -> None:
    model, strategy, _ = solved(CLOCK, "Pmax=? [ F<=3 s=2 ]")
    assert strategy.steps == 3
    assert [strategy.choice(0, step) for step in range(3)] == [0, 0, 1]  # jump when it is too late to wait
    write_strategy(tmp_path / "s.json", strategy)
    decisions = json.loads((tmp_path / "s.json").read_text())["decisions"]
    assert [(d["step"], d["action"]) for d in decisions] == [(0, "wait"), (1, "wait"), (2, "jump")]
    assert model.n_states == 4


def test_a_chain_has_no_strategy() -> None:
    program = galton.parse(COIN)
    for subject in (program, program.build()):
        for chosen in ({"strategy": True}, {"settings": galton.Settings(strategy=True)}):
            with pytest.raises(
                galton.GaltonError, match=r"there is no strategy; only P, R, T, S and multi\(…\) of an MDP"
            ):
                galton.check(subject, "P=? [ F heads ]", **chosen)
    assert ask(GAMBLE, "1 - Pmax=? [ F s=3 ]").strategy is None


def test_states_that_are_not_listed_take_their_first_choice() -> None:
    model = galton.parse(GAMBLE).build()
    nothing = Strategy(model, np.full(model.n_states, -1, dtype=np.int32))
    assert float(galton.check(nothing.induced(), "P=? [ F s=3 ]")) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        ({"state": {"s": 0}, "action": "c", "choice": 0}, 'no choice fit action "c"; there are a, b'),
        ({"state": {"t": 0}, "action": "a", "choice": 0}, r"a state is given by s, not by"),
    ],
)
def test_decisions_that_do_not_fit(decision: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"galton": "strategy", "steps": None, "decisions": [decision]}))
    with pytest.raises(StrategyError, match=message):
        read_strategy(path, galton.parse(GAMBLE).build())


@pytest.mark.parametrize(("text", "message"), [("{", "is no strategy: "), ("[]", "is no strategy that Galton wrote")])
def test_files_that_are_no_strategy(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(StrategyError, match=message):
        read_strategy(tmp_path / "s.json", galton.parse(GAMBLE).build())


def test_a_chain_can_not_be_told_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"galton": "strategy", "steps": null, "decisions": []}')
    with pytest.raises(StrategyError, match="a strategy needs choices, and this model is a dtmc"):
        read_strategy(tmp_path / "s.json", galton.parse(COIN).build())


# What graph analysis settles: the strategy has to get to where that is so, and to stay there.

STAY_OR_GO = """
mdp
module m
  s : [0..1];
  [a] s=0 -> (s'=1);
  [b] s=0 -> true;
  [] s=1 -> true;
endmodule
rewards s=1 : 1; endrewards
"""
GO_OR_STAY = STAY_OR_GO.replace("[a] s=0 -> (s'=1);\n  [b] s=0 -> true;", "[b] s=0 -> true;\n  [a] s=0 -> (s'=1);")
PAYS = """
mdp
module m
  s : [0..3];
  [out] s=0 -> (s'=3);
  [in] s=0 -> 0.5:(s'=1) + 0.5:(s'=3);
  [stay] s=1 -> true;
  [round] s=1 -> (s'=2);
  [leave] s=1 -> (s'=3);
  [] s=2 -> (s'=1);
  [] s=3 -> true;
endmodule
rewards [round] true : 1; [out] true : 5; endrewards
"""


@pytest.mark.parametrize(
    ("text", "optimal", "value"),
    [
        (STAY_OR_GO, "Rmin=? [ C ]", 0.0),
        (STAY_OR_GO, "Rmax=? [ F s=1 ]", np.inf),
        (STAY_OR_GO, "Rmax=? [ C ]", np.inf),
        (STAY_OR_GO, "Tmax=? [ F s=1 ]", np.inf),
        (GO_OR_STAY, "Pmin=? [ F>=2 s=0 ]", 0.0),
        (GO_OR_STAY, "Pmin=? [ F=3 s=0 ]", 0.0),
        (GO_OR_STAY, "Pmax=? [ G>=2 s=1 ]", 1.0),
        (GO_OR_STAY, "Rmin=? [ X s=1 ]", 0.0),
        (STAY_OR_GO, "Rmax=? [ s=0 U s=1 ]", np.inf),
        (PAYS, "Rmax=? [ C ]", np.inf),
        (PAYS, "Rmin=? [ C ]", 0.0),
        (PAYS, "Rmin=? [ s!=2 U s=3 ]", 0.0),
        (PAYS, "Pmax=? [ F<=0 s=0 ]", 1.0),
    ],
)
def test_a_strategy_attains_what_the_graph_settles(text: str, optimal: str, value: float, tmp_path: Path) -> None:
    model, strategy, found = solved(text, optimal)
    write_strategy(tmp_path / "s.json", strategy)
    again, _ = read_strategy(tmp_path / "s.json", model)
    plain = optimal.replace("min", "", 1).replace("max", "", 1)
    assert float(galton.check(again.induced(), plain)) == found == value


def test_formulas_inside_are_about_the_model() -> None:
    """In the chain that the strategy leaves nothing reaches s=1, which is what the inner operator asks about."""
    result = galton.check(galton.parse(STAY_OR_GO).build(), "Pmax=? [ G (s=0 & Pmax>=1 [ F s=1 ]) ]", strategy=True)
    assert result.value == 1
    assert result.strategy is not None
    assert result.strategy.choice(0) == 1


@pytest.mark.parametrize("optimal", ["Rmin=? [ C ]", "Pmin=? [ F>=2 s=1 ]", "Rmin=? [ C<=3 ]"])
def test_a_strategy_that_is_not_worth_the_answer_is_an_error(optimal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken_at_random(self: Strategy, step: int = 0) -> np.ndarray:
        assert self.model.choice_starts is not None
        return self.model.choice_starts[:-1]

    monkeypatch.setattr(Strategy, "rows", taken_at_random)
    model = galton.parse(STAY_OR_GO).build()
    assert float(galton.check(model, optimal)) == 0
    with pytest.raises(
        StrategyMistakeError, match="mistake of Galton, and the answer stands without the strategy"
    ) as e:
        galton.check(model, optimal, strategy=True)
    assert e.value.kind == "numeric"


ALMOST = """
mdp
module almost
  s : [0..3];
  [hope] s=0 -> 1e-18 : (s'=3) + 1-1e-18 : (s'=1);
  [know] s=0 -> (s'=1);
  [] s=1 -> (s'=2);
  [] s>1 -> true;
endmodule
"""


@pytest.mark.parametrize("optimal", ["Pmax=? [ F=2 s=2 ]", "Pmax=? [ F[2,3] s=2 ]", "Pmax=? [ X s=1 ]"])
def test_what_can_be_certain_is_not_left_to_luck(optimal: str) -> None:
    """Doubles do not tell 1 from what the first choice gives; whoever asks for P>=1 of the chain does."""
    strategy = galton.check(galton.parse(ALMOST).build(), optimal, strategy=True).strategy
    assert strategy is not None
    assert strategy.choice(0) == 1
    assert galton.check(strategy.induced(), optimal.replace("max=?", ">=1")).value is True
