"""Corners of PRISM's semantics, each with what must come out written beside it.

Random programs find what nobody thought of; here is what somebody did think of.
"""

from __future__ import annotations

import pytest
from small_models import build, exit_code, refused, table

from galton.explore import DeadlockError, LimitError

# Choices and transitions


def test_equal_targets_of_a_choice_are_merged() -> None:
    text = "mdp module m x : [0..2]; [] x=0 -> 0.25:(x'=1) + 0.5:(x'=2) + 0.25:(x'=1); [] x>0 -> (x'=0); endmodule"
    assert table(text)[(0,)] == [("", {(1,): 0.5, (2,): 0.5})]
    model = build(text)
    assert model.columns.tolist() == [1, 2, 0, 0]


def test_equal_choices_are_kept() -> None:
    commands = "[a] true -> (x'=1); [a] true -> (x'=1); [] true -> (x'=1); [] true -> (x'=1);"
    text = f"mdp module m x : [0..1]; {commands} endmodule"
    to = {(1,): 1.0}
    assert table(text)[(0,)] == [("", to), ("", to), ("a", to), ("a", to)]


def test_a_loop_is_a_transition_and_no_deadlock() -> None:
    model = build("mdp module m x : [0..1]; [] true -> true; endmodule")
    assert model.transitions(0) == [("", [(1.0, 0)])]
    assert not model.labels["deadlock"].any()


def test_three_overlapping_commands_of_a_dtmc_share_equally() -> None:
    text = """dtmc module m x : [0..3];
      [a] x=0 -> (x'=1);
      [b] x=0 -> 0.5:(x'=1) + 0.5:(x'=2);
      []  x=0 -> 0.25:(x'=0) + 0.75:(x'=3);
      []  x>0 -> (x'=0);
    endmodule"""
    shares = {(0,): 0.25 / 3, (1,): 1.5 / 3, (2,): 0.5 / 3, (3,): 0.75 / 3}
    assert table(text)[(0,)] == [("", pytest.approx(shares, rel=1e-12))]


def test_equal_commands_of_a_dtmc_count_twice() -> None:
    text = "dtmc module m x : [0..2]; [] x=0 -> (x'=1); [] x=0 -> (x'=1); [] x=0 -> (x'=2); [] x>0 -> true; endmodule"
    assert table(text)[(0,)] == [("", pytest.approx({(1,): 2 / 3, (2,): 1 / 3}, rel=1e-12))]


def test_combinations_of_a_dtmc_count_one_by_one() -> None:
    """Two commands of one module meet one of the other; a third command goes alone: three choices."""
    text = """dtmc
      module m x : [0..3]; [a] x=0 -> (x'=1); [a] x=0 -> (x'=2); [] x=0 -> (x'=3); [] x>0 -> true; endmodule
      module n [a] true -> true; endmodule"""
    assert table(text)[(0,)] == [("", pytest.approx({(1,): 1 / 3, (2,): 1 / 3, (3,): 1 / 3}, rel=1e-12))]


def test_rates_add_up_and_loops_stay() -> None:
    commands = "[] true -> 2:(x'=0) + 3:(x'=1); [] x=0 -> 0.5:(x'=0); [a] x=0 -> 4:(x'=1);"
    text = f"ctmc module m x : [0..1]; {commands} endmodule"
    assert table(text) == {(0,): [("", {(0,): 2.5, (1,): 7.0})], (1,): [("", {(0,): 2.0, (1,): 3.0})]}


def test_an_update_without_a_chance_may_go_anywhere() -> None:
    updates = "0:(x'=x+5) + (x=0 ? 0 : 1):(x'=x-1) + (x=0 ? 1 : 0):(x'=x+1)"
    text = f"dtmc module m x : [0..1]; [] true -> {updates}; endmodule"
    assert table(text) == {(0,): [("", {(1,): 1.0})], (1,): [("", {(0,): 1.0})]}


