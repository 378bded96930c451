"""``galton check``: answers about a model."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options, show
from .options import AsJson, Constants, FixDeadlocks, MaxStates, Memory, ModelFile, Threads

if TYPE_CHECKING:
    from ..check.resolution import Question
    from ..lang.expressions import Value
    from ..lang.properties import Property, PropertyFile
    from ..lang.syntax import ModelFile as ModelSyntax
    from ..model.program import Program
    from ..model.sparse import Model
    from ..solve.settings import Settings


def check(
    model: ModelFile,
    const: Constants = None,
    prop: Annotated[
        list[str] | None, typer.Option("--prop", "-p", metavar="PROPERTY", help="A property, e.g. 'P=? [ F d=6 ]'.")
    ] = None,
    props: Annotated[Path | None, typer.Option(metavar="FILE", help="A file of properties.")] = None,
    name: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Check only the property of this name.")
    ] = None,
    eps: Annotated[float, typer.Option(help="How far the value may be from the truth.")] = 1e-6,
    relative: Annotated[bool, typer.Option("--relative/--absolute", help="What eps is relative to.")] = True,
    method: Annotated[str | None, typer.Option(metavar="NAME", help="A method chosen by hand.")] = None,
    omega: Annotated[float | None, typer.Option(help="Relaxation of JOR and SOR.")] = None,
    max_iterations: Annotated[int | None, typer.Option(min=1, help="Sweeps after which to give up.")] = None,
    device: Annotated[str, typer.Option(metavar="NAME", help="Where to compute: auto or cpu.")] = "auto",
    threads: Threads = None,
    max_states: MaxStates = None,
    memory: Memory = None,
    fix_deadlocks: FixDeadlocks = True,
    as_json: AsJson = False,
) -> None:
    """Check properties of a model. The exit code is 1 when a property is false or could not be checked.

    Example: galton check models/die.prism --prop 'P=? [ F d=6 ]'
    """
    from ..lang import GaltonError
    from ..solve.settings import Settings

    if not 0 < eps < 1:
        raise GaltonError(f"--eps must lie between 0 and 1, and this is {eps:g}")
    if device not in ("auto", "cpu"):
        raise GaltonError(f"there is no device '{device}' yet; this version computes on the cpu")
    settings = Settings(
        eps=eps, relative=relative, method=method, omega=omega, max_iterations=max_iterations, threads=threads
    )
    building = {"threads": threads, "max_states": max_states, "memory": memory, "fix_deadlocks": fix_deadlocks}
    run = Run(model, settings, building, as_json)
    run.read(const or [], prop or [], props, name or [])
    run.all()
    if run.code:
        raise typer.Exit(run.code)


@dataclass
class Run:
    """One call of the command: the files it reads, and the answers it gives, one after the other."""

    path: Path
    settings: Settings
    building: dict[str, Any]
    as_json: bool
    code: int = 0
    answered: int = 0
    started: float = field(default_factory=time.perf_counter)

    def read(self, const: list[str], prop: list[str], props: Path | None, names: list[str]) -> None:
        """Read the model and the properties, and see which constants belong to which."""
        from ..check.experiment import ranges
        from ..lang import GaltonError, Source, parse_model, parse_properties
        from ..programs import read_source

        sources = [read_source(props)] if props else []
        sources += [Source("--prop", text) for text in prop]
        self.files: list[PropertyFile] = [parse_properties(source) for source in sources]
        if not any(file.properties for file in self.files):
            raise GaltonError("nothing to check; give a property with --prop or a file with --props")
        self.selected = self._select(names)
        given = options.read_constants(const)
        self.syntax: ModelSyntax = parse_model(read_source(self.path))
        own = {constant.name.name for constant in self.syntax.constants}
        declared = {constant.name.name for file in self.files for constant in file.constants}
        options.warn_of_strangers(self.path, given, own, declared)
        self.of_model = {n: text for n, text in given.items() if n in own}
        self.of_properties = {n: text for n, text in given.items() if n in declared and n not in own}
        self.ranges = ranges({**self.of_model, **self.of_properties})
        self.read_s = time.perf_counter() - self.started

    def _select(self, names: list[str]) -> list[tuple[int, int]]:
        """The properties to check, as (file, place in the file)."""
        from ..lang import GaltonError
        from ..lang.stream import nearest

        everything = [(f, i) for f, file in enumerate(self.files) for i in range(len(file.properties))]
        if not names:
            return everything
        known = {self.files[f].properties[i].name: (f, i) for f, i in everything if self.files[f].properties[i].name}
        for name in names:
            if name not in known:
                hint = nearest(name, [n for n in known if n])
                raise GaltonError(f"no property is called '{name}'{f'; {hint}' if hint else ''}")
        typed = [(f, i) for f, i in everything if self.files[f].source.name == "--prop"]
        return sorted({*(known[name] for name in names), *typed})

    def all(self) -> None:
        """Every property for every valuation of the constants."""
        from ..check.experiment import valuations
        from ..lang import GaltonError, check_program

        failure: GaltonError | None = None
        for mine in valuations(self.of_model):
            program = check_program(self.syntax, mine)
            asked = [self._questions(program, theirs) for theirs in valuations(self.of_properties)]
            start = time.perf_counter()
            try:
                model = options.build_model(program, **self.building)
            except GaltonError as error:
                failure = error
                self._refuse(program, asked, error)
                continue
            self.build_s = time.perf_counter() - start
            if not self.as_json and not self.ranges:
                typer.echo(show.model_line(model, self.build_s))
            for questions in asked:
                for index, context, question in questions:
                    self._answer(model, index, context, question)
        if failure is not None and not self.answered:
            if not self.as_json:
                raise failure
            self.code = 2

    def _questions(self, program: Program, given: dict[str, Value | str]) -> list[tuple[int, Program, Question]]:
        from ..check.resolution import resolve

        found: list[list[tuple[Program, Question]]] = []
        context = program
        earlier: list[Property] = []
        for file in self.files:
            names = {constant.name.name for constant in file.constants}
            richer, questions = resolve(file, context, {k: v for k, v in given.items() if k in names}, (), earlier)
            found.append([(richer, question) for question in questions])
            if file.source.name != "--prop":  # what the file declares, the properties typed beside it may use
                context, earlier = richer, [question.prop for question in questions]
        offsets = [sum(map(len, found[:f])) for f in range(len(found))]
        return [(offsets[f] + i, *found[f][i]) for f, i in self.selected]

    def _refuse(self, program: Program, asked: list[list[tuple[int, Program, Question]]], error: Exception) -> None:
        """The model could not be built, so nothing about it can be answered."""
        self.code = 1
        for questions in asked if self.as_json else []:
            for index, context, question in questions:
                self._put({**self._record(index, context, question), "error": _told(error)})
        if not self.as_json and self.ranges:
            typer.echo(options.told(error), err=True)

    def _answer(self, model: Model, index: int, context: Program, question: Question) -> None:
        from ..check.checking import check as check_property
        from ..lang import GaltonError

        answer = self._record(index, context, question)
        self.answered += 1
        try:
            result = check_property(context, model, question, self.settings)
        except GaltonError as error:
            self.code = 1
            answer["error"] = _told(error)
            if not self.as_json:
                typer.echo(options.told(error), err=True)
        else:
            if result.value is False:
                self.code = 1
            for warning in result.warnings:
                typer.echo(f"warning: {warning}", err=True)
            times = {"build_s": self.build_s, "check_s": result.seconds}
            times["total_s"] = self.read_s + self.build_s + result.seconds
            answer |= {**show.record(result), **show.sizes(model), "device": "cpu"}
            answer |= {key: round(value, 6) for key, value in times.items()}
            if not self.as_json:
                show.print_result(result)
        if self.as_json:
            self._put(answer)

    def _record(self, index: int, context: Program, question: Question) -> dict[str, Any]:
        constants = {name: show.as_json(value) for name, value in context.constants.items()}
        prop = question.prop
        found: dict[str, Any] = {"model": str(self.path), "index": index, "name": prop.name, "property": prop.text}
        return {**found, "constants": constants}

    def _put(self, answer: dict[str, Any]) -> None:
        typer.echo(json.dumps(answer))
        sys.stdout.flush()


def _told(error: Exception) -> dict[str, str]:
    return {"kind": getattr(error, "kind", "input"), "message": str(error)}
