"""How to ask the same elsewhere: as a command for a shell, and as a script for Python, both in the project folder.

They are made from the ask itself; tests run them and compare the numbers.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..trouble import RequestError
from .reading import Given, Options

if TYPE_CHECKING:
    from .desk import Desk

__all__ = ["Copied", "copied_check", "copied_experiment", "copied_model", "copy"]

Properties = Sequence[tuple[str, int] | str]
Copied = dict[str, str]


@dataclass(frozen=True)
class _Group:
    """Properties that one call asks: some of one file, and texts."""

    file: str | None
    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    constants: Mapping[str, str]


def copy(desk: Desk, given: Given) -> Copied:
    """The command and the script for an ask, without asking it."""
    given.only("what", "asked")
    what, asked = given.text("what"), given.inner("asked")
    model = asked.text("model") if "model" in asked else ""
    constants, options = asked.constants(), asked.options()
    match what:
        case "check":
            return copied_check(desk, model, asked.properties(), constants, options)
        case "pareto":
            return copied_check(desk, model, [asked.property()], constants, options)
        case "synth_at":
            point = {name: repr(value) for name, value in asked.inner("point").fields.items()}
            return copied_check(desk, model, [asked.property()], {**constants, **point}, options)
        case "experiment":
            return copied_experiment(desk, model, asked.properties(), constants, options)
        case "build" | "graph" | "matrix" | "states" | "values" | "sets" | "state":
            return copied_model(desk, what, model, constants, options, asked)
        case "synth":
            from .regions import copied_synth

            return copied_synth(desk, asked)
    raise RequestError(f"there is no command for {what[:40]!r}")


def copied_check(
    desk: Desk, model: str, properties: Properties, constants: Mapping[str, str], options: Options
) -> Copied:
    """``galton check`` and ``galton.check``."""
    return _answers(desk, model, properties, constants, options, "check")


def copied_experiment(
    desk: Desk, model: str, properties: Properties, constants: Mapping[str, str], options: Options
) -> Copied:
    """``galton check`` with ranges, and ``galton.experiment``."""
    return _answers(desk, model, properties, constants, options, "experiment")


def _answers(
    desk: Desk, model: str, properties: Properties, constants: Mapping[str, str], options: Options, kind: str
) -> Copied:
    groups = _groups(desk, model, properties, constants)
    commands = [_check_command(model, group, options) for group in groups]
    scripts = [_check_script(model, group, options, kind) for group in groups]
    head = (
        "import galton\n" if not any(group.file for group in groups) else "from pathlib import Path\n\nimport galton\n"
    )
    return {"command": "\n".join(commands), "python": "\n".join([head, *scripts])}


def _groups(desk: Desk, model: str, properties: Properties, constants: Mapping[str, str]) -> list[_Group]:
    """One for each file of properties; texts go with the first, or stand alone."""
    names = list(dict.fromkeys(one[0] for one in properties if not isinstance(one, str)))
    texts = tuple(one for one in properties if isinstance(one, str))
    own = desk.own(desk.model_file(model), constants)
    found = []
    for place, name in enumerate([*names] or [None]):
        mine = texts if place == 0 else ()
        files = [*([] if name is None else [desk.property_file(name)]), *map(desk.typed, mine)]
        known = dict(own)
        for file in files:
            known |= desk.own(file, constants)
        ordered = {key: value for key, value in constants.items() if key in known}
        numbers = tuple(one[1] + 1 for one in properties if not isinstance(one, str) and one[0] == name)
        found.append(_Group(name, numbers, mine, ordered))
    return found


SWITCHES = {  # of options that are true or false: what the command line says for each
    "relative": ("", "--absolute"),
    "exact": ("--exact", ""),
    "fair": ("--fair", ""),
    "slice": ("", "--no-slice"),
    "symmetry": ("", "--no-symmetry"),
    "lump": ("--lump", "--no-lump"),
    "sim": ("--sim", ""),
    "fix_deadlocks": ("", "--no-fix-deadlocks"),
}


def options_of_command(options: Options) -> list[str]:
    """What the command line says for choices."""
    found: list[str] = []
    for name, value in options.given.items():
        if name in SWITCHES:
            if said := SWITCHES[name][0 if value else 1]:
                found.append(said)
        elif not (name == "device" and value == "auto"):
            found += [f"--{name.replace('_', '-')}", str(value)]
    return found


def constants_of_command(constants: Mapping[str, str]) -> list[str]:
    """``-c`` for each constant."""
    return [word for name, value in constants.items() for word in ("-c", f"{name}={value.strip()}")]


def _check_command(model: str, group: _Group, options: Options) -> str:
    words = ["galton", "check", model]
    if group.file is not None:
        words += [group.file, *(word for number in group.numbers for word in ("--name", str(number)))]
    words += [word for text in group.texts for word in ("-p", text)]
    return shlex.join([*words, *constants_of_command(group.constants), *options_of_command(options)])


def _check_script(model: str, group: _Group, options: Options, kind: str) -> str:
    props = [*([] if group.file is None else [f"Path({group.file!r})"]), *map(repr, group.texts)]
    arguments = [repr(model), f"[{', '.join(props)}]"]
    if group.file is not None:
        arguments.append(f"name={[str(number) for number in group.numbers]!r}")
    arguments += script_options(options, kind)
    if group.constants:
        arguments.append(f"constants={_stripped(group.constants)!r}")
    function = "estimate" if options.sim else kind
    lines = "".join(f"    {argument},\n" for argument in arguments)
    if kind == "experiment":
        return f"found = galton.experiment(\n{lines})\nfor row in found:\n    print(row)\n"
    shown = 'print(f"{result.formula}  =  {result}{result.margin}")'
    return f"results = galton.{function}(\n{lines})\nfor result in results:\n    {shown}\n"


def script_options(options: Options, kind: str) -> list[str]:
    """Arguments of a function of Galton for choices."""
    given = dict(options.given)
    sim = given.pop("sim", False)
    found = []
    settings = {}
    if "relative" in given:
        settings["relative"] = given.pop("relative")
    if "threads" in given and not sim:
        settings["threads"] = given.pop("threads")
    if settings:
        found.append(f"settings=galton.Settings({', '.join(f'{name}={value!r}' for name, value in settings.items())})")
    if given.get("device") == "auto":
        del given["device"]
    left = ("slice", "symmetry", "lump") if kind == "experiment" else ()  # which change no answer
    return found + [f"{name}={value!r}" for name, value in given.items() if name not in left]


def _stripped(constants: Mapping[str, str]) -> dict[str, str]:
    return {name: value.strip() for name, value in constants.items()}


def copied_model(
    desk: Desk, ask: str, model: str, constants: Mapping[str, str], options: Options, given: Given
) -> Copied:
    """What is asked about the states of a model."""
    own = desk.own(desk.model_file(model), constants)
    stem = model.rpartition("/")[2].rpartition(".")[0] or model
    with_values = shlex.join([*constants_of_command(own), *options_of_command(options)])
    building = {
        name: value for name, value in options.given.items() if name in ("fix_deadlocks", "max_states", "threads")
    }
    if options.device != "auto":
        building["device"] = options.device
    arguments = "".join(f", {name}={value!r}" for name, value in _stripped(own).items())
    built = ", ".join(f"{name}={value!r}" for name, value in building.items())
    head = f"import galton\n\nprogram = galton.load({model!r}{arguments})\nmodel = program.build({built})\n"
    command = f"galton info {shlex.quote(model)} {with_values}".strip()
    more = "print(model)\n"
    match ask:
        case "graph":
            without = shlex.join([*constants_of_command(own), *_without_device(options)])
            command = f"galton convert {shlex.quote(model)} {shlex.quote(stem + '.dot')} {without}".strip()
            more = f"galton.write_model(model, {stem + '.dot'!r})\n"
        case "matrix":
            without = shlex.join([*constants_of_command(own), *_without_device(options)])
            command = f"galton plot-matrix {shlex.quote(model)} --out {shlex.quote(stem + '.png')} {without}".strip()
            more = (
                "from galton.plot.matrix import pattern, plot_matrix\n\n"
                f'plot_matrix([pattern(model, "canonical")], {stem + ".png"!r})\n'
            )
        case "states" if "where" in given and "property" not in given:
            asked = f"filter(print, {given.text('where')})"
            command = _check_command(model, _Group(None, (), (asked,), own), options)
            more = (
                f"holds = galton.check(model, {given.text('where')!r}).values\n"
                "for number, here in enumerate(holds):\n    if here:\n        print(number, model.states[number])\n"
            )
        case "states" | "values" if "property" in given:
            return _copied_values(desk, model, constants, options, given)
        case "sets":
            more = _SETS.get(given.text("kind"), "print(model)\n")
            command = ""
        case "state":
            more = (
                f"print(model.states[{given.whole('state', 0, 2**62)}], model.transitions({given.fields['state']}))\n"
            )
            command = ""
    return {"command": command, "python": head + more}


def _without_device(options: Options) -> list[str]:
    kept = {name: value for name, value in options.given.items() if name != "device"}
    return options_of_command(Options(kept))


_SETS = {
    "scc": "from galton.graph import strongly_connected_components\n\n"
    "print(strongly_connected_components(model).component)\n",
    "bscc": "from galton.graph import bottom_components\n\nprint(bottom_components(model).component)\n",
    "mec": "from galton.graph import maximal_end_components\n\nprint(maximal_end_components(model).component)\n",
}


def _copied_values(desk: Desk, model: str, constants: Mapping[str, str], options: Options, given: Given) -> Copied:
    """The values of a property in all states."""
    prop = given.property()
    (group,) = _groups(desk, model, [prop], constants)
    if isinstance(prop, str):
        asked = desk.typed(prop).properties[0].text
        first = _Group(None, (), (_printed(prop, asked),), group.constants)
    else:
        asked = desk.property_file(prop[0]).properties[prop[1]].text
        first = _Group(prop[0], (prop[1] + 1,), (f"filter(printall, {' '.join(asked.split())})",), group.constants)
    kept = {name: value for name, value in options.given.items() if name not in ("max_states", "fix_deadlocks")}
    script = _check_script(model, group, Options(kept), "check").replace(
        'print(f"{result.formula}  =  {result}{result.margin}")',
        "values = result.values\n    for number, value in enumerate(values):\n"
        "        print(number, values.model.states[number], value)",
    )
    head = "import galton\n\n" if group.file is None else "from pathlib import Path\n\nimport galton\n\n"
    return {"command": _check_command(model, first, Options(kept)), "python": head + script}


def _printed(whole: str, asked: str) -> str:
    """A typed property, with what it declares before it, as one that prints the values of all states."""
    place = whole.rfind(asked)
    return f"{whole[:place]}filter(printall, {asked}){whole[place + len(asked) :]}"
