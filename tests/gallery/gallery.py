"""The gallery's own catalogue, ``models/gallery.json``: instances with their sizes, properties with their values."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from galton.checking.answering import check
from galton.checking.result import Result
from galton.explore import build
from galton.lang import Source, check_program, parse_model, parse_properties
from galton.lang.program import Program
from galton.lang.properties import PropertyFile
from galton.lang.resolution import resolve
from galton.lang.syntax import ModelFile
from galton.model import Model

FOLDER = Path(__file__).parents[2] / "models"
ENTRIES: list[dict[str, Any]] = json.loads((FOLDER / "gallery.json").read_text())["models"]
SMALL, MEDIUM = 300_000, 3_000_000  # states
RELATIVE = 1e-6


@lru_cache
def model_file(name: str) -> ModelFile:
    return parse_model(Source(name, (FOLDER / name).read_text()))


@lru_cache
def property_file(name: str) -> PropertyFile:
    return parse_properties(Source(name, (FOLDER / name).read_text()))


def open_constants(file: ModelFile | PropertyFile) -> set[str]:
    """The constants that need a value."""
    return {constant.name.name for constant in file.constants if constant.value is None}


def program(name: str, constants: dict[str, Any]) -> Program:
    """A gallery model with the constants that are its own among some."""
    file = model_file(name)
    return check_program(file, {key: constants[key] for key in open_constants(file)})


@lru_cache(maxsize=2)
def _built(name: str, constants: str, device: str) -> Model:
    return build(program(name, json.loads(constants)), device=device)


def built(name: str, constants: dict[str, Any]) -> Model:
    """A gallery model, built once for tests in a row that ask for the same."""
    own = {key: constants[key] for key in sorted(open_constants(model_file(name)))}
    return _built(name, json.dumps(own), build.__kwdefaults__["device"])  # which tests swap


def title(name: str, constants: dict[str, Any], *more: str) -> str:
    """A name for a test."""
    return " ".join([Path(name).stem, *more, *(f"{key}={value}" for key, value in constants.items())])


def number(value: float | str) -> float:
    """A value of the catalogue: a number, or a fraction as a text."""
    return float(Fraction(value)) if isinstance(value, str) else float(value)


def assert_value(entry: dict[str, Any], expected: dict[str, Any]) -> Result:
    """A property of a model has the value that the catalogue says."""
    constants = expected["constants"]
    file = property_file(entry["properties_file"])
    given = {name: constants[name] for name in open_constants(file) if name in constants}
    context, resolved = resolve(file, program(entry["file"], constants), given)
    (question,) = [question for question in resolved if question.prop.name == expected["name"]]
    result = check(context, built(entry["file"], constants), question)
    if isinstance(expected["value"], bool):
        assert result.value is expected["value"]
    else:
        tolerance = max(RELATIVE, expected.get("rtol", 0.0))
        assert result.value == pytest.approx(number(expected["value"]), rel=tolerance, abs=0)
    return result