@pytest.mark.parametrize("value", ["mod(x, y)", "floor(x/y)", "5*(1-y)", "pow(2, y-1)", "round(0/y)"])
def test_an_update_without_a_chance_is_not_worked_out(value: str) -> None:
    """Where y is 0 the new value of x does not exist, and the update has no chance."""
    for weights in ("(y>0 ? 1 : 0)", "(y>0 ? 0 : 1)"), ("y", "(1-y)"), ("min(1, 3*y)", "pow(0, y)"):
        updates = f"{weights[0]}:(x'={value}) + {weights[1]}:(y'=1)"
        text = f"dtmc module m x : [0..2]; y : [0..2]; [] true -> {updates}; endmodule"
        assert table(text)[(0, 0)] == [("", {(0, 1): 1.0})]


def test_an_update_with_any_chance_may_not() -> None:
    assert "(x=0)" in refused("dtmc module m x : [0..1]; [] true -> 1e-9:(x'=x+5) + 1-1e-9:true; endmodule")


def test_an_update_without_a_chance_leads_to_no_state() -> None:
    text = "ctmc module m x : [0..9]; [] x<9 -> x:(x'=9) + 1:(x'=mod(x+1, 2)) + 0*x:(x'=5); endmodule"
    assert list(table(text)) == [(0,), (1,), (9,)]


def test_a_state_with_only_zero_rates_is_a_deadlock() -> None:
    model = build("ctmc module m x : [0..2]; [] true -> (1-x):(x'=x+1); endmodule")
    assert model.labels["deadlock"].tolist() == [False, True]
    assert [model.transitions(state) for state in (0, 1)] == [[("", [(1.0, 1)])], [("", [(1.0, 1)])]]


# Synchronisation


def test_synchronised_probabilities_multiply() -> None:
    text = """mdp
      module m x : [0..1]; [a] true -> 0.25:(x'=0) + 0.75:(x'=1); endmodule
      module n y : [0..1]; [a] true -> 0.5:(y'=x) + 0.5:(y'=1-x); endmodule"""
    targets = {(0, 0): 0.125, (0, 1): 0.125, (1, 0): 0.375, (1, 1): 0.375}
    assert table(text) == {state: [("a", targets)] for state in targets}


def test_combinations_come_in_order() -> None:
    """Unlabelled ones first, then the actions as they first appear; the first module's commands vary fastest."""
    text = """mdp
      module m x : [0..9];
        [b] x=0 -> (x'=1);
        [a] x=0 -> (x'=2);
        []  x=0 -> (x'=5);
        [a] x=0 -> (x'=3);
        [a] x=0 -> (x'=4);
      endmodule
      module n y : [0..9];
        [a] x=0 -> (y'=1);
        []  x=0 -> (y'=7);
        [a] x=0 -> (y'=2);
        [c] x=0 -> (y'=3);
      endmodule"""
    choices = [(action, *targets) for action, targets in table(text)[(0, 0)]]
    unlabelled = [("", (5, 0)), ("", (0, 7))]
    synchronised = [("a", (x, y)) for y in (1, 2) for x in (2, 3, 4)]
    assert choices == [*unlabelled, ("b", (1, 0)), *synchronised, ("c", (0, 3))]


def test_an_action_of_one_module_needs_nobody() -> None:
    text = """mdp
      module m x : [0..1]; [only] x=0 -> (x'=1); endmodule
      module n y : [0..1]; [] true -> (y'=y); endmodule"""
    assert [action for action, _ in table(text)[(0, 0)]] == ["", "only"]


@pytest.mark.parametrize("command", ["[a] false -> true;", "[a] y=1 -> true;", "[a] x>0 & x<0 -> true;"])
def test_an_action_is_blocked_when_another_module_never_takes_part(command: str) -> None:
    text = f"""mdp
      module m x : [0..2]; [a] true -> (x'=1); [] x=0 -> (x'=2); endmodule
      module n y : [0..1]; {command} endmodule"""
    assert table(text) == {(0, 0): [("", {(2, 0): 1.0})], (2, 0): [("", {(2, 0): 1.0})]}


def test_a_blocked_command_is_not_worked_out() -> None:
    """Its probabilities may be wrong and its updates out of range: it never happens."""
    text = """mdp
      module m x : [0..2]; [a] true -> 7:(x'=9); [a] true -> mod(1, 0):(x'=1); [] x=0 -> (x'=2); endmodule
      module n y : [0..1]; [a] y=1 -> true; endmodule"""
    assert list(table(text)) == [(0, 0), (2, 0)]


