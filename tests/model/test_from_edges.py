"""Models from pandas tables, NetworkX graphs and Gymnasium's toy-text environments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import galton
from galton.model import Model, ModelError

WEATHER = [("sun", "sun", 0.8), ("sun", "rain", 0.2), ("rain", "sun", 0.6), ("rain", "rain", 0.4)]


def table(rows: list[Any], *names: str) -> Any:
    return pytest.importorskip("pandas").DataFrame(rows, columns=["source", "target", *names])


def test_a_table_of_probabilities() -> None:
    model = Model.from_pandas(table(WEATHER, "probability"), initial="rain", rewards={"wet": {"rain": 1}})
    assert model.matrix.toarray().tolist() == [[0.8, 0.2], [0.6, 0.4]]
    assert (model.type, model.initial.tolist(), list(model.states)) == ("dtmc", [1], ["sun", "rain"])
    assert galton.check(model, 'S=? [ "rain" ]') == pytest.approx(0.25)
    assert galton.check(model, 'R{"wet"}=? [ C<=2 ]') == pytest.approx(1.4)


def test_a_table_of_rates_with_numbers_for_states() -> None:
    model = Model.from_pandas(table([(7, 3, 2.0), (3, 7, 1.0)], "rate"), labels={"seven": [7], "odd": lambda s: s % 2})
    assert (model.type, list(model.states), model.initial.tolist()) == ("ctmc", [3, 7], [1])
    assert model.matrix.toarray().tolist() == [[0, 1], [2, 0]]
    assert galton.check(model, "S=? [ state=7 ]") == pytest.approx(1 / 3)
    assert model.labels["seven"].tolist() == [False, True]
    assert model.labels["odd"].all()


def test_columns_may_make_states_of_several_variables() -> None:
    pandas = pytest.importorskip("pandas")
    rows = {"x": [0, 0], "up": [False, False], "x2": [1, 0], "up2": [False, True], "probability": [0.25, 0.75]}
    model = Model.from_pandas(pandas.DataFrame(rows), source=["x", "up"], target=["x2", "up2"])
    assert galton.check(model, "P=? [ F up ]") == pytest.approx(0.75)
    assert galton.check(model, "P=? [ F x=1 & !up ]") == pytest.approx(0.25)
    assert model.states is not None
    assert model.states.describe(0) == "(x=0, up=false)"


def test_actions_make_an_mdp_and_rewards_of_edges_are_means() -> None:
    """The two ways to 1 are one transition, whose reward is the mean of both, by their probabilities."""
    rows = [
        (1, 0, "back", 1.0, 0.0),
        (0, 1, "go", 0.25, 8.0),
        (0, 0, "stay", 1.0, 1.0),
        (0, 1, "go", 0.75, 4.0),
    ]
    model = Model.from_pandas(table(rows, "action", "probability", "cost"), rewards={"cost": "cost"}, initial=0)
    assert model.type == "mdp"
    assert model.transitions(0) == [("go", [(1.0, 1)]), ("stay", [(1.0, 0)])]
    assert model.transitions(1) == [("back", [(1.0, 0)])]
    assert galton.check(model, 'R{"cost"}min=? [ F state=1 ]') == pytest.approx(5)
    direct = Model.from_matrix(
        "mdp", [[0, 1], [1, 0], [1, 0]], row_groups=[0, 2, 3], actions=["go", "stay", "back"], rewards={"cost": [0, 0]}
    )
    assert [d for d in model.differences(direct) if "rewards" not in d] == ["states differ"]


@pytest.mark.parametrize(
    ("rows", "names", "options", "said"),
    [
        (WEATHER, ["p"], {}, "no column is called probability, rate or weight; value= names it: source, target, p"),
        (WEATHER, ["probability"], {"source": "sources"}, "no column 'sources'; did you mean 'source'"),
        ([("a", "b", 0.5)], ["probability"], {}, "going from 'a' sum to 0.5, not 1; normalise=True divides by that"),
        ([("a", "b", -1.0)], ["probability"], {}, "the probability of going from 'a' to 'b' is -1"),
        ([("a", "b", float("nan"))], ["rate"], {}, "the rate of going from 'a' to 'b' is nan"),
        ([("a", None, 1.0)], ["probability"], {}, "a state is missing"),
        ([("a", "b", 1.0)], ["probability"], {"initial": "c"}, "no state 'c' among the 2 states, for example 'a'"),
        ([("a", "b", 1.0)], ["probability"], {"labels": {"x": ["c"]}}, "no state 'c'"),
        ([("a", "b", 1.0)], ["probability"], {"variables": ["x"]}, "names are for states that are whole numbers"),
        ([(0, 1, 1.0)], ["probability"], {"variables": ["x", "y"]}, "a state has 1 part, and the names are x, y"),
        ([(0, 1, 1.0)], ["probability"], {"variables": ["F"]}, "'F' is no name that properties can use"),
        ([(0, 1, 1.0)], ["rate"], {"normalise": True}, "rates are no parts of a whole"),
        ([("a", "b", "x", 1.0)], ["action", "probability"], {"type": "dtmc"}, "actions are for an mdp"),
        ([], ["probability"], {}, "there is no transition"),
    ],
)
def test_tables_that_are_no_models(rows: list[Any], names: list[str], options: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=said.replace("(", r"\(")):
        Model.from_pandas(table(rows, *names), **options)


def test_a_random_walk_on_a_graph() -> None:
    """On an undirected graph the walk is at a node in proportion to the weight of its edges."""
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "c", 3), ("c", "a", 2), ("c", "c", 4)])
    model = Model.from_networkx(graph, normalise=True)
    total = 1 + 3 + 2 + 1 + 3 + 2 + 4
    for node, weight in (("a", 3), ("b", 4), ("c", 9)):
        assert galton.check(model, f'S=? [ "{node}" ]') == pytest.approx(weight / total)
    grid = networkx.grid_2d_graph(3, 3)
    walk = Model.from_networkx(grid, normalise=True, initial=(1, 1), variables=("x", "y"))
    assert galton.check(walk, "P=? [ X x=1 & y=0 ]") == pytest.approx(0.25)
    assert galton.check(Model.from_networkx(grid, normalise=True, initial=(1, 1)), "P=? [ X node0=1 & node1=0 ]") == (
        pytest.approx(0.25)
    )


def test_attributes_of_nodes_and_edges() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiDiGraph()
    graph.add_node("start")
    graph.add_edge("start", "goal", action="risk", probability=0.5, cost=1)
    graph.add_edge("start", "lost", action="risk", probability=0.5, cost=1)
    graph.add_edge("start", "goal", action="pay", probability=1.0, cost=9)
    graph.nodes["goal"]["end"] = graph.nodes["lost"]["end"] = True
    model = Model.from_networkx(graph, labels={"end": "end"}, rewards={"cost": "cost"})
    assert (model.type, model.n_choices) == ("mdp", 4)
    assert galton.check(model, 'Pmin=? [ F "goal" ]') == pytest.approx(0.5)
    assert galton.check(model, 'R{"cost"}max=? [ F "end" ]') == pytest.approx(9)


def test_graphs_that_are_no_models() -> None:
    networkx = pytest.importorskip("networkx")
    with pytest.raises(ModelError, match="the graph has no edges"):
        Model.from_networkx(networkx.DiGraph())
    with pytest.raises(ModelError, match="normalise=True does without"):
        Model.from_networkx(networkx.path_graph(3))
    graph = networkx.DiGraph([("a", "b", {"weight": 1}), ("b", "a", {})])
    with pytest.raises(ModelError, match="the edge from 'b' to 'a' has no 'weight'"):
        Model.from_networkx(graph)


def lake(**options: Any) -> Any:
    return pytest.importorskip("gymnasium").make("FrozenLake-v1", **options)


def best_by_iteration(env: Any) -> float:
    """The greatest probability of a reward, by plain value iteration over the table of the environment."""
    table = env.unwrapped.P
    values = np.zeros(len(table))
    for _ in range(5000):
        values = np.array(
            [
                max(sum(p * (r + (0 if done else values[t])) for p, t, r, done in table[s][a]) for a in table[s])
                for s in range(len(table))
            ]
        )
    return float(values[0])


def test_frozen_lake() -> None:
    env = lake()
    model = Model.from_gymnasium(env, actions=["left", "down", "right", "up"])
    best = galton.check(model, "Pmax=? [ F state=15 ]", strategy=True)
    assert best == pytest.approx(best_by_iteration(env), abs=1e-6)
    assert best == pytest.approx(14 / 17, abs=1e-6)
    assert [model.states[s] for s in range(16)] == [(s, False) for s in range(16)]
    assert set(model.actions[1:]) == {"left", "down", "right", "up"}
    assert galton.check(best.strategy.induced(), "P=? [ F state=15 & done ]") == pytest.approx(14 / 17, abs=1e-6)
    sure = Model.from_gymnasium(lake(is_slippery=False))
    assert galton.check(sure, 'R{"reward"}max=? [ C<=6 ]') == 1
    assert galton.check(sure, 'R{"reward"}max=? [ C<=5 ]') == 0


def test_an_episode_ends_where_the_table_goes_on() -> None:
    """The table of CliffWalking goes on from the goal; thirteen steps are the shortest way there."""
    cliff = pytest.importorskip("gymnasium.envs.toy_text.cliffwalking").CliffWalkingEnv()
    model = Model.from_gymnasium(cliff)
    assert list(model.rewards) == ["penalty"]
    assert galton.check(model, 'R{"penalty"}min=? [ F "done" ]') == pytest.approx(13)
    assert galton.check(model, 'Pmax=? [ F "done" ]') == 1
    taxi = Model.from_gymnasium(pytest.importorskip("gymnasium.envs.toy_text.taxi").TaxiEnv())
    assert (list(taxi.rewards), len(taxi.initial)) == (["reward", "penalty"], 300)
    assert galton.check(taxi, 'filter(forall, P>=1 [ G (done => "done") ])').value is True


def test_environments_without_a_table() -> None:
    blackjack = pytest.importorskip("gymnasium").make("Blackjack-v1")
    with pytest.raises(ModelError, match="no table P of its transitions; toy-text environments such as FrozenLake"):
        Model.from_gymnasium(blackjack)
    with pytest.raises(ModelError, match="the environment has 4 actions, and 1 names are given"):
        Model.from_gymnasium(lake(), actions=["left"])
