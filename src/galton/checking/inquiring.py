"""From what people give, models and properties in any of their forms, to what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from ..lang.checker import check_program
from ..lang.expressions import Value
from ..lang.model_parser import parse_model
from ..lang.program import Program
from ..lang.properties import PropertyFile
from ..lang.property_parser import parse_properties
from ..lang.source import GaltonError, Source, read_source
from ..lang.stream import nearest, suggestion
from ..lang.syntax import ModelFile
from ..model.sparse import Model
from ..solve.settings import Settings
from .asking import TYPED, Inquiry
from .experiment import Given

__all__ = [
    "Properties",
    "Subject",
    "choose",
    "inquire",
    "is_path",
    "read_properties",
    "read_subject",
    "read_text",
    "select_properties",
    "settled",
]

Subject: TypeAlias = Model | Program | str | Path
Properties: TypeAlias = str | Path | Sequence[str | Path]

PROPERTY_SUFFIXES = (".props", ".prop", ".pctl", ".csl", ".ltl", ".jani")


def inquire(
    subject: Subject,
    props: Properties,
    given: Mapping[str, object],
    settings: Settings,
    *,
    full: bool = False,
    strategy: bool = False,
    slice: bool = True,
    symmetry: bool = True,
    lump: bool | None = None,
    raises: bool = True,
    name: str | Sequence[str] | None = None,
    typed: str = TYPED,
) -> Inquiry:
    """All that is asked, with each constant where it belongs; see :class:`~galton.checking.asking.Inquiry`."""
    read, files = read_subject(subject), read_properties(props, typed)
    if not any(file.properties for file in files):
        raise GaltonError("nothing to check: there is no property")
    declared = {constant.name.name for file in files for constant in file.constants}
    constants = {name: _plain(value) for name, value in given.items()}
    mine = {name: value for name, value in constants.items() if name not in declared}
    if isinstance(read, Program) and mine:
        read, before = _reopened(read, mine)
        mine = {**before, **mine}
    own = {constant.name.name for constant in read.constants} if isinstance(read, ModelFile) else set()
    for constant in mine:
        if constant not in own:
            raise GaltonError(_unknown(constant, read, {*own, *declared}))
    return Inquiry(
        subject=read,
        files=files,
        selected=select_properties(files, [name] if isinstance(name, str) else name or [], typed),
        of_model=mine,
        of_properties={name: value for name, value in constants.items() if name in declared},
        settings=settings,
        full=full,
        strategy=strategy,
        slice=slice,
        symmetry=symmetry,
        lump=lump,
        typed=typed,
        raises=raises,
    )


def select_properties(files: Sequence[PropertyFile], names: Sequence[str], typed: str) -> list[tuple[int, int]]:
    """The properties that are meant by their names or numbers from 1, as (file, place in the file); all, for no name.

    Those of sources called ``typed``, which are no files, are always meant.
    """
    everything = [(f, i) for f, file in enumerate(files) for i in range(len(file.properties))]
    if not names:
        return everything
    of_file = [(f, i) for f, i in everything if files[f].source.name != typed]
    known = {str(number): place for number, place in enumerate(of_file, 1)}  # a name that is a number is the name
    known |= {p.name: (f, i) for f, i in everything if (p := files[f].properties[i]).name}
    for name in names:
        if name not in known:
            named = [n for n in known if not n.isdigit()]
            hint = suggestion(name, named, "properties") or "none of the properties has a name"
            if name.isdigit():
                hint = f"the file has {len(of_file)}"
            raise GaltonError(f"no property is called '{name}'; {hint}")
    always = [(f, i) for f, i in everything if files[f].source.name == typed]
    return sorted({*(known[name] for name in names), *always})


def choose(
    settings: Settings | None,
    eps: float | None,
    method: str | None,
    *,
    exact: bool,
    fair: bool,
    device: str,
    strategy: bool = False,
    certificate: bool = False,
) -> tuple[Settings, str]:
    """The choices about the numbers, and the device, of what was given beside a question."""
    chosen = settings or Settings()
    if exact or chosen.exact:
        from .exact import device_for_exact, refuse_beside_exact

        chosen, device = replace(chosen, exact=True, method=method or chosen.method), device_for_exact(device, eps)
        refuse_beside_exact(chosen, strategy=strategy, certificate=certificate)
    if eps is not None:
        chosen = replace(chosen, eps=eps)
    if method is not None:
        chosen = replace(chosen, method=method)
    if fair:
        chosen = replace(chosen, fair=True)
    chosen.check_eps()
    return chosen, device


def read_subject(subject: object) -> Model | Program | ModelFile:
    """A model, a program, or what is in a file: a program, or a model in one of the explicit formats."""
    if isinstance(subject, (Model, Program)):
        return subject
    if isinstance(subject, Path) or (isinstance(subject, str) and not _is_program(subject)):
        from ..io import is_model_file, read_model

        return read_model(subject) if is_model_file(subject) else parse_model(read_text(Path(subject)))
    if isinstance(subject, str):
        raise GaltonError("this is a text and no path of a file; galton.parse(text) makes a program of it")
    kind = type(subject)
    makers = {"pandas": "from_pandas", "networkx": "from_networkx", "gymnasium": "from_gymnasium"}
    ways = {"numpy": 'from_matrix("dtmc", …)', "scipy": 'from_matrix("dtmc", …)'}
    for library, way in {**{name: f"{maker}(…)" for name, maker in makers.items()}, **ways}.items():
        if kind.__module__.partition(".")[0] == library:
            raise GaltonError(f"this is a {kind.__name__} of {library}; galton.Model.{way} makes a model of it")
    raise GaltonError(
        "a galton.Model, a galton.Program or the path of a file is needed, "
        f"and this is {'a function' if callable(subject) else f'of type {kind.__name__}'}"
        f"{'; galton.Model.from_function makes a model of it' if callable(subject) else ''}"
    )


def settled(subject: Subject, constants: Mapping[str, Value | str]) -> Model | Program:
    """A model, or a program with values for its constants."""
    read, given = read_subject(subject), dict(constants)
    if isinstance(read, Program) and given:
        read, before = _reopened(read, given)
        given = {**before, **given}
    if isinstance(read, ModelFile):
        return check_program(read, given)
    if isinstance(read, Model) and given:
        raise GaltonError(f"a model that is built has no constants, and '{next(iter(given))}' is given")
    return read


def _is_program(text: str) -> bool:
    """Whether a text is a program, and no path of one."""
    return "\n" in text or "endmodule" in text


def read_text(path: Path) -> Source:
    """The text of a model; a file of properties in its place is an error that says so."""
    if path.suffix in PROPERTY_SUFFIXES and path.suffix != ".jani" and path.is_file():
        raise GaltonError(f"{path} is a file of properties; the model comes first, and then the properties")
    return read_source(path)


def read_properties(props: object, typed: str = TYPED) -> list[PropertyFile]:
    """The properties of a text, of a file, or of a list of these; errors call a text as ``typed`` says."""
    if isinstance(props, (str, Path)):
        return [_file(props, typed)]
    if not isinstance(props, Iterable):
        raise GaltonError(
            "a property is a text such as 'P=? [ F d=6 ]'; the path of a file of properties, or a list of texts and "
            f"paths, will do too; this is of type {type(props).__name__}"
        )
    return [file for part in props for file in read_properties(part, typed)]


def is_path(text: str | Path) -> bool:
    """Whether this names a file of properties, and is no property itself."""
    if isinstance(text, Path):
        return True
    return "\n" not in text and text.endswith(PROPERTY_SUFFIXES)


def _file(given: str | Path, typed: str) -> PropertyFile:
    source = read_source(given) if is_path(given) else Source(typed, str(given))
    file = parse_properties(source)
    if "HOA" not in source.text:
        return file
    from .automaton_files import with_automata

    return with_automata(file)


def _plain(value: Any) -> Given:
    """A value, or many of them, without NumPy's and pandas' types."""
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable) and getattr(value, "ndim", None) != 0:
        return [_one(part) for part in value]
    return _one(value)


def _one(value: Any) -> Value | str:
    plain = value.item() if hasattr(value, "item") else value
    if not isinstance(plain, (bool, int, float, str)):
        from fractions import Fraction

        if isinstance(plain, Fraction):
            return str(plain)
        raise GaltonError(f"the value of a constant is a number, true or false, or a text; this is {plain!r}")
    return plain


def _reopened(program: Program, constants: Mapping[str, Given]) -> tuple[ModelFile, dict[str, Value]]:
    """The file of a program, for other values of some of its constants, and the values of the others."""
    file = parse_model(program.source)
    names = [c.name.name for c in file.constants if c.value is None and c.name.name not in constants]
    return file, {name: program.constants[name] for name in names if name in program.constants}


def _unknown(name: str, subject: Model | Program | ModelFile, known: set[str]) -> str:
    if isinstance(subject, Model):
        message = f"the property declares no constant '{name}', and a model that is built has none"
    else:
        message = f"the model declares no constant '{name}', and neither does the property"
    hint = nearest(name, known) or (f"there are {', '.join(sorted(known))}" if known else "")
    return f"{message}; {hint}" if hint else message
