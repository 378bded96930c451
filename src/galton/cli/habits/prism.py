"""PRISM's switches (those of PRISM 4.8 to 4.10), and what does the same here."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from ...lang.source import GaltonError
from .line import Call, Line
from .switches import Act, Table, adds, chooses, needless, read, refused, says, sets

__all__ = ["PRISM", "translated"]


def translated(words: Sequence[str]) -> tuple[list[Call], list[str]]:
    """The calls that a command line of PRISM's comes to, and what is to be said about them."""
    line = Line("PRISM")
    files = list(read(line, words, PRISM, lambda word: f"-{word.lstrip('-')}" if word.startswith("-") else None))
    if line.files:  # an imported model stands for the first of them
        files = ["", *files]
    if len(files) > 2:
        raise GaltonError(f"PRISM takes a model and one file of properties, and here is '{files[2]}', too")
    line.files = line.files or files[:1]
    line.properties = files[1] if len(files) > 1 else line.properties
    return line.calls(), line.notes


# What some switches mean.


def _prop(line: Line, values: Sequence[str]) -> None:
    line.chosen += [name.strip() for name in values[0].split(",")]


def _text(line: Line, values: Sequence[str]) -> None:
    line.texts.append(values[0])


def _constants(line: Line, values: Sequence[str]) -> None:
    line.constants.append(values[0])


def _results(line: Line, values: Sequence[str]) -> None:
    from ..prism_results import read_target

    if str(read_target(values[0])[0]) == "stdout":
        line.note("results are printed without being asked for")
        return
    line.results = values[0]


def _strategy(line: Line, values: Sequence[str]) -> None:
    file, _, given = values[0].partition(":")
    if given:
        raise GaltonError(f"a strategy is written as JSON, without PRISM's option '{given}': say {file}")
    if file == "stdout":
        raise GaltonError("a strategy is written to a file: name one in place of stdout")
    line.checking += ["--strategy", file]
    line.note(f"{file} is Galton's JSON, which galton check --apply reads")


def _file(line: Line, values: Sequence[str]) -> None:
    for value in values:
        file, _, given = value.partition(":")
        if given:
            raise GaltonError(f"files are written without PRISM's option '{given}': say {file}")
        if file == "stdout":
            raise GaltonError("models are written to files: name one in place of stdout")
        line.exports.append(file)


def _model(line: Line, values: Sequence[str]) -> None:
    """``out.tra,sta`` is two files; ``out.all`` all that PRISM would write."""
    text, _, given = values[0].partition(":")
    if given:
        raise GaltonError(f"files are written without PRISM's option '{given}': say {text}")
    line.exports += _expanded(text)


def _expanded(text: str) -> list[str]:
    first, *more = text.split(",")
    base = Path(first)
    kinds = [base.suffix, *(f".{Path(part).name.rpartition('.')[2]}" for part in more)]
    if first == "stdout" or not base.suffix:
        raise GaltonError(f"'{first}' names no format: give a file such as out.tra,sta,lab or out.all")
    return [str(base.with_suffix(kind)) for kind in kinds]


def _import(line: Line, values: Sequence[str]) -> None:
    line.files.append(values[0])


def _import_model(line: Line, values: Sequence[str]) -> None:
    line.files += _expanded(values[0].partition(":")[0])


def _kind(kind: str) -> Act:
    def act(line: Line, values: Sequence[str]) -> None:
        line.kind = kind

    return act


def _steady_state(line: Line, values: Sequence[str]) -> None:
    line.distributions.append(["steady-state"])


def _transient(line: Line, values: Sequence[str]) -> None:
    line.distributions.append(["transient", "--time", values[0]])


def _distribution_file(line: Line, values: Sequence[str]) -> None:
    if not line.distributions:
        raise GaltonError("name the distribution first: -ss, or -tr TIME")
    line.distributions[-1] += ["--csv", values[0]]


def _simulation(line: Line, values: Sequence[str]) -> None:
    line.simulates = True


def _confidence(line: Line, values: Sequence[str]) -> None:
    line.simulation["--confidence"] = _decimal(1 - _number(values[0], "-simconf"))


def _width(line: Line, values: Sequence[str]) -> None:
    line.simulation["--width"] = _decimal(2 * _number(values[0], "-simwidth or -simapprox"))


def _paths(line: Line, values: Sequence[str]) -> None:
    line.simulation["--paths"] = values[0]


def _path_length(line: Line, values: Sequence[str]) -> None:
    line.simulation["--path-length"] = values[0]


def _number(text: str, switch: str) -> Fraction:
    try:
        return Fraction(text)
    except ValueError:
        raise GaltonError(f"{switch} needs a number, and this is '{text}'") from None


