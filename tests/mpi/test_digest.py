"""A checkpoint belongs to one program: what could be taken for another's is told apart. Needs no MPI."""

from __future__ import annotations

import pytest

import galton
from galton.backend.petsc.checkpoint import digest
from galton.lower.lowering import lower

BASE = """
dtmc
module m
  x : [0..5] init 0;
  [] x=0 -> 0.3 : (x'=1) + 0.7 : (x'=2); [] x=1 -> (x'=1); [] x=2 -> (x'=2);
endmodule
label "a" = x=1; label "b" = x=2;
"""
CHANGES = {
    "labels in another order": ('label "a" = x=1; label "b" = x=2;', 'label "b" = x=2; label "a" = x=1;'),
    "another upper bound": ("[0..5]", "[0..4]"),
    "another probability": ("0.3 : (x'=1) + 0.7", "0.4 : (x'=1) + 0.6"),
    "another initial value": ("init 0", "init 1"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_programs_that_differ_have_other_digests(change: str) -> None:
    """With labels in another order, arrays of one were read as the other's, and 0.7 was proved for 0.3."""
    old, new = CHANGES[change]
    assert old in BASE
    assert digest(lower(galton.parse(BASE))) != digest(lower(galton.parse(BASE.replace(old, new))))


def test_a_program_has_one_digest() -> None:
    assert digest(lower(galton.parse(BASE))) == digest(lower(galton.parse(BASE.replace("\n", "\n\n"))))
