"""Properties asked of a model for all values of constants: which model each needs, and which answers are the same.

The command line and Python both ask through here: a single question is an experiment of one row. Only what changes is
done again: a model is built once for all properties and for all values of their own constants, a property is solved
once for all values of constants that it does not use, and values of a bound are answered in one pass
(:mod:`galton.checking.curves`).
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..lang.checker import check_program
from ..lang.depth import DeepRecursion
from ..lang.model_types import nature_of
from ..lang.program import Program
from ..lang.resolution import Question, Resolution, constants_of
from ..lang.source import GaltonError, OpenConstantError, UnsupportedError
from ..lang.syntax import ModelFile
from ..lang.wording import worded
from ..solve.settings import Settings
from .experiment import Given, Valuation, valuations
from .exploration import needs_automaton, terminal
from .inspection import UsageError, check_choices, check_strategy, count_devices, kinds_of
from .looking import why_whole
from .reducing import Reduced, Reducing, joint

if TYPE_CHECKING:
    from ..lang.constants import Constants
    from ..lang.expressions import Expression, Value
    from ..lang.model_types import ModelType
    from ..lang.properties import Property, PropertyFile
    from ..model.sparse import Model
    from .automaton_reading import Reading
    from .curves import AnsweredCurve
    from .result import Result
    from .upper_bounds import UpperBound

__all__ = ["Answer", "Answers", "Asked", "Built", "Family", "Inquiry", "QuietWorker", "Row", "Worker", "reductions"]

SMALL = 10_000  # transitions, below which nothing is worth lumping, nor is finding out
TYPED = "property"  # the name of the source of a property that is no file
WHOLE = Reduced()


@dataclass(frozen=True, eq=False)
class Family:
    """A property for all values of its upper bound: what is true of it whatever the bound.

    Attributes
    ----------
    index
        Its place among all properties.
    context
        The program that knows its names, with the constants of its first member.
    question
        What is asked.
    wrong
        What keeps it from being asked of any model.
    reading
        An automaton that is explored with a model of its own.
    """

    index: int
    context: Program
    question: Question
    wrong: GaltonError | None
    reading: Reading | None


class Asked(NamedTuple):
    """A property for some values of constants: one of a family, with a bound of its own where that is a curve's."""

    family: Family
    constants: Mapping[str, Value]
    bound: float | None

    @property
    def context(self) -> Program:
        """The program that knows its names and its constants."""
        known = self.family.context
        return known if self.constants is known.constants else replace(known, constants=self.constants)

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.family.question

    @property
    def wrong(self) -> GaltonError | None:
        """What keeps it from being asked of any model."""
        return self.family.wrong

    @property
    def reading(self) -> Reading | None:
        """An automaton that is explored with a model of its own."""
        return self.family.reading

    @property
    def is_slip(self) -> bool:
        """Whether its text is at fault: it cannot be read, or uses a name or a type that does not fit."""
        error = self.question.prop.error
        return error is not None and not isinstance(error, (UnsupportedError, OpenConstantError))


@dataclass(frozen=True)
class Built:
    """A model, how long it took to build, and whether nothing was left out past the targets.

    ``lumping`` says what lumping came to, or why it was not done; empty where it is switched off.
    """

    model: Model
    seconds: float
    full: bool
    lumping: str = ""


@dataclass(frozen=True)
class Row:
    """What is asked of one model: for each valuation of the properties' constants, all of them.

    ``error`` is there in place of the program and the questions where not even the constants could be settled.
    """

    valuations: list[Valuation]
    program: Program | None = None
    asked: tuple[list[Asked], ...] = ()
    error: GaltonError | None = None

    @property
    def all_asked(self) -> list[Asked]:
        """The properties for all valuations, one after the other."""
        return [a for asked in self.asked for a in asked]

    @property
    def families(self) -> list[Family]:
        """The properties, whatever their bounds."""
        return list(dict.fromkeys(asked.family for asked in self.all_asked))

    @property
    def slips(self) -> list[Asked]:
        """The properties whose text is at fault, whatever the values of constants."""
        return [a for a in self.asked[0] if a.is_slip] if self.asked else []


