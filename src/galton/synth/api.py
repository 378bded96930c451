"""``galton.synthesize``: for which parameters does a property hold, or is a number best?"""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..checking.inquiring import is_path
from ..checking.paths import threshold
from ..device.placement import AUTO
from ..lang import GaltonError, LanguageError, Source, parse_model, parse_properties
from ..lang.expressions import Value
from ..lang.program import Program
from ..lang.properties import Probability, Reward
from ..lang.resolution import Question, parts, resolve
from ..lang.source import read_source
from ..solve.settings import Settings
from ..workers import LostWorkerError
from .evaluator import BackwardEvaluator, Evaluator
from .executors import SharedEvaluator
from .forward_evaluator import ForwardEvaluator
from .goals import Optimum, Threshold, Values
from .inquiry import DIRECTIONS, Direction, Inquiry, given_texts, model_of
from .parameter_lifting import LiftedEvaluator
from .parameters import OpenProgram, Range, open_parameters
from .parametric_ctmc import parametric_model
from .parametric_mdp import parametric_choices
from .placement import Place, one_device
from .question import Asked, Operator, operator_of, refuse_parameters
from .refinement import Goal, Partition, Split, refine
from .regions import Problem, Regions

Watch = Callable[[Mapping[str, Any]], None]

__all__ = ["Synthesis", "inquire", "synthesize"]


def synthesize(
    subject: Program | str | Path | None = None,
    prop: str | Path | None = None,
    *,
    name: str | None = None,
    maximize: bool = False,
    minimize: bool = False,
    volume: float | None = None,
    tolerance: float | None = None,
    accuracy: float | None = None,
    split: Split | None = None,
    resume: Regions | str | Path | None = None,
    device: str = AUTO,
    direction: Direction | None = None,
    format: str | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    watch: Watch | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **parameters: Range | Value | str,
) -> Regions:
    """Find out for which values of its parameters a model has a property.

    Parameters
    ----------
    subject
        A program, or the path of a file: in the PRISM language, or a reaction network in SBML.
    prop
        One ``P`` or ``R`` operator, for a CTMC with a time bound, or the path of a file of properties. With a
        threshold, ``P>=0.9 [ … ]``, the space is divided into where it holds, where it does not, and a rest; without,
        ``P=? [ … ]``, one of the next three is needed.
    name
        The property of the file that is meant, by its name or its number from 1.
    maximize, minimize
        Find the boxes that hold every optimum.
    accuracy
        Divide the space into boxes over which the number varies by no more than that.
    volume, tolerance
        When to stop, 0.01 if not given: for a threshold the part of the space that may stay undecided; for an optimum
        how far apart values in the boxes that may hold it are. Two names for one number.
    split
        Cut boxes along the ``"best"`` parameter, or along ``"all"`` as PRISM-PSY does.
    resume
        Regions, or a file of them, to go on from. They know what was asked: nothing else is needed, and what is given
        besides has to be the same, but for a closer ``tolerance`` or ``accuracy``.
    device
        ``"cpu"``, or ``"cuda"`` or ``"cuda:1"`` for CTMCs: the regions are the same, but for the last digits of their
        bounds. ``"auto"`` begins on the CPU and moves to a device, if there is one, when the CPU would take longer than
        a second or two. The ``placement`` of the regions says where they were found, and why.
    direction
        How bounds for a CTMC are found: ``"backward"`` from the goal, or ``"forward"`` from the initial state.
        ``"auto"`` is backward, which is closer and faster for all but questions that are made for the other.
    format
        On a device, the format of the matrix: ``"csr"`` or ``"ell"``; the one that suits it if not given.
    threads
        How many to use; all cores by default, and one for each worker of an executor. The result is the same for any
        number.
    executor
        Whose workers look at the boxes: threads, processes, or other machines. Each builds the model once, for itself,
        and computes on the CPU. What a worker had that died is asked again. If that does not help, the search ends as
        after an interrupt: with a warning, and with the boxes so far.
    watch
        Told of progress.
    constants
        Values of other constants.
    parameters
        ``name=(low, high)`` for parameters; ``name=value`` for other constants.

    Returns
    -------
    Regions
        The boxes with their bounds. An interrupt ends the search with the boxes so far, from which ``resume`` goes on.

    Examples
    --------
    >>> import galton
    >>> program = galton.parse("ctmc  const double k;  module m  s : [0..1];  [] s=0 -> k : (s'=1);  endmodule")
    >>> regions = galton.synthesize(program, "P>=0.5 [ F<=1 s=1 ]", k=(0.1, 2), volume=0.05)
    >>> regions.at(k=1.5).verdict, regions.at(k=0.3).verdict
    ('true', 'false')
    """
    ranges = {n: _range(n, v) for n, v in parameters.items() if isinstance(v, tuple)}
    given: dict[str, Value | str] = dict(constants or {})
    given |= {n: v for n, v in parameters.items() if not isinstance(v, tuple)}
    if volume is not None and tolerance is not None:
        raise GaltonError("volume and tolerance are two names for one number; give one of them")
    earlier = Regions.from_json(resume) if isinstance(resume, (str, Path)) else resume
    inquiry = inquire(
        subject,
        read_source(prop) if prop is not None and is_path(prop) else prop,  # type: ignore[arg-type]
        ranges,
        given,
        earlier,
        chosen=name,
        maximize=maximize,
        minimize=minimize,
        tolerance=tolerance if volume is None else volume,
        accuracy=accuracy,
        split=split,
        direction=direction,
    )
    synthesis = Synthesis.of(inquiry, device=device, format=format, threads=threads, executor=executor)
    regions = synthesis.run(earlier, watch)
    if synthesis.lost is not None:
        warnings.warn(f"these are the regions so far: {synthesis.lost}", stacklevel=2)
    return regions


