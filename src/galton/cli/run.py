"""One call of ``galton check``: what it reads, the models it builds, the answers it gives."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..backend.failures import LimitError, TooManyStatesError
from ..checking import reports
from ..checking.asking import Answers, Asked, Built, Family, Inquiry, Row
from ..checking.inquiring import read_text, select_properties
from ..checking.inspection import kept_besides
from ..io.formats import is_model_file
from ..io.output import OutputError, check_writable
from ..lang import GaltonError, LanguageError, Source, parse_model, parse_properties
from ..lang.expressions import Name
from ..lang.jani.detection import is_jani
from ..lang.model_types import DEFAULT_TYPE, TYPE_KEYWORDS, nature_of
from ..lang.program import Program
from ..lang.properties import Reward
from ..lang.resolution import parts
from ..lang.source import read_source
from ..model.sparse import Model
from ..progress import task
from . import options, show, telling
from .ending import memory_advice, unhurried
from .options import TYPED

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..checking.automaton_reading import Reading
    from ..checking.curves import AnsweredCurve
    from ..checking.experiment import Valuation
    from ..checking.reducing import Reduced
    from ..checking.result import Result
    from ..checking.witnesses.counterexample import Counterexample
    from ..lang.expressions import Expression
    from ..lang.properties import Property, PropertyFile
    from ..lang.syntax import ModelFile
    from ..solve.settings import Settings
    from .front import FrontCsv, FrontPlot
    from .prism_results import Exported, PrismResults
    from .shared_rows import Noting
    from .table import CsvFile, Plot, Table, TableRow

    Sink = Table | CsvFile | Plot | FrontCsv | FrontPlot | PrismResults | Noting

TOGETHER = 100  # rows that are written at once


@dataclass(frozen=True)
class Outputs:
    """Where answers go."""

    as_json: bool
    explain: bool
    csv: Path | None
    plot: Path | None
    strategy: Path | None
    certificate: Path | None
    counterexample: bool = False
    counterexample_file: Path | None = None
    plot_x: str | None = None
    plot_log: str | None = None
    prism_results: str | None = None

    @property
    def explains(self) -> bool:
        """Whether a counterexample is wanted."""
        return self.counterexample or self.counterexample_file is not None


@dataclass
class Run:
    """Reads everything first, so that mistakes show before anything is built; then answers, one after the other."""

    path: Path
    settings: Settings
    building: dict[str, Any]
    outputs: Outputs
    full: bool
    apply: Path | None
    slice: bool = True
    symmetry: bool = True
    lump: bool | None = None
    matrix_free: bool | None = None  # None: where a model has more states than a matrix has numbers for
    code: int = 0
    answered: int = 0
    failure: GaltonError | None = None
    told: set[str] = field(default_factory=set)
    started: float = field(default_factory=time.perf_counter)
    sinks: list[Sink] = field(default_factory=list)
    waiting: list[TableRow] = field(default_factory=list)  # rows that are known, and not written yet
    executor: Executor | None = None  # whose workers answer the rows
    begun: bool = False  # whether there are sinks

    def read(
        self, const: list[str], prop: list[str], props: Path | None, names: list[str], automata: Sequence[Path] = ()
    ) -> None:
        """Read the model and the properties, and see which constants belong to which."""
        from ..checking.experiment import ranges

        if str(self.apply) == "uniform" and not Path("uniform").exists():
            raise GaltonError("'uniform' is for --sim; without it, --apply takes the file of a strategy")
        sources = [read_source(props)] if props else []
        sources += [options.typed_property(text) for text in prop]
        text = None if is_model_file(self.path) else read_text(self.path)
        self.subject = self._read_subject(text)
        if text is not None and is_jani(text) and (names or not (sources or automata)):  # it holds properties itself
            sources.insert(0, text)
        sources += [Source(TYPED, text) for path in automata for text in self._of_automaton(path)]
        self.files: list[PropertyFile] = [self._parsed(source) for source in sources]
        if not any(file.properties for file in self.files):
            raise GaltonError("nothing to check; give a property with --prop or a file with --props")
        self.selected = select_properties(self.files, names, TYPED)
        given = options.read_constants(const)
        of_model = () if isinstance(self.subject, Model) else self.subject.constants
        own = {constant.name.name for constant in of_model}
        declared = {constant.name.name for file in self.files for constant in file.constants}
        constants = [*of_model, *(constant for file in self.files for constant in file.constants)]
        options.refuse_strangers(self.path, given, constants)
        self.of_model = {n: text for n, text in given.items() if n in own}
        self.of_properties = {n: text for n, text in given.items() if n in declared and n not in own}
        used = {**self.of_model, **self.of_properties}
        varying = ranges({name: text for name, text in given.items() if name in used})
        self.ranges, self.n_rows = list(varying), prod(map(len, varying.values()))
        if self.outputs.strategy and (len(self.selected) > 1 or self.ranges):
            raise GaltonError("a strategy belongs to one property: give one with --prop or --name, and no range")
        if self.outputs.certificate and (len(self.selected) > 1 or self.ranges):
            raise GaltonError("a certificate belongs to one property: give one with --prop or --name, and no range")
        if self.outputs.certificate and self.apply:
            raise GaltonError("a certificate is about the model of the file: give it without --apply")
        if self.outputs.explains:
            from .counterexamples import check_asked

            check_asked(self.outputs.counterexample_file, several=len(self.selected) > 1 or bool(self.ranges))
        outputs = self.outputs
        files = [outputs.csv, outputs.plot, outputs.strategy, outputs.certificate, outputs.counterexample_file]
        if outputs.prism_results is not None:
            from .prism_results import read_target

            files.append(read_target(outputs.prism_results)[0])
        for path in files:
            if path is not None:
                check_writable(path)
        if self.apply:
            from ..checking.multi.mixture_file import split_number

            split_number(self.apply)[0].stat()  # a file that is not there shows before anything is built
        self.inquiry = Inquiry(
            subject=self.subject,
            files=self.files,
            selected=self.selected,
            of_model=self.of_model,
            of_properties=self.of_properties,
            settings=self.settings,
            type="dtmc" if self.apply else None,
            full=self.full,
            reads=not (self.apply or self.outputs.explains),  # counterexamples are about the model's own states
            strategy=self.outputs.strategy is not None,
            slice=self.slice,
            symmetry=self.symmetry,
            lump=self.lump,
            fix_deadlocks=bool(self.building["fix_deadlocks"]),
            typed=TYPED,
            raises=not self.ranges,
        )
        self.read_s = time.perf_counter() - self.started
        if isinstance(self.subject, Model):
            self._built(Built(self.subject, self.subject.build_seconds or 0.0, full=True), how="read")

    def check_shareable(self) -> None:
        """Refuse workers that would have nothing to share."""
        from ..checking.experiment import ranges

        if not ranges(self.of_model):
            raise GaltonError(
                "--workers shares out the models of an experiment, and here is one: give a constant of the model "
                "several values, as in -c N=3:9, or leave --workers away"
            )

    def _read_subject(self, text: Source | None) -> Model | ModelFile:
        """What a text says of a program; or the model that the file holds, if there is no text."""
        if text is not None:
            syntax = parse_model(text)
            options.tell_type(self.path, syntax)
            return syntax
        from .given import read_given

        given = read_given(self.path)
        return self._applied(given, None) if self.apply else options.build_model(given, **self.building)

    @property
    def has_choices(self) -> bool:
        """Whether the states of the model leave choices open."""
        if isinstance(self.subject, Model):
            return self.subject.has_choices
        type = self.subject.type
        return nature_of(DEFAULT_TYPE if type is None else TYPE_KEYWORDS[type.name]).has_choices

    def _of_automaton(self, path: Path) -> list[str]:
        """The questions about an automaton: how likely it is to accept."""
        choices = self.has_choices and not self.apply
        return [f'{asked}=? [ HOA: {{"{path}"}} ]' for asked in (("Pmin", "Pmax") if choices else ("P",))]

    def _parsed(self, source: Source) -> PropertyFile:
        found = parse_properties(source)
        if "HOA" not in source.text:
            return found
        from ..checking.automaton_files import with_automata

        return with_automata(found)

    def all(self) -> None:
        """Every property for every valuation of the constants. Only what changes is done again."""
        self.rows_done, self.rows_task = 0, task() if self.ranges and self.executor is None else None
        self._tell_rows()
        try:
            if self.executor is not None:
                from .shared_rows import answer_rows

                answer_rows(self, self.executor)
            else:
                for row in self.inquiry.rows():
                    if not self.ask(row):
                        break
        finally:
            self.write_rows()
            if self.rows_task is not None:
                self.rows_task.close()
            with unhurried():
                for sink in list(self.sinks):
                    self._attempt(sink, sink.close)
        if not self.answered:
            told = self.failure is None or options.told(self.failure) in self.told
            if not told and self.failure is not None and not self.outputs.as_json and not self.ranges:
                raise self.failure
            self.code = 2  # nothing could be answered at all

    def ask(self, row: Row) -> bool:
        """Answer all of a row; false where the text of a property is at fault, which other rows would not change."""
        if self.refuses(row):
            return False
        self.begin()
        self._answer_row(row)
        return True

    def refuses(self, row: Row) -> bool:
        """Whether the text of a property is at fault, which is told; choices that would do nothing are an error."""
        for asked in row.slips:
            self._refused(asked)
        if not row.slips:
            self._check_choices(row)
            self._tell_structures(row)
        return bool(row.slips)

    def begin(self) -> None:
        """Open what answers are written to; only once there is one, so that mistakes leave no files."""
        if not self.begun:
            self.sinks, self.begun = self._sinks(), True

    def _answer_row(self, row: Row) -> None:
        for family in row.families:
            if family.wrong is not None:
                self.tell(family.wrong)  # before the model is built, which may take long
        if self.matrix_free:
            return self._answer_without_matrix(row, "asked for")
        try:
            answers = Answers(self.inquiry, row, self)
        except GaltonError as error:
            if isinstance(error, TooManyStatesError) and self.matrix_free is None and self._has_device(row):
                return self._answer_without_matrix(row, "the model has more states than a matrix has numbers for")
            return self.refuse_row(row, error)
        for failure in answers.failures.values():  # others are answered by models of their own
            self.failure = failure
            self.tell(failure)
        for valuation, asked in zip(row.valuations, row.asked, strict=True):
            self._add(valuation, [self._answer(answers, a) for a in asked])

    def refuse_row(self, row: Row, error: GaltonError) -> None:
        """Nothing of a row can be answered, and this is why."""
        self.failure = error
        self._refuse(row, error)
        for valuation in row.valuations:
            self._add(valuation, [f"error: {error.kind}"] * len(self.selected))

    def _has_device(self, row: Row) -> bool:
        """Whether a device may answer the properties of a row without a matrix."""
        from ..checking.matrix_free import can_answer

        return self.building["device"] != "cpu" and can_answer(row)

    def _answer_without_matrix(self, row: Row, reason: str) -> None:
        from .matrix_free import MatrixFreeAnswers

        answers = MatrixFreeAnswers(self, row, reason)
        for valuation, asked in zip(row.valuations, row.asked, strict=True):
            self._add(valuation, [self._refused(a) if a.wrong is not None else answers.of(a) for a in asked])

    # Models.

    def build(self, program: Program, end: Expression | None, reduced: Reduced) -> Built:
        """The model that properties ask about."""
        self.write_rows()
        start = time.perf_counter()
        if self.apply:
            model = self._applied(program, end)
        else:
            model = options.build_model(program, **self.building, terminal=end, **reduced.options)
        return self._built(Built(model, time.perf_counter() - start, end is None))

    def build_product(self, program: Program, reading: Reading, reduced: Reduced) -> Built:
        """The model of one property, explored with its automaton."""
        self.write_rows()
        start = time.perf_counter()
        try:
            mine = reading.program(program)
            model = options.build_model(mine, **self.building, reader=reading.reader, **reduced.options)
        except GaltonError as error:
            self.failure = error
            self.tell(error)
            raise
        return self._built(Built(model, time.perf_counter() - start, not reading.reader.final.any()), "product")

    def lumped(self, built: Built) -> Built:
        """Tell of a model whose states stand for others that behave alike."""
        return self._built(built, how="built and lumped")

    def _built(self, built: Built, what: str = "", how: str = "built") -> Built:
        if not self.outputs.as_json and not self.ranges and not telling.quiet():
            telling.say(reports.model_line(built.model, built.seconds, cut=not built.full, what=what, how=how))
        return built

    def _applied(self, program: Program, end: Expression | None) -> Model:
        from ..checking.strategies.applying import strategy_for

        assert self.apply is not None
        strategy, made = strategy_for(program, self.apply, end, partial(options.build_model, **self.building))
        constants = {name: reports.as_json(value) for name, value in program.constants.items()}
        for name, value in made.get("constants", {}).items():
            if name in constants and constants[name] != value:
                message = f"{self.apply} was made for {name}={value}, and this is {name}={constants[name]}"
                telling.warn(f"{message}")
        return strategy.induced()

    # Questions and answers.

    def _check_choices(self, row: Row) -> None:
        """Refuse options that would do nothing for a property."""
        kept = self.outputs
        for family in row.families if kept.explains else ():
            if family.wrong is None:
                from .counterexamples import check_question

                context = family.context
                check_question(context, family.question, self.inquiry.type_of(context), self.settings)
        beside = kept_besides(strategy=kept.strategy is not None, certificate=kept.certificate is not None)
        self.inquiry.check_choices(row, self.building["device"], beside)

    def _tell_structures(self, row: Row) -> None:
        """Say which reward structure counts where none is named, as in PRISM, and there are several."""
        names = () if row.program is None else row.program.reward_names
        asked = (
            part for family in row.families if family.wrong is None for part in parts(family.question.prop.expression)
        )
        if len(names) > 1 and any(isinstance(part, Reward) and part.structure is None for part in asked):
            first = f'R{{"{names[0]}"}}' if names[0] else "which has no name"
            told = f"R without a name is about the first of {len(names)} reward structures, {first}"
            if told not in self.told:
                self.told.add(told)
                telling.note(told)

    def _refuse(self, row: Row, error: GaltonError) -> None:
        """The model could not be built, so nothing about it can be answered."""
        self.code = max(self.code, 1)
        if not self.outputs.as_json:
            if self.ranges:
                self.tell(error)
            return
        for a in row.all_asked:
            self.put({**self.record(a), "error": _told(a.wrong or error)})
        for constants in row.valuations if not row.asked else []:  # not even the constants could be settled
            for f, i in self.selected:
                index = sum(len(file.properties) for file in self.files[:f]) + i
                prop = self.files[f].properties[i]
                self.put({**self._named(index, prop), "constants": constants, "error": _told(error)})

    def _refused(self, asked: Asked) -> str:
        """What is wrong with a property, told once however many rows it is asked in."""
        assert asked.wrong is not None
        self.code = max(self.code, 1)
        if self.outputs.as_json:
            self.put({**self.record(asked), "error": _told(asked.wrong)})
        self.tell(asked.wrong)
        return f"error: {asked.wrong.kind}"

    def tell(self, wrong: GaltonError) -> None:
        """Tell what is wrong, once however often it is met."""
        said = options.told(wrong)
        if not self.outputs.as_json and said not in self.told:
            self.told.add(said)
            telling.complain(said)

    def _answer(self, answers: Answers, asked: Asked) -> Result | str:
        if asked.wrong is not None:
            return self._refused(asked)
        found, built = answers.of(asked)
        self.answered += built is not None
        if isinstance(found, GaltonError):
            self.code = max(self.code, 1)
            if self.outputs.as_json:
                self.put({**self.record(asked), "error": _told(found)})
            return f"error: {found.kind}"
        assert built is not None
        from ..checking.filters import lists_states

        lists = lists_states(asked.question.prop.expression)
        if not lists:
            self.count(found.value)
        if self.outputs.as_json:
            answer = {**self.record(asked), **self._told_of(found, built)}
            example = self._counterexample(found, built, asked)
            self.put(answer if example is None else {**answer, "counterexample": example.as_json()})
        else:
            if not self.ranges:
                show.print_result(found, lists=lists)
                if self.outputs.explain:
                    show.print_plan(built.model, found, built.seconds, built.lumping)
            example = self._counterexample(found, built, asked)
            show.print_lines([] if example is None else example.lines())
        self._keep_strategy(found, asked)
        self._keep_certificate(found, built.model, asked)
        if example is not None and not options.kept(example.write, self.outputs.counterexample_file):
            self.code = 2
        return found

    def count(self, value: object) -> None:
        """Let the exit code tell of an answer that is false, or undecided."""
        if value is None or value is False:
            self.code = max(self.code, 1)

    def _told_of(self, found: Result, built: Built) -> dict[str, Any]:
        """What there is to say of an answer, for JSON."""
        times = {"build_s": built.seconds, "check_s": found.seconds}
        times["total_s"] = self.read_s + built.seconds + found.seconds
        told = {
            **reports.record(found),
            **reports.sizes(built.model),
            "full": built.full and not built.model.is_reduced and "left_out" not in built.model.info,
            "device": found.device,
            "placement": str(found.placement),
            "method": found.method,
            "iterations": found.iterations,
            **{name: round(seconds, 6) for name, seconds in times.items()},
        }
        if self.outputs.explain:
            told |= {"build": built.model.info, "plan": reports.plan(found), "lumping": built.lumping}
        return told

    def curve(self, model: Model, family: Family, bounds: Sequence[float]) -> AnsweredCurve | None:
        """The answers of a property whose bound runs through a range, in one pass."""
        from ..checking.curves import answer_curve
        from ..checking.watching import Watcher

        watcher = Watcher(model, family.question.prop.text)
        settings = replace(self.settings, watch=watcher)
        try:
            found = answer_curve(model, family.context, family.question, bounds, settings)
        except KeyboardInterrupt:
            watcher.clear()
            telling.complain(watcher.farewell())
            raise
        watcher.clear()
        for warning in () if found is None else found.shared.warnings[len(model.warnings) :]:
            telling.warn(warning)
        return found

    def check(self, model: Model, asked: Asked) -> Result | GaltonError:
        """The answer to a question, or what is wrong with it; told once, whatever other valuations come to the same."""
        from ..checking.answering import check as check_property
        from ..checking.watching import Watcher

        self.write_rows()
        watcher = Watcher(model, asked.question.prop.text)
        settings = replace(self.settings, watch=watcher)
        keep = self.outputs.strategy is not None
        follow = self.outputs.explains and model.has_choices
        try:
            proof = self.outputs.certificate is not None
            found = check_property(
                asked.context,
                model,
                asked.question,
                settings,
                strategy=keep or follow,
                certificate=proof,
                reading=asked.reading,
            )
        except (GaltonError, MemoryError) as failure:
            watcher.clear()
            text = asked.question.prop.text
            error = (
                failure if isinstance(failure, GaltonError) else LimitError(memory_advice(failure, f"to check {text}"))
            )
            if not self.outputs.as_json:
                about = "" if isinstance(error, LanguageError) else f"{text}: "
                telling.complain(f"error: {about}{error}" if about else options.told(error))
            return error
        except KeyboardInterrupt:
            watcher.clear()
            telling.complain(watcher.farewell())
            raise
        watcher.clear()
        for warning in found.warnings[len(model.warnings) :]:  # the model's own were told when it was built
            telling.warn(f"{warning}")
        return found

    def _counterexample(self, result: Result | GaltonError, built: Built | None, asked: Asked) -> Counterexample | None:
        """What shows that a property is false, where that is wanted; an error is told, and the answer stands."""
        if not self.outputs.explains or isinstance(result, GaltonError) or built is None:
            return None
        from .counterexamples import explained

        try:
            return explained(asked.context, built.model, asked.question, self.settings, result)
        except GaltonError as error:
            telling.complain(options.told(error))
            self.code = max(self.code, 1)
            return None

    def _keep_strategy(self, result: Result, asked: Asked) -> None:
        if self.outputs.strategy is None:
            return
        from ..checking.multi.mixture_file import write_mixture
        from ..checking.multi.mixtures import Mixture
        from ..checking.strategies.strategy_file import write_strategy

        best = result.strategy
        if best is None:
            telling.warn("no strategy does what is asked for, so none is written")
            return
        about: dict[str, Any] = {"formula": result.formula}
        about["constants"] = {name: reports.as_json(value) for name, value in asked.constants.items()}
        write: Callable[[Path], None]
        if isinstance(best, Mixture):
            write = partial(write_mixture, mixture=best, **about)
        else:
            write = partial(write_strategy, strategy=best, **about)
        if not options.kept(write, self.outputs.strategy):
            self.code = 2

    def _keep_certificate(self, result: Result, model: Model, asked: Asked) -> None:
        if self.outputs.certificate is None:
            return
        from ..certify import certified

        try:
            certificate = certified(result, asked.context, model, asked.question)
        except GaltonError as error:
            telling.complain(options.told(error))
            self.code = max(self.code, 1)
            return
        if not options.kept(certificate.write, self.outputs.certificate):
            self.code = 2

    def record(self, asked: Asked) -> dict[str, Any]:
        """What was asked, for JSON."""
        constants = {name: reports.as_json(value) for name, value in asked.constants.items()}
        return {**self._named(asked.family.index, asked.question.prop), "constants": constants}

    def _named(self, index: int, prop: Property) -> dict[str, Any]:
        return {"model": str(self.path), "index": index, "name": prop.name, "property": prop.text}

    def put(self, answer: dict[str, Any]) -> None:
        """A line of JSON."""
        telling.say(json.dumps(answer))
        sys.stdout.flush()

    # Tables.

    def _sinks(self) -> list[Sink]:
        """Where the rows of an experiment go."""
        outputs = self.outputs
        if not (outputs.plot or outputs.csv or outputs.prism_results or self.ranges):
            return []
        from ..checking.experiment_table import title_of
        from .table import CsvFile, Plot, Table

        chosen = [self.files[f].properties[i] for f, i in self.selected]
        titles = [title_of(prop.name, prop.text) for prop in chosen]
        found: list[Sink] = []
        if len(chosen) == 1 and (outputs.plot or outputs.csv):
            from .front import FrontCsv, FrontPlot, objectives_asked

            if count := objectives_asked(chosen[0]):
                if outputs.plot:
                    found.append(FrontPlot(outputs.plot, self.ranges, count, f"{self.path.stem}: {titles[0]}"))
                if outputs.csv:
                    found.append(FrontCsv(outputs.csv, self.ranges))
                outputs = replace(outputs, plot=None, csv=None)
        if outputs.plot:
            how = {"x": outputs.plot_x, "log": outputs.plot_log or "", "title": self._title(titles)}
            found.append(Plot(outputs.plot, self.ranges, titles, **how))  # type: ignore[arg-type]
        if outputs.csv:
            found.append(CsvFile(outputs.csv, self.ranges, titles, exact=self.settings.exact))
        if outputs.prism_results:
            from .prism_results import PrismResults

            found.append(PrismResults(outputs.prism_results, [self._exported(f, i) for f, i in self.selected]))
        if self.ranges and not outputs.as_json:
            found.append(Table(self.ranges, titles))
        return found

    def _exported(self, file: int, place: int) -> Exported:
        """A property with the constants that its results depend on: those of the model first, as they are declared."""
        from .prism_results import Exported

        prop = self.files[file].properties[place]
        own = () if isinstance(self.subject, Model) else self.subject.constants
        declared = [*own, *(constant for each in self.files for constant in each.constants)]
        model = [constant.name.name for constant in own]
        # A constant may also be used by what the files declare: then it counts for all properties.
        bodies = [definition.body for each in self.files for definition in (*each.formulas, *each.labels)]
        bodies += [constant.value for each in self.files for constant in each.constants if constant.value is not None]
        asked = [prop.expression, *bodies] if prop.error is None else bodies
        used = {*model, *(part.name for body in asked for part in parts(body) if isinstance(part, Name))}
        names = [constant.name.name for constant in declared]
        return Exported(prop.name, prop.text, [name for name in names if name in self.ranges and name in used])

    def _title(self, titles: Sequence[str]) -> str:
        """What a picture is about: the model, its constants without a range, and the only property."""
        given = {**self.of_model, **self.of_properties}
        fixed = ", ".join(f"{name}={value}" for name, value in given.items() if name not in self.ranges)
        model = f"{self.path.stem} ({fixed})" if fixed else self.path.stem
        return f"{model}: {titles[0]}" if len(titles) == 1 else model

    def _add(self, valuation: Valuation, answers: Sequence[Result | str]) -> None:
        row: Any = {name: valuation[name] for name in self.ranges}
        self.waiting.append((row, answers))
        if len(self.waiting) == TOGETHER:
            self.write_rows()

    def write_rows(self) -> None:
        """Write the rows that are known; those of a curve are known together, and others before the next is asked."""
        rows, self.waiting = self.waiting, []
        if not rows:
            return
        with unhurried():
            for sink in list(self.sinks):
                self._attempt(sink, partial(sink.add, rows))
        self.rows_done += len(rows)
        self._tell_rows()

    def _tell_rows(self) -> None:
        if self.rows_task is not None:
            self.rows_task.tell(f"{self.rows_done:,} of {self.n_rows:,} rows", self.rows_done / self.n_rows)

    def _attempt(self, sink: Sink, write: Callable[[], None]) -> None:
        """Write; a file that cannot be written is told of once and let go, and the answers go on."""
        try:
            write()
        except OutputError as error:
            self.code = 2
            self.sinks.remove(sink)
            telling.complain(options.told(error))


def _told(error: GaltonError) -> dict[str, str]:
    return {"kind": error.kind, "message": str(error)}
