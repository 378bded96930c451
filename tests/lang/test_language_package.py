from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import galton.lang


def test_every_public_name_is_there() -> None:
    for name in galton.lang.__all__:
        assert not isinstance(getattr(galton.lang, name), ModuleType)


def test_parsing_loads_no_arrays() -> None:
    program = """
import sys
from galton.lang import Source, parse_model, parse_properties, render
parse_model(Source("m", "module m x : bool; [] x -> true; endmodule"))
render(parse_properties(Source("p", "P=? [ F x ]")).properties[0].expression)
assert "numpy" not in sys.modules and "difflib" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_program_can_be_imported_first() -> None:
    subprocess.run(
        [sys.executable, "-c", "import galton.lang.program; from galton.lang import check_program"], check=True
    )
