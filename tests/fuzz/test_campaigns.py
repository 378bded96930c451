"""A few seconds of every campaign: always the same rounds, fewer of them where the machine is slow.

``make fuzz`` has as many as there is time for.
"""

from __future__ import annotations

import pytest

from .campaigns import CAMPAIGNS, Campaign
from .runner import replay, run

SEED = 2


@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda campaign: campaign.name)
def test_campaign(campaign: Campaign) -> None:
    tally = run(campaign.name, SEED, seconds=5, rounds=campaign.slice)
    assert not tally.failures, "\n".join(map(str, tally.failures))
    assert tally.models, "nothing was made"


@pytest.mark.parametrize("name", ["chains", "mdps", "bounded", "long-run"])
def test_campaign_on_a_played_device(name: str) -> None:
    """Long-run averages were wrong on a device, and only the CPU had been asked for them."""
    tally = replay(name, SEED, 0, "played")
    assert not tally.failures, "\n".join(map(str, tally.failures))
    assert tally.numbers, "nothing was compared"
