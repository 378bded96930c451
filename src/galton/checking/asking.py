"""Properties asked of a model for all values of constants: which model each needs, and which answers are the same.

The command line and Python both ask through here: a single question is an experiment of one row. Only what changes is
done again: a model is built once for all properties and for all values of their own constants, a property is solved
once for all values of constants that it does not use, and values of a bound are answered in one pass
(:mod:`galton.checking.curves`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..lang.checker import check_program
from ..lang.program import Program
from ..lang.resolution import Checked, OpenConstantError, Question, constants_of, resolve
from ..lang.source import GaltonError, UnsupportedError
from ..lang.syntax import ModelFile
from ..solve.settings import Settings
from .experiment import Given, Valuation, valuations
from .exploration import needs_automaton, terminal
from .inspection import check_choices, count_devices, kinds_of

if TYPE_CHECKING:
    from ..lang.expressions import Expression
    from ..lang.model_types import ModelType
    from ..lang.properties import Property, PropertyFile
    from ..lower.symmetry import Symmetry
    from ..model.orbits import Orbits
    from ..model.sparse import Model
    from .automaton_reading import Reading
    from .result import Result

__all__ = ["Answer", "Answers", "Asked", "Built", "Inquiry", "QuietWorker", "Row", "Worker"]

SMALL = 10_000  # transitions, below which nothing is worth lumping, nor is finding out
TYPED = "property"  # the name of the source of a property that is no file


@dataclass(frozen=True)
class Asked:
    """A property, its place among all, and the program that knows its names.

    ``wrong`` is what keeps it from being asked of any model; ``reading`` an automaton that is explored with a model of
    its own.
    """

    index: int
    context: Program
    question: Question
    wrong: GaltonError | None
    reading: Reading | None

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
    def slips(self) -> list[Asked]:
        """The properties whose text is at fault, whatever the values of constants."""
        return [a for a in self.asked[0] if a.is_slip] if self.asked else []


class Answer(NamedTuple):
    """What a property came to, and the model it is about; an error where there is no model."""

    found: Result | GaltonError
    built: Built | None


class Worker(Protocol):
    """Who builds models and solves: silently, or with progress and words on a terminal."""

    def build(self, program: Program, end: Expression | None, symmetry: Symmetry | None) -> Built:
        """The model of a program, explored up to states in which ``end`` holds; of states that are alike, one."""

    def build_product(self, program: Program, reading: Reading, symmetry: Symmetry | None) -> Built:
        """The model of a program, explored with an automaton; of states that are alike, one."""

    def lumped(self, built: Built) -> Built:
        """A model whose states stand for others that behave alike: the chance to tell of it."""

    def check(self, model: Model, asked: Asked) -> Result | GaltonError:
        """The answer to one property, or why there is none."""

    def curve(self, model: Model, asked: Sequence[Asked]) -> list[Result | None]:
        """The answers to properties that may differ in their bound only; None for each that has to be asked alone."""


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
    symmetry
        Whether symmetries of the program may be used.
    lump
        Whether to lump states that behave alike; None for where it pays.
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
    symmetry: bool = True
    lump: bool | None = None
    typed: str = TYPED
    raises: bool = True
    _used: dict[int, list[str]] = field(default_factory=dict)  # the constants that each property uses

    @property
    def properties(self) -> list[Property]:
        """The properties that are asked, as they were written."""
        return [self.files[f].properties[i] for f, i in self.selected]

    def rows(self) -> Iterator[Row]:
        """One row for each model: the constant given first changes last."""
        for mine in valuations(self.of_model):
            yield self.row(mine)

    def row(self, mine: Valuation) -> Row:
        """All that is asked of the model with these constants."""
        theirs = list(valuations(self.of_properties))
        found = Row([{**mine, **valuation} for valuation in theirs])
        try:
            program = self._program(mine)
            checked: Checked = {}
            asked = tuple(self._questions(program, each, checked) for each in theirs)
            return replace(found, program=program, asked=asked)
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

    def _questions(self, program: Program, given: Valuation, checked: Checked) -> list[Asked]:
        found: list[list[Asked]] = []
        context = program
        labels = () if isinstance(self.subject, (Program, ModelFile)) else self.subject.labels
        earlier: list[Property] = []
        index = 0
        for file in self.files:
            names = {constant.name.name for constant in file.constants}
            mine = {name: value for name, value in given.items() if name in names}
            richer, questions = resolve(file, context, mine, labels, earlier, checked)
            found.append([self._asked(index + i, richer, question) for i, question in enumerate(questions)])
            index += len(questions)
            if file.source.name != self.typed:  # what a file declares, the properties typed beside it may use
                context, earlier = richer, [question.prop for question in questions]
        return [found[f][i] for f, i in self.selected]

    def _asked(self, index: int, context: Program, question: Question) -> Asked:
        wrong: GaltonError | None = None
        try:
            kinds_of(question, context, self.type_of(context))
            if self.settings.exact:
                from .exact import refuse_without_answer

                refuse_without_answer(question, context, self.type_of(context))
        except GaltonError as error:
            wrong = error
        reading: Reading | None = None
        built = not isinstance(self.subject, (Program, ModelFile))
        # Exact numbers and fairness are about the states of the model itself.
        special = self.settings.exact or self.settings.fair or self.full or built
        if wrong is None and self.reads and not special and needs_automaton(question):
            from .automaton_reading import reading_of

            reading = reading_of(question, context, strategy=self.strategy)
        return Asked(index, context, question, wrong, reading)

    def type_of(self, program: Program) -> ModelType:
        """The type of the model that is asked about."""
        return self.type or program.type

    def check_choices(self, row: Row, device: str, beside: Sequence[str]) -> None:
        """Refuse choices that would do nothing for a property."""
        for a in row.all_asked:
            if a.wrong is None:
                check_choices(
                    a.question,
                    a.context,
                    self.settings,
                    type=self.type_of(a.context),
                    device=device,
                    devices=count_devices(device),
                    beside=beside,
                )

    def end_of(self, program: Program, asked: Sequence[Asked]) -> Expression | None:
        """A condition on states past which none of these properties needs the model; None for all of it."""
        end = None if self.full else terminal((a.context, a.question) for a in asked)
        if self.settings.exact:
            from .exact import terminal_for_exact

            end = terminal_for_exact(end, program)
        return end

    @property
    def why_whole(self) -> str:
        """What besides the properties needs all states; empty where nothing does."""
        from .looking import why_whole

        settings = self.settings
        return why_whole(
            full=self.full,
            exact=settings.exact,
            fair=settings.fair,
            strategy=self.strategy or settings.strategy,
            paths=not self.reads,
        )

    def key(self, asked: Asked) -> Any:
        """What an answer depends on: the property, and the values of the constants that it uses."""
        if asked.index not in self._used:
            self._used[asked.index] = sorted(constants_of(asked.question.prop.expression, asked.context))
        constants = asked.context.constants
        return asked.index, tuple(constants[name] for name in self._used[asked.index])


class Answers:
    """The answers of one row, each found when it is first looked at.

    Making it builds the models that the properties share, and answers what can be answered in one pass. Properties
    share a model where they leave the same symmetries of the program. ``failures`` are the models that could not be
    built, while another one could.
    """

    def __init__(self, inquiry: Inquiry, row: Row, worker: Worker):
        if row.error is not None:
            raise row.error
        assert row.program is not None
        self._inquiry, self._program, self._worker = inquiry, row.program, worker
        self._known: dict[Any, Answer] = {}
        self._symmetry = self._symmetries(row)
        together: dict[Orbits | None, list[Asked]] = {}
        for a in row.all_asked:
            if a.wrong is None and a.reading is None:
                together.setdefault(self._orbits(a), []).append(a)
        self._shared: dict[Orbits | None, Built] = {}
        self.failures: dict[Orbits | None, GaltonError] = {}
        for orbits, asked in together.items():
            try:
                self._shared[orbits] = self._build(row.program, asked)
            except GaltonError as error:
                self.failures[orbits] = error
        if self.failures and not self._shared:
            raise next(iter(self.failures.values()))
        self._models: dict[Any, Built] = {}
        for orbits, built in self._shared.items():
            self._models |= self._lumped(built, together[orbits])
        self._curves(row)

    def _symmetries(self, row: Row) -> dict[Any, Symmetry]:
        """What each property leaves of the program's symmetries."""
        inquiry = self._inquiry
        if not inquiry.symmetry or not isinstance(inquiry.subject, (Program, ModelFile)):
            return {}
        from ..lower.symmetry import Symmetries

        symmetries = Symmetries(self._program)
        asked = {inquiry.key(a): a for a in row.all_asked if a.wrong is None}
        if not symmetries.found:
            return dict.fromkeys(asked, symmetries.keeping((), ()))
        if reason := inquiry.why_whole:
            return dict.fromkeys(asked, symmetries.unused(reason))
        from .symmetry import symmetry_of

        return {key: symmetry_of(symmetries, a.context, a.question) for key, a in asked.items()}

    def _orbits(self, asked: Asked) -> Orbits | None:
        symmetry = self._symmetry.get(self._inquiry.key(asked))
        return None if symmetry is None else symmetry.orbits

    def of(self, asked: Asked) -> Answer:
        """The answer to a property of the row."""
        if asked.wrong is not None:
            return Answer(asked.wrong, None)
        key = self._inquiry.key(asked)
        if key not in self._known:
            self._known[key] = self._answer(asked)
        return self._known[key]

    def _answer(self, asked: Asked) -> Answer:
        if asked.reading is not None:
            symmetry = self._symmetry.get(self._inquiry.key(asked))
            try:
                built = self._worker.build_product(self._program, asked.reading, symmetry)
            except GaltonError as error:
                return Answer(error, None)
        else:
            orbits = self._orbits(asked)
            if orbits in self.failures:
                return Answer(self.failures[orbits], None)
            built = self._models[self._inquiry.key(asked)]
        return Answer(self._worker.check(built.model, asked), built)

    def _build(self, program: Program, asked: Sequence[Asked]) -> Built:
        subject = self._inquiry.subject
        if not isinstance(subject, (Program, ModelFile)):
            return Built(subject, 0.0, True)
        kept = [symmetry for a in asked if (symmetry := self._symmetry.get(self._inquiry.key(a))) is not None]
        return self._worker.build(program, self._inquiry.end_of(program, asked), _joint(kept))

    def _lumped(self, built: Built, asked: Sequence[Asked]) -> dict[Any, Built]:
        """For each property the model that it is asked of: a quotient, where there can be one and it pays."""
        inquiry = self._inquiry
        by_key = {inquiry.key(a): a for a in asked}
        if inquiry.lump is False:
            return dict.fromkeys(by_key, built)
        if inquiry.lump is None and built.model.n_transitions < SMALL:
            return dict.fromkeys(by_key, replace(built, lumping="the model is small"))
        from .lumping import lumped_for

        start = time.perf_counter()
        questions = [(a.context, a.question) for a in by_key.values()]
        decision = lumped_for(built.model, questions, inquiry.settings, inquiry.lump, inquiry.why_whole)
        seconds = built.seconds + time.perf_counter() - start
        smaller = decision.quotient
        quotient = None if smaller is None else self._worker.lumped(replace(built, model=smaller, seconds=seconds))
        return {
            key: replace(quotient if used and quotient is not None else built, lumping=note)
            for key, used, note in zip(by_key, decision.used, decision.notes, strict=True)
        }

    def _curves(self, row: Row) -> None:
        """Answer properties whose bound runs through many values, each in one pass."""
        if len(row.asked) < 2 or self._inquiry.settings.exact:
            return
        for asked in zip(*row.asked, strict=True):
            mine = {self._inquiry.key(a): a for a in asked if a.wrong is None and a.reading is None}
            alike: dict[int, dict[Any, Asked]] = {}
            for key, a in mine.items():
                if key in self._models:
                    alike.setdefault(id(self._models[key].model), {})[key] = a
            for by_key in alike.values():
                if len(by_key) > 1:
                    model = self._models[next(iter(by_key))].model
                    answers = zip(by_key, self._worker.curve(model, list(by_key.values())), strict=True)
                    found = ((key, result) for key, result in answers if result is not None)
                    self._known |= {key: Answer(result, self._models[key]) for key, result in found}