class Answer(NamedTuple):
    """What a property came to, and the model it is about; an error where there is no model."""

    found: Result | GaltonError
    built: Built | None


class Worker(Protocol):
    """Who builds models and solves: silently, or with progress and words on a terminal."""

    def build(self, program: Program, end: Expression | None, reduced: Reduced) -> Built:
        """The model of a program, explored up to states in which ``end`` holds; of states that are alike, one."""

    def build_product(self, program: Program, reading: Reading, reduced: Reduced) -> Built:
        """The model of a program, explored with an automaton; of states that are alike, one."""

    def lumped(self, built: Built) -> Built:
        """A model whose states stand for others that behave alike: the chance to tell of it."""

    def check(self, model: Model, asked: Asked) -> Result | GaltonError:
        """The answer to one property, or why there is none."""

    def curve(self, model: Model, family: Family, bounds: Sequence[float]) -> AnsweredCurve | None:
        """The answers to a property for many values of its bound; None where each has to be asked alone."""


@dataclass(frozen=True, kw_only=True)
class Inquiry:
    """All that is asked.

    Attributes
    ----------
    subject
        A model, a program, or a model file, whose constants may vary.
    files, selected
        The properties as they were read, and those that are asked, as (file, place in the file).
    of_model, of_properties
        Values of constants of the model file and of the properties, one or many each.
    type
        The type of the model where it is not the program's, because a strategy was applied.
    full
        Whether to explore all of the model, also where the properties need less.
    reads
        Whether automata may be explored with the model.
    strategy
        Whether strategies are kept.
    slice, symmetry
        Whether parts of the program that nobody asks about may be left out, and its symmetries be used.
    lump
        Whether to lump states that behave alike; None for where it pays.
    fix_deadlocks
        Whether states that cannot move are no error.
    typed
        The name of sources that are no files: properties there may use what files declare.
    raises
        Whether constants that cannot be settled are an error at once; otherwise one of the row.
    """

    subject: Model | Program | ModelFile
    files: Sequence[PropertyFile]
    selected: Sequence[tuple[int, int]]
    of_model: Mapping[str, Given] = field(default_factory=dict)
    of_properties: Mapping[str, Given] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    type: ModelType | None = None
    full: bool = False
    reads: bool = True
    strategy: bool = False
    slice: bool = True
    symmetry: bool = True
    lump: bool | None = None
    fix_deadlocks: bool = True
    typed: str = TYPED
    raises: bool = True

    def __post_init__(self) -> None:
        if self.lump and self.why_whole:
            raise UsageError(worded(f"states cannot be lumped here, so leave --lump away: {self.why_whole}"))

    @property
    def is_program(self) -> bool:
        """Whether a program is asked about, and no model that is built."""
        return isinstance(self.subject, (Program, ModelFile))

    @property
    def properties(self) -> list[Property]:
        """The properties that are asked, as they were written."""
        return [self.files[f].properties[i] for f, i in self.selected]

    def rows(self) -> Iterator[Row]:
        """One row for each model: the constant given first changes last."""
        for mine in valuations(self.of_model):
            yield self.row(mine)

    def row(self, mine: Valuation, *, alone: bool = False) -> Row:
        """All that is asked of the model with these constants; ``alone``, for the first values of others only."""
        theirs = list(islice(valuations(self.of_properties), 1 if alone else None))
        found = Row([{**mine, **valuation} for valuation in theirs])
        try:
            program = self._program(mine)
            asking = _Asking(self, program, curves=len(theirs) > 1)
            return replace(found, program=program, asked=tuple(map(asking.asked, theirs)))
        except GaltonError as error:
            if self.raises:
                raise
            return replace(found, error=error)

    def _program(self, constants: Valuation) -> Program:
        if isinstance(self.subject, Program):
            return self.subject
        if isinstance(self.subject, ModelFile):
            return check_program(self.subject, constants)
        from ..model.described import described

        return described(self.subject)

    def type_of(self, program: Program) -> ModelType:
        """The type of the model that is asked about."""
        return self.type or program.type

    def check_choices(self, row: Row, device: str, beside: Sequence[str]) -> None:
        """Refuse choices that would do nothing for a property."""
        for family in row.families:
            if family.wrong is None:
                if self.strategy:
                    check_strategy(family.question, self.type_of(family.context))
                check_choices(
                    family.question,
                    family.context,
                    self.settings,
                    type=self.type_of(family.context),
                    device=device,
                    devices=count_devices(device),
                    beside=beside,
                )

    def end_of(self, program: Program, families: Sequence[Family]) -> Expression | None:
        """A condition on states past which none of these properties needs the model; None for all of it."""
        end = None if self.full else terminal((family.context, family.question) for family in families)
        if self.settings.exact:
            from .exact import terminal_for_exact

            end = terminal_for_exact(end, program)
        return end

    @property
    def why_whole(self) -> str:
        """What besides the properties needs all states; empty where nothing does."""
        settings = self.settings
        return why_whole(
            full=self.full,
            exact=settings.exact,
            fair=settings.fair,
            strategy=self.strategy or settings.strategy,
            paths=not self.reads,
        )