def _decimal(number: Fraction) -> str:
    """A number in as many digits as it needs: a chance of one in ten million is not zero."""
    return repr(float(number)).removesuffix(".0")


def _sampling(line: Line, values: Sequence[str]) -> None:
    if values[0] not in ("ci", "aci", "apmc", "sprt"):
        raise GaltonError(f"-simmethod is ci, aci, apmc or sprt, not '{values[0]}'")
    line.sampling = values[0]


def _path(line: Line, values: Sequence[str]) -> None:
    words = []
    for part in values[0].split(","):
        name, _, value = part.partition("=")
        if name.isdigit():
            words += ["--steps", name]
        elif name == "time" and value:
            words += ["--time", value]
        else:
            raise GaltonError(f"-simpath: paths are drawn for a number of steps or a time, and '{part}' is neither")
    line.traces.append([*words, *([] if values[1] == "stdout" else ["--csv", values[1]])])


def _timed_method(line: Line, values: Sequence[str]) -> None:
    names = {"unif": "uniformisation", "fau": "adaptive-uniformisation"}
    if values[0] not in names:
        raise GaltonError(f"-transientmethod is unif or fau, not '{values[0]}'")
    line.method.append(names[values[0]])


def _fair(line: Line, values: Sequence[str]) -> None:
    line.fair = True


KIND = "checked: the text of a program, or the first line or the rows of explicit files decide"
ONE_ENGINE = "Galton has one engine, which is explicit"
ALWAYS = "graph analysis comes first, always: bounds need it"
DIAGRAMS = "there are no decision diagrams here, and no Java; --memory MB limits the memory for states"

