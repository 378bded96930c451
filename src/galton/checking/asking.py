"""Properties asked of a model for all values of constants: which model each needs, and which answers are the same.

The command line and Python both ask through here: a single question is an experiment of one row. Only what changes is
done again: a model is built once for all properties and for all values of their own constants, a property is solved
once for all values of constants that it does not use, and values of a bound are answered in one pass
(:mod:`galton.checking.curves`).
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
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
from .looks import looks_of, why_whole
from .reducing import Reduced, Reducing, joint

if TYPE_CHECKING:
    from ..lang.expressions import Expression
    from ..lang.model_types import ModelType
    from ..lang.properties import Property, PropertyFile
    from ..model.sparse import Model
    from .automaton_reading import Reading
    from .result import Result

__all__ = ["Answer", "Answers", "Asked", "Built", "Inquiry", "QuietWorker", "Row", "Worker"]

TYPED = "property"  # the name of the source of a property that is no file
WHOLE = Reduced()


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
    """A model, how long it took to build, and whether nothing was left out past the targets."""

    model: Model
    seconds: float
    full: bool


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

    def build(self, program: Program, end: Expression | None, reduced: Reduced) -> Built:
        """The model of a program, explored up to states in which ``end`` holds; of states that are alike, one."""

    def build_product(self, program: Program, reading: Reading, reduced: Reduced) -> Built:
        """The model of a program, explored with an automaton; of states that are alike, one."""

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
    slice, symmetry
        Whether parts of the program that nobody asks about may be left out, and its symmetries be used.
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
    fix_deadlocks: bool = True
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
    share a model where the same may be left out of it (:mod:`.reducing`). ``failures`` are the models that could not
    be built, while another one could.
    """

    def __init__(self, inquiry: Inquiry, row: Row, worker: Worker):
        if row.error is not None:
            raise row.error
        assert row.program is not None
        self._inquiry, self._program, self._worker = inquiry, row.program, worker
        self._known: dict[Any, Answer] = {}
        self._reductions = self._reduce(row)
        together: dict[Hashable, list[Asked]] = {}
        for a in row.all_asked:
            if a.wrong is None and a.reading is None:
                together.setdefault(self._reduced(a).kind, []).append(a)
        self._shared: dict[Hashable, Built] = {}
        self.failures: dict[Hashable, GaltonError] = {}
        for kind, asked in together.items():
            try:
                self._shared[kind] = self._build(row.program, asked)
            except GaltonError as error:
                self.failures[kind] = error
        if self.failures and not self._shared:
            raise next(iter(self.failures.values()))
        for kind, built in self._shared.items():
            self._curves(built, row, kind)

    def _reduce(self, row: Row) -> dict[Any, Reduced]:
        """What each property allows to leave out of the program."""
        inquiry = self._inquiry
        if not (inquiry.slice or inquiry.symmetry) or not isinstance(inquiry.subject, (Program, ModelFile)):
            return {}
        if self._program.open_constants:  # whoever builds it will say so
            return {}
        asked = {inquiry.key(a): a for a in row.all_asked if a.wrong is None}
        reducing = Reducing(
            self._program,
            slice=inquiry.slice,
            symmetry=inquiry.symmetry,
            fix_deadlocks=inquiry.fix_deadlocks,
            whole=inquiry.why_whole,
        )
        looks = {key: looks_of(a.context, a.question) for key, a in asked.items()}
        return reducing.of(looks, [key for key, a in asked.items() if a.reading is not None])

    def _reduced(self, asked: Asked) -> Reduced:
        return self._reductions.get(self._inquiry.key(asked), WHOLE)

    def of(self, asked: Asked) -> Answer:
        """The answer to a property of the row."""
        if asked.wrong is not None:
            return Answer(asked.wrong, None)
        key = self._inquiry.key(asked)
        if key not in self._known:
            self._known[key] = self._answer(asked)
        return self._known[key]

    def _answer(self, asked: Asked) -> Answer:
        reduced = self._reduced(asked)
        if asked.reading is not None:
            try:
                built = self._worker.build_product(self._program, asked.reading, reduced)
            except GaltonError as error:
                return Answer(error, None)
        else:
            if reduced.kind in self.failures:
                return Answer(self.failures[reduced.kind], None)
            built = self._shared[reduced.kind]
        return Answer(self._worker.check(built.model, asked), built)

    def _build(self, program: Program, asked: Sequence[Asked]) -> Built:
        subject = self._inquiry.subject
        if not isinstance(subject, (Program, ModelFile)):
            return Built(subject, 0.0, True)
        reduced = joint([self._reduced(a) for a in asked])
        return self._worker.build(program, self._inquiry.end_of(program, asked), reduced)

    def _curves(self, built: Built, row: Row, kind: Hashable) -> None:
        """Answer properties of a model whose bound runs through many values, each in one pass."""
        if len(row.asked) < 2 or self._inquiry.settings.exact:
            return
        for asked in zip(*row.asked, strict=True):
            mine = (a for a in asked if a.wrong is None and a.reading is None and self._reduced(a).kind == kind)
            by_key = {self._inquiry.key(a): a for a in mine}
            if len(by_key) > 1:
                found = self._worker.curve(built.model, list(by_key.values()))
                answers = zip(by_key, found, strict=True)
                self._known |= {key: Answer(result, built) for key, result in answers if result is not None}


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
