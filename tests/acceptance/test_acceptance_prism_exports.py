"""What Galton writes for PRISM's test models is, byte for byte, what PRISM wrote.

For MDPs that is too much to ask: the order of the choices of a state differs between PRISM's own engines, and there
the same choices in any order will do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from prism_files import TESTS

from galton import load
from galton.io import write_model

pytestmark = pytest.mark.skipif(not TESTS.exists(), reason="PRISM's tests are not here")

FOLDER = TESTS / "functionality"
EVERYTHING = (".tra", ".sta", ".lab", ".srew", ".trew")
CHAINS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "export/dtmc/dice.pm": ("dice.pm", {}, EVERYTHING),
    "export/dtmc/lec3.pm": ("lec3.pm", {}, EVERYTHING),
    "export/ctmc/cluster.sm": ("cluster.sm", {"N": 2}, EVERYTHING),
    "language/system.sm": ("system.sm", {}, (".sta", ".tra")),
    "import/dice.pm.orig": ("dice", {}, EVERYTHING),
    "import/dice-deadlock.pm.orig": ("dice-deadlock", {}, (".tra", ".lab")),
    "import/lec3.pm.orig": ("lec3", {}, EVERYTHING),
    "import/poll2.sm.orig": ("poll2", {}, (".tra", ".sta", ".lab")),  # the rewards of the file are others
}
MDPS = {
    "export/mdp/robot.prism": "robot.prism",
    "import/robot.prism.orig": "robot",
    "import/mdp_simple.prism.orig": "mdp_simple",
}
# PRISM notes the action of every transition of a chain; Galton's chains have none.
WITH_ACTIONS = {"system.sm.tra"}


def export(model: str, stem: str, constants: dict[str, Any], suffixes: tuple[str, ...], folder: Path) -> list[Path]:
    built = load(FOLDER / model, **constants).build(transition_rewards=True)
    written = write_model(built, [folder / f"{stem}{suffix}" for suffix in suffixes])
    assert len(written) == sum(len(built.rewards) if suffix in (".srew", ".trew") else 1 for suffix in suffixes)
    return written


def without_actions(text: str) -> str:
    header, *lines = text.splitlines()
    return "\n".join([header, *(" ".join(line.split()[:3]) for line in lines), ""])


@pytest.mark.parametrize("model", CHAINS)
def test_chains_byte_for_byte(model: str, tmp_path: Path) -> None:
    stem, constants, suffixes = CHAINS[model]
    for path in export(model, stem, constants, suffixes, tmp_path):
        expected = ((FOLDER / model).parent / path.name).read_text()
        assert path.read_text() == (without_actions(expected) if path.name in WITH_ACTIONS else expected), path.name


Choice = tuple[str, ...]


def choices(transitions: str) -> dict[tuple[str, str], tuple[str, Choice]]:
    """The choices of a ``.tra`` file, by state and number: the state and, as one thing, the action and the branches."""
    branches: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in transitions.splitlines()[2:]:
        state, choice, *branch = line.split()
        branches[state, choice].append(" ".join(branch))
    return {key: (key[0], tuple(sorted(found))) for key, found in branches.items()}


def rewarded(rewards: str, transitions: str) -> Counter[tuple[tuple[str, Choice], str, str]]:
    """The lines of a ``.trew`` file with the choice itself in place of its number."""
    known = choices(transitions)
    lines = (line.split() for line in rewards.splitlines() if not line.startswith("#"))
    return Counter((known[words[0], words[1]], words[2], words[3]) for words in lines if len(words) == 4)


@pytest.mark.parametrize("model", MDPS)
def test_mdps_in_any_order_of_choices(model: str, tmp_path: Path) -> None:
    written = export(model, MDPS[model], {}, EVERYTHING, tmp_path)
    originals = {path: (FOLDER / model).parent / path.name for path in written}
    mine, theirs = written[0].read_text(), originals[written[0]].read_text()
    assert mine.splitlines()[:2] == theirs.splitlines()[:2]
    assert Counter(choices(mine).values()) == Counter(choices(theirs).values())
    for path in written[1:]:
        found, expected = path.read_text(), originals[path].read_text()
        if path.suffix == ".trew":
            assert rewarded(found, mine) == rewarded(expected, theirs), path.name
            assert found.splitlines()[:3] == expected.splitlines()[:3]
        else:
            assert found == expected, path.name


def test_every_default_export_of_prism_is_compared() -> None:
    """No stored file of the export folders is forgotten but those of formats that Galton does not write."""
    compared = {*(stem for stem, _, _ in CHAINS.values()), *MDPS.values()}
    others = (".exact", ".matlab", ".rows", ".2.lab", ".3.lab")  # other formats, and labels of property files
    for folder in ("export/dtmc", "export/ctmc", "export/mdp"):
        for path in (FOLDER / folder).iterdir():
            if path.suffix in EVERYTHING and not any(word in path.name for word in others):
                assert path.stem.rstrip("123") in compared, path.name