def _range(name: str, given: tuple[object, ...]) -> Range:
    try:
        low, high = given
        return float(low), float(high)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        message = f"the range of a parameter is its least and its greatest value, {name}=(low, high)"
        raise GaltonError(f"{message}, and not {name}={given}") from None


def inquire(
    subject: Program | Source | str | Path | None,
    prop: Source | str | None,
    ranges: Mapping[str, Range],
    given: Mapping[str, Value | str],
    earlier: Regions | None = None,
    *,
    chosen: str | None = None,
    maximize: bool = False,
    minimize: bool = False,
    tolerance: float | None = None,
    accuracy: float | None = None,
    split: Split | None = None,
    direction: Direction | None = None,
) -> Inquiry:
    """What is asked; what is not said is what earlier regions were asked for, if there are any."""
    if split not in (None, "best", "all"):
        raise GaltonError(f"boxes are split along the 'best' parameter or along 'all', not '{split}'")
    if direction is not None and direction not in DIRECTIONS:
        raise GaltonError(f"bounds are found backward or forward, not '{direction}'; say auto, backward or forward")
    before = earlier.inquiry if earlier else None
    missing = "a model" if subject is None else "a property" if prop is None else ""
    if missing and earlier is None:
        raise GaltonError(f"{missing} is needed, unless earlier regions tell which")
    if (missing or not ranges) and earlier is not None and before is None:
        missing = missing or "a parameter with its range"
        raise GaltonError(f"these regions are of a version that did not keep what was asked: {missing} is needed")
    before = before or Inquiry(Source("", ""), Source("", ""), {})
    if prop is not None:
        properties = prop if isinstance(prop, Source) else Source("property", prop)
    else:
        properties, chosen = before.properties, chosen or before.chosen
        if not (maximize or minimize or accuracy is not None):  # the same number is asked for, perhaps more closely
            maximize, minimize = before.maximize, before.minimize
            accuracy = before.accuracy if before.accuracy is None or tolerance is None else tolerance
    _refuse_strangers(subject, properties, given)
    texts = given_texts(subject, given, ranges or before.ranges)
    return Inquiry(
        model=before.model if subject is None else model_of(subject),
        properties=properties,
        ranges=ranges or before.ranges,
        given=texts if subject is not None else {**before.given, **texts},
        chosen=chosen,
        maximize=maximize,
        minimize=minimize,
        accuracy=accuracy,
        tolerance=before.tolerance if tolerance is None else tolerance,
        split=split or before.split,
        direction=direction or before.direction,
    )