class _Asking:
    """The questions about one program: each is settled once for all values of constants that change nothing about it.

    ``curves`` says whether there are several valuations, so that some may differ in a bound only.
    """

    def __init__(self, inquiry: Inquiry, program: Program, *, curves: bool):
        self._inquiry, self._program, self._curves = inquiry, program, curves
        self._resolutions: dict[int, Resolution] = {}
        self._traits: dict[int, tuple[tuple[str, ...], tuple[str, ...], UpperBound | None]] = {}
        self._families: dict[tuple[object, ...], Family] = {}

    def asked(self, given: Valuation) -> list[Asked]:
        """All properties, for these values of their constants."""
        inquiry, found = self._inquiry, []
        context, values = self._program, self._program.constants
        earlier: list[Property] = []
        index = 0
        for place, file in enumerate(inquiry.files):
            if place not in self._resolutions:
                subject = inquiry.subject
                labels = () if isinstance(subject, (Program, ModelFile)) else subject.labels
                self._resolutions[place] = Resolution(file, context, labels, earlier)
            resolution = self._resolutions[place]
            constants = resolution.constants(resolution.own(given), values)
            questions = resolution.questions(constants)
            found.append([self._member(index + i, each, resolution, constants) for i, each in enumerate(questions)])
            index += len(questions)
            if file.source.name != inquiry.typed:  # what a file declares, the properties typed beside it may use
                context, values = resolution.context(constants), constants.values
                earlier = [question.prop for question in questions]
        return [found[f][i] for f, i in inquiry.selected]

    def _member(self, index: int, question: Question, resolution: Resolution, constants: Constants) -> Asked:
        values = constants.values
        besides, used, upper = self._traits_of(question, resolution, constants)
        bound: float | None = None
        if upper is not None:
            with suppress(GaltonError):  # that makes no sense, and is told as what is wrong with a question of its own
                bound = upper.at(values)
        names = used if bound is None else besides
        key = (index, bound is None, *(values[name] for name in names))
        family = self._families.get(key)
        if family is None:
            family = self._families[key] = self._family(index, resolution.context(constants), question)
        return Asked(family, values, bound)

    def _traits_of(
        self, question: Question, resolution: Resolution, constants: Constants
    ) -> tuple[tuple[str, ...], tuple[str, ...], UpperBound | None]:
        """The constants that a property uses besides its upper bound, and all that it uses, and the bound itself."""
        if id(question) not in self._traits:
            upper: UpperBound | None = None
            besides: tuple[str, ...] = ()
            used: tuple[str, ...] = ()
            if question.prop.error is None:
                context = resolution.context(constants)
                used = tuple(constants_of(question.prop.expression, context))
                if self._curves:
                    from .upper_bounds import upper_bound

                    with DeepRecursion(question.source):
                        upper = upper_bound(question, nature_of(self._inquiry.type_of(context)))
                if upper is not None:
                    besides = tuple(dict.fromkeys(n for part in upper.besides for n in constants_of(part, context)))
            self._traits[id(question)] = besides, used, upper
        return self._traits[id(question)]

    def _family(self, index: int, context: Program, question: Question) -> Family:
        inquiry, wrong = self._inquiry, None
        try:
            kinds_of(question, context, inquiry.type_of(context))
            if inquiry.settings.exact:
                from .exact import refuse_without_answer

                refuse_without_answer(question, context, inquiry.type_of(context))
        except GaltonError as error:
            wrong = error
        reading: Reading | None = None
        # Exact numbers and fairness are about the states of the model itself.
        special = inquiry.settings.exact or inquiry.settings.fair or inquiry.full or not inquiry.is_program
        if wrong is None and inquiry.reads and not special and needs_automaton(question):
            from .automaton_reading import reading_of

            reading = reading_of(question, context, strategy=inquiry.strategy)
        return Family(index, context, question, wrong, reading)


