"""``galton.simulate`` and ``galton.estimate``: random paths, to look at and to count."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, overload

from ..checking.asking import TYPED
from ..checking.inquiring import is_path, read_properties, select_properties, settled
from ..device.cuda.runtime import select
from ..device.placement import Request
from ..device.threads import check_threads
from ..lang.expressions import Value
from ..lang.model_types import nature_of
from ..lang.program import Program
from ..lang.resolution import Question, resolve
from ..lang.source import GaltonError
from ..model.described import described
from ..model.random_paths import ModelPaths
from ..model.sparse import Model
from ..model.traces import Traces
from .asked import Asked, asked_of
from .chains import UNIFORM, applied, chain_of, needs_strategy
from .estimating import Plan, estimated
from .program_paths import ProgramPaths
from .result import Estimate
from .sharing import SharedPaths
from .walks import Walk, of_model, of_program

if TYPE_CHECKING:
    from ..checking.strategies.strategy import Strategy

__all__ = ["LONGEST_PATH", "estimate", "estimate_question", "simulate"]

LONGEST_PATH = 10_000  # steps, where nothing else ends a path


def simulate(
    subject: Model | Program | str | Path,
    *,
    paths: int = 1,
    steps: float | None = None,
    time: float | None = None,
    seed: int = 0,
    strategy: Strategy | str | Path | None = None,
    executor: Executor | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> Traces:
    """Follow random paths of a model, and keep all that they meet.

    A program is not built: paths are followed through models that are far too large to build, or have no end.

    Parameters
    ----------
    subject
        A model, a program, or the path of a file.
    paths
        How many paths to follow.
    steps, time
        Where each ends: after so many steps (100, if nothing is said) or, in a CTMC, at a time. A state that cannot be
        left ends a path as well.
    seed
        Path number i of a seed is always the same.
    strategy
        Of an MDP: a strategy, or the file of one. By default, and for ``"uniform"``, each choice of a state is as
        likely as the others.
    executor
        Whose workers follow the paths: any ``concurrent.futures.Executor``. The paths are the same.
    constants, more_constants
        Values for constants of the file.

    Returns
    -------
    Traces
        A row for each state that a path enters.

    Examples
    --------
    >>> import galton
    >>> queue = "ctmc  module m  x : int init 0;  [in] true -> 2:(x'=x+1);  [out] x>0 -> 3:(x'=x-1);  endmodule"
    >>> galton.simulate(galton.parse(queue), time=10, paths=3, seed=7)
    <traces: 3 paths, 141 steps, seed 7>
    """
    subject = settled(subject, {**(constants or {}), **more_constants})
    uniform = strategy is None or str(strategy) == UNIFORM
    walking: ProgramPaths | ModelPaths
    if isinstance(subject, Model):
        walking = ModelPaths(subject if uniform else chain_of(subject, strategy))
    elif not uniform:
        walking = ModelPaths(_strategic(subject, strategy))
    else:
        walking = ProgramPaths(subject, rewards=subject.rewards, find_loops=1)
    follow = None if executor is None else SharedPaths(walking, executor).follow
    return walking.traces(paths=paths, steps=steps, time=time, seed=seed, follow=follow)


def _strategic(program: Program, strategy: Strategy | str | Path | None) -> Model:
    if isinstance(strategy, (str, Path)):
        return applied(program, strategy)
    assert strategy is not None
    return strategy.induced()


@overload
def estimate(  # type: ignore[overload-overlap]  # a text is a sequence of texts, but not here
    subject: Model | Program | str | Path,
    prop: str,
    *,
    confidence: float = 0.95,
    width: float | None = None,
    paths: int | None = None,
    seed: int = 0,
    strategy: Strategy | str | Path | None = None,
    path_length: int = LONGEST_PATH,
    threads: int | None = None,
    device: str = "cpu",
    executor: Executor | None = None,
    name: str | Sequence[str] | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> Estimate: ...


@overload
def estimate(
    subject: Model | Program | str | Path,
    prop: Path | Sequence[str | Path],
    *,
    confidence: float = 0.95,
    width: float | None = None,
    paths: int | None = None,
    seed: int = 0,
    strategy: Strategy | str | Path | None = None,
    path_length: int = LONGEST_PATH,
    threads: int | None = None,
    device: str = "cpu",
    executor: Executor | None = None,
    name: str | Sequence[str] | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> list[Estimate]: ...


def estimate(
    subject: Model | Program | str | Path,
    prop: str | Path | Sequence[str | Path],
    *,
    confidence: float = 0.95,
    width: float | None = None,
    paths: int | None = None,
    seed: int = 0,
    strategy: Strategy | str | Path | None = None,
    path_length: int = LONGEST_PATH,
    threads: int | None = None,
    device: str = "cpu",
    executor: Executor | None = None,
    name: str | Sequence[str] | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **more_constants: Value | str,
) -> Estimate | list[Estimate]:
    """Answer a property by random paths: an estimate with a confidence, where :func:`galton.check` gives a proof.

    Parameters
    ----------
    subject
        A model, a program, or the path of a file. A program is only built where a property has no bound, and then only
        where it is small; see ``docs/simulation.md``.
    prop
        The property: a probability or a reward. It may declare constants, formulas and labels of its own. Or the path
        of a file of properties, or a list of properties and paths.
    confidence
        How likely the answer has to be right, over all seeds.
    width
        How wide the interval may be; 0.01 or, of a reward, a hundredth of its mean, if nothing is said. For a
        threshold, how far around it either answer will do.
    paths
        How many paths to follow, instead of as many as the width needs.
    seed
        The same seed gives the same answer, on any number of threads.
    strategy
        Of an MDP: a strategy, the file of one, or ``"uniform"``.
    path_length
        Steps after which a path is cut where nothing else ends it. Those that are count for both ends of the interval.
    threads
        How many to use; all cores by default, and one for each worker of an executor.
    device
        ``"cpu"``, or ``"cuda"``: one path a thread of a device. Its paths are those that the CPU would
        follow through the program.
    executor
        Whose workers follow the paths: any ``concurrent.futures.Executor``. The answer is that of one core, to the
        last bit. What a worker had that died is asked again.
    name
        Of files, only the properties of these names, or of these numbers, counted from 1, as texts.
    constants, more_constants
        Values for constants of the file and of the property.

    Returns
    -------
    Estimate
        The value, its interval, and what the confidence rests on. For a file or a list, a list: one for each property.

    Examples
    --------
    >>> import galton
    >>> walk = "dtmc  module m  x : int init 0;  [] true -> 0.5:(x'=x+1) + 0.5:(x'=x-1);  endmodule"
    >>> found = galton.estimate(galton.parse(walk), "P=? [ F<=10 x=2 ]", confidence=0.99)
    >>> found.lower <= 0.54883 <= found.upper
    True
    """
    given: dict[str, Value | str] = {**(constants or {}), **more_constants}
    files = read_properties(prop)
    single = isinstance(prop, str) and not is_path(prop)
    if single and len(files[0].properties) != 1:
        raise GaltonError(
            f"one property is asked for, and this text has {len(files[0].properties)}; a list of properties, or the "
            "path of a file, gives a list of estimates"
        )
    own = {constant.name.name for file in files for constant in file.constants}
    subject = settled(subject, {name: value for name, value in given.items() if name not in own})
    if executor is not None and _on_device(device):
        raise GaltonError("the workers of an executor compute on the CPU; leave out the device or the executor")
    plan = Plan(confidence, width, paths, seed, _threads(threads, executor), executor=executor)
    found: list[Estimate] = []
    if isinstance(subject, Model):
        if _on_device(device):
            raise GaltonError("on a device, paths are followed through programs: give the program instead of a model")
        chain = chain_of(subject, strategy)
    selected = select_properties(files, [name] if isinstance(name, str) else name or [], TYPED)
    for place, file in enumerate(files):
        declared = {constant.name.name for constant in file.constants}
        mine = {name: value for name, value in given.items() if name in declared}
        if isinstance(subject, Model):
            context, questions = resolve(file, described(chain), mine, labels=chain.labels)
            found += [_estimated_in(chain, context, questions[i], plan) for f, i in selected if f == place]
        else:
            context, questions = resolve(file, subject, mine)
            how = {"strategy": strategy, "path_length": path_length, "device": device}
            asked_here = [questions[i] for f, i in selected if f == place]
            found += [estimate_question(context, question, plan, **how) for question in asked_here]  # type: ignore[arg-type]
    return found[0] if single else found


def _on_device(device: str) -> bool:
    """Whether a device is asked for; several of them have nothing to share."""
    request = Request.parse(device)
    if len(request.numbers) > 1:
        raise GaltonError("random paths are followed on one device")
    if request.kind == "cuda" and request.numbers:
        select(request.numbers)
    return request.kind == "cuda"


def _threads(threads: int | None, executor: Executor | None) -> int:
    check_threads(threads)
    return threads or (len(os.sched_getaffinity(0)) if executor is None else 1)


def estimate_question(
    context: Program,
    question: Question,
    plan: Plan,
    *,
    strategy: Strategy | str | Path | None = None,
    path_length: int = LONGEST_PATH,
    device: str = "cpu",
    chain: Callable[[], Model] | None = None,
) -> Estimate:
    """Estimate a property that was resolved against a program.

    ``chain`` makes the chain that a strategy leaves, for who asks several questions about it, or gives one that is
    built.
    """
    if context.nature.has_choices:
        if strategy is None:
            raise needs_strategy()
        if str(strategy) != UNIFORM:
            model = _strategic(context, strategy) if chain is None else chain()
            return _estimated_in(model, context, question, plan)
    elif strategy is not None:
        raise GaltonError(f"a strategy needs choices, and this model is a {context.type}")
    elif chain is not None:
        return _estimated_in(chain(), context, question, plan)
    nature = nature_of("dtmc") if context.nature.has_choices else context.nature
    asked = asked_of(question, context, nature)
    walk = of_program(asked, context, question, longest=path_length, device=_on_device(device))
    return _finished(asked, walk, plan, question)


def _estimated_in(model: Model, context: Program, question: Question, plan: Plan) -> Estimate:
    asked = asked_of(question, context, model.nature)
    return _finished(asked, of_model(asked, model, context, question), plan, question)


def _finished(asked: Asked, walk: Walk, plan: Plan, question: Question) -> Estimate:
    found = estimated(asked, walk, plan, " ".join(question.prop.text.split()))
    return replace(found, name=question.prop.name)