def test_synchronisation_with_an_empty_factor() -> None:
    """One of the rates is zero, so nothing happens."""
    text = """ctmc
      module m x : [0..1]; [a] true -> 3:(x'=1); endmodule
      module n y : [0..2]; [a] true -> (y-y):true + 0:(y'=9); [] y<2 -> (y'=y+1); endmodule"""
    assert table(text) == {(0, 0): [("", {(0, 1): 1})], (0, 1): [("", {(0, 2): 1})], (0, 2): [("", {(0, 2): 1})]}
    assert build(text).labels["deadlock"].tolist() == [False, False, True]


def test_four_modules_synchronise() -> None:
    modules = "".join(
        f"module m{i} x{i} : [0..1]; [a] true -> 0.5:(x{i}'=0) + 0.5:(x{i}'=1); endmodule " for i in range(4)
    )
    found = table(f"mdp {modules}")
    assert len(found) == 16
    assert all(choices == [("a", dict.fromkeys(found, 1 / 16))] for choices in found.values())


# system … endsystem


SYSTEM = """mdp
  module m x : [0..2]; [a] x<2 -> (x'=x+1); [b] x=0 -> (x'=2); endmodule
  module n y : [0..2]; [a] y<2 -> (y'=y+1); [c] y=0 -> (y'=2); endmodule
"""


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("m || n", [("a", (1, 1)), ("b", (2, 0)), ("c", (0, 2))]),
        ("n || m", [("a", (1, 1)), ("b", (2, 0)), ("c", (0, 2))]),
        ("m ||| n", [("a", (0, 1)), ("a", (1, 0)), ("b", (2, 0)), ("c", (0, 2))]),
        ("m |[a]| n", [("a", (1, 1)), ("b", (2, 0)), ("c", (0, 2))]),
        ("m |[a,b]| n", [("a", (1, 1)), ("c", (0, 2))]),  # n has no b
        ("m |[b,c]| n", [("a", (0, 1)), ("a", (1, 0))]),
        ("m/{a} || n", [("", (1, 0)), ("a", (0, 1)), ("b", (2, 0)), ("c", (0, 2))]),
        ("(m || n)/{a}", [("", (1, 1)), ("b", (2, 0)), ("c", (0, 2))]),
        ("(m || n)/{a,b,c}", [("", (0, 2)), ("", (1, 1)), ("", (2, 0))]),
        ("m{b<-c} || n", [("a", (1, 1)), ("c", (2, 2))]),
        ("m{a<-d} || n", [("a", (0, 1)), ("b", (2, 0)), ("c", (0, 2)), ("d", (1, 0))]),
        ("m{a<-b,b<-a} || n", [("a", (2, 1)), ("b", (1, 0)), ("c", (0, 2))]),
        ("m{a<-b} || n", [("a", (0, 1)), ("b", (1, 0)), ("b", (2, 0)), ("c", (0, 2))]),
        ("(m ||| n){b<-a,c<-a}", [("a", (0, 1)), ("a", (0, 2)), ("a", (1, 0)), ("a", (2, 0))]),
        ("m{a<-c} |[c]| n{a<-c}", [("b", (2, 0)), ("c", (1, 1)), ("c", (1, 2))]),
    ],
)
def test_composition(system: str, expected: list[tuple[str, tuple[int, int]]]) -> None:
    choices = table(f"{SYSTEM} system {system} endsystem")[(0, 0)]
    assert sorted((action, target) for action, targets in choices for target in targets) == expected


def test_three_operands_synchronise_on_what_two_share() -> None:
    text = """mdp
      module m x : [0..1]; [a] x=0 -> (x'=1); endmodule
      module n y : [0..1]; [a] y=0 -> (y'=1); endmodule
      module o z : [0..1]; [a] z=0 -> (z'=1); endmodule
      system {} endsystem"""
    assert table(text.format("m || n || o"))[(0, 0, 0)] == [("a", {(1, 1, 1): 1.0})]
    pairs = sorted(target for _, targets in table(text.format("(m || n) ||| o"))[(0, 0, 0)] for target in targets)
    assert pairs == [(0, 0, 1), (1, 1, 0)]
    both = sorted(target for _, targets in table(text.format("(m ||| n) || o"))[(0, 0, 0)] for target in targets)
    assert both == [(0, 1, 1), (1, 0, 1)]


