"""The synthesis problems of the benchmark are about models and constants that the gallery has."""

from __future__ import annotations

from typing import Any

import pytest
from gallery import ENTRIES, model_file, open_constants

from galton.bench.synth_cases import CASES
from galton.lang import Source, check_program, parse_constants, parse_properties
from galton.lang.resolution import resolve

each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def test_all_tables() -> None:
    assert [case.table for case in CASES] == [1, 1, 1, 2, 2, 3, 3, 4, 5]


@each_case
def test_a_problem_is_complete(case: Any) -> None:
    file = model_file(f"{case.model}.prism")
    given = parse_constants(case.constants)
    assert set(given).isdisjoint(case.ranges)
    assert open_constants(file) <= set(given) | set(case.ranges), "what is not a parameter has a value"
    assert set(case.ranges) <= {constant.name.name for constant in file.constants}
    upper = {name: high for name, (_, high) in case.ranges.items() if name in open_constants(file)}
    program = check_program(file, {**given, **upper})
    _, (question,) = resolve(parse_properties(Source("property", case.prop)), program, {})
    assert question.prop.error is None
    assert ("=?" in case.prop) == (case.kind != "threshold")


@each_case
def test_the_catalogue_has_the_instance(case: Any) -> None:
    (entry,) = [entry for entry in ENTRIES if entry["file"] == f"{case.model}.prism"]
    sizes = {(instance["states"], instance["transitions"]) for instance in entry["instances"]}
    assert (case.states, case.transitions) in sizes


@each_case
def test_the_best_time_on_the_device(case: Any) -> None:
    assert case.best == case.times[case.device] == min(case.times[name] for name in case.times if name != "Java")
    assert case.sequential == case.times["Java"]
