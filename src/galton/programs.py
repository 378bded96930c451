"""Programs as users hold them: read from a file or a text, built into a model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from .lang import Source, check_program, parse_model, program
from .lang.expressions import Value
from .lang.source import GaltonError, read_source

if TYPE_CHECKING:
    from .model.sparse import Model
    from .model.traces import Traces

__all__ = ["Program", "load", "parse"]

MANY = 20  # variables, modules and so on that a notebook shows


@dataclass(frozen=True, slots=True, repr=False)
class Program(program.Program):
    """A PRISM program that was read and checked, with values for its constants.

    :func:`galton.load` and :func:`galton.parse` make one; :meth:`build` makes a model of it.

    Examples
    --------
    >>> import galton
    >>> program = galton.parse("ctmc  module m  up : bool;  [] !up -> 3 : (up'=true);  endmodule")
    >>> program.type, [variable.name for variable in program.variables]
    ('ctmc', ['up'])
    >>> program
    <ctmc <text>: 1 module, 1 variable, 1 command>
    """

    def build(self, **options: object) -> Model:
        """Explore all reachable states and return the model they make.

        The options are those of :func:`galton.explore.build`, such as ``device``, ``threads`` and ``max_states``.

        Examples
        --------
        >>> import galton
        >>> galton.parse("dtmc  module m  x : [0..9];  [] x<9 -> (x'=x+1);  endmodule").build(max_states=100)
        <dtmc: 10 states, 10 transitions>
        """
        from .explore import build

        return build(self, **options)  # type: ignore[arg-type]

    def simulate(self, **options: object) -> Traces:
        """Follow random paths, without building the state space, and return all that they meet.

        The options are those of :func:`galton.simulate`: ``paths``, ``steps``, ``time``, ``seed`` and ``strategy``.

        Examples
        --------
        >>> import galton
        >>> walk = "dtmc  module m  x : int init 0;  [] true -> 0.5:(x'=x+1) + 0.5:(x'=x-1);  endmodule"
        >>> galton.parse(walk).simulate(steps=1000, paths=5)
        <traces: 5 paths, 5,000 steps, seed 0>
        """
        from .simulation import simulate

        return simulate(self, **options)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        return _summary(self)


def _summary(program: program.Program) -> str:
    """A table about a program, for notebooks."""
    from .lang.markup import facts

    variables = [v.name if v.type == "bool" else f"{v.name}: {v.low}..{v.high}" for v in program.variables]
    modules = [f"{module.name} ({len(module.commands):,} commands)" for module in program.modules]
    rows = [
        ("type", program.type.upper()),
        ("from", program.source.name),
        ("constants", _some([f"{name} = {value}" for name, value in program.constants.items()])),
        ("without a value", ", ".join(f"{name} ({kind})" for name, kind in program.open_constants.items())),
        ("modules", _some(modules)),
        ("variables", _some(variables)),
        ("labels", _some(list(program.labels))),
        ("rewards", _some([name or "(unnamed)" for name in program.reward_names])),
        ("actions", _some(list(program.actions))),
    ]
    return facts(rows)


def _some(parts: list[str]) -> str:
    return ", ".join(parts[:MANY]) + (f", … ({len(parts):,} in all)" if len(parts) > MANY else "")


def load(path: str | Path, **constants: Value | str) -> Program:
    """Read a program from a file in the PRISM language, in JANI or SBML, and check it.

    Parameters
    ----------
    path
        The file; ``.jani`` is JANI, ``.xml`` and ``.sbml`` are reaction networks.
    constants
        Values for constants that the file declares without one; a text is read as an expression, so ``p="1/3"`` is
        exact.

    Returns
    -------
    Program
        The checked program, ready to be built and asked about.

    Raises
    ------
    LanguageError
        If something is wrong in the file: what, at which line and column, and what would be right.

    Examples
    --------
    >>> import galton
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "walk.prism"
    >>> _ = path.write_text("dtmc  const int N;  module walk  x : [0..N];  [] x<N -> (x'=x+1);  endmodule")
    >>> galton.load(path, N=3).build()
    <dtmc: 4 states, 4 transitions>
    """
    from .io.formats import is_model_file

    if is_model_file(path):
        raise GaltonError(
            f"{path} holds the states of a model, and no program; galton.read_model(path) reads it, and galton.check "
            "and the other functions take the path itself"
        )
    return _checked(read_source(path), constants)


def parse(text: str, **constants: Value | str) -> Program:
    """Read a program from a text in the PRISM language, and check it.

    Parameters
    ----------
    text
        The program itself; :func:`galton.load` reads a file.
    constants
        Values for constants that the text declares without one; a text is read as an expression, so ``p="1/3"`` is
        exact.

    Returns
    -------
    Program
        The checked program, ready to be built and asked about.

    Raises
    ------
    LanguageError
        If something is wrong in the text: what, at which line and column, and what would be right.

    Examples
    --------
    >>> import galton
    >>> text = "dtmc  const double p;  module m  x : bool;  [] !x -> p:(x'=true) + 1-p:true;  endmodule"
    >>> galton.parse(text, p=0.25).constants["p"]
    0.25
    """
    if not isinstance(text, str):
        raise TypeError(f"galton.parse takes the text of a model, not {type(text).__name__}")
    return _checked(Source("<text>", text), constants)


def _checked(source: Source, constants: dict[str, Value | str]) -> Program:
    checked = check_program(parse_model(source), constants)
    return Program(**{field.name: getattr(checked, field.name) for field in fields(checked)})