# Initial states and deadlocks


def test_several_initial_states() -> None:
    text = "mdp module m x : [0..3]; b : bool; [] true -> (b'=false); endmodule init x>1 & (x=3 => b) endinit"
    model = build(text)
    assert list(table(text)) == [(2, False), (2, True), (3, False), (3, True)]
    assert model.initial.tolist() == [0, 1, 3]
    assert model.labels["init"].tolist() == [True, True, False, True]


@pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])
@pytest.mark.parametrize("expression", ["false", "x>1", "x=0 & x=1"])
def test_no_initial_state(kind: str, expression: str) -> None:
    refused(f"{kind} module m x : [0..1]; [] true -> (x'=1-x); endmodule init {expression} endinit")


def test_an_error_in_the_initial_condition() -> None:
    refused("dtmc module m x : [0..1]; [] true -> (x'=1-x); endmodule init mod(1, x)=0 endinit")
    text = "dtmc module m x : [0..1]; [] true -> true; endmodule init x!=0 & mod(1, x)=0 endinit"
    assert list(table(text)) == [(1,)]


@pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])
def test_a_deadlock_in_the_initial_state(kind: str) -> None:
    text = f"{kind} module m x : [0..2] init 1; [] x=0 -> (x'=1); endmodule"
    model = build(text)
    assert model.transitions(0) == [("", [(1.0, 0)])]
    assert (model.labels["init"].tolist(), model.labels["deadlock"].tolist()) == ([True], [True])


@pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])
def test_deadlocks_can_be_refused(kind: str) -> None:
    text = f"{kind} module m x : [0..2]; [a] x<2 -> (x'=x+1); endmodule"
    with pytest.raises(DeadlockError, match=r"x=2") as caught:
        build(text, fix_deadlocks=False)
    assert caught.value.kind == "model"
    fine = text.replace("endmodule", "[] x=2 -> true; endmodule")
    assert not build(fine, fix_deadlocks=False).labels["deadlock"].any()


def test_the_limit_on_states() -> None:
    text = "dtmc module m x : [0..9]; [] true -> (x'=mod(x+1, 10)); endmodule"
    assert build(text, max_states=10).n_states == 10
    with pytest.raises(LimitError, match="9") as caught:
        build(text, max_states=9)
    assert caught.value.kind == "limit"


def test_the_limit_on_states_of_an_endless_model() -> None:
    with pytest.raises(LimitError):
        build("dtmc module m x : int; [] true -> (x'=x+1); endmodule", max_states=5_000)


def test_the_limit_counts_initial_states() -> None:
    with pytest.raises(LimitError):
        build("mdp module m x : [0..999]; [] true -> true; endmodule init true endinit", max_states=500)


def test_the_limit_on_memory() -> None:
    with pytest.raises(LimitError) as caught:
        build("dtmc module m x : int; [] true -> (x'=x+1); endmodule", memory_mb=1)
    assert caught.value.kind == "limit"


@pytest.mark.parametrize("option", ["threads=0", "threads=-1", "threads=500", "max_states=0", "max_states=-1"])
def test_odd_options_do_no_harm(option: str) -> None:
    """They may work or be refused."""
    assert exit_code("dtmc module m x : [0..3]; [] x<3 -> (x'=x+1); endmodule", option) in (0, 1)


# Rewards


REWARDS = """{kind}
  module m x : [0..2];
    []  x=0 -> {p}:(x'=1) + {q}:(x'=2);
    [a] x=0 -> {r}:(x'=1);
    [b] x=1 -> {r}:(x'=0);
  endmodule
  rewards "r" x=0 : 5; x<2 : 0.5; [] true : 2; [a] true : 3; [a] x=0 : 4; [b] x=0 : 100; true : x; endrewards
"""


