"""Storm's switches (those of Storm 1.8 to 2.0), and what does the same here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...lang.source import GaltonError
from .line import Call, Line
from .switches import Act, Table, adds, needless, read, refused, says, sets

__all__ = ["STORM", "translated"]

BISIMULATION = "states that behave alike become one where that is likely to pay; --lump does it always"


def translated(words: Sequence[str]) -> tuple[list[Call], list[str]]:
    """The calls that a command line of Storm's comes to, and what is to be said about them."""
    line = Line("Storm")
    known = {name for switches in STORM.values() for switch in switches for name in switch.spellings}

    def spelled(word: str) -> str | None:
        """``--io:prop`` is ``--prop``: the name of a module may stand before it."""
        if not word.startswith("-"):
            return None
        bare = f"--{word.rpartition(':')[2]}"
        return word if word in known or bare not in known else bare

    if strangers := list(read(line, words, STORM, spelled)):
        raise GaltonError(f"Storm's switches take their values after them, and '{strangers[0]}' belongs to none")
    return line.calls(), line.notes


# What some switches mean.


def _file(line: Line, values: Sequence[str]) -> None:
    line.files += values


def _explicit_rewards(line: Line, values: Sequence[str]) -> None:
    line.files.append(values[0])


def _constants(line: Line, values: Sequence[str]) -> None:
    line.constants.append(values[0])


def _prop(line: Line, values: Sequence[str]) -> None:
    """A file or a text, and perhaps the names of those that are meant."""
    if Path(values[0]).is_file():
        line.properties = values[0]
    else:
        line.texts.append(values[0])
    line.chosen += [name for text in values[1:] for name in text.split(",")]


def _jani_properties(line: Line, values: Sequence[str]) -> None:
    line.properties = line.files[0] if line.files else None
    line.chosen += [name for text in values for name in text.split(",")]


def _strategy(line: Line, values: Sequence[str]) -> None:
    line.checking += ["--strategy", values[0]]
    line.note(f"{values[0]} is Galton's JSON, which galton check --apply reads")


def _export(line: Line, values: Sequence[str]) -> None:
    line.exports.append(values[0])


def _steady_state(line: Line, values: Sequence[str]) -> None:
    line.distributions.append(["steady-state"])


def _method(names: dict[str, str], switch: str) -> Act:
    def act(line: Line, values: Sequence[str]) -> None:
        if values[0] not in names:
            offered = ", ".join(names)
            raise GaltonError(f"{switch} {values[0]} has no counterpart here; these have one: {offered}")
        line.method.append(names[values[0]])

    return act


MINMAX = {
    "vi": "value-iteration",
    "value-iteration": "value-iteration",
    "pi": "policy-iteration",
    "policy-iteration": "policy-iteration",
    "ii": "interval",
    "interval-iteration": "interval",
    "ovi": "optimistic",
    "optimistic-value-iteration": "optimistic",
    "topological": "topological",
}
NATIVE = {
    "jacobi": "jacobi",
    "gaussseidel": "gauss-seidel",
    "gauss-seidel": "gauss-seidel",
    "sor": "sor",
    "power": "power",
    "ii": "interval",
    "interval-iteration": "interval",
    "ovi": "optimistic",
    "optimistic-value-iteration": "optimistic",
}
KRYLOV = {"bicgstab": "bicgstab", "gmres": "gmres"}
EIGEN = {**KRYLOV, "sparselu": "direct"}

