"""The sparse model: what every analysis works on, however it was made.

Rows are choices, grouped by state; a chain is the case of one choice per state, so one sweep serves all three model
types. The arrays are those the kernels take, as they take them: nothing is converted between building and solving.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..device.arrays import freeze, is_on_host, namespace, on_host
from ..device.placement import Placement
from ..lang.model_types import ModelType, Nature, nature_of
from ..lang.source import GaltonError
from .orbits import Orbits
from .states import ListedStates, PackedStates, States
from .values import Floats, Values

if TYPE_CHECKING:
    import scipy.sparse

    from .construct import Labels, MatrixLike, RewardLike
    from .random_paths import Inducing
    from .traces import Traces

__all__ = ["ActionCodes", "Int32s", "Mask", "Model", "ModelError", "Offsets", "Rewards", "Values", "row_sums"]

Int32s = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
ActionCodes = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]

HERE = Placement.cpu("its arrays are NumPy's")
_BLOCK = 1 << 18  # choices whose values are unpacked at a time


class ModelError(GaltonError):
    """A mistake in a model: probabilities that do not sum to 1, arrays that do not fit together."""

    kind = "model"


@dataclass(frozen=True, eq=False, repr=False)
class Rewards:
    """One reward structure; a part that is None is zero everywhere.

    Attributes
    ----------
    state
        ``(states,)`` reward of a state: per step in a DTMC or MDP, per unit of time in a CTMC.
    choice
        ``(choices,)`` reward of taking a choice. In a chain, what the transitions out of the state contribute to
        the mean: the sum of P·r for a DTMC, of R·r (a reward per unit of time) for a CTMC.
    transition
        ``(transitions,)`` the reward r of each matrix entry, where it is known one by one. It is only needed to write
        the rewards to a file: ``choice`` says the same for every mean, and is always there when this is.
    """

    state: Floats | None = None
    choice: Floats | None = None
    transition: Floats | None = None

    def __repr__(self) -> str:
        parts = [part for part in ("state", "choice", "transition") if getattr(self, part) is not None]
        return f"<rewards: {', '.join(parts) or 'none'}>"

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(part.nbytes for part in (self.state, self.choice, self.transition) if part is not None)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Model:
    """A DTMC, CTMC or MDP as a row-grouped sparse matrix.

    Build one with :meth:`from_matrix` or :meth:`from_function`, from a program (:meth:`galton.Program.build`) or from
    files (:func:`galton.read_model`): all of these check what they are given. The constructor itself trusts its
    arguments and makes their arrays read-only, because kernels trust them too; :meth:`validate` checks them.

    Attributes
    ----------
    type
        ``"dtmc"``, ``"ctmc"`` or ``"mdp"``.
    choice_starts
        ``(states + 1,)`` int32: the choices of state s are ``choice_starts[s]`` up to ``choice_starts[s + 1]``.
        None for a chain, where choice s is that of state s.
    row_starts
        ``(choices + 1,)`` int32, or int64 from 2**31 transitions on: the same, for the entries of a choice.
    columns
        ``(transitions,)`` int32 targets, ascending within a choice, each at most once. No choice is empty.
    values
        Probabilities, or rates for a CTMC; all positive.
    initial
        int32 numbers of the initial states, ascending.
    labels
        Name to ``(states,)`` mask. ``"init"`` and ``"deadlock"`` are always there: the initial states, and the
        states that had no transition and were given a loop (with rate 1 in a CTMC, as PRISM does).
    rewards
        Name to :class:`Rewards`, in order of declaration. An unnamed structure is called ``""``; a further unnamed
        one by its position, ``"#2"``.
    actions
        Names of actions; number 0 is ``""``, no action.
    choice_actions
        ``(choices,)`` numbers of actions, or None when they are not known (most chains).
    states
        What the state numbers mean, or None.
    placement
        Where the arrays lie, and why.
    orbits
        Where the program has symmetries that nobody asks about, what makes one state stand for others. None for a
        model of all states.
    sizes
        ``(states,)`` where states that behave alike were lumped, how many each stands for. None for a model of all
        states.
    began
        Where they were, how many initial states there had been; the initial ones now may stand for others as well.
    build_seconds, info
        What the builder tells about its work.
    warnings
        What a person should know about the model: rows that did not sum to 1, and were divided by their sums.

    Examples
    --------
    >>> import galton
    >>> chain = galton.Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]], labels={"done": [1]})
    >>> chain
    <dtmc: 2 states, 3 transitions>
    >>> chain.has_choices, chain.labels["done"].tolist()
    (False, [False, True])
    >>> galton.check(chain, 'P>=1 [ F "done" ]').value
    True
    """

    type: ModelType
    choice_starts: Int32s | None = None
    row_starts: Offsets
    columns: Int32s
    values: Values
    initial: Int32s
    labels: dict[str, Mask] = field(default_factory=dict)
    rewards: dict[str, Rewards] = field(default_factory=dict)
    actions: tuple[str, ...] = ("",)
    choice_actions: ActionCodes | None = None
    states: States | None = None
    placement: Placement = HERE
    orbits: Orbits | None = None
    sizes: npt.NDArray[Any] | None = None
    began: int | None = None
    build_seconds: float | None = None
    info: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        labels = dict(self.labels)
        if "init" not in labels:
            labels["init"] = namespace(self.columns).zeros(self.n_states, dtype=np.bool_)
            labels["init"][self.initial] = True
        if "deadlock" not in labels:
            labels["deadlock"] = namespace(self.columns).zeros(self.n_states, dtype=np.bool_)
        first = {name: labels.pop(name) for name in ("init", "deadlock")}
        object.__setattr__(self, "labels", first | labels)
        self._freeze()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # arrays come back from pickle as new ones

    def _freeze(self) -> None:
        arrays = (self.choice_starts, self.row_starts, self.columns, self.initial, self.choice_actions)
        for part in (*arrays, self.values, self.labels, self.rewards, self.states):
            freeze(part)

    # Ways to make one.

    @staticmethod
    def from_matrix(
        type: ModelType,
        matrix: MatrixLike,
        *,
        initial: int | Sequence[int] = 0,
        labels: Labels | None = None,
        rewards: Mapping[str, RewardLike] | None = None,
        row_groups: npt.ArrayLike | None = None,
        actions: Sequence[str] | None = None,
        fix_deadlocks: bool = True,
    ) -> Model:
        """Make a model from a SciPy or NumPy matrix; :func:`galton.model.construct.from_matrix` tells the arguments.

        >>> Model.from_matrix("ctmc", [[0, 2.5], [1, 0]]).exit_rates.tolist()
        [2.5, 1.0]
        """
        from .construct import from_matrix

        return from_matrix(
            type,
            matrix,
            initial=initial,
            labels=labels,
            rewards=rewards,
            row_groups=row_groups,
            actions=actions,
            fix_deadlocks=fix_deadlocks,
        )

    @staticmethod
    def from_function(step: Callable[[Any], Any], initial: Hashable, type: ModelType = "dtmc", **options: Any) -> Model:
        """Make a model from a Python function that leads from a state to the next ones.

        :func:`galton.explore_function` tells the options.

        >>> Model.from_function(lambda x: [(0.5, x), (0.5, min(x + 1, 3))], 0)
        <dtmc: 4 states, 7 transitions>
        """
        from .from_function import explore_function

        return explore_function(step, initial, type, **options)

    @staticmethod
    def from_pandas(edges: Any, **options: Any) -> Model:
        """Make a model from a pandas table with a row for each transition.

        The columns are ``source``, ``target`` and ``probability`` (``rate`` for a CTMC) and for an MDP ``action``;
        :func:`galton.model.from_edges.from_pandas` tells the options.

        >>> import pandas
        >>> table = pandas.DataFrame({"source": [0, 0], "target": [1, 2], "probability": [0.25, 0.75]})
        >>> Model.from_pandas(table)
        <dtmc: 3 states, 4 transitions>
        """
        from .from_edges import from_pandas

        return from_pandas(edges, **options)

    @staticmethod
    def from_networkx(graph: Any, **options: Any) -> Model:
        """Make a model from a NetworkX graph, whose nodes are the states.

        Edges have a ``probability`` (``rate`` for a CTMC) and for an MDP an ``action``;
        :func:`galton.model.from_edges.from_networkx` tells the options.

        >>> import networkx
        >>> Model.from_networkx(networkx.cycle_graph(5), normalise=True)
        <dtmc: 5 states, 10 transitions>
        """
        from .from_edges import from_networkx

        return from_networkx(graph, **options)

    @staticmethod
    def from_gymnasium(env: Any, **options: Any) -> Model:
        """Make an MDP from a toy-text environment of Gymnasium, such as FrozenLake, CliffWalking and Taxi.

        :func:`galton.model.from_gymnasium.from_gymnasium` tells the options.

        >>> import gymnasium
        >>> Model.from_gymnasium(gymnasium.make("FrozenLake-v1"))
        <mdp: 21 states, 69 choices, 153 transitions>
        """
        from .from_gymnasium import from_gymnasium

        return from_gymnasium(env, **options)

    def to_host(self) -> Model:
        """Return the model with NumPy arrays: copied from the device if they are there, itself if not."""
        from .moving import to_host

        return to_host(self)

    def to_device(self) -> Model:
        """Return the model with its arrays on a CUDA device, so that it is checked there."""
        from .moving import to_device

        return to_device(self)

    @property
    def on_device(self) -> bool:
        """Whether devices work on the model: they have its arrays, or several of them take parts from the host."""
        return not is_on_host(self.columns) or bool(self.placement.devices)

    # What kind of process it is.

    @property
    def nature(self) -> Nature:
        """What kind of process the model is: the row of its type in :mod:`galton.lang.model_types`."""
        return nature_of(self.type)

    @property
    def has_choices(self) -> bool:
        """Whether states leave choices open, so that values depend on a strategy."""
        return self.nature.has_choices

    @property
    def is_continuous(self) -> bool:
        """Whether time passes between jumps; otherwise a model moves in steps."""
        return self.nature.is_continuous

    @property
    def has_rates(self) -> bool:
        """Whether the matrix holds rates; otherwise it holds probabilities."""
        return self.nature.has_rates

    # Sizes.

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.row_starts if self.choice_starts is None else self.choice_starts) - 1

    def stands_for(self, states: npt.NDArray[Any] | None = None) -> int:
        """How many states of a program some states, or all, stand for: more than they are where these are alike.

        ``states`` are their numbers, or a mask.
        """
        if self.sizes is not None:
            sizes = on_host(self.sizes)
            return int((sizes if states is None else sizes[on_host(states)]).sum())
        if self.orbits is None or not isinstance(self.states, PackedStates):
            return self.n_states if states is None else int(states.sum() if states.dtype == np.bool_ else len(states))
        return self._represented if states is None else self._counted(self.states.words[states])

    @property
    def is_reduced(self) -> bool:
        """Whether states stand for others, which symmetries or lumping make alike."""
        return self.orbits is not None or self.sizes is not None

    @cached_property
    def _represented(self) -> int:
        assert isinstance(self.states, PackedStates)
        return self._counted(self.states.words)

    def _counted(self, words: npt.NDArray[np.uint64]) -> int:
        assert self.orbits is not None
        assert isinstance(self.states, PackedStates)
        return self.orbits.count(self.states.fields, words)

    @property
    def n_choices(self) -> int:
        """The number of choices: rows of the matrix."""
        return len(self.row_starts) - 1

    @property
    def n_transitions(self) -> int:
        """The number of transitions: entries of the matrix."""
        return len(self.columns)

    @property
    def whole(self) -> Mapping[str, int]:
        """States, choices and transitions, also where this is only a part of a model, which ranks share."""
        return {"states": self.n_states, "choices": self.n_choices, "transitions": self.n_transitions}

    @property
    def n_initial(self) -> int:
        """How many initial states there are, also where one stands for others."""
        return self.stands_for(self.initial) if self.began is None else self.began

    def first_of(self, mask: Mask) -> object:
        """The first state of a mask that is not empty, by its values, or by its number where it has none."""
        first = int(mask.argmax())
        return f"number {first}" if self.states is None else self.states[first]

    @property
    def is_shared(self) -> bool:
        """Whether this is one rank's part of a model."""
        return False

    @property
    def row_groups(self) -> Int32s:
        """``(states + 1,)`` where the choices of each state begin; of a chain as well, which stores no such array."""
        if self.choice_starts is not None:
            return self.choice_starts
        groups: Int32s = namespace(self.columns).arange(self.n_states + 1, dtype=np.int32)
        return groups

    @property
    def memory(self) -> int:
        """Bytes of all arrays together."""
        arrays = [self.choice_starts, self.row_starts, self.columns, self.initial, self.choice_actions]
        parts = [*self.labels.values(), *self.rewards.values(), self.values, self.states, *arrays]
        return sum(part.nbytes for part in parts if part is not None)

    # Looking in.

    @property
    def matrix(self) -> scipy.sparse.csr_array:
        """The matrix as SciPy has it, made anew each time: keeping it would double the memory of the model."""
        return self.to_scipy()

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the matrix as a SciPy array of shape (choices, states).

        Its pattern is the model's own and read-only; copy the matrix to change it.
        """
        from scipy.sparse import csr_array

        here = self.to_host()
        parts = (here.values.array(), here.columns, here.row_starts)
        return csr_array(parts, shape=(self.n_choices, self.n_states))

    @property
    def exit_rates(self) -> Floats:
        """``(states,)`` the sum of the rates out of each state of a CTMC."""
        if not self.has_rates:
            raise ModelError(f"exit rates are those of a ctmc; this is a {self.type}")
        here = self.to_host()
        return row_sums(here.row_starts, here.values)

    def choices(self, state: int) -> range:
        """The numbers of the choices of a state."""
        if not 0 <= state < self.n_states:
            raise IndexError(f"no state {state}; they are numbered 0 to {self.n_states - 1}")
        if self.choice_starts is None:
            return range(state, state + 1)
        return range(int(self.choice_starts[state]), int(self.choice_starts[state + 1]))

    def transitions(self, state: int) -> list[tuple[str, list[tuple[float, int]]]]:
        """The choices of a state, each as its action and its (probability or rate, target) pairs.

        >>> chain = Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]])
        >>> chain.transitions(0)
        [('', [(0.5, 0), (0.5, 1)])]
        """
        found = []
        for choice in self.choices(state):
            entries = slice(int(self.row_starts[choice]), int(self.row_starts[choice + 1]))
            pairs = list(zip(self.values[entries].tolist(), self.columns[entries].tolist(), strict=True))
            found.append((self.action(choice), pairs))
        return found

    def action(self, choice: int) -> str:
        """The name of the action of a choice; empty when it has none."""
        return "" if self.choice_actions is None else self.actions[int(self.choice_actions[choice])]

    def simulate(
        self,
        *,
        paths: int = 1,
        steps: float | None = None,
        time: float | None = None,
        seed: int = 0,
        strategy: Inducing | None = None,
    ) -> Traces:
        """Follow random paths, and return all that they meet: a row for each state that one enters.

        A path ends after ``steps``, 100 if nothing is said, or in a CTMC at a ``time``. In an MDP the ``strategy`` of a
        result chooses; without one, each choice of a state is as likely as the others. :func:`galton.simulate` reads
        strategies from files, too.

        >>> chain = Model.from_matrix("dtmc", [[0.5, 0.5], [0.25, 0.75]])
        >>> chain.simulate(steps=5, paths=2)
        <traces: 2 paths, 10 steps, seed 0>
        """
        from .random_paths import ModelPaths

        chain = self if strategy is None else strategy.induced()
        return ModelPaths(chain).traces(paths=paths, steps=steps, time=time, seed=seed)

    def validate(self) -> None:
        """Check everything this class promises; raise :class:`ModelError` at the first thing that does not hold."""
        from .validation import validate

        validate(self.to_host())

    def differences(self, other: Model, *, tolerance: float = 0.0) -> Iterator[str]:
        """In words, where two models differ; numbers may be apart by a relative ``tolerance``.

        Rewards that are not there are zero. Those of single transitions count only where both models know them,
        because their means are in ``choice``; actions that are not known are no actions.
        """
        if (self.type, self.n_states) != (other.type, other.n_states):
            yield f"{self.n_states} states of a {self.type}, {other.n_states} of a {other.type}"
            return
        self, other = self.to_host(), other.to_host()
        for name in ("choice_starts", "row_starts", "columns", "initial"):
            if not _equal(getattr(self, name), getattr(other, name)):
                yield f"{name} differ"
        if not _equal(self.values.array(), other.values.array(), tolerance):
            yield "values differ"
        if _action_names(self) != _action_names(other):
            yield "actions differ"
        for what in ("labels", "rewards"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if list(mine) != list(theirs):
                yield f"{what} {', '.join(mine)}; other has {', '.join(theirs)}"
        for name in self.labels.keys() & other.labels.keys():
            if not _equal(self.labels[name], other.labels[name]):
                yield f"label {name!r} differs"
        for name in self.rewards.keys() & other.rewards.keys():
            mine, theirs = self.rewards[name], other.rewards[name]
            for part in ("state", "choice"):
                if not _equal(*_with_zeros(getattr(mine, part), getattr(theirs, part)), tolerance):
                    yield f"rewards {name!r} differ in {part}"
            known = mine.transition is not None and theirs.transition is not None
            if known and not _equal(mine.transition, theirs.transition, tolerance):
                yield f"rewards {name!r} differ in transition"
        if not _same_states(self.states, other.states):
            yield "states differ"

    def same_as(self, other: Model, *, tolerance: float = 0.0) -> bool:
        """Whether two models are the same in everything but how they are stored."""
        return not any(self.differences(other, tolerance=tolerance))

    def __repr__(self) -> str:
        choices = f", {self.n_choices:,} choices" if self.has_choices else ""
        return f"<{self.type}: {self.n_states:,} states{choices}, {self.n_transitions:,} transitions>"

    def _repr_html_(self) -> str:
        from .summary import model_html

        return model_html(self)


def row_sums(row_starts: Offsets, values: Values, weights: Floats | None = None) -> Floats:
    """The sum of the (weighted) values of each row; no row may be empty. Unpacks a block of rows at a time."""
    sums = np.empty(len(row_starts) - 1)
    for first in range(0, len(sums), _BLOCK):
        starts = row_starts[first : first + _BLOCK + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        part = values[entries] if weights is None else values[entries] * weights[entries]
        sums[first : first + _BLOCK] = np.add.reduceat(part, starts[:-1] - starts[0])
    return sums


def _equal(a: npt.NDArray[Any] | None, b: npt.NDArray[Any] | None, tolerance: float = 0.0) -> bool:
    if a is None or b is None:
        return a is b
    if a.shape != b.shape:
        return False
    return bool(np.allclose(a, b, rtol=tolerance, atol=0) if tolerance else np.array_equal(a, b))


def _with_zeros(a: Floats | None, b: Floats | None) -> tuple[Floats | None, Floats | None]:
    if a is None and b is not None:
        return np.zeros_like(b), b
    if b is None and a is not None:
        return a, np.zeros_like(a)
    return a, b


def _action_names(model: Model) -> list[str]:
    if model.choice_actions is None or not model.choice_actions.any():
        return []
    return [model.actions[code] for code in model.choice_actions]


def _same_states(a: States | None, b: States | None) -> bool:
    if isinstance(a, PackedStates) and isinstance(b, PackedStates):
        same = a.variables == b.variables and len(a) == len(b)
        return same and all(np.array_equal(a.column(name), b.column(name)) for name in a.variables)
    if isinstance(a, ListedStates) and isinstance(b, ListedStates):
        return a.variables == b.variables and list(a) == list(b)
    return a is b
