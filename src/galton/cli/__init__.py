"""The command line."""

from __future__ import annotations

import gc
import os
import sys

import typer

from ..lang.source import GaltonError
from ..lang.wording import for_command_line
from . import bench, telling
from .automaton import automaton
from .build import build
from .check import check
from .commands import Commands
from .convert import convert
from .distributions import steady_state, transient
from .ending import exit_code, memory_advice, outputs_that_are_there, terminated_as_interrupted
from .fmt import fmt
from .gallery import gallery
from .habits import AS_IT_IS, prism, storm, understood
from .info import info
from .lsp import lsp
from .lump import lump
from .options import told
from .plot_matrix import plot_matrix
from .simulate import simulate
from .studio import studio
from .synth import synth
from .verify import verify
from .warm_up import warm_up
from .workers import with_ranks

HELP = """Galton: a probabilistic model checker for models in the PRISM language, JANI and SBML.

How likely is it, how long does it take, what does it cost, and what are the best decisions?

\b
To begin with:
  galton gallery models
  galton check models/die.prism --prop 'P=? [ F d=6 ]'
  galton check --help
"""
app = Commands(
    name="galton",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
app.command(short_help="Check properties: answers, with bounds that are proved.")(check)
app.command(short_help="Build a model and tell its size.")(info)
app.command(short_help="Build a model and write its states to files.")(build)
app.command(short_help="Convert a model from one format to others.")(convert)
app.command(short_help="Make one state of all that behave alike.")(lump)
app.command(short_help="Where a chain is after some time, or some steps.")(transient)
app.command(name="steady-state", short_help="Where a chain is in the long run.")(steady_state)
app.command(short_help="Follow random paths of a model.")(simulate)
app.command(short_help="Find the parameters for which a model has a property.")(synth)
app.command(short_help="Verify a certificate that check wrote.")(verify)
app.command(short_help="Translate a formula of LTL to an automaton.")(automaton)
app.command(name="plot-matrix", short_help="Draw the matrix of a model.")(plot_matrix)
app.command(short_help="List the models that come with Galton, or copy them.")(gallery)
app.command(short_help="Open the studio: models in the browser.")(studio)
app.command(short_help="Format models and property files.")(fmt)
app.command(short_help="Help an editor with models (a language server).")(lsp)
app.command(name="warm-up", short_help="Compile beforehand what a CUDA device will need.")(warm_up)
app.add_typer(bench.app, short_help="Run the experiments of five papers again.")
app.command(short_help="Run a command line of PRISM as it is.", **AS_IT_IS)(prism)
app.command(short_help="Run a command line of Storm as it is.", **AS_IT_IS)(storm)


@app.callback(invoke_without_command=True, help=HELP)
def top(version: bool = typer.Option(False, "--version", "-V", help="Print the version and exit.")) -> None:
    """Galton: a probabilistic model checker for models in the PRISM language, JANI and SBML."""
    if version:
        from importlib.metadata import PackageNotFoundError
        from importlib.metadata import version as installed

        try:
            typer.echo(installed("galton"))
        except PackageNotFoundError:  # run from the source tree
            typer.echo("unknown: galton is not installed")
        raise typer.Exit


def program() -> None:
    """The program that people start: :func:`main`, and an end without a clean-up that nobody needs.

    CUDA takes a tenth of a second to give back what the operating system takes back at once, and kernels that are being
    compiled beforehand need not be waited for.
    """
    code: object = 0
    try:
        main()
    except SystemExit as stop:
        code = stop.code
        if "cupy" not in sys.modules or not (code is None or isinstance(code, int)):
            raise
    if "cupy" in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0)


def main() -> None:
    """What the program does: what people got wrong is told in a sentence, and the exit code is 2."""
    with for_command_line(), telling.loud_as_usual():
        try:
            with with_ranks(sys.argv[1:]):
                _main()
        except GaltonError as error:  # there are no ranks
            telling.complain(told(error))
            sys.exit(2)


def _main() -> None:
    # What is made here are trees and arrays: looking for cycles among them takes a tenth of the time of a small model.
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    # NumPy's BLAS would start a thread per core, which nothing here uses and which take longer than a small model.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    outputs_that_are_there()
    try:
        with terminated_as_interrupted():
            app(understood(sys.argv[1:]))
    except GaltonError as error:
        telling.complain(told(error))
        sys.exit(2)
    except OSError as error:
        telling.complain(f"error: {error.filename}: {error.strerror}" if error.filename else f"error: {error}")
        if isinstance(error, FileNotFoundError) and str(error.filename).startswith("models/"):
            telling.complain("hint: galton gallery models copies the models of the examples there")
        sys.exit(2)
    except (MemoryError, SystemError) as error:
        if isinstance(error, SystemError) and "without exception set" not in str(error):
            raise  # what libraries do that have no memory to say so
        telling.complain(f"error: {memory_advice(error)}")
        sys.exit(2)
    except ImportError as error:
        if "allocate" not in str(error) and "map segment" not in str(error):
            raise
        telling.complain(f"error: {memory_advice(error, 'to load the program')}")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(exit_code())
    except SystemExit as stop:
        sys.exit(exit_code() if stop.code == 130 else stop.code)  # Typer knows no other signal than Ctrl-C
