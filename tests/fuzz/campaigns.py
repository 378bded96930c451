"""The campaigns by name, and how much of the time each gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from random import Random

from . import (
    bistable,
    bounded,
    chains,
    files,
    language,
    long_run,
    long_run_mdps,
    mdps,
    metastable,
    misuse,
    multi,
    processes,
    synthesis,
)
from .judge import Judge


@dataclass(frozen=True)
class Campaign:
    name: str
    play: Callable[[Random, Judge], None]  # one round: a model or a file, and what is asked about it
    weight: float = 1.0  # its part of the time
    slice: int = 20  # rounds that the tests run
    limit: float = 300.0  # seconds that a round may take before it counts as never ending
    peer: str = ""  # a module that it asks too

    @property
    def missing(self) -> bool:
        """Whether its peer is not installed here."""
        return bool(self.peer) and find_spec(self.peer) is None


CAMPAIGNS = [
    Campaign("chains", chains.play, weight=2, slice=40),
    Campaign("metastable", metastable.play, weight=3, slice=5),
    Campaign("mdps", mdps.play, weight=2, slice=20),
    Campaign("bistable", bistable.play, weight=2, slice=6),
    Campaign("bounded", bounded.play, slice=15),
    Campaign("long-run", long_run.play, slice=60),
    Campaign("long-run-mdps", long_run_mdps.play, weight=2, slice=20),
    Campaign("multi", multi.play, weight=2, slice=20),
    Campaign("language", language.play, slice=25, peer="stormpy"),
    Campaign("synthesis", synthesis.play, slice=6),
    Campaign("files", files.play, slice=120),
    Campaign("misuse", misuse.play, weight=0.5, slice=120),
    Campaign("processes", processes.play, weight=1.5, slice=3),
]
BY_NAME = {campaign.name: campaign for campaign in CAMPAIGNS}
