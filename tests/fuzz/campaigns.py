"""The campaigns by name, and how much of the time each gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from . import bistable, bounded, chains, files, language, long_run, mdps, metastable, misuse, processes, synthesis
from .judge import Judge


@dataclass(frozen=True)
class Campaign:
    name: str
    play: Callable[[Random, Judge], None]  # one round: a model, or a handful of files, and what is asked about it
    weight: float = 1.0
    limit: float = 300.0  # seconds that a round may take before it counts as never ending


CAMPAIGNS = [
    Campaign("chains", chains.play),
    Campaign("metastable", metastable.play),
    Campaign("mdps", mdps.play),
    Campaign("bistable", bistable.play),
    Campaign("bounded", bounded.play),
    Campaign("long-run", long_run.play),
    Campaign("language", language.play),
    Campaign("synthesis", synthesis.play),
    Campaign("files", files.play),
    Campaign("misuse", misuse.play),
    Campaign("processes", processes.play),
]
BY_NAME = {campaign.name: campaign for campaign in CAMPAIGNS}
