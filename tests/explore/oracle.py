"""A second opinion on what a program means: slow, plain, and sharing nothing with the explorer but the checked program.

States are tuples of Python values in a dictionary, expressions are closures, probabilities are exact fractions of the
doubles that the expressions give. Constants are fractions that are rounded once; doubles that depend on the state are
rounded as PRISM rounds them, because that is what a model says; integers never overflow here.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from galton.lang.expressions import Binary, Call, Conditional, Expression, Literal, Name, Unary, children
from galton.lang.program import Command, Hide, Leaf, Parallel, Program, Rename, RewardStructure, System, Update

Value = bool | int | float
State = tuple[int | bool, ...]
Environment = Mapping[str, Value]
Function = Callable[[Environment], Value]
Distribution = dict[State, Fraction]

TOLERANCE = 1e-5  # how far from 1 the probabilities of a command may sum


class Failure(Exception):
    """The program has no meaning in a state, with the reason."""


class NoFraction(Exception):
    """An expression that is no constant, or none that fractions can say."""


class TooLarge(Exception):
    """More states than the caller wanted to wait for."""


# Expressions


@dataclass(frozen=True)
class Compiler:
    """Turns expressions into Python functions; ``types`` are those of the names.

    ``swallowed`` collects failures of the left side of a connective whose right side decides alone: PRISM simplifies
    ``… | true`` before it evaluates anything, so such a failure may be seen or not.
    """

    types: Mapping[str, str]
    constants: Mapping[str, Value] = field(default_factory=dict)
    swallowed: list[str] = field(default_factory=list)

    def function(self, expression: Expression) -> Function:
        return self.compile(expression)[1]

    def number(self, expression: Expression | None) -> Function:
        """A probability, rate or reward, as a float; 1 where none was written."""
        if expression is None:
            return lambda env: 1.0
        function = self.function(expression)
        return lambda env: float(function(env))

    def compile(self, expression: Expression) -> tuple[str, Function]:
        """The type of an expression and the function that evaluates it."""
        if not isinstance(expression, (Literal, Name)):
            try:
                known = self._constant(expression)
            except NoFraction:
                pass
            else:
                value = float(known) if isinstance(known, Fraction) else known
                return _type_of(value), lambda env: value
        match expression:
            case Literal(value):
                return _type_of(value), lambda env: value
            case Name(name):
                return self.types[name], lambda env: env[name]
            case Unary("!", operand):
                inner = self.function(operand)
                return "bool", lambda env: not inner(env)
            case Unary("-", operand):
                kind, inner = self.compile(operand)
                return kind, lambda env: -inner(env)
            case Conditional(condition, then, otherwise):
                return self._conditional(condition, then, otherwise)
            case Binary("&" | "|" | "=>" as connective, left, right):
                return "bool", self._connective(connective, left, right)
            case Binary(symbol, left, right):
                return self._binary(symbol, left, right)
            case Call(name, arguments):
                return self._call(name, [self.compile(argument) for argument in arguments])
        raise AssertionError(f"what is {expression}?")

    def _constant(self, expression: Expression) -> bool | int | Fraction:
        """The value of a constant expression: a fraction where the language has a double."""
        match expression:
            case Literal(value):
                return _fraction(value)
            case Name(name) if name in self.constants:
                return _fraction(self.constants[name])
            case Unary("!", operand):
                return not self._constant(operand)
            case Unary("-", operand):
                value = self._constant(operand)
                if value == 0 and isinstance(value, Fraction):
                    raise NoFraction  # doubles have -0.0
                return -value
            case Binary("/", left, right):
                above, below = self._constant(left), self._constant(right)
                if not below or (not above and below < 0):
                    raise NoFraction
                return Fraction(above) / below
            case Binary("+" | "-" | "*" as symbol, left, right):
                value = {"+": operator.add, "-": operator.sub, "*": operator.mul}[symbol](
                    self._constant(left), self._constant(right)
                )
                if value == 0 and symbol == "*" and isinstance(value, Fraction):
                    raise NoFraction
                return value
            case Binary(symbol, left, right) if symbol in _COMPARISONS:
                one, other = self._constant(left), self._constant(right)
                return _COMPARISONS[symbol](*(float(v) if isinstance(v, Fraction) else v for v in (one, other)))
            case Binary("^", left, right) | Call("pow", (left, right)):
                base, exponent = self._constant(left), self._constant(right)
                if not base or exponent != int(exponent) or abs(exponent) > 100:
                    raise NoFraction
                if isinstance(base, int) and isinstance(exponent, int) and exponent < 0:
                    raise NoFraction
                value = Fraction(base) ** int(exponent)
                return value if isinstance(base, Fraction) or isinstance(exponent, Fraction) else int(value)
            case Call("min" | "max" as name, arguments):
                values = [self._constant(argument) for argument in arguments]
                value = (min if name == "min" else max)(values)
                return Fraction(value) if any(isinstance(v, Fraction) for v in values) else value
            case Call("floor" | "ceil" | "round" as name, (argument,)):
                exact = self._constant(argument)
                halves = {"floor": Fraction(0), "ceil": Fraction(0), "round": Fraction(1, 2)}
                return math.ceil(exact) if name == "ceil" else math.floor(exact + halves[name])
        raise NoFraction

    def _conditional(self, condition: Expression, then: Expression, otherwise: Expression) -> tuple[str, Function]:
        test, (one, yes), (other, no) = self.function(condition), self.compile(then), self.compile(otherwise)
        if one == other:
            return one, lambda env: yes(env) if test(env) else no(env)
        return "double", lambda env: float(yes(env) if test(env) else no(env))

    def _connective(self, connective: str, left: Expression, right: Expression) -> Function:
        first, second = self.function(left), self.function(right)
        decides, value = {"&": (False, False), "|": (True, True), "=>": (False, True)}[connective]

        def evaluate(env: Environment) -> Value:
            try:
                decided = first(env) == decides
            except Failure as failure:
                if second(env) != value:
                    raise
                self.swallowed.append(str(failure))
                return value
            return value if decided else second(env)

        return evaluate

    def _binary(self, symbol: str, left: Expression, right: Expression) -> tuple[str, Function]:
        (one, first), (other, second) = self.compile(left), self.compile(right)
        if symbol in _COMPARISONS:
            compare = _COMPARISONS[symbol]
            return "bool", lambda env: compare(first(env), second(env))
        if symbol == "/":
            return "double", lambda env: _divide(float(first(env)), float(second(env)))
        if symbol == "^":
            return self._call("pow", [(one, first), (other, second)])
        apply = {"+": operator.add, "-": operator.sub, "*": operator.mul}[symbol]
        if one == other == "int":
            return "int", lambda env: apply(first(env), second(env))
        return "double", lambda env: apply(float(first(env)), float(second(env)))

    def _call(self, name: str, arguments: list[tuple[str, Function]]) -> tuple[str, Function]:
        functions = [function for _, function in arguments]
        ints = all(kind == "int" for kind, _ in arguments)
        match name:
            case "min" | "max":
                choose = min if name == "min" else max
                if ints:
                    return "int", lambda env: choose(function(env) for function in functions)
                return "double", lambda env: _extreme(choose, [float(function(env)) for function in functions])
            case "floor" | "ceil" | "round":
                to_int = {"floor": math.floor, "ceil": math.ceil, "round": _round}[name]
                return "int", lambda env: to_int(_finite(functions[0](env)))
            case "mod":
                return "int", lambda env: _modulo(functions[0](env), functions[1](env))
            case "pow":
                if ints:
                    return "int", lambda env: _int_power(functions[0](env), functions[1](env))
                return "double", lambda env: _power(float(functions[0](env)), float(functions[1](env)))
            case "log":
                return "double", lambda env: _logarithm(float(functions[0](env)), float(functions[1](env)))
        raise AssertionError(f"what is {name}?")


_COMPARISONS: dict[str, Callable[[Value, Value], bool]] = {
    "=": operator.eq,
    "<=>": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _type_of(value: Value) -> str:
    return "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "double"


def _fraction(value: Value) -> bool | int | Fraction:
    """What a constant of the program is exactly."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value) or value == 0:
        raise NoFraction
    return Fraction(getattr(value, "origin", value))