def _joint(kept: Sequence[Symmetry]) -> Symmetry | None:
    """The symmetry that properties with the same orbits share, with the rewards of all of them."""
    if not kept:
        return None
    return replace(kept[0], structures=frozenset[int]().union(*(symmetry.structures for symmetry in kept)))


@dataclass(frozen=True)
class QuietWorker:
    """Builds and solves without a word; ``building`` are options of :func:`galton.explore.build`."""

    settings: Settings
    building: Mapping[str, Any]
    strategy: bool = False
    certificate: bool = False

    def build(self, program: Program, end: Expression | None, symmetry: Symmetry | None) -> Built:
        """The model of a program, explored up to states in which ``end`` holds; of states that are alike, one."""
        return self._built(program, end is None, terminal=end, symmetry=symmetry)

    def build_product(self, program: Program, reading: Reading, symmetry: Symmetry | None) -> Built:
        """The model of a program, explored with an automaton; of states that are alike, one."""
        full = not reading.reader.final.any()
        return self._built(reading.program(program), full, reader=reading.reader, symmetry=symmetry)

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

    def curve(self, model: Model, asked: Sequence[Asked]) -> list[Result | None]:
        """The answers to properties that may differ in their bound only."""
        from .curves import Point, answer_curve

        return answer_curve(model, [Point(a.context, a.question) for a in asked], self.settings)