class Answers:
    """The answers of one row, each found when it is first looked at.

    Making it builds the models that the properties share, and answers what can be answered in one pass. Properties
    share a model where the same may be left out of it (:mod:`.reducing`). ``failures`` are the models that could not
    be built, while another one could.
    """

    def __init__(self, inquiry: Inquiry, row: Row, worker: Worker):
        if row.error is not None:
            raise row.error
        assert row.program is not None
        self._inquiry, self._program, self._worker = inquiry, row.program, worker
        self._known: dict[tuple[Family, float | None], Answer] = {}
        self._curves: dict[Family, AnsweredCurve] = {}
        families = [family for family in row.families if family.wrong is None]
        self._reductions = reductions(inquiry, row.program, families)
        together: dict[Hashable, list[Family]] = {}
        for family in families:
            if family.reading is None:
                together.setdefault(self._reduced(family).kind, []).append(family)
        self._shared: dict[Hashable, Built] = {}
        self.failures: dict[Hashable, GaltonError] = {}
        for kind, alike in together.items():
            try:
                self._shared[kind] = self._build(row.program, alike)
            except GaltonError as error:
                self.failures[kind] = error
        if self.failures and not self._shared:
            raise next(iter(self.failures.values()))
        self._models: dict[Family, Built] = {}
        for kind, built in self._shared.items():
            self._models |= self._lumped(built, together[kind], row)
        if not inquiry.settings.exact:
            self._draw(row)

    def _reduced(self, family: Family) -> Reduced:
        return self._reductions.get(family, WHOLE)

    def of(self, asked: Asked) -> Answer:
        """The answer to a property of the row."""
        family = asked.family
        if family.wrong is not None:
            return Answer(family.wrong, None)
        if family in self._curves and asked.bound is not None:
            found = self._curves[family].at(asked.bound)
            if found is not None:
                return Answer(found, self._models[family])
        key = family, asked.bound
        if key not in self._known:
            self._known[key] = self._answer(asked)
        return self._known[key]

    def _answer(self, asked: Asked) -> Answer:
        family = asked.family
        reduced = self._reduced(family)
        if family.reading is not None:
            try:
                built = self._worker.build_product(self._program, family.reading, reduced)
            except GaltonError as error:
                return Answer(error, None)
        else:
            if reduced.kind in self.failures:
                return Answer(self.failures[reduced.kind], None)
            built = self._models[family]
        return Answer(self._worker.check(built.model, asked), built)

    def _build(self, program: Program, families: Sequence[Family]) -> Built:
        subject = self._inquiry.subject
        if not isinstance(subject, (Program, ModelFile)):
            return Built(subject, 0.0, True)
        reduced = joint([self._reduced(family) for family in families])
        return self._worker.build(program, self._inquiry.end_of(program, families), reduced)

    def _lumped(self, built: Built, families: Sequence[Family], row: Row) -> dict[Family, Built]:
        """For each property the model that it is asked of: a quotient, where there can be one and it pays."""
        inquiry = self._inquiry
        if inquiry.lump is False:
            return dict.fromkeys(families, built)
        if inquiry.lump is None and (reason := _why_not_by_itself(built.model)):
            return dict.fromkeys(families, replace(built, lumping=reason))
        from .lumping import lumped_for

        start = time.perf_counter()
        longest: dict[Family, Asked] = {}  # of the points of a curve the last, which costs about as much as all
        for asked in row.all_asked:
            known = longest.get(asked.family)
            if known is None or (known.bound or 0.0) < (asked.bound or 0.0):
                longest[asked.family] = asked
        questions = [(longest[family].context, family.question) for family in families]
        decision = lumped_for(built.model, questions, inquiry.settings, inquiry.lump, inquiry.why_whole)
        seconds = built.seconds + time.perf_counter() - start
        smaller = decision.quotient
        quotient = None if smaller is None else self._worker.lumped(replace(built, model=smaller, seconds=seconds))
        return {
            family: replace(quotient if used and quotient is not None else built, lumping=note)
            for family, used, note in zip(families, decision.used, decision.notes, strict=True)
        }

    def _draw(self, row: Row) -> None:
        """Answer properties whose bound runs through many values, each in one pass."""
        bounds: dict[Family, dict[float, None]] = {}
        for asked in row.all_asked:
            if asked.bound is not None:
                bounds.setdefault(asked.family, {})[asked.bound] = None
        for family, values in bounds.items():
            if len(values) > 1 and family in self._models and not self._models[family].model.is_shared:
                found = self._worker.curve(self._models[family].model, family, sorted(values))
                if found is not None:
                    self._curves[family] = found