def _refuse_strangers(subject: object, properties: Source, given: Mapping[str, Value | str]) -> None:
    """Constants beside a program are those of the property: its own have their values."""
    if isinstance(subject, Program):
        own = {constant.name.name for constant in parse_properties(properties).constants}
        if strangers := [name for name in given if name not in own]:
            raise GaltonError(
                f"the property declares no constant '{strangers[0]}', and those of a program are chosen before"
            )


@dataclass(eq=False)
class Synthesis:
    """One question about one parametric model, with everything read, checked and built."""

    opened: OpenProgram
    evaluator: Evaluator
    problem: Problem
    goal: Goal
    tolerance: float
    text: str
    digest: str
    constants: Mapping[str, Value]
    inquiry: Inquiry
    lost: LostWorkerError | None = None  # why it ended early

    @classmethod
    def prepare(
        cls,
        subject: Program | str | Path,
        prop: str,
        ranges: Mapping[str, Range],
        given: Mapping[str, Value | str],
        *,
        maximize: bool = False,
        minimize: bool = False,
        tolerance: float | None = None,
        accuracy: float | None = None,
        split: Split = "best",
        device: str = AUTO,
        direction: Direction = "auto",
        format: str | None = None,
        together: int | None = None,
        threads: int | None = None,
    ) -> Synthesis:
        """A question from its parts; ``together`` is for those who measure what it brings."""
        inquiry = inquire(
            subject,
            prop,
            ranges,
            given,
            maximize=maximize,
            minimize=minimize,
            tolerance=tolerance,
            accuracy=accuracy,
            split=split,
            direction=direction,
        )
        return cls.of(inquiry, device=device, format=format, together=together, threads=threads)

    @classmethod
    def of(
        cls,
        inquiry: Inquiry,
        *,
        device: str = AUTO,
        format: str | None = None,
        together: int | None = None,
        threads: int | None = None,
        executor: Executor | None = None,
    ) -> Synthesis:
        """Read and check all that was given, then build the model; mistakes show before anything takes long.

        ``together`` is the number of boxes that are looked at in one go, for those who measure what it brings.
        """
        request, direction, ranges = one_device(device), inquiry.direction, inquiry.ranges
        if direction == "forward" and request.kind == "cuda":
            raise GaltonError("forward bounds are computed on the CPU only; leave out --device cuda or go backward")
        if executor is not None and request.kind == "cuda":
            raise GaltonError("the workers of an executor compute on the CPU; leave out the device or the executor")
        if format not in (None, "csr", "ell"):
            raise GaltonError(f"the matrix of a parametric chain can be in csr or ell, not in '{format}'")
        file = parse_properties(inquiry.properties)
        place = inquiry.place(file)
        own = {constant.name.name for constant in file.constants}
        of_model = {name: value for name, value in inquiry.given.items() if name not in own}
        opened = open_parameters(parse_model(inquiry.model), of_model, ranges)
        context, questions = resolve(file, opened.program, {n: v for n, v in inquiry.given.items() if n in own})
        question = questions[place]
        declared = [constant.value for constant in file.constants if constant.value is not None]
        declared += [definition.body for definition in (*file.formulas, *file.labels)]
        refuse_parameters(question, declared, opened.decomposition)
        problem, goal, limit = _problem(question, context, inquiry)
        operator, all_threads = operator_of(question), Settings(threads=threads).n_threads
        evaluator: Evaluator
        if opened.program.nature.is_continuous:
            chain = parametric_model(opened, threads=threads)
            forward = direction == "forward"
            asked = Asked(
                context,
                question.source,
                operator,
                list(chain.state_rewards),
                goal.bound if isinstance(goal, Threshold) else math.nan,
                0.0 if forward else _negligible(goal, operator),
            )
            only = "forward bounds are computed on the CPU" if forward else None
            kind = ForwardEvaluator if forward else BackwardEvaluator
            evaluator = kind(chain, asked, Place(request, device, all_threads, only), all_threads, format, together)
        elif direction == "forward":
            raise GaltonError(f"forward bounds are for CTMCs, and this is a {opened.program.type.upper()}")
        else:
            choices = parametric_choices(opened, threads=threads)
            only = "parameters of models in discrete time are synthesised on the CPU, not on a device"
            evaluator = LiftedEvaluator(
                choices, context, question.source, operator, Place(request, device, all_threads, only), all_threads
            )
        follow = {*opened.decomposition.definitions, *ranges}
        free = {name: value for name, value in context.constants.items() if name not in follow}
        texts = f"{inquiry.model.text}\0{inquiry.properties.text}"
        digest = hashlib.sha256(texts.encode()).hexdigest()[:16]
        if executor is not None:
            evaluator = SharedEvaluator(evaluator, inquiry, executor, threads or 1)
        return cls(opened, evaluator, problem, goal, limit, question.prop.text.strip(), digest, free, inquiry)

    def run(
        self,
        resume: Regions | None = None,
        watch: Watch | None = None,
        show: Callable[[Callable[[], Regions]], None] | None = None,
    ) -> Regions:
        """Refine until the tolerance is reached, or until an interrupt.

        After each round ``show`` is called with what gives the regions as they are then, if somebody wants to see them.
        """
        start = time.perf_counter()
        partition = self._begin(resume)

        def told(now: Partition) -> None:
            if watch is not None:
                watch(self._news(now))
            if show is not None:
                show(lambda: self._regions(now, False, {}))

        if watch is not None:
            self.evaluator.watch = lambda: watch({"regions": len(partition.boxes), "steps": self.evaluator.steps})
        complete = False
        try:
            complete = refine(partition, self.goal, self.evaluator.bounds, self.inquiry.split, told)
        except LostWorkerError as error:
            if not partition.boxes:
                raise
            self.lost, partition.interrupted = error, True  # what was found is not lost by it
        work = {
            "boxes": self.evaluator.boxes - partition.points,
            "points": partition.points,
            "steps": self.evaluator.steps,
            "seconds": time.perf_counter() - start,
        }
        before = resume.statistics if resume else {}
        statistics = {name: value + before.get(name, 0) for name, value in work.items()}
        try:
            return self._regions(partition, complete, statistics)
        except KeyboardInterrupt:  # at the very end: what was found is not lost by it
            partition.interrupted = True
            return self._regions(partition, complete, statistics)

    def _begin(self, resume: Regions | None) -> Partition:
        low, high = (tuple(corner.tolist()) for corner in self.evaluator.space)
        partition = Partition(low, high)
        if resume is None:
            return partition
        mine = self._regions(partition, False, {})
        for name in ("model", "formula", "problem", "parameters", "constants"):
            if getattr(mine, name) != getattr(resume, name):
                raise GaltonError(
                    f"these regions answer another question: their {name} is {getattr(resume, name)}, "
                    f"and here it is {getattr(mine, name)}"
                )
        if list(mine.parameters) != list(resume.parameters):
            raise GaltonError(f"these regions have their parameters in another order: {', '.join(resume.parameters)}")
        if mine.digest != resume.digest:
            raise GaltonError(
                "these regions answer another question: the text of the model or the property has changed"
            )
        partition.boxes = {box.low: box for box in resume.boxes}
        partition.best = resume.best
        partition.step = resume.step
        return partition

    def _regions(self, partition: Partition, complete: bool, statistics: Mapping[str, float]) -> Regions:
        return Regions(
            parameters={p.name: (p.low, p.high) for p in self.opened.parameters},
            problem=self.problem,
            formula=self.text,
            tolerance=self.tolerance,
            boxes=tuple(sorted(partition.boxes.values(), key=lambda box: box.low)),
            model=Path(self.opened.program.source.name).name,
            constants=self.constants,
            digest=self.digest,
            split=self.inquiry.split,
            best=partition.best,
            step=partition.step,
            complete=complete,
            interrupted=partition.interrupted,
            statistics=statistics,
            warnings=(*self.evaluator.place.placement.trouble, *([str(self.lost)] if self.lost else [])),
            placement=self.evaluator.place.placement,
            inquiry=self.inquiry,
        )

    def _news(self, partition: Partition) -> dict[str, Any]:
        regions = self._regions(partition, False, {})
        news: dict[str, Any] = {"regions": len(regions.boxes), "steps": self.evaluator.steps}
        if self.problem == "threshold":
            return {**news, "decided": 1 - regions.volume(regions.undecided)}
        lower, upper = regions.spread
        return {**news, "lower": lower, "upper": upper, "best": regions.optimum}