PRISM: Table = {
    "models and properties": [
        says("-const", "VALUES", "--const VALUES", _constants, "ranges too: `N=2:2:10`"),
        says("-pf -pctl -csl", "TEXT", "--prop TEXT", _text, "the file after the model is `--props FILE`"),
        says("-prop -property", "NUMBER", "--name NUMBER", _prop, "a number, counted from 1, or a name"),
        says(
            "-importtrans -importstates -importlabels", "FILE", "galton check FILE…", _import, "`.tra`, `.sta`, `.lab`"
        ),
        says("-importstaterewards -importtransrewards", "FILE", "galton check FILE…", _import, "`.srew`, `.trew`"),
        says("-importmodel", "FILES", "galton check FILE…", _import_model, "`die.tra,sta,lab` is three files"),
        says("-dtmc", "", "galton check FILE", _kind("dtmc"), KIND),
        says("-ctmc", "", "galton check FILE", _kind("ctmc"), KIND),
        says("-mdp", "", "galton check FILE", _kind("mdp"), KIND),
        refused("-importpepa -importprismpp", "write the model in the PRISM language", "FILE"),
        refused(
            "-importinitdist -importresults -importparams", "Galton writes such files, and does not read them", "FILE"
        ),
        needless("-fixdl", "states without transitions get a self-loop, unless --no-fix-deadlocks says no"),
        sets("-nofixdl", "--no-fix-deadlocks", to="building"),
        refused("-noprobchecks -sumroundoff", "probabilities have to sum to 1"),
        needless("-nobuild", "models are built when something needs them"),
        refused(
            "-param -parametric", "values for ranges of parameters are galton synth --param NAME=LOW:HIGH", "VALUES"
        ),
    ],
    "results and files": [
        says("-exportresults", "FILE", "--prism-results FILE", _results, "as PRISM writes them; `--csv` has bounds"),
        says(
            "-exporttrans -exportstates -exportlabels",
            "FILE",
            "galton build --export FILE",
            _file,
            "by suffix: `.tra` …",
        ),
        says(
            "-exportstaterewards -exporttransrewards", "FILE", "galton build --export FILE", _file, "`.srew`, `.trew`"
        ),
        says("-exportrewards", "FILE FILE", "galton build --export FILE,FILE", _file),
        says("-exportmodel", "FILES", "galton build --export FILES", _model, "`out.tra,sta,lab` as in PRISM"),
        says("-exportdot -exporttransdot -exporttransdotstates", "FILE", "galton build --export FILE", _file, "`.dot`"),
        says("-exportstrat -exportadv -exportadvmdp", "FILE", "--strategy FILE", _strategy, "JSON; `--apply` reads it"),
        refused("-exportvector", "no file of all states' values is written", "FILE"),
        refused("-exporttarget -exportproplabels", "labels of the model are in its .lab file; -exportlabels", "FILE"),
        refused("-exportsccs -exportbsccs -exportmecs", "components are not written", "FILE"),
        refused("-exportprism -exportprismconst -exportparams", "programs are not printed", "FILE"),
        refused("-exportmatlab -exportmrmc -exportrows -exportunordered", "files are chosen by their suffix"),
        needless("-exportordered -ordered", "files are in PRISM's order, always"),
        refused(
            "-exportmodelprecision -exportiterations", "numbers are written with 16 digits, sweeps not at all", "[N]"
        ),
    ],
    "distributions and simulation": [
        says("-steadystate -ss", "", "galton steady-state", _steady_state),
        says("-transient -tr", "TIME", "galton transient --time TIME", _transient, "a range, too: `0:0.5:10`"),
        says("-exportsteadystate -exportss -exporttransient -exporttr", "FILE", "--csv FILE", _distribution_file),
        says("-simpath", "HOW FILE", "galton simulate --csv FILE", _path, "a number of steps, or `time=T`"),
        says("-sim", "", "galton check --sim", _simulation, "99 % and 1,000 paths, as PRISM, if nothing is said"),
        says("-simwidth", "HALF", "--width", _width, "twice as much: ours is the whole width"),
        says("-simconf", "ALPHA", "--confidence", _confidence, "one less that: PRISM gives the chance to be wrong"),
        says("-simsamples", "N", "--paths N", _paths),
        says("-simpathlen", "N", "--path-length N", _path_length),
        says("-simapprox", "EPS", "--width", _width, "twice as much, too"),
        says(
            "-simmethod",
            "NAME",
            "galton check --sim",
            _sampling,
            "`sprt` tests thresholds by Wald's test; `ci`, `aci`, `apmc` give Clopper and Pearson's intervals",
        ),
        refused("-simmanual -simvar -simmaxrwd", "--width and --confidence say how close", "[N]"),
    ],
    "engines and methods": [
        needless("-explicit -ex -sparse -s -hybrid -h -mtbdd -m", ONE_ENGINE),
        refused("-heuristic -ptamethod -aroptions", "there is nothing to choose from", "VALUE"),
        sets("-exact", "--exact"),
        chooses("-power -pow", "power", "of chains; left away where it does nothing, as in PRISM"),
        chooses("-jacobi -jac", "jacobi", "likewise, as all of these"),
        chooses("-gaussseidel -gs", "gauss-seidel"),
        chooses("-bgaussseidel -bgs", "backward-gauss-seidel"),
        chooses("-jor", "jor"),
        chooses("-sor", "sor"),
        refused("-bjor -bsor", "take -jor, -sor or -bgs"),
        refused("-pgaussseidel -pgs -bpgaussseidel -bpgs -psor -bpsor", "take -gs or -bgs: no order of blocks is kept"),
        chooses("-valiter", "value-iteration"),
        chooses("-politer", "policy-iteration"),
        chooses("-modpoliter", "policy-iteration", "each strategy is solved for, not swept"),
        refused("-lp -linprog", "strategies are improved, not found by a linear program: -politer"),
        chooses("-intervaliter -ii", "interval"),
        chooses("-topological", "topological"),
        says(
            "-transientmethod", "NAME", "--method uniformisation", _timed_method, "`fau` is `adaptive-uniformisation`"
        ),
        adds("-epsilon -e", "EPS", "--eps EPS", "bounds are proved to be that close"),
        sets("-relative -rel", "--relative"),
        sets("-absolute -abs", "--absolute"),
        adds("-maxiters", "N", "--max-iterations N", to="limits"),
        adds("-omega", "X", "--omega X", to="limits"),
        says("-fair", "", "--fair", _fair),
        needless("-nofair", "all strategies count, unless --fair says no"),
        needless("-nopre -noprob0 -noprob1 -nossdetect", ALWAYS),
        needless("-pathviaautomata", "formulas become automata where they have to"),
        refused(
            "-ltl2datool -ltl2dasyntax", "automata are made here; --automaton FILE reads one in the Hanoi format", "X"
        ),
        refused("-paretoepsilon", "say how close with -epsilon", "EPS"),
    ],
    "the program": [
        sets("-verbose -v", "--explain"),
        needless("-cuddmaxmem -cuddepsilon -javamaxmem -javastack", DIAGRAMS, "N"),
        needless("-extraddinfo -extrareachinfo -reorder -nocompact -ng", DIAGRAMS),
        refused("-timeout", "start Galton with timeout(1): timeout 60 galton …", "SECONDS"),
        refused("-dir", "go there first: cd DIR", "DIR"),
        refused("-settings", "Galton keeps no settings: all of them are on the command line", "FILE"),
        refused("-test -testall", "expected results are not compared"),
    ],
}