def test_rewards_of_an_mdp() -> None:
    rewards = build(REWARDS.format(kind="mdp", p=0.25, q=0.75, r=1)).rewards["r"]
    assert rewards.state is not None
    assert rewards.choice is not None
    assert rewards.state.tolist() == [5.5, 1.5, 2]
    assert rewards.choice.tolist() == [2, 7, 0, 0]  # [], [a], [b], and the loop of the deadlock, which earns nothing


def test_rewards_of_a_dtmc() -> None:
    rewards = build(REWARDS.format(kind="dtmc", p=0.25, q=0.75, r=1), transition_rewards=True).rewards["r"]
    assert rewards.choice is not None
    assert rewards.transition is not None
    assert rewards.choice.tolist() == pytest.approx([(2 + 7) / 2, 0, 0], rel=1e-12)
    to_one = (0.25 * 2 + 1 * 7) / 1.25
    assert rewards.transition.tolist() == pytest.approx([to_one, 2, 0, 0], rel=1e-12)


def test_rewards_of_a_ctmc() -> None:
    rewards = build(REWARDS.format(kind="ctmc", p=4, q=6, r=10), transition_rewards=True).rewards["r"]
    assert rewards.choice is not None
    assert rewards.transition is not None
    assert rewards.choice.tolist() == pytest.approx([10 * 2 + 10 * 7, 0, 0], rel=1e-12)
    to_one = (4 * 2 + 10 * 7) / 14
    assert rewards.transition.tolist() == pytest.approx([to_one, 2, 0, 0], rel=1e-12)


@pytest.mark.parametrize("kind", ["dtmc", "ctmc"])
def test_the_loop_of_a_deadlock_earns_nothing(kind: str) -> None:
    text = f"{kind} module m x : [0..1]; [] x=0 -> (x'=1); endmodule rewards [] true : 4; endrewards"
    rewards = build(text, transition_rewards=True).rewards[""]
    assert rewards.choice is not None
    assert rewards.transition is not None
    assert rewards.choice.tolist() == [4, 0]
    assert rewards.transition.tolist() == [4, 0]


def test_an_update_and_a_reward_with_the_same_expression() -> None:
    """The value that the reward asks for once overwrote the new value of another variable."""
    text = """ctmc module m g : [0..1]; h : [1..5]; w : [0..1];
        [] true -> 1:(g'=0) + 1:(w'=g=0 ? 0 : 1);
        [] h<5 -> 1:(h'=h+1);
      endmodule
      rewards [] true : h+1; endrewards"""
    rewards = build(text, transition_rewards=True).rewards[""]
    assert list(table(text, transition_rewards=True)) == [(0, h, 0) for h in range(1, 6)]
    assert rewards.transition is not None
    assert rewards.transition.tolist() == [2, 2, 3, 3, 4, 4, 5, 5, 6]


def test_single_transitions_of_an_mdp() -> None:
    """It once brought Python down."""
    text = """mdp
      module m x : [0..3]; [] x=0 -> 0.5:(x'=1) + 0.5:(x'=2); [] x=0 -> (x'=3); endmodule
      rewards [] true : 1; endrewards"""
    assert exit_code(text, "threads=1, transition_rewards=True") == 0


def test_hidden_actions_earn_the_rewards_of_unlabelled_ones() -> None:
    text = """mdp module m x : [0..1]; [a] true -> (x'=1); [b] true -> (x'=0); endmodule
      rewards [] true : 1; [a] true : 10; [b] true : 100; [c] true : 1000; endrewards
      system m/{a}{b<-c} endsystem"""
    model = build(text)
    choice = model.rewards[""].choice
    assert choice is not None
    assert {model.action(row): choice[row] for row in model.choices(0)} == {"": 1, "c": 1000}


def test_names_of_rewards() -> None:
    items = [f"rewards {name} true : {value}; endrewards" for value, name in enumerate(['"a"', "", '"b"', "", ""])]
    model = build(f"dtmc module m x : [0..1]; [] true -> true; endmodule {' '.join(items)}")
    found = {name: 0 if rewards.state is None else rewards.state[0] for name, rewards in model.rewards.items()}
    assert found == {"a": 0, "": 1, "b": 2, "#4": 3, "#5": 4}