def _negligible(goal: Goal, operator: Operator) -> float:
    """By how much bounds may be wider without a difference to the answer."""
    match goal:
        case Threshold():
            # A probability may be asked to be close to 1 as well as to 0.
            room = min(goal.bound, 1 - goal.bound) if isinstance(operator, Probability) else goal.bound
            return 1e-5 * max(room, 0.0)
        case Optimum():
            return 1e-3 * goal.tolerance
        case Values():
            return 1e-3 * goal.accuracy
    return 0.0


def _problem(question: Question, context: Program, inquiry: Inquiry) -> tuple[Problem, Goal, float]:
    """Which of the problems is asked, and how closely."""
    operator = operator_of(question)
    for part in parts(operator):  # also those that stand inside, which are looked at much later
        if isinstance(part, (Probability, Reward)):
            threshold(part, context.constants, question.source, below_zero=False)
    maximize, minimize, accuracy = inquiry.maximize, inquiry.minimize, inquiry.accuracy
    asked = [
        name
        for name, given in (("maximise", maximize), ("minimise", minimize), ("accuracy", accuracy is not None))
        if given
    ]
    if len(asked) > 1:
        raise GaltonError(f"{' and '.join(asked)} are different questions; ask one at a time")
    limit = inquiry.tolerance
    if not limit > 0 or (accuracy is not None and not accuracy > 0):
        raise GaltonError(f"a tolerance has to be above 0, and this is {limit if accuracy is None else accuracy:g}")
    if operator.optimum is not None and not context.nature.has_choices:
        raise GaltonError("Pmin and Pmax are about the strategies of an MDP; ask with P=? and --maximize or --minimize")
    if operator.comparison is None:
        if maximize or minimize:
            return "maximise" if maximize else "minimise", Optimum(maximise=maximize, tolerance=limit), limit
        if accuracy is not None:
            return "values", Values(accuracy), accuracy
        raise LanguageError(
            "this property has no threshold, so there is nothing to decide",
            question.source,
            operator.span,
            "write one, as in P>=0.9 […], or ask for an optimum with --maximize or --minimize, or for all values with "
            "--accuracy",
        )
    if asked:
        raise LanguageError(
            "this property has a threshold, and an optimum or all values are asked for",
            question.source,
            operator.span,
            "ask for the number itself, with =?",
        )
    if limit >= 1:
        raise GaltonError(
            f"a tolerance of {limit:g} leaves the whole space undecided: it is a part of it, such as 0.01"
        )
    bound = threshold(operator, context.constants, question.source)
    assert bound is not None
    return "threshold", Threshold.of(operator.comparison, bound, limit), limit
