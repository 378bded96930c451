"""Reaction networks in SBML: what they come to, beside chains made by hand, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import exp, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import galton
from galton.lang.sbml import prism_text
from galton.lang.sbml.bounds import greatest
from galton.lang.source import GaltonError

libsbml = pytest.importorskip("libsbml")
ENZYME = Path(__file__).parents[2] / "models/enzyme.xml"


def sbml(
    folder: Path,
    reactions: Mapping[str, tuple[str, str]],
    species: Mapping[str, object],
    parameters: Mapping[str, float | None] | None = None,
    *,
    level: int = 3,
    size: float = 1,
    amounts: bool = True,
    fixed: Sequence[str] = (),
    reversible: bool = False,
    local: Mapping[str, float] | None = None,
) -> Path:
    """A file: reactions as ``"A + B -> C"`` and a law, species with their amounts (or concentrations)."""
    document = libsbml.SBMLDocument(level, 1 if level == 3 else 4)
    model = document.createModel()
    model.setId("net")
    cell = model.createCompartment()
    cell.setId("cell")
    cell.setSize(size)
    cell.setConstant(True)
    for name, amount in species.items():
        one = model.createSpecies()
        one.setId(name)
        one.setCompartment("cell")
        one.setHasOnlySubstanceUnits(amounts)
        one.setBoundaryCondition(name in fixed)
        one.setConstant(False)
        if amount is not None:
            (one.setInitialAmount if amounts else one.setInitialConcentration)(float(str(amount)))
    for name, value in (parameters or {}).items():
        parameter = model.createParameter()
        parameter.setId(name)
        parameter.setConstant(True)
        if value is not None:
            parameter.setValue(value)
    for name, (equation, law) in reactions.items():
        reaction = model.createReaction()
        reaction.setId(name)
        reaction.setReversible(reversible)
        reaction.setFast(False)
        left, _, right = equation.partition("->")
        for create, side in ((reaction.createReactant, left), (reaction.createProduct, right)):
            for part in filter(None, (part.strip() for part in side.split("+"))):
                count, _, of = part.rpartition(" ")
                reference = create()
                reference.setSpecies(of)
                reference.setStoichiometry(float(count or 1))
                if level == 3:
                    reference.setConstant(True)
        kinetic = reaction.createKineticLaw()
        for own, value in (local or {}).items():
            parameter = kinetic.createLocalParameter() if level == 3 else kinetic.createParameter()
            parameter.setId(own)
            parameter.setValue(value)
        kinetic.setMath(libsbml.parseL3Formula(law))
    path = folder / "net.xml"
    path.write_text(libsbml.writeSBMLToString(document))
    return path


def distribution(
    initial: Mapping[str, int], channels: Sequence[tuple[float, Mapping[str, int], Mapping[str, int]]], time: float
) -> dict[tuple[int, ...], float]:
    """Where a network is after a time, by the master equation: constants, what is drawn, what changes."""
    names, states = list(initial), {tuple(initial.values()): 0}
    found: list[tuple[int, int, float]] = []
    todo = list(states)
    while todo:
        state = todo.pop()
        have = dict(zip(names, state, strict=True))
        for constant, drawn, changes in channels:
            ways = prod(prod(have[name] - i for i in range(count)) for name, count in drawn.items())
            after = tuple(have[name] + changes.get(name, 0) for name in names)
            if ways > 0 and min(after) >= 0:
                if after not in states:
                    states[after] = len(states)
                    todo.append(after)
                found.append((states[state], states[after], constant * ways))
    generator = np.zeros((len(states), len(states)))
    for source, target, rate in found:
        generator[source, target] += rate
        generator[source, source] -= rate
    return dict(zip(states, expm(generator * time)[0].tolist(), strict=True))


def expected(found: Mapping[tuple[int, ...], float], place: int) -> float:
    return sum(state[place] * chance for state, chance in found.items())


def test_the_example_is_the_chain_of_its_reactions() -> None:
    channels = [
        (0.1, {"E": 1, "s": 1}, {"E": -1, "s": -1, "c": 1}),
        (0.5, {"c": 1}, {"E": 1, "s": 1, "c": -1}),
        (1.0, {"c": 1}, {"E": 1, "c": -1, "p": 1}),
        (0.01, {"p": 2}, {"p": -2, "d": 1}),
        (0.02, {"d": 1}, {"p": 2, "d": -1}),
    ]
    found = distribution({"E": 4, "s": 20, "c": 0, "p": 0, "d": 0}, channels, 10)
    model = galton.load(ENZYME).build()
    assert model.n_states == len(found) == 502
    for name, place in (("E", 0), ("complex", 2), ("product", 3), ("pair", 4)):
        answer = galton.check(model, f'R{{"{name}"}}=? [ I=10 ]')
        assert float(answer.value) == pytest.approx(expected(found, place), rel=1e-7)  # type: ignore[arg-type]


def test_pairs_are_counted_in_order(tmp_path: Path) -> None:
    """2 A -> B by k A^2 in amounts: k a (a-1); with three molecules of A the first pair forms at rate 6 k."""
    path = sbml(tmp_path, {"r": ("2 dimer -> B", "k*dimer^2")}, {"dimer": 3, "B": 0}, {"k": 0.25})
    answer = galton.check(path, "P=? [ F<=1 B=1 ]")
    assert float(answer.value) == pytest.approx(1 - exp(-6 * 0.25), rel=1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize("law", ["k*A0*(A0-1)", "k*(A0^2-A0)", "A0*k*A0 - k*A0", "k/2*A0*(A0-1)*2"])
def test_laws_that_count_pairs_already_stay(tmp_path: Path, law: str) -> None:
    path = sbml(tmp_path, {"r": ("2 A0 -> B", law)}, {"A0": 3, "B": 0}, {"k": 0.25})
    assert "-> k*A0*(A0-1) :" in prism_text(path)


def test_concentrations_and_the_size_of_a_compartment(tmp_path: Path) -> None:
    """A + B -> C at cell*k*[A]*[B]: with amounts a and b that is k a b / cell."""
    path = sbml(
        tmp_path,
        {"r": ("A0 + B -> D", "cell*k*A0*B")},
        {"A0": 1.5, "B": 1, "D": 0},
        {"k": 0.3},
        size=4,
        amounts=False,
    )
    assert "-> k/cell*A0*B :" in prism_text(path)
    found = distribution({"A0": 6, "B": 4, "D": 0}, [(0.3 / 4, {"A0": 1, "B": 1}, {"A0": -1, "B": -1, "D": 1})], 0.7)
    answer = galton.check(path, 'R{"D"}=? [ I=0.7 ]')
    assert float(answer.value) == pytest.approx(expected(found, 2), rel=1e-7)  # type: ignore[arg-type]


def test_reversible_reactions_of_old_levels_with_parameters_of_their_own(tmp_path: Path) -> None:
    """The mean of a network of first order follows its equation: a(t) for A <-> B."""
    path = sbml(
        tmp_path,
        {"turn": ("A0 -> B", "there*A0 - back*B")},
        {"A0": 10, "B": 0},
        level=2,
        reversible=True,
        local={"there": 2.0, "back": 0.5},
    )
    text = prism_text(path)
    assert "const double turn_there = 2;" in text
    assert "[turn_back_] B>=1 -> turn_back*B" in text
    mean = 10 * (0.5 + 2 * exp(-2.5 * 0.4)) / 2.5
    answer = galton.check(path, 'R{"A0"}=? [ I=0.4 ]')
    assert float(answer.value) == pytest.approx(mean, rel=1e-7)  # type: ignore[arg-type]


def test_catalysts_sources_and_reservoirs(tmp_path: Path) -> None:
    """By itself and with help; from a reservoir whose amount stays; to nowhere."""
    reactions = {
        "make": (" -> B", "k0*store + k1*helper*store"),
        "use": ("B + store -> store", "k2*B*store"),
    }
    path = sbml(
        tmp_path,
        reactions,
        {"B": 0, "helper": 2, "store": 3},
        {"k0": 0.1, "k1": 0.2, "k2": 0.05},
        fixed=("store",),
    )
    text = prism_text(path)
    assert "const int B_max;" in text
    with pytest.raises(GaltonError, match="B_max"):
        galton.check(path, "P=? [ F<=1 B=1 ]")
    # Poisson with a mean that is the solution of its equation, if 60 are as good as infinitely many.
    answer = galton.check(path, 'R{"B"}=? [ I=2 ]', B_max=60)
    mean = (0.3 + 0.6 * 2) / 0.15 * (1 - exp(-0.15 * 2))
    assert float(answer.value) == pytest.approx(mean, rel=1e-7)  # type: ignore[arg-type]


def test_parameters_follow_those_that_define_them(tmp_path: Path) -> None:
    path = sbml(tmp_path, {"r": ("A0 -> B", "k2*A0")}, {"A0": 2, "B": 0}, {"k": 0.5, "k2": None})
    document = libsbml.readSBML(str(path))
    assigned = document.getModel().createInitialAssignment()
    assigned.setSymbol("k2")
    assigned.setMath(libsbml.parseL3Formula("2*k"))
    path.write_text(libsbml.writeSBMLToString(document))
    regions = galton.synthesize(path, "P>=0.5 [ F<=1 B>=1 ]", k=(0.01, 1.0), volume=0.02)
    # 1 - exp(-2*2k) >= 1/2 from k = ln(2)/4 on
    assert regions.at(k=0.19).verdict == "true"
    assert regions.at(k=0.15).verdict == "false"


def test_names_that_are_keywords(tmp_path: Path) -> None:
    path = sbml(tmp_path, {"rate": ("S -> P", "init*S")}, {"S": 2, "P": 0, "P_": 1}, {"init": 1.0})
    text = prism_text(path)
    assert "// Keywords have other names: S is S_, P is P_, P_ is P__." in text
    assert float(galton.check(path, "P=? [ F<=1 S_=0 ]").value) == pytest.approx((1 - exp(-1)) ** 2)  # type: ignore[arg-type]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "saturation": (
        {"reactions": {"r1": ("A0 -> B", "v*A0/(km+A0)")}, "parameters": {"v": 1, "km": 2}},
        r"the reaction 'r1' is refused: it divides by 'km \+ A0', which changes with amounts",
    ),
    "wrong order": (
        {"reactions": {"r1": ("A0 -> B", "k*A0^2")}, "parameters": {"k": 1}},
        r"the reaction 'r1' is refused: mass action is a constant times A0; this law has terms with A0\^2",
    ),
    "zero order": (
        {"reactions": {"r1": ("A0 -> B", "k")}, "parameters": {"k": 1}},
        "this law has terms with a constant",
    ),
    "not reversible": (
        {"reactions": {"r1": ("A0 -> B", "k*A0-k*B")}, "parameters": {"k": 1}},
        "the reaction 'r1' is refused",
    ),
    "a sign that depends": (
        {"reactions": {"r1": ("A0 -> B", "k*A0-v*A0")}, "parameters": {"k": 1, "v": 1}},
        "the reaction 'r1' is refused",
    ),
    "functions": (
        {"reactions": {"r1": ("A0 -> B", "exp(A0)")}},
        r"'exp\(A0\)' is more than products",
    ),
    "half a molecule": (
        {"reactions": {"r1": ("A0 -> B", "k*A0")}, "parameters": {"k": 1}, "species": {"A0": 0.5, "B": 0}},
        "the species 'A0' begins with 0.5, which is no number of molecules",
    ),
    "fractions": (
        {"reactions": {"r1": ("1.5 A0 -> B", "k*A0")}, "parameters": {"k": 1}},
        "A0 is not counted in whole molecules",
    ),
    "no amount": (
        {"reactions": {"r1": ("A0 -> B", "k*A0")}, "parameters": {"k": 1}, "species": {"A0": None, "B": 0}},
        "the species 'A0' has no initial amount",
    ),
    "no reactions": ({"reactions": {}}, "the model has no reactions"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_mass_action_is_refused_by_name(tmp_path: Path, case: str) -> None:
    given, words = REFUSED[case]
    path = sbml(tmp_path, given["reactions"], given.get("species", {"A0": 3, "B": 0}), given.get("parameters"))
    with pytest.raises(GaltonError, match=words):
        galton.load(path)


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (["createEvent", ("setId", "e1"), ("setUseValuesFromTriggerTime", True)], "the event 'e1'"),
        (["createRateRule", ("setVariable", "B")], "the rate rule 'B'"),
    ],
)
def test_what_has_no_meaning_in_a_chain(tmp_path: Path, add: Any, words: str) -> None:
    path = sbml(tmp_path, {"r": ("A0 -> B", "k*A0")}, {"A0": 3, "B": 0}, {"k": 1})
    document = libsbml.readSBML(str(path))
    create, *settings = add
    made = getattr(document.getModel(), create)()
    for setting, value in settings:
        getattr(made, setting)(value)
    path.write_text(libsbml.writeSBMLToString(document))
    with pytest.raises(GaltonError, match=words):
        galton.load(path)


@pytest.mark.parametrize("text", ["", "<sbml", "<html></html>", ENZYME.read_text()[:2500]])
def test_broken_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.sbml"
    path.write_text(text)
    with pytest.raises(GaltonError, match=r"broken\.sbml:\d+: error: "):
        galton.load(path)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "libsbml", None)
    with pytest.raises(GaltonError, match=r"pip install 'galton\[sbml\]'"):
        galton.load(ENZYME)


# Bounds.


def reachable(initial: Mapping[str, int], changes: Sequence[Mapping[str, int]]) -> Iterator[tuple[int, ...]]:
    names = list(initial)
    todo, seen = [tuple(initial.values())], {tuple(initial.values())}
    while todo:
        state = todo.pop()
        yield state
        for change in changes:
            after = tuple(value + change.get(name, 0) for name, value in zip(names, state, strict=True))
            if min(after) >= 0 and after not in seen and len(seen) < 400:
                seen.add(after)
                todo.append(after)


def test_bounds_hold_for_all_that_is_reached() -> None:
    """Small networks with every pair of changes: what is reached is within the bounds, and growth has none."""
    single = [dict(zip("AB", values, strict=True)) for values in product((-2, -1, 0, 1, 2), repeat=2)]
    bounded = free = 0
    for one, other in product(single, repeat=2):
        initial = {"A": 3, "B": 2}
        states = list(reachable(initial, [one, other]))
        for place, name in enumerate("AB"):
            bound = greatest(name, initial, [one, other])
            if bound is None:
                free += 1
                continue
            bounded += 1
            assert max(state[place] for state in states) <= bound
    assert bounded > 300
    assert free > 200


@pytest.mark.parametrize(
    ("name", "initial", "changes", "bound"),
    [
        ("B", {"A": 7, "B": 0}, [{"A": -2, "B": 1}], 3),
        ("B", {"A": 7, "B": 1}, [{"A": -1, "B": 3}], 22),
        ("A", {"A": 7, "B": 0}, [{"A": -1}], 7),
        ("A", {"A": 1, "B": 5}, [{"A": 1, "B": -1}, {"B": -1}], 6),
        ("A", {"A": 1, "B": 5}, [{"A": 1, "B": -1}, {"B": 1}], None),
        ("A", {"A": 0}, [], 0),
    ],
)
def test_bounds(name: str, initial: dict[str, int], changes: list[dict[str, int]], bound: int | None) -> None:
    assert greatest(name, initial, changes) == bound
