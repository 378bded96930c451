"""The desk of a worker: the texts that it was given, and what it keeps from one ask to the next."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...checking.asking import Inquiry
from ...lang.checker import check_program
from ...lang.model_parser import parse_model
from ...lang.property_parser import parse_properties
from ...lang.source import GaltonError, Source
from ..project import Project
from ..trouble import RequestError
from . import function_of
from .reading import Given, Options

if TYPE_CHECKING:
    from ...checking.experiment import Given as GivenValue
    from ...lang.program import Program
    from ...lang.properties import PropertyFile
    from ...lang.syntax import ModelFile
    from ...progress import Task
    from ...solve.settings import Settings

__all__ = ["Desk"]

KEPT = 8  # answers that can be exported without asking again
TYPED = "property"


class Desk:
    """Answers asks. ``tell`` takes what is to be said meanwhile."""

    def __init__(self, root: Path, tell: Callable[[dict[str, Any]], None]):
        self._tell = tell
        self.root = root
        self._texts: dict[str, tuple[str, Source]] = {}
        self._kept: OrderedDict[int, Any] = OrderedDict()
        self._began = time.monotonic()
        self._number = 0
        self.limits: Mapping[str, Any] = {}
        self.drawers: dict[str, Any] = {}  # what modules keep for themselves

    @property
    def files(self) -> set[str]:
        """The names of all texts."""
        return set(self._texts)

    def answer(self, message: Mapping[str, Any]) -> Any:
        """Answer an ask; what is wrong with it is raised."""
        for name, (stamp, text) in message["texts"].items():
            if text is not None:
                self._texts[name] = stamp, Source(name, text)
        self.limits = message["limits"]
        self._began, self._number = time.monotonic(), message["id"]
        return function_of(message["ask"])(self, Given(message["given"]))

    # What is said meanwhile.

    def part(self, part: Mapping[str, Any]) -> None:
        """Send a part of the answer."""
        self._tell({"event": "part", "part": part})

    def progress(self, tasks: Sequence[Task]) -> None:
        """Say how far the work is."""
        inner = tasks[-1]
        self._tell(
            {
                "event": "progress",
                "progress": {
                    "what": inner.text.partition(",")[0],
                    "done": inner.done,
                    "total": None if inner.done is None else 1,
                    "words": "; ".join(task.line for task in tasks),
                    "seconds": self.seconds,
                },
            }
        )

    @property
    def seconds(self) -> float:
        """Since the ask began."""
        return round(time.monotonic() - self._began, 6)

    # What is kept for exports.

    def keep(self, found: Any) -> None:
        """Keep what the answer was made of."""
        self._kept[self._number] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def kept(self, number: int, again: Callable[[], object]) -> Any:
        """What an earlier answer was made of; it is asked again where nobody knows any more."""
        if number not in self._kept:
            tell, self._tell, self._number = self._tell, lambda event: None, number
            try:
                again()
            finally:
                self._tell = tell
        return self._kept[number]

    # Texts.

    def source(self, name: str) -> Source:
        """The text of a file."""
        if name not in self._texts:
            raise RequestError(f"there is no text of {name}")
        source = self._texts[name][1]
        if name.endswith((".xml", ".sbml")):
            return _network(source)
        return source

    def text(self, name: str) -> str:
        """The text of a file as it stands in an editor."""
        if name not in self._texts:
            raise RequestError(f"there is no text of {name}")
        return self._texts[name][1].text

    def version(self, name: str) -> int:
        """The version of a text in an editor; 0 for one from the disk."""
        words = self._texts[name][0].split()
        return int(words[1]) if words[0] == "buffer" else 0

    def stamp(self, name: str) -> str:
        """What changes when a text does."""
        return self._texts[name][0]

    def model_file(self, name: str) -> ModelFile:
        """What the text of a model says, whatever its constants are."""
        return _model_file(self.source(name))

    def program(self, name: str, constants: Mapping[str, str]) -> Program:
        """The program of a model, with those constants that it declares."""
        file = self.model_file(name)
        return check_program(file, self.own(file, constants))

    def own(self, file: ModelFile | PropertyFile, constants: Mapping[str, str]) -> dict[str, str]:
        """Those of some constants that a file declares."""
        declared = {constant.name.name for constant in file.constants}
        return {name: value for name, value in constants.items() if name in declared}

    def property_file(self, name: str) -> PropertyFile:
        """The properties of a file."""
        return self._with_automata(_property_file(self.source(name)))

    def typed(self, text: str) -> PropertyFile:
        """A property that somebody typed."""
        file = self._with_automata(_property_file(Source(TYPED, text)))
        if len(file.properties) != 1:
            raise GaltonError(f"one property is asked for, and this text has {len(file.properties)}: {text[:80]}")
        return file

    def _with_automata(self, file: PropertyFile) -> PropertyFile:
        """The automata that properties name are read, from nowhere but the project."""
        if "HOA" not in file.source.text:
            return file
        from ...checking.automaton_files import with_automata
        from ...lang.properties import AutomatonPath
        from ...lang.resolution import parts

        project = Project(self.root, int(self.limits["text_bytes"]), 1)
        folder = "" if file.source.name == TYPED else file.source.name.rpartition("/")[0]
        for prop in file.properties:
            for part in parts(prop.expression) if prop.error is None else ():
                if isinstance(part, AutomatonPath):
                    project.read(f"{folder}/{part.file}" if folder else part.file)
        return with_automata(file)

    def inquiry(
        self,
        model: str,
        properties: Sequence[tuple[str, int] | str],
        constants: Mapping[str, GivenValue],
        settings: Settings,
        options: Options,
        *,
        raises: bool = True,
    ) -> Inquiry:
        """All that is asked, as the command line would ask it."""
        subject = self.model_file(model)
        names = list(dict.fromkeys(one[0] for one in properties if not isinstance(one, str)))
        files = [self.property_file(name) for name in names]
        selected = []
        for one in properties:
            if isinstance(one, str):
                files.append(self.typed(one))
                selected.append((len(files) - 1, 0))
            else:
                place = names.index(one[0])
                if one[1] >= len(files[place].properties):
                    raise GaltonError(f"{one[0]} has {len(files[place].properties)} properties, and not {one[1] + 1}")
                selected.append((place, one[1]))
        own = {constant.name.name for constant in subject.constants}
        declared = {constant.name.name for file in files for constant in file.constants}
        return Inquiry(
            subject=subject,
            files=files,
            selected=selected,
            of_model={name: value for name, value in constants.items() if name in own},
            of_properties={name: value for name, value in constants.items() if name in declared and name not in own},
            settings=settings,
            slice=options.slice,
            symmetry=options.symmetry,
            lump=options.lump,
            typed=TYPED,
            raises=raises,
        )

    @property
    def memory_mb(self) -> float:
        """What the states of a model may take."""
        return float(self.limits["memory"]) / 2**20


@lru_cache(4)
def _model_file(source: Source) -> ModelFile:
    return parse_model(source)


@lru_cache(16)
def _property_file(source: Source) -> PropertyFile:
    return parse_properties(source)


@lru_cache(2)
def _network(source: Source) -> Source:
    """The program that a reaction network comes to; libsbml reads files."""
    from tempfile import TemporaryDirectory

    from ...lang.sbml import prism_text

    with TemporaryDirectory() as folder:
        path = Path(folder) / "network.xml"
        path.write_text(source.text, encoding="utf-8")
        return replace(source, text=prism_text(path))
