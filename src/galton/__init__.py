"""Galton: a probabilistic model checker.

:func:`load` and :func:`parse` read a program; a :class:`Model` may also come from arrays, tables or a Python function.
:func:`check` answers a property with proved bounds, :func:`experiment` for many values of constants, :func:`synthesize`
for all values of parameters. :func:`transient` and :func:`steady_state` tell where a chain is, :func:`counterexample`
why a property is false. :func:`simulate` and :func:`estimate` follow random paths. ``help(galton.check)`` and so on
explain each of them.

>>> import galton
>>> program = galton.parse("dtmc  module coin  s : [0..2];  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);  endmodule")
>>> program.build()
<dtmc: 3 states, 4 transitions>
>>> galton.check(program, "P>=0.4 [ F s=2 ]").value
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__: str
if TYPE_CHECKING:
    from .api import check as check
    from .checking.distributions.api import steady_state as steady_state
    from .checking.distributions.api import transient as transient
    from .checking.distributions.distribution import StateDistribution as StateDistribution
    from .checking.quotients import lump as lump
    from .checking.result import Result as Result
    from .checking.results import Results as Results
    from .checking.state_values import StateValues as StateValues
    from .checking.witnesses.api import counterexample as counterexample
    from .checking.witnesses.counterexample import Counterexample as Counterexample
    from .experiments import Experiment as Experiment
    from .experiments import experiment as experiment
    from .io import read_model as read_model
    from .io import write_model as write_model
    from .lang.source import GaltonError as GaltonError
    from .lang.source import LanguageError as LanguageError
    from .model.from_function import explore_function as explore_function
    from .model.sparse import Model as Model
    from .model.traces import Traces as Traces
    from .programs import Program as Program
    from .programs import load as load
    from .programs import parse as parse
    from .reduce.lumping import Lumped as Lumped
    from .simulation.api import estimate as estimate
    from .simulation.api import simulate as simulate
    from .simulation.result import Estimate as Estimate
    from .solve.settings import Settings as Settings
    from .synth.api import synthesize as synthesize
    from .synth.regions import Regions as Regions
    from .verifier.api import verify as verify

# Imported on first use: the command line starts in a tenth of a second because of this.
_HOME = {
    "Counterexample": "checking.witnesses.counterexample",
    "Estimate": "simulation.result",
    "Experiment": "experiments",
    "GaltonError": "lang.source",
    "LanguageError": "lang.source",
    "Lumped": "reduce.lumping",
    "Model": "model.sparse",
    "Program": "programs",
    "Regions": "synth.regions",
    "Result": "checking.result",
    "Results": "checking.results",
    "Settings": "solve.settings",
    "StateDistribution": "checking.distributions.distribution",
    "StateValues": "checking.state_values",
    "Traces": "model.traces",
    "check": "api",
    "counterexample": "checking.witnesses.api",
    "estimate": "simulation.api",
    "experiment": "experiments",
    "explore_function": "model.from_function",
    "load": "programs",
    "lump": "checking.quotients",
    "parse": "programs",
    "read_model": "io",
    "simulate": "simulation.api",
    "steady_state": "checking.distributions.api",
    "synthesize": "synth.api",
    "transient": "checking.distributions.api",
    "verify": "verifier.api",
    "write_model": "io",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("galton")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
