"""What PRISM accepts, Galton builds; what PRISM refuses because of the model, Galton refuses.

The tables hold every exception, with its reason.
"""

from __future__ import annotations

import re

import pytest
from prism_files import TESTS, models, valuations

from galton import explore
from galton.lang import GaltonError, Source, UnsupportedError, check_program, parse_model
from galton.model import Model

UNSUPPORTED = {
    "functionality/export/dot/dtmc_pctl.prism": "an interval DTMC",
    "functionality/export/dot/irobot.prism": "an interval MDP",
    "functionality/import/irobot.prism.orig": "an interval MDP",
    "functionality/import/maze.prism.orig": "a POMDP",
    "functionality/language/imdp-sync.prism": "an interval MDP",
}
REFUSED = {
    "functionality/language/infinite-rates.prism": "a rate of 1/0",
    "functionality/language/infinite-rewards.prism": "a reward of s/0",
    "functionality/language/nan-rewards.prism": "a reward of 0/0",
}
# Built, although PRISM is of another opinion.
TASTE = {
    "functionality/language/negative-rewards.prism": "PRISM has no negative rewards; a model may have them here",
    "functionality/export/dot/lec9ctl1.prism": "no type and no probabilities: PRISM's LTS is an MDP here",
    "functionality/import/lec9ctl1.prism.orig": "no type and no probabilities: PRISM's LTS is an MDP here",
}
ACCEPTED = [name for name in models() if name not in UNSUPPORTED and name not in REFUSED]


def build(name: str, constants: dict[str, str]) -> Model:
    """The model of a file; the constants that are not its own are those of a property."""
    file = parse_model(Source(name, (TESTS / name).read_text()))
    own = {constant.name.name for constant in file.constants}
    return explore.build(check_program(file, {key: value for key, value in constants.items() if key in own}))


def declared_type(name: str) -> str:
    """The first word outside comments that is a type, in today's or in the old spelling; PRISM's default is an MDP."""
    words = {"probabilistic": "dtmc", "stochastic": "ctmc", "nondeterministic": "mdp"}
    text = re.sub(r"//.*", "", (TESTS / name).read_text())
    found = re.search(rf"\b(dtmc|ctmc|mdp|{'|'.join(words)})\b", text)
    return words.get(found[1], found[1]) if found else "mdp"


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    for constants in valuations(name):
        model = build(name, constants)
        model.validate()
        assert model.type == declared_type(name)


@pytest.mark.parametrize("name", [name for name in UNSUPPORTED if name in models()])
def test_unsupported(name: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        build(name, {})
    assert caught.value.kind == "unsupported"


@pytest.mark.parametrize("name", [name for name in REFUSED if name in models()])
def test_refused(name: str) -> None:
    with pytest.raises(GaltonError) as caught:
        build(name, {})
    assert caught.value.kind == "model"


@pytest.mark.skipif(not TESTS.exists(), reason="PRISM's tests are not here")
def test_the_tables_name_models() -> None:
    assert len(ACCEPTED) >= 85
    assert {*UNSUPPORTED, *REFUSED, *TASTE} <= set(models())
    assert {name: valuations(name) for name in ("functionality/export/results/exportresults.pm",)} == {
        "functionality/export/results/exportresults.pm": [{"AA": "0", "x": "1", "BB": "1"}]
    }
