"""Random programs as text, small enough for the oracle and rich enough to reach the corners of the language.

The number of states is bounded by construction: every variable is drawn with the values it will take, their product
stays below a budget, and updates are clamped to those values. Choices that shrink away come last in every list, so
that a failure ends as a short program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

ACTIONS = ("a", "b", "c")
LARGEST = 2**31 - 1
Draw = Callable[[st.SearchStrategy], object]


class ProgramText(str):
    """A program that prints itself as it would stand in a file."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f'"""\n{self}"""'


@dataclass(frozen=True)
class Variable:
    """``values`` are those it takes: a whole small range, or a few points of a wide or unbounded one."""

    name: str
    kind: str  # bool, small, near (an unbounded one that stays in a small range) or wide
    low: int
    high: int
    values: tuple[int, ...]
    initial: int

    def declaration(self, with_initial: bool) -> str:
        kind = {"bool": "bool", "near": "int"}.get(self.kind, f"[{number(self.low)}..{number(self.high)}]")
        initial = ["false", "true"][self.initial] if self.kind == "bool" else number(self.initial)
        return f"{self.name} : {kind}" + (f" init {initial}" if with_initial else "") + ";"


@dataclass(frozen=True)
class Module:
    name: str
    variables: tuple[Variable, ...]
    commands: tuple[str, ...] = ()
    actions: frozenset[str] = frozenset()


@dataclass
class Scope:
    """What expressions may read; ``mistakes`` are ways of going wrong that have not been used yet."""

    variables: list[Variable]
    type: str
    formulas: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)

    def names(self, *kinds: str) -> list[str]:
        return [variable.name for variable in self.variables if variable.kind in kinds]

    def takes(self, draw: Draw, mistake: str) -> bool:
        """Is this the place for a mistake?"""
        if mistake not in self.mistakes or not draw(st.booleans()):
            return False
        self.mistakes.remove(mistake)
        return True


def number(value: int) -> str:
    """A literal; the least integer has none."""
    if value == -LARGEST - 1:
        return f"(-{LARGEST}-1)"
    return str(value) if value >= 0 else f"({value})"


# Expressions


_INTEGERS = [
    "({}+{})",
    "({}-{})",
    "({}*{})",
    "-({})",
    "min({}, {})",
    "max({}, {}, k)",
    "mod({}, 3)",
    "mod({}, 4)",
    "pow({}, 2)",
    "pow({}, 0)",
    "({})^3",
    "floor({}/3)",
    "ceil({}*0.4)",
    "round({}/2)",
    "floor(pow(2, {}/2.0))",
    "round(log(max(1, {}), 2)*1.5)",
]
_CONDITIONS = [
    "({} & {})",
    "({} | {})",
    "!({})",
    "({} => {})",
    "({} <=> {})",
    "(({}) = ({}))",
    "(({}) != ({}))",
    "(({}) ? {} : {})",
]
_RELATIONS = ["<=", ">=", "!=", "<", ">", "="]
_MISTAKES = {"modulo": "mod({}, {})", "exponent": "pow(2, {})", "rounding": "floor({}/{})"}


def integer(draw: Draw, scope: Scope, depth: int = 2) -> str:
    """A small integer, of either sign."""
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        literals = [number(value) for value in (0, 1, 2, 3, -1, -2)]
        return draw(st.sampled_from([*literals, *scope.names("small") * 3, "k", *scope.formulas]))
    if draw(st.integers(0, 3)) == 3:
        test = condition(draw, scope, depth - 1)
        return f"({test} ? {integer(draw, scope, depth - 1)} : {integer(draw, scope, depth - 1)})"
    shape = next((text for name, text in _MISTAKES.items() if scope.takes(draw, name)), None)
    shape = shape or draw(st.sampled_from(_INTEGERS))
    return shape.format(*(integer(draw, scope, depth - 1) for _ in range(shape.count("{}"))))


def condition(draw: Draw, scope: Scope, depth: int = 2) -> str:
    """A guard or any other truth value."""
    if depth == 0 or not draw(st.booleans()):
        return _comparison(draw, scope)
    shape = draw(st.sampled_from(_CONDITIONS))
    return shape.format(*(condition(draw, scope, depth - 1) for _ in range(shape.count("{}"))))


def _comparison(draw: Draw, scope: Scope) -> str:
    points = [v for v in scope.variables if v.kind in ("near", "wide")]
    kinds = ["true", "true", "bool", "compare", "compare", "compare", "mixed", "protected"]
    kind = draw(st.sampled_from([*kinds, "point"] if points else kinds))
    if kind == "true":
        return "true"
    if kind == "bool":
        return draw(st.sampled_from(["", "!"])) + draw(st.sampled_from(scope.names("bool") or ["q"]))
    relation = draw(st.sampled_from(_RELATIONS))
    if kind == "point":
        variable = draw(st.sampled_from(points))
        return f"{variable.name}{relation}{number(draw(st.sampled_from(variable.values)))}"
    left = integer(draw, scope, 1)
    if kind == "mixed":
        return f"{left}/2{relation}{draw(st.sampled_from(['0.5', '1', '-1.5', 'p']))}"
    if kind == "protected":
        divisor = integer(draw, scope, 0)
        return f"({divisor}>0 & mod({left}, {divisor}){relation}1)"
    return f"{left}{relation}{integer(draw, scope, 1)}"


_AMOUNTS = [
    "{factor}",
    "{whole}",
    "{factor}*{whole}",
    "{whole}/({whole}+1)",
    "pow(0.5, {whole})",
    "{factor}*log({whole}+1, 2)",
    "max({factor}, {whole})",
    "min(2.25, {whole})",
    "({test} ? {factor} : 0)",
    "{factor}*({whole}+1)^0.5",
    "ceil({factor}*{whole})",
]


def amount(draw: Draw, scope: Scope) -> str:
    """A rate or reward: a number that is not negative, often zero."""
    shape = draw(st.sampled_from(_AMOUNTS))
    factor = draw(st.sampled_from(["1", "2.5", "p", "1e-3"])) if "{factor}" in shape else ""
    whole = f"max(0, {integer(draw, scope, 1)})" if "{whole}" in shape else ""
    test = condition(draw, scope, 1) if "{test}" in shape else ""
    return shape.format(factor=factor, whole=whole, test=test)


# Updates


def assignment(draw: Draw, scope: Scope, variable: Variable) -> str:
    """A new value within the values of the variable."""
    return f"({variable.name}'={_new_value(draw, scope, variable)})"


def _new_value(draw: Draw, scope: Scope, variable: Variable) -> str:
    if variable.kind == "bool":
        return condition(draw, scope, 1)
    low, high = number(variable.values[0]), number(variable.values[-1])
    step = draw(st.integers(1, 2))
    if variable.kind == "small" and scope.takes(draw, "range"):
        shape = draw(st.sampled_from(["{name}+{step}", "{name}-{step}", "{whole}"]))
    elif variable.kind == "wide":
        shape = draw(st.sampled_from(["{literal}", "{name}", "{test} ? {low} : {high}", "{mirror}-{name}"]))
    else:
        shape = draw(st.sampled_from(_NEW_VALUES))
    return shape.format(
        name=variable.name,
        literal=number(draw(st.sampled_from(variable.values))) if "{literal}" in shape else "",
        whole=integer(draw, scope) if "{whole}" in shape else "",
        test=condition(draw, scope, 1) if "{test}" in shape else "",
        mirror=_sum(variable.values[0], variable.values[-1]),
        size=len(variable.values),
        low=low,
        high=high,
        step=step,
    )


_NEW_VALUES = [
    "{literal}",
    "min({high}, {name}+{step})",
    "max({low}, {name}-{step})",
    "mod({whole}, {size})+{low}",
    "min({high}, max({low}, {whole}))",
    "{name}={high} ? {low} : {name}+1",
]


def _sum(one: int, other: int) -> str:
    """As one literal where there is one for it."""
    total = one + other
    return number(total) if abs(total) <= LARGEST else f"{number(one)}+{number(other)}"


def assignments(draw: Draw, scope: Scope, writable: Sequence[Variable]) -> str:
    """The right side of an update."""
    if not writable:
        return "true"
    moving = [variable for variable in writable if len(variable.values) > 1] or writable
    pool = moving if draw(st.integers(0, 3)) < 3 else writable
    chosen = draw(st.permutations(pool))[: draw(st.sampled_from([1, 1, 2, 3, 0]))]
    return " & ".join(assignment(draw, scope, variable) for variable in chosen) or "true"


# Probabilities that sum to 1 in every state; `step` is a move that would leave the range where it has no chance.
_DISTRIBUTIONS: list[list[str]] = [
    [],
    ["0.5", "0.5"],
    ["1/3", "2/3"],
    ["p", "1-p"],
    ["0.1", "0.2", "0.7"],
    ["0.25", "0.25", "0.25", "0.25"],
    ["{whole}/({whole}+1)", "1/({whole}+1)"],
    ["({test} ? p : 0)", "({test} ? 1-p : 1)"],
    ["pow(0.5, {whole})", "1-pow(0.5, {whole})"],
    ["log(1+min(3, {whole}), 4)", "1-log(1+min(3, {whole}), 4)"],
    ["min(3, {whole})/4", "(1-min(3, {whole})/4)/2", "(1-min(3, {whole})/4)/2"],
    ["step"],
]
_WRONG_DISTRIBUTIONS = [["0.5", "0.6"], ["0.9999"], ["-0.5", "1.5"], ["{whole}/2", "0.5"], ["1/{whole}", "1-1/{whole}"]]
_WRONG_RATES = [["{whole}-1"], ["1/{whole}"], ["-1"], ["0.5", "0/{whole}"]]


def weights(draw: Draw, scope: Scope) -> list[str]:
    """The probabilities or rates of a command; none when they are not to be written."""
    if scope.takes(draw, "sum"):
        shapes = draw(st.sampled_from(_WRONG_RATES if scope.type == "ctmc" else _WRONG_DISTRIBUTIONS))
    elif scope.type == "ctmc":
        kind = draw(st.sampled_from(["none", "amounts", "amounts", "step"]))
        if kind == "amounts":
            return [amount(draw, scope) for _ in range(draw(st.integers(1, 3)))]
        return ["step"] if kind == "step" else []
    else:
        shapes = draw(st.sampled_from(_DISTRIBUTIONS))
    whole = f"max(0, {integer(draw, scope, 1)})" if any("{whole}" in shape for shape in shapes) else ""
    test = condition(draw, scope, 1) if any("{test}" in shape for shape in shapes) else ""
    return [shape.format(whole=whole, test=test) for shape in shapes]


def updates(draw: Draw, scope: Scope, writable: Sequence[Variable]) -> str:
    """The updates of a command with their probabilities or rates."""
    drawn = weights(draw, scope)
    if not drawn:
        return assignments(draw, scope, writable)
    if drawn == ["step"]:
        return _step(draw, scope, writable)
    return " + ".join(f"{weight} : {assignments(draw, scope, writable)}" for weight in drawn)


def _step(draw: Draw, scope: Scope, writable: Sequence[Variable]) -> str:
    other = assignments(draw, scope, writable)
    small = [variable for variable in writable if variable.kind == "small"]
    if not small:
        return f"1 : {other}"
    variable = draw(st.sampled_from(small))
    fits = f"{variable.name}<{number(variable.high)}"
    return f"({fits} ? 1/4 : 0) : ({variable.name}'={variable.name}+1) + ({fits} ? 0.75 : 1) : {other}"


def command(draw: Draw, scope: Scope, own: Sequence[Variable], shared: Sequence[Variable]) -> tuple[str, str]:
    """A command and its action; only unlabelled ones may write the global variables."""
    action = draw(st.sampled_from(["", "", *ACTIONS]))
    writable = [*own] if action else [*own, *shared]
    return action, f"[{action}] {condition(draw, scope, draw(st.integers(0, 2)))} -> {updates(draw, scope, writable)};"


# Variables


@dataclass
class Budget:
    """How many states are left to spend."""

    states: int

    def spend(self, values: int) -> bool:
        if values > self.states:
            return False
        self.states //= values
        return True


def variable(draw: Draw, name: str, kind: str, budget: Budget) -> Variable | None:
    """A variable of a kind, or None when there is no room for it."""
    if kind == "bool":
        low, values = 0, (0, 1)
    elif kind == "small":
        low, size = draw(st.integers(-3, 2)), draw(st.sampled_from([3, 4, 2, 5, 6, 1]))
        values = tuple(range(low, low + size))
    elif kind == "near":
        low = draw(st.sampled_from([0, -1, LARGEST - 2, -LARGEST - 1]))
        values = tuple(range(low, low + 3))
    else:
        return _wide(draw, name, budget)
    if not budget.spend(len(values)):
        return None
    bounds = (-LARGEST - 1, LARGEST) if kind == "near" else (values[0], values[-1])
    return Variable(name, kind, *bounds, values, draw(st.sampled_from(values)))


def _wide(draw: Draw, name: str, budget: Budget) -> Variable:
    """A variable of many bits that takes one or two values."""
    bits = draw(st.sampled_from([32, 31, 30, 24, 17, 16, 15, 13, 9]))
    low = draw(st.sampled_from([0, 1, -1, -(2 ** (bits - 1))]))
    high = min(LARGEST, low + 2**bits - 1)
    values = draw(st.sampled_from([(low, high), (low + 1, high - 1), (low, low + 1), (low,), (high,)]))
    if not budget.spend(len(values)):
        values = values[:1]
    return Variable(name, "wide", low, high, values, draw(st.sampled_from(values)))


def variables(draw: Draw, prefix: str, kinds: Sequence[str], count: int, budget: Budget) -> tuple[Variable, ...]:
    """So many variables, or fewer when there is no room."""
    drawn = [variable(draw, f"{prefix}{index}", draw(st.sampled_from(kinds)), budget) for index in range(count)]
    return tuple(made for made in drawn if made)


def padding(draw: Draw, prefix: str, count: int, budget: Budget) -> tuple[Variable, ...]:
    return tuple(_wide(draw, f"{prefix}{index}", budget) for index in range(count))


# Modules, composition, and all of it


def _renamed(draw: Draw, base: Module, name: str, budget: Budget) -> tuple[Module, str] | None:
    """A copy of a module with other names, and its text."""
    if not all(budget.spend(len(v.values)) for v in base.variables):
        return None
    copies = tuple(replace(v, name=f"{v.name}_{name}") for v in base.variables)
    pairs = [f"{old.name}={new.name}" for old, new in zip(base.variables, copies, strict=True)]
    action = draw(st.sampled_from(["", "a=b", "b=a, a=b", "c=a"]))
    pairs += [action] if action else []
    if not pairs:
        return None
    mapping = dict(pair.split("=") for pair in action.split(", ")) if action else {}
    actions = frozenset(mapping.get(old, old) for old in base.actions)
    text = f"module {name} = {base.name} [ {', '.join(pairs)} ] endmodule\n"
    return Module(name, copies, actions=actions), text


def composition(draw: Draw, modules: Sequence[Module], actions: Sequence[str]) -> str:
    """A system of these modules, in order."""
    if len(modules) == 1:
        text = modules[0].name
    else:
        cut = draw(st.integers(1, len(modules) - 1))
        left, right = (composition(draw, part, actions) for part in (modules[:cut], modules[cut:]))
        chosen = _some(draw, actions)
        operator = draw(st.sampled_from(["||", "|||", *([f"|[{', '.join(chosen)}]|"] * 2 if chosen else [])]))
        text = f"({left} {operator} {right})"
    change = draw(st.sampled_from(["", "", "", "hide", "rename"])) if actions else ""
    if change == "hide":
        hidden = _some(draw, actions)
        return f"({text} / {{{', '.join(hidden)}}})" if hidden else text
    if change == "rename":
        old = draw(st.sampled_from(actions))
        return f"({text} {{{old}<-{draw(st.sampled_from([*ACTIONS, 'd']))}}})"
    return text


def _some(draw: Draw, actions: Sequence[str]) -> list[str]:
    return draw(st.lists(st.sampled_from(actions), unique=True, max_size=2)) if actions else []


def rewards(draw: Draw, scope: Scope, actions: Sequence[str]) -> str:
    """Up to three reward structures, with and without names."""
    text = ""
    for index in range(draw(st.integers(0, 3))):
        name = f' "r{index}"' if draw(st.booleans()) else ""
        lines = []
        for _ in range(draw(st.integers(0, 3))):
            where = draw(st.sampled_from(["", "[] ", *(f"[{action}] " for action in actions)]))
            lines.append(f"  {where}{condition(draw, scope, 1)} : {amount(draw, scope)};\n")
        text += f"rewards{name}\n{''.join(lines)}endrewards\n"
    return text


MISTAKES = ("range", "sum", "modulo", "exponent", "rounding")


@st.composite
def programs(draw: Draw, budget: int = 400, mistakes: bool = False) -> ProgramText:
    """A whole program. With ``mistakes``, one that may be without meaning in some states."""
    kind = draw(st.sampled_from(["dtmc", "mdp", "ctmc"]))
    states = Budget(budget)
    several_initial = draw(st.integers(0, 5)) == 5
    kinds = ["small", "bool", "small", "small"] + ([] if several_initial else ["near", "wide"])
    width = 0 if several_initial else draw(st.sampled_from([0, 0, 0, 2, 4, 7]))
    shared = variables(draw, "g", kinds, draw(st.integers(0, 2)), states)
    modules = []
    for index in range(draw(st.integers(1, 3))):
        own = variables(draw, f"x{index}", kinds, draw(st.integers(1, 3)), states)
        own += padding(draw, f"w{index}", width if index == 0 else width // 3, states)
        modules.append(Module(f"M{index}", tuple(draw(st.permutations(own))) if width else own))
    everything = [*shared, *(v for module in modules for v in module.variables)]
    scope = Scope(everything, kind)
    if mistakes:
        scope.mistakes = draw(st.lists(st.sampled_from(MISTAKES), min_size=1, max_size=3))
    formula = integer(draw, scope, 1)
    scope.formulas = ["f"]
    modules = [_with_commands(draw, scope, module, shared) for module in modules]
    texts = [_module_text(module, not several_initial) for module in modules]
    if draw(st.integers(0, 3)) == 3 and (copy := _renamed(draw, draw(st.sampled_from(modules)), "copy", states)):
        modules.append(copy[0])
        texts.append(copy[1])
        scope.variables += copy[0].variables
    actions = sorted(frozenset().union(*(module.actions for module in modules)))
    header = f"{kind}\n\nconst int k = 2;\nconst double p = 0.3;\nconst bool q = true;\nformula f = {formula};\n"
    globals_text = "".join(f"global {v.declaration(not several_initial)}\n" for v in shared)
    parts = [header, globals_text, *texts, rewards(draw, scope, actions)]
    parts += [f'label "l{i}" = {condition(draw, scope)};\n' for i in range(draw(st.integers(0, 2)))]
    if several_initial:
        parts.append(f"init {condition(draw, scope)} endinit\n")
    if draw(st.integers(0, 2)) == 2:
        parts.append(f"system {composition(draw, modules, actions)} endsystem\n")
    return ProgramText("\n".join(part for part in parts if part))


def _with_commands(draw: Draw, scope: Scope, module: Module, shared: Sequence[Variable]) -> Module:
    made = [command(draw, scope, module.variables, shared) for _ in range(draw(st.integers(1, 5)))]
    actions = frozenset(action for action, _ in made if action)
    return replace(module, commands=tuple(text for _, text in made), actions=actions)


def _module_text(module: Module, with_initial: bool) -> str:
    lines = [f"  {v.declaration(with_initial)}\n" for v in module.variables]
    lines += [f"  {text}\n" for text in module.commands]
    return f"module {module.name}\n{''.join(lines)}endmodule\n"
