"""A few seconds of every campaign: always the same rounds, fewer of them where the machine is slow.

``make fuzz`` has as many as there is time for.
"""

from __future__ import annotations

import pytest

from .campaigns import CAMPAIGNS, Campaign
from .known import CAMPAIGNS as KNOWN
from .runner import run

SEED = 2


@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda campaign: campaign.name)
def test_campaign(campaign: Campaign) -> None:
    tally = run(campaign.name, SEED, seconds=5, rounds=campaign.slice)
    if tally.failures and campaign.name in KNOWN:
        pytest.skip(f"known: {tally.failures[0]}")
    assert not tally.failures, "\n".join(map(str, tally.failures))
    assert tally.models, "nothing was made"
