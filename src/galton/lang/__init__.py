"""The PRISM language: from text to syntax trees, checked programs and properties.

Parsing and checking are two steps, so that a property file or an editor can look at a model whose constants are still
open. Names are imported on first use, which keeps the start of a command-line tool quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .checker import check_program as check_program
    from .constants import Constants as Constants
    from .constants import parse_constants as parse_constants
    from .constants import resolve_constants as resolve_constants
    from .evaluation import EvaluationError as EvaluationError
    from .evaluation import evaluate as evaluate
    from .expression_parser import parse_expression as parse_expression
    from .expressions import Expression as Expression
    from .expressions import Type as Type
    from .expressions import Value as Value
    from .model_parser import parse_model as parse_model
    from .properties import Property as Property
    from .properties import PropertyFile as PropertyFile
    from .property_parser import parse_properties as parse_properties
    from .rendering import render as render
    from .source import GaltonError as GaltonError
    from .source import LanguageError as LanguageError
    from .source import Source as Source
    from .source import Span as Span
    from .source import UnsupportedError as UnsupportedError
    from .syntax import ModelFile as ModelFile
    from .types import Scope as Scope

_HOME = {
    "Constants": "constants",
    "EvaluationError": "evaluation",
    "Expression": "expressions",
    "GaltonError": "source",
    "LanguageError": "source",
    "ModelFile": "syntax",
    "Property": "properties",
    "PropertyFile": "properties",
    "Scope": "types",
    "Source": "source",
    "Span": "source",
    "Type": "expressions",
    "UnsupportedError": "source",
    "Value": "expressions",
    "check_program": "checker",
    "evaluate": "evaluation",
    "parse_constants": "constants",
    "parse_expression": "expression_parser",
    "parse_model": "model_parser",
    "parse_properties": "property_parser",
    "render": "rendering",
    "resolve_constants": "constants",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value
