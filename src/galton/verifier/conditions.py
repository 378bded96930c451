"""The conditions under which numbers, one per state, are bounds; each with its theorem and its proof.

The conditions follow Chatterjee, Quatmann, Schäffeler, Weininger, Winkler and Zilken, "Fixed Point Certificates for
Reachability and Expected Rewards in MDPs" (TACAS 2025). All models are finite, and rows are normalised (DTMC, MDP) or
rates (CTMC, where only the jumps matter, and rewards per unit of time).

Which rows. Of a minimum, a lower bound is about *every* strategy, and an upper one about *some* strategy; of a
maximum it is the other way round. A condition about every strategy must hold for all rows of a state, one about some
strategy for the row that the certificate chooses; "its rows" below. A chain has one row per state. Below, X_0, X_1, …
is a run from state i under a strategy that takes only such rows; it may remember the past, for a condition about all
rows does not mind.

Drift. The drift of a row at a vector x is what x changes by on average in a step, Σ p_j (x_j - x_i), plus what the
row earns where there are rewards; multiplied by the positive sum of the row, which does not change its sign.

Ranks. D is a set of states. *Ranks leave D* when each of its rows in a state of D has a successor of smaller rank,
where states outside D have rank 0. Then a run leaves D with probability 1: wherever it is, it has left D after at
most n further steps with at least the probability ε^n, for the smallest probability ε.

1. Probability to reach the goal, from below: x <= 1; x <= 0 in states that fail; drift >= 0 and ranks leave D in D =
   {x > 0, open}. *Proof.* T is when the run leaves D, finite with probability 1. x(X_min(t,T)) is a bounded
   submartingale, so x_i <= E x(X_T), and x(X_T) <= 1 in the goal and <= 0 elsewhere: x_i <= P(goal).
2. … from above: x >= 0; x >= 1 in the goal; drift <= 0 where x < 1 in open states. *Proof.* min(x, 1) is a
   nonnegative supermartingale until the goal is reached, so P(goal within t) <= E min(x, 1)(X_t) <= x_i for all t.
3. Probability to avoid the goal: 1 and 2 for 1 - x with lower and upper exchanged. From below: x <= 1, x <= 0 in the
   goal, drift >= 0 in {x > 0, open}; from above: x >= 0, x >= 1 in states that fail, drift <= 0 and ranks leave {x <
   1, open}. To fail and to stay for ever both avoid.
4. Reward until the goal, from above: x >= 0; where x is finite outside the goal (F), all successors are in F or the
   goal, drift <= 0, and ranks leave F. States that fail are not in F. *Proof.* Runs do not leave F but into the goal,
   which they reach by the ranks. E(reward of t steps) <= x_i - E x(X_t) <= x_i.
5. … from below: x <= 0 in the goal; drift >= 0 where x is positive and finite; and I, where x is infinite, passes 7.
   *Proof.* A strategy that misses the goal with positive probability has an infinite reward. Any other never enters
   I, and x_i <= E(reward of t steps) + E x(X_min(t,T)), T when the goal is reached or x <= 0; the last term has a
   limit <= 0.
6. Total reward, from above: x >= 0, and drift <= 0 where x is finite (4 without the goal and without ranks). From
   below: in D = {x positive and finite} drift >= 0, and each of its rows earns something or has a successor of
   smaller rank, states outside D having rank 0; and I passes 7. *Proof.* On runs that stay in D for ever infinitely
   many rows earn something, with probability 1 (as above: within n steps there is such a row, or D is left, with at
   least ε^n). If that has positive probability the total is infinite; so it is if I is entered with positive
   probability; else 5 applies.
7. Infinite, I: each of its rows in a state of I has (a) a successor in I of a smaller layer, or (b) only successors
   in I, of layers that are not greater. For total rewards (b) also asks that the row earns something or has a
   successor of smaller rank. States that fail count as in I, with the least layer. *Proof,* by induction on the
   layer: if a run takes a row (a) with positive probability, it is in a smaller layer with positive probability,
   where the value is infinite already. If not, it stays in I for ever; then it never sees the goal or, for total
   rewards, earns something every n steps with at least the probability ε^n, so infinitely much.
8. Long-run average, from below: drift of x >= 0 in all states; C = {rank 0} has only successors in C, and other
   states have a successor of smaller rank; in C, reward - x_i + Σ p_j (h_j - h_i) >= 0 for the biases h. From above
   the same with <=. *Proof.* States outside C are transient. In a closed class with stationary distribution π the
   drifts of x sum to 0 when weighted by π, so all are 0, and x is constant there; the last condition, weighted by π,
   says that x is at most the average of the class. x_i <= E x(X_t), which has the mean of these averages over the
   classes as its limit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..lang.source import GaltonError
from .certificate import Bound, Side
from .numbers import Ints, Mask, outward
from .question import Question

__all__ = ["RefusedError", "check_bound"]


class RefusedError(GaltonError):
    """A certificate that does not prove what it claims."""


def check_bound(question: Question, side: Side, bound: Bound) -> None:
    """Raise :class:`RefusedError` unless the numbers are bounds of that side in all states."""
    _Check(question, side, bound).run()


class _Check:
    def __init__(self, question: Question, side: Side, bound: Bound) -> None:
        self.question, self.side, self.bound = question, side, bound
        self.rows, self.values = question.rows, bound.values
        self.sign = 1 if side == "lower" else -1
        self.open = ~question.goal & ~question.fail
        # Whether its rows are all rows: a lower bound of a minimum, an upper bound of a maximum.
        self.every = question.optimum is None or (question.optimum == "min") == (side == "lower")
        self.chosen = np.ones(self.rows.count, dtype=np.bool_) if self.every else self._chosen()

    def run(self) -> None:
        match self.question.kind:
            case "reach" | "avoid":
                self._probability()
            case "reward" | "total":
                self._reward_from_below() if self.side == "lower" else self._reward_from_above()
            case "average":
                self._average()
            case "steps":
                self._refuse(None, "the value within a number of steps is computed, and has no bounds to look at")

    # Conditions 1 to 3.

    def _probability(self) -> None:
        question, reach = self.question, self.question.kind == "reach"
        one, zero = (question.goal, question.fail) if reach else (question.fail, question.goal)
        above_zero, above_one = self.values.sign_from(0), self.values.sign_from(1)
        if self.side == "lower":
            self._all(above_one <= 0, "is above 1")
            self._all((above_zero <= 0) | ~zero, "is positive where the probability is 0")
            inner = (above_zero > 0) & self.open
        else:
            self._all(above_zero >= 0, "is below 0")
            self._all((above_one >= 0) | ~one, "is below 1 where the probability is 1")
            inner = (above_one < 0) & self.open
        self._drift(inner)
        if reach == (self.side == "lower"):
            self._falls(inner, self._ranks(), np.where(inner, self._ranks(), 0))

    # Conditions 4 to 7.

    def _reward_from_above(self) -> None:
        finite, above_zero = self.values.finite, self.values.sign_from(0)
        self._all(above_zero >= 0, "is below 0")
        self._all(~(finite & self.question.fail), "is finite in a state that fails, where the reward is infinite")
        inner = finite & ~self.question.goal
        rows = self._rows(inner)
        self._every_row(rows, self.rows.greatest((~finite).astype(np.int64)) == 0, "leads to an infinite bound")
        self._drift(inner)
        if self.question.kind == "reward":
            self._falls(inner, self._ranks(), np.where(inner, self._ranks(), 0))

    def _reward_from_below(self) -> None:
        finite, above_zero = self.values.finite, self.values.sign_from(0)
        self._all((above_zero <= 0) | ~self.question.goal, "is positive in the goal, where the reward is 0")
        inner = finite & (above_zero > 0) & self.open
        self._drift(inner)
        earns = np.zeros(self.rows.count, dtype=np.bool_)
        if self.question.kind == "total":
            for gain in self.question.gains:
                earns |= gain > 0
            if inner.any():
                self._falls(inner, self._ranks(), np.where(inner, self._ranks(), 0), besides=earns)
        infinite = ~finite & self.open
        if infinite.any():
            self._infinite(infinite, earns)

    def _infinite(self, infinite: Mask, earns: Mask) -> None:
        outside = np.iinfo(np.int64).max
        layers = self._part("layers")
        seen = np.where(self.question.fail, -1, np.where(infinite, layers, outside))
        own, rows = layers[self.rows.owner], self._rows(infinite)
        lower = self.rows.least(seen) < own
        stays = self.rows.greatest(seen) <= own
        if self.question.kind == "total":
            ranks = self._ranks()
            stays &= earns | (self.rows.least(ranks) < ranks[self.rows.owner])
        self._every_row(
            rows, lower | stays, "leads neither to a smaller layer nor stays among infinite bounds and earns"
        )

    # Condition 8.

    def _average(self) -> None:
        ranks, owner = self._ranks(), self.rows.owner
        everywhere, core = np.ones(len(self.values), dtype=np.bool_), ranks == 0
        self._all(self.values.finite, "is infinite")
        self._every_row(
            self._rows(core), self.rows.greatest(ranks) == 0, "leads from rank 0 to a state of another rank"
        )
        self._every_row(self._rows(~core), self.rows.least(ranks) < ranks[owner], "has no successor of smaller rank")
        self._drift(everywhere, earning=False)
        biases = self.bound.biases
        if biases is None:
            raise RefusedError(f"the {self.side} bounds need biases, and the certificate has none")
        wrong = self.rows.wrong(self._rows(core), biases, self.question.gains, self.sign, less=self.values)
        self._none(wrong, "the average with these biases")

    # What the conditions are made of.

    def _rows(self, states: Mask) -> Ints:
        """Its rows in some states."""
        return np.flatnonzero(self.chosen & states[self.rows.owner])

    def _chosen(self) -> Mask:
        """The rows that the certificate chooses, one in each state."""
        choices = self._part("choices")
        starts = self.question.model.choice_starts
        assert starts is not None
        self._all(choices < np.diff(starts), "has a choice that is not there")
        chosen = np.zeros(self.rows.count, dtype=np.bool_)
        chosen[starts[:-1] + choices] = True
        return chosen

    def _drift(self, states: Mask, earning: bool = True) -> None:
        gains = self.question.gains if earning else ()
        wrong = self.rows.wrong(self._rows(states), self.values, gains, self.sign)
        self._none(wrong, "the drift of the bounds")

    def _falls(self, states: Mask, ranks: Ints, seen: Ints, besides: Mask | None = None) -> None:
        """Each of its rows has a successor of smaller rank, as seen from there, or is among those ``besides``."""
        falls = self.rows.least(seen) < ranks[self.rows.owner]
        self._every_row(
            self._rows(states), falls if besides is None else falls | besides, "has no successor of smaller rank"
        )

    def _ranks(self) -> Ints:
        return self._part("ranks")

    def _part(self, name: str) -> Ints:
        found: Ints | None = getattr(self.bound, name)
        if found is None:
            raise RefusedError(f"the {self.side} bounds need {name}, and the certificate has none")
        return found

    def _all(self, fine: Mask, complaint: str) -> None:
        if not fine.all():
            state = int(np.flatnonzero(~fine)[0])
            shown = outward(self.values[state], up=self.side == "upper")
            self._refuse(state, f"the {self.side} bound, {shown:.17g}, {complaint}")

    def _every_row(self, rows: Ints, fine: Mask, complaint: str) -> None:
        wrong = rows[~fine[rows]]
        self._refuse_row(wrong.tolist(), lambda choice: f"choice {choice} {complaint}")

    def _none(self, wrong: list[int], what: str) -> None:
        where = ">= 0" if self.sign > 0 else "<= 0"
        self._refuse_row(wrong, lambda choice: f"{what} under choice {choice} is not {where}")

    def _refuse_row(self, wrong: list[int], told: Callable[[int], str]) -> None:
        if wrong:
            state = int(self.rows.owner[wrong[0]])
            first = int(np.searchsorted(self.rows.owner, state))
            self._refuse(state, f"{self.side} bound: {told(wrong[0] - first)}")

    def _refuse(self, state: int | None, complaint: str) -> None:
        if state is None:
            raise RefusedError(complaint)
        states = self.question.model.states
        name = f"state {state}" if states is None else f"state {state} {states[state]!r}"
        raise RefusedError(f"{name}: {complaint}")
