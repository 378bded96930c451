"""``galton.synthesize``: for which parameters does a property hold, or is a number best?"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..checking.paths import threshold
from ..device.placement import AUTO
from ..lang import GaltonError, LanguageError, Source, parse_model, parse_properties
from ..lang.expressions import Value
from ..lang.program import Program
from ..lang.properties import Probability, Reward
from ..lang.resolution import Question, parts, resolve
from ..lang.source import read_source
from ..solve.settings import Settings
from .evaluator import BackwardEvaluator, Evaluator
from .forward_evaluator import ForwardEvaluator
from .goals import Optimum, Threshold, Values
from .parameter_lifting import LiftedEvaluator
from .parameters import OpenProgram, Range, open_parameters, reopened
from .parametric_ctmc import parametric_model
from .parametric_mdp import parametric_choices
from .placement import Place, one_device
from .question import Asked, Operator, operator_of, refuse_parameters
from .refinement import Goal, Partition, Split, refine
from .regions import Problem, Regions

Watch = Callable[[Mapping[str, Any]], None]

Direction = Literal["auto", "backward", "forward"]

TOLERANCE = 0.01

__all__ = ["Synthesis", "synthesize"]


def synthesize(
    subject: Program | str | Path,
    prop: str,
    *,
    maximize: bool = False,
    minimize: bool = False,
    volume: float | None = None,
    tolerance: float | None = None,
    accuracy: float | None = None,
    split: Split = "best",
    resume: Regions | None = None,
    device: str = AUTO,
    direction: Direction = "auto",
    format: str | None = None,
    threads: int | None = None,
    watch: Watch | None = None,
    constants: Mapping[str, Value | str] | None = None,
    **parameters: Range | Value | str,
) -> Regions:
    """Find out for which values of its parameters a model has a property.

    Parameters
    ----------
    subject
        A program, or the path of a file in the PRISM language.
    prop
        One ``P`` or ``R`` operator, for a CTMC with a time bound. With a threshold, ``P>=0.9 [ … ]``, the space is
        divided into where it holds, where it does not, and a rest; without, ``P=? [ … ]``, one of the next three is
        needed.
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
        Regions to go on from, of the same question.
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
        How many to use; all cores by default. The result is the same for any number.
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
    ranges = {n: (float(v[0]), float(v[1])) for n, v in parameters.items() if isinstance(v, tuple)}
    given: dict[str, Value | str] = dict(constants or {})
    given |= {n: v for n, v in parameters.items() if not isinstance(v, tuple)}
    if volume is not None and tolerance is not None:
        raise GaltonError("volume and tolerance are two names for one number; give one of them")
    synthesis = Synthesis.prepare(
        subject,
        prop,
        ranges,
        given,
        maximize=maximize,
        minimize=minimize,
        tolerance=tolerance if volume is None else volume,
        accuracy=accuracy,
        split=split,
        device=device,
        direction=direction,
        format=format,
        threads=threads,
    )
    return synthesis.run(resume, watch)


@dataclass(eq=False)
class Synthesis:
    """One question about one parametric model, with everything read, checked and built."""

    opened: OpenProgram
    evaluator: Evaluator
    problem: Problem
    goal: Goal
    tolerance: float
    split: Split
    text: str
    digest: str
    constants: Mapping[str, Value]

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
        """Read and check all that was given, then build the model; mistakes show before anything takes long.

        ``together`` is the number of boxes that are looked at in one go, for those who measure what it brings.
        """
        if split not in ("best", "all"):
            raise GaltonError(f"boxes are split along the 'best' parameter or along 'all', not '{split}'")
        request = one_device(device)
        if direction not in ("auto", "backward", "forward"):
            raise GaltonError(f"bounds are found backward or forward, not '{direction}'; say auto, backward or forward")
        if direction == "forward" and request.kind == "cuda":
            raise GaltonError("forward bounds are computed on the CPU only; leave out --device cuda or go backward")
        if format not in (None, "csr", "ell"):
            raise GaltonError(f"the matrix of a parametric chain can be in csr or ell, not in '{format}'")
        file = parse_properties(Source("property", prop))
        if len(file.properties) != 1:
            raise GaltonError(f"one property is asked for, and this text has {len(file.properties)}")
        own = {constant.name.name for constant in file.constants}
        of_model = {name: value for name, value in given.items() if name not in own}
        if isinstance(subject, Program):
            if of_model:
                raise GaltonError(
                    f"the property declares no constant '{next(iter(of_model))}', and those of a program are chosen "
                    "before"
                )
            opened = reopened(subject, ranges)
        else:
            opened = open_parameters(parse_model(read_source(subject)), of_model, ranges)
        context, (question,) = resolve(file, opened.program, {n: v for n, v in given.items() if n in own})
        declared = [constant.value for constant in file.constants if constant.value is not None]
        declared += [definition.body for definition in (*file.formulas, *file.labels)]
        refuse_parameters(question, declared, opened.decomposition)
        problem, goal, limit = _problem(question, context, maximize, minimize, tolerance, accuracy)
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
            place = Place(request, device, all_threads, only)
            evaluator = LiftedEvaluator(choices, context, question.source, operator, place, all_threads)
        follow = {*opened.decomposition.definitions, *ranges}
        free = {name: value for name, value in context.constants.items() if name not in follow}
        texts = f"{opened.program.source.text}\0{prop}"
        digest = hashlib.sha256(texts.encode()).hexdigest()[:16]
        return cls(opened, evaluator, problem, goal, limit, split, question.prop.text.strip(), digest, free)

    def run(self, resume: Regions | None = None, watch: Watch | None = None) -> Regions:
        """Refine until the tolerance is reached, or until an interrupt."""
        start = time.perf_counter()
        partition = self._begin(resume)

        def told(now: Partition) -> None:
            if watch is not None:
                watch(self._news(now))

        if watch is not None:
            self.evaluator.watch = lambda: watch({"regions": len(partition.boxes), "steps": self.evaluator.steps})
        complete = refine(partition, self.goal, self.evaluator.bounds, self.split, told)
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
            split=self.split,
            best=partition.best,
            step=partition.step,
            complete=complete,
            interrupted=partition.interrupted,
            statistics=statistics,
            warnings=self.evaluator.place.placement.trouble,
            placement=self.evaluator.place.placement,
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


def _problem(
    question: Question,
    context: Program,
    maximize: bool,
    minimize: bool,
    tolerance: float | None,
    accuracy: float | None,
) -> tuple[Problem, Goal, float]:
    """Which of the problems is asked, and how closely."""
    operator = operator_of(question)
    for part in parts(operator):  # also those that stand inside, which are looked at much later
        if isinstance(part, (Probability, Reward)):
            threshold(part, context.constants, question.source, below_zero=False)
    asked = [
        name
        for name, given in (("maximise", maximize), ("minimise", minimize), ("accuracy", accuracy is not None))
        if given
    ]
    if len(asked) > 1:
        raise GaltonError(f"{' and '.join(asked)} are different questions; ask one at a time")
    limit = TOLERANCE if tolerance is None else tolerance
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
    bound = threshold(operator, context.constants, question.source)
    assert bound is not None
    return "threshold", Threshold.of(operator.comparison, bound, limit), limit