STORM: Table = {
    "models and properties": [
        says("--prism", "FILE", "galton check FILE", _file),
        says("--jani", "FILE", "galton check FILE", _file),
        says("--explicit -exp", "TRA LAB", "galton check TRA LAB", _file),
        says("--explicit-drn -drn", "FILE", "galton check FILE", _file),
        says("--explicit-umb -umb", "FILE", "galton check FILE", _file),
        says("--staterew --transrew", "FILE", "galton check … FILE", _explicit_rewards, "`.srew`, `.trew`"),
        says("--constants -const", "VALUES", "--const VALUES", _constants, "ranges too: `N=2:2:10`"),
        says("--prop -prop", "PROPERTY [NAMES]", "--prop TEXT", _prop, "of a file: `--props FILE --name NAME`"),
        says(
            "--janiproperty -jprop", "[NAMES]", "--props FILE --name NAME", _jani_properties, "properties in the model"
        ),
        needless("--prismcompat -pc", "PRISM's rules are the only ones here"),
        needless(
            "--build-all-labels --buildchoicelab -bcl --buildstateval -bsv", "states keep their values and labels"
        ),
        sets("--buildfull", "--full"),
        needless("--fixdl -fd", "states without transitions get a self-loop, unless --no-fix-deadlocks says no"),
        sets("--no-fixdl", "--no-fix-deadlocks", to="building"),
        needless("--explchecks -ec", "values outside of their ranges are errors, always"),
        refused("--build-out-of-bounds-state", "values outside of their ranges are errors"),
        refused("--qvbs --jit", "give the model itself with --prism or --jani", "[X] [Y]"),
        refused("--parametric", "values for ranges of parameters are galton synth --param NAME=LOW:HIGH"),
    ],
    "results and files": [
        says("--exportscheduler", "FILE", "--strategy FILE", _strategy, "JSON; `--apply` reads it"),
        says("--exportdot -dot", "FILE", "galton build --export FILE", _export, "`.dot`"),
        says("--exportexplicit --exportbuild", "FILE [KIND]", "galton build --export FILE", _export, "by suffix"),
        says("--steadystate", "", "galton steady-state", _steady_state),
        sets("--counterexample -cex", "--counterexample"),
        refused("--exportresult --exportcheckresult", "no file of all states' values is written", "FILE"),
        refused("--expvisittimes --exportjanidot --exportbdd", "there is no such file here", "[FILE]"),
    ],
    "engines and methods": [
        needless("--engine -e", "Galton has one engine, which is sparse", "NAME"),
        needless("--ddlib --lpsolver --smtsolver", "none of them is used here", "NAME"),
        needless("--bisimulation -bisim", BISIMULATION),
        needless("--bisimulation:type --bisimulation:initialblock", BISIMULATION, "X"),
        needless("--sound", "bounds are proved, always"),
        sets("--exact", "--exact"),
        adds("--precision -eps", "EPS", "--eps EPS", "bounds are proved to be that close"),
        adds("--minmax:precision --native:precision", "EPS", "--eps EPS"),
        adds("--gmm++:precision --eigen:precision", "EPS", "--eps EPS"),
        sets("--absolute --minmax:absolute --native:absolute", "--absolute"),
        adds("--minmax:maxiter --native:maxiter", "N", "--max-iterations N", to="limits"),
        adds("--gmm++:maxiter --eigen:maxiter", "N", "--max-iterations N", to="limits"),
        says("--minmax:method", "NAME", "--method NAME", _method(MINMAX, "--minmax:method"), ", ".join(MINMAX)),
        says("--native:method", "NAME", "--method NAME", _method(NATIVE, "--native:method"), ", ".join(NATIVE)),
        says("--gmm++:method", "NAME", "--method NAME", _method(KRYLOV, "--gmm++:method"), ", ".join(KRYLOV)),
        says("--eigen:method", "NAME", "--method NAME", _method(EIGEN, "--eigen:method"), ", ".join(EIGEN)),
        needless("--eqsolver", "the solver is chosen by Galton; --method NAME chooses one by hand", "NAME"),
        adds("--native:sor:omega --native:soromega", "X", "--omega X", to="limits"),
    ],
    "the program": [
        sets("--verbose -v --statistics -stats", "--explain"),
        needless("--cudd:maxmem --sylvan:maxmem --sylvan:threads", "there are no decision diagrams here", "N"),
        refused("--timeout -t", "start Galton with timeout(1): timeout 60 galton …", "SECONDS"),
    ],
}
