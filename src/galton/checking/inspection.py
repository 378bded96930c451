"""What a property asks, as far as that is known before there is a model: whether it makes sense, and of which kinds its
questions are.

A kind of question declares which choices of a user it looks at. A choice that no question of a property looks at would
change nothing, and is refused: nobody should believe that a method was tried when it was not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..backend.formats import STEPPING
from ..lang.depth import DeepRecursion
from ..lang.evaluation import no_number
from ..lang.expressions import Expression, Label, Value
from ..lang.model_types import ModelType, Nature, nature_of
from ..lang.program import Program
from ..lang.properties import (
    Cumulative,
    CumulativeBudget,
    ExpectedTime,
    Filter,
    Given,
    Instantaneous,
    LongRun,
    Multi,
    Optimum,
    PathQuantifier,
    Probability,
    Quantile,
    Reward,
    SteadyState,
    children,
)
from ..lang.resolution import Question, is_state_formula, parts
from ..lang.reward_structures import structure_name
from ..lang.source import GaltonError, LanguageError, Source, Span, UnsupportedError
from ..solve.methods import (
    RELAXED,
    TIMED,
    TIMED_ON_HOST,
    balances,
    inner_name,
    insist_on_choices,
    runs_on_device,
    sweeps_in_formats,
    sweeps_in_single,
)
from ..solve.requirements import UnmetRequirementError
from ..solve.settings import Settings
from . import paths

__all__ = [
    "Interval",
    "Terms",
    "UsageError",
    "check_choices",
    "check_strategy",
    "count_devices",
    "grows_with_time",
    "interval_of",
    "kept_besides",
    "kinds_of",
    "makes_steps",
    "named_structure",
    "optimum_of",
    "quantified_path",
    "rewarded_path",
    "step_count",
]

NOT_ALONE = "multi(…) is about the initial state, so it has to be the whole property"
QUANTILE_NOT_ALONE = "quantile(…) is about the initial state, so it has to be the whole property"

Interval = tuple[float, float | None, bool]  # from, to (None: no bound), and whether these are times


class UsageError(GaltonError):
    """A choice that cannot apply to what is asked."""

    kind = "usage"


# Kinds of questions, and what each looks at.


@dataclass(frozen=True)
class Kind:
    """A kind of question: its name in words, and the choices that it looks at."""

    name: str
    uses: Collection[str] = ()


UNBOUNDED = Kind(
    "unbounded paths and rewards", ("method", "step format", "format", "order", "single", "devices", "iterations")
)
OPEN_END = Kind("bounds without an upper end", ("step format", "format", "order", "single", "devices"))
STEPS = Kind("a number of steps", ("step format", "order", "single", "devices"))
TIME = Kind("time bounds", ("timed method", "step format", "order", "single", "devices"))
LONG_RUN = Kind("long-run averages of chains", ("long-run iterations", "order", "balance", "devices"))
BEST_LONG_RUN = Kind("long-run averages of MDPs", ("long-run iterations",))
AT_ONCE = Kind("what one step or the graph tells")
BUDGETS = Kind("budgets")
KINDS = (UNBOUNDED, OPEN_END, STEPS, TIME, LONG_RUN, BEST_LONG_RUN, AT_ONCE, BUDGETS)


def _choices(settings: Settings, devices: int) -> Iterator[tuple[str, Collection[str]]]:
    """What was chosen, as an option is written, and which of the things that kinds look at it may be."""
    method = settings.method
    # Long-run averages by a method for balance equations look at all that sweeps over equations do.
    balance = ("balance",) if settings.by_hand and balances(method or "") else ()
    if method in TIMED:
        yield f"--method {method}", ("timed method",)
    elif settings.by_hand:
        yield f"--method {method}", ("method", *balance)
    if settings.max_iterations is not None and settings.by_hand:
        yield "--max-iterations", ("iterations", *balance)
    elif settings.max_iterations is not None:
        yield "--max-iterations with the default method", ("long-run iterations",)
    if settings.format is not None:
        yield f"--format {settings.format}", ("step format" if settings.format in STEPPING else "format", *balance)
    if settings.order is not None:
        yield f"--order {settings.order}", ("order", *balance)
    if settings.single:
        yield "--single", ("single", *balance)
    if devices > 1:
        yield "--device with several devices", ("devices", *balance)


def check_choices(
    question: Question,
    program: Program,
    settings: Settings,
    *,
    type: ModelType,
    device: str | None = None,
    devices: int = 1,
    beside: Sequence[str] = (),
) -> None:
    """Refuse what was chosen and cannot apply to a property.

    ``type`` is that of the model, which a strategy may have made a chain of; ``device`` what was asked for by name.
    ``beside`` are further options, as they are written, that not all choices go together with.
    """
    _check_together(settings, device, devices)
    if settings.fair:
        from .fairness import check_fair

        check_fair(question, Terms(nature_of(type), program.constants, question.source), beside)
    chosen = list(_choices(settings, devices))
    if not chosen:
        return
    kinds = kinds_of(question, program, type)
    plain = not isinstance(question.prop.expression, Multi)  # which takes no method at all, and says so
    if plain and settings.by_hand and UNBOUNDED in kinds and nature_of(type).has_choices:
        try:
            insist_on_choices(settings)
        except UnmetRequirementError as error:
            raise UsageError(f"--method {settings.method} does not fit: {error}") from None
    for option, things in chosen:
        if any(thing in kind.uses for kind in kinds for thing in things):
            continue
        meant = ", ".join(kind.name for kind in KINDS if any(thing in kind.uses for thing in things))
        asked = " and ".join(kind.name for kind in kinds) or "states alone"
        text = " ".join(question.prop.text.split())
        helped = LONG_RUN in kinds and not settings.by_hand and any(thing in UNBOUNDED.uses for thing in things)
        hint = ", choose a --method for long-run averages, such as jacobi, which looks at it" if helped else ""
        raise UsageError(
            f"{option} does nothing for {text}: it is for {meant}; this asks about {asked}. Leave it away{hint}, "
            "or ask this property in a run of its own"
        )


def check_strategy(question: Question, type: ModelType) -> None:
    """Refuse to keep the strategy of what has none."""
    expression = question.prop.expression
    while isinstance(expression, Filter):
        expression = expression.operand
    optimised = isinstance(expression, (Probability, Reward, ExpectedTime, SteadyState, Multi, Quantile))
    if not optimised or not nature_of(type).has_choices:
        text = " ".join(question.prop.text.split())
        raise UsageError(f"{text}: there is no strategy; only P, R, T, S and multi(…) of an MDP have one")


def kept_besides(*, strategy: bool, certificate: bool) -> list[str]:
    """What is to be kept with an answer, as options are written."""
    return ["--strategy"] * strategy + ["--certificate"] * certificate


def _check_together(settings: Settings, device: str | None, devices: int) -> None:
    """Refuse choices that exclude each other, whatever is asked."""
    if settings.omega is not None and inner_name(settings.method) not in RELAXED:
        raise UsageError(
            f"--omega is for the methods {' and '.join(RELAXED)}; choose one with --method, or leave it away"
        )
    if settings.single and settings.by_hand and not sweeps_in_single(settings.method or ""):
        raise UsageError(
            "--single is for the default method and for those that only sweep (jacobi, jor, gauss-seidel, "
            f"backward-gauss-seidel, sor), and --method is {settings.method}; leave one of them away"
        )
    for_device = {"--format": settings.format, "--order": settings.order, "--single": settings.single}
    if device == "cpu" and (given := [option for option, value in for_device.items() if value]):
        raise UsageError(f"{given[0]} is for a device, and --device is cpu, which has one format and order")
    method = settings.method or ""
    if method in TIMED_ON_HOST or (settings.by_hand and not runs_on_device(method)):
        if given := [option for option, value in for_device.items() if value]:
            raise UsageError(
                f"{given[0]} is for a device, and --method {method} runs on the CPU; leave one of them away"
            )
        if devices > 1:
            raise UsageError(f"--method {method} runs on the CPU, and on no device, let alone several devices")
    if settings.format is not None and settings.by_hand and not sweeps_in_formats(method):
        raise UsageError(
            f"--format is for methods that sweep or multiply, and --method {method} proves every step, over rows as "
            "they were made; leave one of them away"
        )


def count_devices(device: str | None) -> int:
    """How many devices a text such as ``cuda:0,1`` names; explorers see to it that it does."""
    return 1 + (device or "").count(",")


# What makes sense.


@dataclass(frozen=True)
class Terms:
    """What the words of a property mean: the nature of the model, the constants, and the text for errors."""

    nature: Nature
    constants: Mapping[str, Value]
    source: Source


def kinds_of(question: Question, program: Program, type: ModelType | None = None) -> list[Kind]:
    """Return the kinds of all questions in a property; what makes no sense in a model of this type is an error.

    ``program`` knows the property's names (:func:`.resolution.resolve`). ``type`` is that of the model where it is not
    the program's.
    """
    terms = Terms(nature_of(type or program.type), program.constants, question.source)
    found: dict[Kind, None] = {}
    whole = question.prop.expression
    if isinstance(whole, Quantile):
        terms = Terms(terms.nature, {**terms.constants, whole.name: 1}, terms.source)  # any number will do
    with DeepRecursion(question.source):
        _refuse_no_number(question.prop.expression, terms, program)
        for part in parts(question.prop.expression):
            if isinstance(part, Multi) and part is not question.prop.expression:
                raise LanguageError(NOT_ALONE, question.source, part.span)
            if isinstance(part, Quantile) and part is not question.prop.expression:
                raise LanguageError(QUANTILE_NOT_ALONE, question.source, part.span)
            asked = _kinds(part, terms, program)
            if not isinstance(whole, Quantile) or part is not whole.formula:  # whose steps are levels
                found |= dict.fromkeys(asked)
    return [kind for kind in KINDS if kind in found]


def _refuse_no_number(formula: Expression, terms: Terms, program: Program) -> None:
    """Refuse to compare states with 0/0 and its like: that is false of all of them, which nobody means."""
    if not is_state_formula(formula):
        for part in children(formula):
            _refuse_no_number(part, terms, program)
        return
    for label in (part for part in parts(formula) if isinstance(part, Label)):
        if label.name in program.labels and no_number(program.labels[label.name], terms.constants) is not None:
            message = f'the label "{label.name}" compares states with something that is no number'
            raise LanguageError(message, terms.source, label.span)
    found = no_number(formula, terms.constants)
    if found is not None and found is not formula:
        raise LanguageError("this is no number, so states cannot be compared with it", terms.source, found.span)


def makes_steps(question: Question, program: Program, type: ModelType) -> bool:
    """Whether some question in a property is about a number of steps or a time."""
    return any(kind in (STEPS, TIME) for kind in kinds_of(question, program, type))


def _kinds(formula: Expression, terms: Terms, program: Program) -> Collection[Kind]:
    """Return the kinds of the questions that one operator asks itself, without those inside it."""
    match formula:
        case Probability(Given(path, condition)):
            paths.threshold(formula, terms.constants, terms.source)
            optimum_of(formula, terms)
            for part in (path, condition):
                _check_linear(paths.Linear(part), terms)
            return (UNBOUNDED,)
        case Probability(path):
            paths.threshold(formula, terms.constants, terms.source)
            shape = paths.shape(path)
            optimum_of(formula, terms)
            if isinstance(shape, paths.Linear):
                _check_linear(shape, terms)
                return (UNBOUNDED,)
            return _of_path(shape, terms)
        case Reward(objective):
            paths.threshold(formula, terms.constants, terms.source)
            named_structure(formula, program.reward_names, terms)
            optimum_of(formula, terms)
            return _of_objective(objective, terms)
        case ExpectedTime(path):
            paths.threshold(formula, terms.constants, terms.source)
            optimum_of(formula, terms)
            return _of_rewarded(rewarded_path(path, terms))
        case SteadyState():
            paths.threshold(formula, terms.constants, terms.source)
            return (LONG_RUN if optimum_of(formula, terms) is None else BEST_LONG_RUN,)
        case PathQuantifier():
            quantified_path(formula, terms)
            return (AT_ONCE,)
        case Multi():
            from .multi.objectives import objectives_of

            objectives_of(formula, terms)
        case Quantile():
            from .quantiles import sought_bound

            sought_bound(formula, terms)
            return (BUDGETS,)
    return ()


def _of_path(path: paths.Path, terms: Terms) -> Collection[Kind]:
    if isinstance(path, paths.Now):
        return (AT_ONCE,)
    bounded = TIME if terms.nature.is_continuous else STEPS
    if isinstance(path, paths.Next):
        return (AT_ONCE,) if terms.nature.is_continuous else (STEPS,)
    if isinstance(path, paths.Until) and path.bound is not None and path.bound.is_budget:
        for bound in path.bound.all:
            limit = bound.low if bound.high is None else bound.high
            if bounded is TIME and bound.reward is not None and limit is not None:
                raise grows_with_time(bound.reward, terms.source, limit.span)
        return (BUDGETS,)
    _, high, _ = interval_of(path, terms)
    if path.bound is None:
        return (UNBOUNDED,)
    return (OPEN_END, bounded) if high is None else (bounded,)


def _of_objective(objective: Expression, terms: Terms) -> Collection[Kind]:
    timed = terms.nature.is_continuous
    match objective:
        case Cumulative(None):
            return (UNBOUNDED,)
        case Cumulative(limit) if limit is not None and timed:
            paths.time(limit, terms.constants, terms.source)
            return (TIME,)
        case Cumulative():
            step_count(objective, terms)
            return (STEPS,)
        case Instantaneous(moment):
            (paths.time if timed else paths.whole)(moment, terms.constants, terms.source)
            return (TIME if timed else STEPS,)
        case CumulativeBudget():
            if timed:
                message = "rewards of a CTMC within budgets are not supported: they grow with time"
                raise UnsupportedError(message, terms.source, objective.span)
            return (BUDGETS,)
        case Given(_, condition):
            _check_linear(paths.Linear(condition), terms)
            return (UNBOUNDED,)
        case LongRun():
            return (BEST_LONG_RUN if terms.nature.has_choices else LONG_RUN,)
    return _of_rewarded(rewarded_path(objective, terms))


def _of_rewarded(path: paths.Path | paths.Linear) -> Collection[Kind]:
    return (UNBOUNDED,) if isinstance(path, (paths.Until, paths.Linear)) else (AT_ONCE,)


def grows_with_time(name: str, source: Source, span: Span) -> UnsupportedError:
    """What is wrong with a bound on a reward structure of a CTMC."""
    which = f'the reward structure "{name}"' if name else "the reward structure"
    message = f"{which} of a CTMC grows with time, and bounds on it are not supported"
    return UnsupportedError(message, source, span, "bounds on steps are: F^{steps<=5}")


# The parts that solvers ask for again.


def optimum_of(formula: Probability | Reward | ExpectedTime | SteadyState, terms: Terms) -> Optimum | None:
    """Return which strategies an operator asks about: None for a chain, else those of the least or greatest value.

    A threshold is meant for all strategies, so it asks for those that meet it least.
    """
    if not terms.nature.has_choices:
        return None
    if formula.optimum:
        return formula.optimum
    if formula.comparison is None:
        letter = {Probability: "P", Reward: "R", ExpectedTime: "T", SteadyState: "S"}[type(formula)]
        message = f"an MDP has no single value for {letter}=?: it depends on the strategy"
        hint = f"ask for {letter}min=? or {letter}max=?"
        raise LanguageError(message, terms.source, formula.span, hint)
    return "min" if formula.comparison.operator in (">", ">=") else "max"


def interval_of(path: paths.Until, terms: Terms) -> Interval:
    """Return the lower and upper bound of an until (None for no upper one), and whether they are times."""
    if path.bound is not None and path.bound.is_budget:
        message = "paths within budgets, F^{rew{…}<=k}, are not supported here"
        raise UnsupportedError(message, terms.source, path.goal.span)
    if path.bound is not None and terms.nature.is_continuous:
        low, high = paths.times(path.bound, terms.constants, terms.source)
        return low, None if high == math.inf else high, True
    return *paths.steps(path.bound, terms.constants, terms.source), False


def step_count(objective: Cumulative, terms: Terms) -> int:
    """Return the number of steps of ``C<=k`` or ``C<k``."""
    assert objective.bound is not None
    count = paths.whole(objective.bound, terms.constants, terms.source) - objective.strict
    if count < 0:
        raise LanguageError("no number of steps is below 0", terms.source, objective.bound.span)
    return count


def rewarded_path(formula: Expression, terms: Terms) -> paths.Path | paths.Linear:
    """Return the path until whose end ``R [ path ]`` collects rewards; an error if it has no such end."""
    if isinstance(formula, Given):
        raise UnsupportedError("rewards under a condition are not supported", terms.source, formula.span)
    path = paths.shape(formula)
    if isinstance(path, paths.Linear):
        from .ltl import refuse_unless_cosafe

        refuse_unless_cosafe(formula, terms)
        _check_linear(path, terms)
    if isinstance(path, paths.Until) and path.negated:
        message = "this is not co-safe: no finite path makes it true, so rewards until then mean nothing"
        raise LanguageError(message, terms.source, formula.span)
    if isinstance(path, paths.Until) and path.bound is not None:
        raise UnsupportedError("rewards until a bounded formula are not supported", terms.source, formula.span)
    return path


def quantified_path(formula: PathQuantifier, terms: Terms) -> paths.Path | paths.Linear:
    """Return the path of ``A [ path ]`` or ``E [ path ]``; an error if it is bounded in time."""
    path = paths.shape(formula.path)
    if isinstance(path, paths.Until):
        if not paths.is_plain(path.bound):
            message = f"'{formula.quantifier}' with a bound on a reward is not supported"
            raise UnsupportedError(message, terms.source, formula.span)
        _, _, timed = interval_of(path, terms)
        if timed:
            message = f"'{formula.quantifier}' with a bound on time is not supported: paths may be as slow as they like"
            hint = "ask whether it is possible, P>0 [ … ], or certain, P>=1 [ … ]"
            raise UnsupportedError(message, terms.source, formula.span, hint)
    if isinstance(path, paths.Linear):
        _check_linear(path, terms)
    return path


def _check_linear(path: paths.Linear, terms: Terms) -> None:
    """Raise an error for a formula that has no automaton."""
    from .ltl import automaton_of

    automaton_of(path.formula, terms)


def named_structure(formula: Reward, names: Sequence[str], terms: Terms) -> str:
    """The reward structure that is meant: by name, by number from 1, or the first.

    ``names`` are those of the program as it was written. A model that was reduced has only those that are asked for.
    """
    return structure_name(formula, names, lambda n: paths.constant(n, terms.constants, terms.source), terms.source)