def _divide(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.inf if (math.copysign(1, left) > 0) == (math.copysign(1, right) > 0) else -math.inf


def _extreme(choose: Callable[[Iterable[float]], float], values: list[float]) -> float:
    return math.nan if any(map(math.isnan, values)) else choose(values)


def _finite(value: Value) -> Value:
    if not math.isfinite(value):
        raise Failure(f"no integer near {value}")
    return value


def _round(value: float) -> int:
    return math.floor(Fraction(value) + Fraction(1, 2))


def _modulo(value: int, divisor: int) -> int:
    if divisor <= 0:
        raise Failure(f"mod by {divisor}")
    return value % divisor


def _int_power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise Failure(f"integer to the power of {exponent}")
    return base**exponent


def _power(base: float, exponent: float) -> float:
    """Of finite numbers, as far as the tests go."""
    if base == 0 and exponent < 0:
        odd = exponent % 2 == 1
        return math.copysign(math.inf, base) if odd else math.inf
    if base < 0 and exponent != math.floor(exponent):
        return math.nan
    return math.pow(base, exponent)


def _logarithm(value: float, base: float) -> float:
    if math.isnan(value) or value < 0 or not base > 0 or base == 1 or math.isinf(base):
        return math.nan
    return (math.log(value) if value else -math.inf) / math.log(base)


def _conjuncts(expression: Expression) -> list[Expression]:
    match expression:
        case Binary("&", left, right):
            return _conjuncts(left) + _conjuncts(right)
    return [expression]


def _nodes(expression: Expression) -> Iterator[Expression]:
    yield expression
    for child in children(expression):
        yield from _nodes(child)


# Commands and their composition


@dataclass(frozen=True)
class Branch:
    """One update of a command: its probability and the new values, as functions of the state."""

    probability: Function
    assignments: tuple[tuple[str, Function], ...]


@dataclass(frozen=True)
class Transition:
    """A command, compiled."""

    action: str | None
    guard: Function
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class Move:
    """Commands that happen together, and the action they do it under."""

    action: str | None
    parts: tuple[Transition, ...]


Commands = Mapping[str, list[Transition]]  # of each module
Outcome = tuple[Move, Distribution]
Alternative = tuple[Fraction, Branch]


@dataclass
class Choice:
    """What can happen in a state: an action, where it leads, and its reward in each structure."""

    action: str
    distribution: Distribution
    rewards: list[Fraction]


@dataclass
class Row:
    """Everything about a reachable state. ``choices`` has one element in a chain."""

    choices: list[Choice]
    deadlock: bool
    labels: dict[str, bool]
    state_rewards: list[Fraction]
    entry_rewards: list[dict[State, Fraction]] = field(default_factory=list)  # of a chain, for each structure


@dataclass
class Reachable:
    """The reachable states in canonical order, or why there is no model.

    ``excused`` are states where only something fails that does not matter: the guard of a command for whose action
    the others are not ready, an update that only happens together with updates of rate zero, the reward of an action
    that does not happen, one side of a connective when the other decides. Whether an explorer looks there is its own
    affair.
    """

    program: Program
    initial: list[State]
    rows: dict[State, Row] = field(default_factory=dict)
    failures: dict[State, str] = field(default_factory=dict)
    excused: dict[State, str] = field(default_factory=dict)

    @property
    def reward_names(self) -> list[str]:
        """As a model calls them: an unnamed structure after the first goes by its position."""
        names: list[str] = []
        for position, structure in enumerate(self.program.rewards, start=1):
            taken = not structure.name and "" in names
            names.append(f"#{position}" if taken else structure.name)
        return names


class Oracle:
    """The meaning of one program, state by state."""

    def __init__(self, program: Program):
        self.program = program
        self._variables = [variable.name for variable in program.variables]
        self._ranges = {variable.name: (variable.low, variable.high) for variable in program.variables}
        self._bools = [variable.type == "bool" for variable in program.variables]
        types = {name: _type_of(value) for name, value in program.constants.items()}
        types |= {variable.name: variable.type for variable in program.variables}
        self._compiler = Compiler(types, program.constants)
        compile = self._compiler.function
        self._commands = {m.name: [self._command(command) for command in m.commands] for m in program.modules}
        self._labels = {name: compile(expression) for name, expression in program.labels.items()}
        self._rewards = [self._structure(structure) for structure in program.rewards]
        self._rank = {action: rank for rank, action in enumerate(program.actions)}

    # Exploring

    def explore(self, max_states: int) -> Reachable:
        """All reachable states; one whose transitions fail is left without successors."""
        initial = self._initial_states(max_states)
        found = Reachable(self.program, initial)
        seen, queue = set(initial), deque(initial)
        while queue:
            state = queue.popleft()
            try:
                outcomes = self._outcomes(state, found)
                new = {target for _, distribution in outcomes for target in distribution} - seen
                seen |= new
                queue.extend(sorted(new))
                found.rows[state] = self._row(state, outcomes)
                self._excuse_rewards(state, found)
            except Failure as failure:
                found.failures[state] = str(failure)
            found.excused.update((state, reason) for reason in self._compiler.swallowed)
            self._compiler.swallowed.clear()
            if len(seen) > max_states:
                raise TooLarge
        found.rows = dict(sorted(found.rows.items()))
        return found

    def _initial_states(self, max_states: int) -> list[State]:
        if self.program.initial is None:
            return [self._typed(variable.initial for variable in self.program.variables)]
        found = [self._typed(values) for values in self._satisfying(max_states)]
        if not found:
            raise Failure("no initial state")
        return found

    def _satisfying(self, max_states: int) -> list[tuple[int, ...]]:
        """All values of the variables that ``init … endinit`` allows, variable by variable.

        A conjunct is looked at as soon as it and all before it know their variables: sooner than at the end, which
        keeps the search short, and not before the conjuncts that protect it.
        """
        assert self.program.initial is not None
        parts = _conjuncts(self.program.initial)
        conjuncts = list(map(self._compiler.function, parts))
        depths = list(itertools.accumulate(map(self._last_variable, parts), max))
        found: list[tuple[int, ...]] = [()]
        for depth, variable in enumerate(self.program.variables):
            longer = [(*values, value) for values in found for value in range(variable.low, variable.high + 1)]
            if len(longer) > 100 * max_states:
                raise TooLarge
            ready = [holds for at, holds in zip(depths, conjuncts, strict=True) if at == depth]
            found = [values for values in longer if all(holds(self._partial_env(values)) for holds in ready)]
        if len(found) > max_states:
            raise TooLarge
        return found

    def _last_variable(self, expression: Expression) -> int:
        """The position of the last variable an expression needs; that of the first, when it needs none."""
        names = [node.name for node in _nodes(expression) if isinstance(node, Name) and node.name in self._ranges]
        return max(map(self._variables.index, names), default=0)

    def _partial_env(self, values: tuple[int, ...]) -> Environment:
        known = zip(self._variables, values, self._bools, strict=False)
        return {**self.program.constants, **{name: bool(v) if is_bool else v for name, v, is_bool in known}}

    def _typed(self, values: Iterable[int]) -> State:
        return tuple(bool(value) if is_bool else value for value, is_bool in zip(values, self._bools, strict=True))

    def _env(self, state: State) -> Environment:
        return {**self.program.constants, **dict(zip(self._variables, state, strict=True))}

    # One state

    def _outcomes(self, state: State, found: Reachable) -> list[Outcome]:
        """What can happen in a state."""
        env = self._env(state)
        outcomes = [(move, self._distribution(move, state, env, found)) for move in self._moves(state, env, found)]
        return [(move, distribution) for move, distribution in outcomes if distribution]

    def _row(self, state: State, outcomes: list[Outcome]) -> Row:
        """The same with labels and rewards."""
        env = self._env(state)
        labels = {name: bool(holds(env)) for name, holds in self._labels.items()}
        state_rewards = [rewards.of_state(env) for rewards in self._rewards]
        choices = [
            Choice(move.action or "", distribution, [rewards.of_choice(move.action, env) for rewards in self._rewards])
            for move, distribution in outcomes
        ]
        if not choices:
            choices = [Choice("", {state: Fraction(1)}, [Fraction(0)] * len(self._rewards))]
        if self.program.type == "mdp":
            return Row(choices, not outcomes, labels, state_rewards)
        weight = Fraction(1, len(choices)) if self.program.type == "dtmc" else Fraction(1)
        merged = self._merged(choices, weight)
        return Row([merged], not outcomes, labels, state_rewards, self._entry_rewards(choices))

    def _moves(self, state: State, env: Environment, found: Reachable) -> list[Move]:
        """The enabled moves: the unlabelled ones, then action by action."""
        enabled: dict[str, list[Transition]] = {}
        failing: dict[str, list[Transition]] = {}
        for module, commands in self._commands.items():
            verdicts = [(command, _verdict(command, env)) for command in commands]
            enabled[module] = [command for command, verdict in verdicts if verdict is True]
            failing[module] = [command for command, verdict in verdicts if isinstance(verdict, Failure)]
        if any(failing.values()):
            self._blame(state, enabled, failing, found)
        moves = self._compose(self.program.system, enabled)
        return sorted(moves, key=lambda move: -1 if move.action is None else self._rank[move.action])

    def _blame(self, state: State, enabled: Commands, failing: Commands, found: Reachable) -> None:
        """Some guards fail: an error if the command could have taken part in anything."""
        possible = self._compose(self.program.system, {name: enabled[name] + failing[name] for name in enabled})
        failed = {id(command) for commands in failing.values() for command in commands}
        if any(id(part) in failed for move in possible for part in move.parts):
            raise Failure("a guard")
        found.excused[state] = "a guard"

    def _compose(self, system: System, enabled: Commands) -> list[Move]:
        match system:
            case Leaf(module):
                return [Move(command.action, (command,)) for command in enabled[module]]
            case Hide(operand, hidden):
                moves = self._compose(operand, enabled)
                return [Move(None if move.action in hidden else move.action, move.parts) for move in moves]
            case Rename(operand, renaming):
                moves = self._compose(operand, enabled)
                return [Move(renaming.get(move.action, move.action), move.parts) for move in moves]
            case Parallel(operands, None):
                takers = [self.alphabet(operand) for operand in operands]
            case Parallel(operands, actions):
                takers = [actions for _ in operands]
        synchronised = {action for one, other in itertools.combinations(takers, 2) for action in one & other}
        parts = [self._compose(operand, enabled) for operand in operands]
        moves = [move for part in parts for move in part if move.action not in synchronised]
        for action in sorted(synchronised):
            involved = [part for part, taker in zip(parts, takers, strict=True) if action in taker]
            moves += _together(action, involved)
        return moves

    def alphabet(self, system: System) -> frozenset[str]:
        """The actions a part of the system has, whether or not they are ever enabled."""
        match system:
            case Leaf(module):
                return frozenset(command.action for command in self._commands[module] if command.action)
            case Hide(operand, hidden):
                return self.alphabet(operand) - hidden
            case Rename(operand, renaming):
                return frozenset(renaming.get(action, action) for action in self.alphabet(operand))
            case Parallel(operands):
                return frozenset().union(*map(self.alphabet, operands))

    def _distribution(self, move: Move, state: State, env: Environment, found: Reachable) -> Distribution:
        factors = [self._alternatives(part, env) for part in move.parts]
        if not all(factors):
            self._excuse(state, env, factors, found)
        distribution: Distribution = {}
        for combination in itertools.product(*factors):
            probability = math.prod((p for p, _ in combination), start=Fraction(1))
            target = self._target(state, env, [branch for _, branch in combination])
            distribution[target] = distribution.get(target, Fraction(0)) + probability
        return distribution

    def _excuse(self, state: State, env: Environment, factors: list[list[Alternative]], found: Reachable) -> None:
        """Nothing can happen; note what would have gone wrong."""
        for _, branch in itertools.chain(*factors):
            try:
                self._target(state, env, [branch])
            except Failure as failure:
                found.excused[state] = str(failure)

    def _alternatives(self, command: Transition, env: Environment) -> list[Alternative]:
        """The updates of a command that are possible; checks the probabilities."""
        probabilities = [branch.probability(env) for branch in command.branches]
        for probability in probabilities:
            if not (math.isfinite(probability) and probability >= 0):
                raise Failure(f"probability or rate {probability}")
        exact = [Fraction(probability) for probability in probabilities]
        if self.program.type != "ctmc" and abs(sum(exact) - 1) > TOLERANCE:
            raise Failure(f"probabilities sum to {float(sum(exact))}")
        return [(p, branch) for p, branch in zip(exact, command.branches, strict=True) if p]

    def _target(self, state: State, env: Environment, branches: list[Branch]) -> State:
        values = dict(zip(self._variables, state, strict=True))
        for name, function in (assignment for branch in branches for assignment in branch.assignments):
            value = function(env)
            low, high = self._ranges[name]
            if not low <= value <= high:
                raise Failure(f"{name} becomes {value}")
            values[name] = value
        return tuple(values[name] for name in self._variables)

    def _excuse_rewards(self, state: State, found: Reachable) -> None:
        """Rewards of actions that do not happen here; whoever asked for those that do has failed already."""
        env = self._env(state)
        for guard, value in ((guard, value) for rewards in self._rewards for _, guard, value in rewards.transitions):
            try:
                _ = guard(env) and value(env)
            except Failure as failure:
                found.excused[state] = str(failure)

    # Chains

    def _merged(self, choices: list[Choice], weight: Fraction) -> Choice:
        """All choices of a chain as one; the reward is the sum of probability or rate times reward."""
        merged: Distribution = {}
        rewards = [Fraction(0)] * len(self._rewards)
        for choice in choices:
            for target, probability in choice.distribution.items():
                merged[target] = merged.get(target, Fraction(0)) + weight * probability
            rate = sum(choice.distribution.values()) if self.program.type == "ctmc" else Fraction(1)
            rewards = [old + weight * rate * new for old, new in zip(rewards, choice.rewards, strict=True)]
        return Choice("", merged, rewards)

    def _entry_rewards(self, choices: list[Choice]) -> list[dict[State, Fraction]]:
        """For each structure, the mean reward of each target over the choices that lead there."""
        total: Distribution = {}
        for choice in choices:
            for target, probability in choice.distribution.items():
                total[target] = total.get(target, Fraction(0)) + probability
        means: list[dict[State, Fraction]] = [dict.fromkeys(total, Fraction(0)) for _ in self._rewards]
        for choice in choices:
            for target, probability in choice.distribution.items():
                for mean, reward in zip(means, choice.rewards, strict=True):
                    mean[target] += reward * probability / total[target]
        return means

    # Compiling

    def _command(self, command: Command) -> Transition:
        branches = tuple(map(self._branch, command.updates))
        return Transition(command.action, self._compiler.function(command.guard), branches)

    def _branch(self, update: Update) -> Branch:
        assignments = tuple((a.variable, self._compiler.function(a.value)) for a in update.assignments)
        return Branch(self._compiler.number(update.probability), assignments)

    def _structure(self, structure: RewardStructure) -> CompiledRewards:
        function, number = self._compiler.function, self._compiler.number
        items = [(item, function(item.guard), number(item.value)) for item in structure.items]
        return CompiledRewards(
            [(guard, value) for item, guard, value in items if not item.transition],
            [(item.action, guard, value) for item, guard, value in items if item.transition],
        )


@dataclass(frozen=True)
class CompiledRewards:
    """The items of a reward structure."""

    states: list[tuple[Function, Function]]
    transitions: list[tuple[str | None, Function, Function]]

    def of_state(self, env: Environment) -> Fraction:
        return sum((Fraction(value(env)) for guard, value in self.states if guard(env)), Fraction(0))

    def of_choice(self, action: str | None, env: Environment) -> Fraction:
        items = (value for name, guard, value in self.transitions if name == action and guard(env))
        return sum((Fraction(value(env)) for value in items), Fraction(0))


def _verdict(command: Transition, env: Environment) -> bool | Failure:
    try:
        return bool(command.guard(env))
    except Failure as failure:
        return failure


def _together(action: str, parts: list[list[Move]]) -> Iterator[Move]:
    """One move of each part, the first part's varying fastest."""
    offers = [[move for move in moves if move.action == action] for moves in parts]
    for combination in itertools.product(*reversed(offers)):
        yield Move(action, tuple(part for move in reversed(combination) for part in move.parts))


def explore(program: Program, max_states: int = 10_000) -> Reachable:
    """The reachable model of a program, or the states where it fails."""
    return Oracle(program).explore(max_states)


def canonical_order(program: Program) -> bool:
    """Is the order of choices laid down? With hiding, renaming and private synchronisation only their set is."""
    match program.system:
        case Leaf():
            return True
        case Parallel(operands, None):
            return operands == tuple(Leaf(module.name) for module in program.modules)
    return False