def reductions(inquiry: Inquiry, program: Program, families: Sequence[Family]) -> dict[Family, Reduced]:
    """What each property allows to leave out of the program."""
    if not (inquiry.slice or inquiry.symmetry) or not inquiry.is_program:
        return {}
    if program.open_constants:  # whoever builds it will say so
        return {}
    from .looks import looks_of

    reducing = Reducing(
        program,
        slice=inquiry.slice,
        symmetry=inquiry.symmetry,
        fix_deadlocks=inquiry.fix_deadlocks,
        whole=inquiry.why_whole,
    )
    looks = {family: looks_of(family.context, family.question) for family in families}
    return reducing.of(looks, [family for family in families if family.reading is not None])


def _why_not_by_itself(model: Model) -> str:
    """Why a model is not lumped unless that is asked for; empty where it may be."""
    if model.is_shared:
        return "models that ranks share are not lumped"
    if model.on_device:  # what it costs there has not been measured
        return "a device lumps only where it is told to"
    return "the model is small" if model.n_transitions < SMALL else ""


@dataclass(frozen=True)
class QuietWorker:
    """Builds and solves without a word; ``building`` are options of :func:`galton.explore.build`."""

    settings: Settings
    building: Mapping[str, Any]
    strategy: bool = False
    certificate: bool = False

    def build(self, program: Program, end: Expression | None, reduced: Reduced) -> Built:
        """The model of a program, explored up to states in which ``end`` holds; of states that are alike, one."""
        return self._built(program, end is None, terminal=end, **reduced.options)

    def build_product(self, program: Program, reading: Reading, reduced: Reduced) -> Built:
        """The model of a program, explored with an automaton; of states that are alike, one."""
        full = not reading.reader.final.any()
        return self._built(reading.program(program), full, reader=reading.reader, **reduced.options)

    def _built(self, program: Program, full: bool, **more: Any) -> Built:
        from ..explore import build

        start = time.perf_counter()
        model = build(program, **self.building, **more)
        return Built(model, time.perf_counter() - start, full)

    def lumped(self, built: Built) -> Built:
        """A model whose states stand for others that behave alike."""
        return built

    def check(self, model: Model, asked: Asked) -> Result | GaltonError:
        """The answer to one property, or why there is none."""
        from .answering import check

        try:
            return check(
                asked.context,
                model,
                asked.question,
                self.settings,
                strategy=self.strategy,
                certificate=self.certificate,
                reading=asked.reading,
            )
        except GaltonError as error:
            return error

    def curve(self, model: Model, family: Family, bounds: Sequence[float]) -> AnsweredCurve | None:
        """The answers to a property for many values of its bound."""
        from .curves import answer_curve

        return answer_curve(model, family.context, family.question, bounds, self.settings)
