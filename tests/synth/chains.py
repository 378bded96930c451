"""Small parametric CTMCs, made at random, and what other parts of Galton say about them at single points."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np

import galton
from galton.lang import Source, parse_model
from galton.lang.expressions import Value
from galton.synth.api import Direction, Synthesis
from galton.synth.evaluator import BackwardEvaluator
from galton.synth.parameters import Range, open_parameters
from galton.synth.parametric_ctmc import ParametricModel, parametric_model

# Two modules that share an action, derived constants, rates of many shapes, a deadlock, rewards that depend on rates.
PLANT = """
ctmc
const double a;
const double b = 0.5;
const double twice = 2*b;
const int N = 3;
formula load = x + y;
module first
  x : [0..N] init 0;
  [] x<N -> a*(N-x) : (x'=x+1);
  [] x>0 -> twice*x : (x'=x-1);
  [move] x>0 -> a*b : (x'=x-1);
  [move] x=0 -> 0.1*b : true;
endmodule
module second
  y : [0..2] init 0;
  [move] y<2 -> (y=0 ? 2 : a) : (y'=y+1) + 0.5 : (y'=0);
  [] y>0 -> a + 0.2*b^2 + 1/b : (y'=y-1);
  [] y=2 -> 0.3 : (y'=0);
endmodule
label "busy" = load>=4;
rewards "cost"
  true : load;
  [move] y=0 : 3*b;
  x=N : a;
endrewards
rewards "moves"
  [move] true : 1;
endrewards
"""
SPACE: dict[str, Range] = {"a": (0.2, 1.5), "b": (0.25, 2.0)}


def parametric(text: str, ranges: Mapping[str, Range], **constants: Value) -> ParametricModel:
    """The parametric model of a text."""
    return parametric_model(open_parameters(parse_model(Source("<text>", text)), constants, ranges))


def at_point(text: str, point: Mapping[str, float], **constants: Value) -> galton.Program:
    """The program with the parameters at one point; those with a value of their own get another."""
    for name, value in point.items():
        start = text.index(f"const double {name}")
        end = text.index(";", start)
        text = f"{text[:start]}const double {name} = {value!r}{text[end:]}"
    return galton.parse(text, **constants)


def value_at(text: str, prop: str, point: Mapping[str, float]) -> tuple[float, float]:
    """Bounds on the number that a property asks for at one point."""
    result = galton.check(at_point(text, point), prop, eps=1e-9)
    assert result.lower is not None
    assert result.upper is not None
    return float(result.lower), float(result.upper)


def points_in(
    low: tuple[float, ...], high: tuple[float, ...], random_ones: int, seed: int = 0
) -> list[tuple[float, ...]]:
    """The corners of a box and points in it."""
    rng = np.random.default_rng(seed)
    corners = np.array(np.meshgrid(*zip(low, high, strict=True), indexing="ij")).reshape(len(low), -1).T
    inside = rng.uniform(low, high, (random_ones, len(low)))
    return [tuple(point) for point in np.concatenate([corners, inside]).tolist()]


def random_chain(seed: int) -> tuple[str, dict[str, Range]]:
    """A parametric chain of a few states whose rates are polynomials in two parameters."""
    rng = random.Random(seed)
    states = rng.randint(3, 6)
    shapes = ["a", "b", "a*b", "2*a+b", "a*a", "0.7", "1+a*b", "b/2", "3-a", "a/b", "1.5*(2-a)*b"]
    lines = []
    for state in range(states):
        for target in rng.sample(range(states), rng.randint(1, min(3, states - 1))):
            lines.append(f"  [] s={state} -> {rng.choice(shapes)} : (s'={target});")
    text = f"""ctmc
const double a;
const double b;
module chain
  s : [0..{states - 1}] init 0;
{chr(10).join(lines)}
endmodule
rewards "r"
  s>0 : s;
  [] s=1 : {rng.choice(["1", "a", "b"])};
endrewards
"""
    low_a, low_b = rng.uniform(0.1, 0.8), rng.uniform(0.1, 0.8)
    return text, {"a": (low_a, low_a + rng.uniform(0.1, 1.0)), "b": (low_b, low_b + rng.uniform(0.1, 1.0))}


def asked_of(
    text: str, prop: str, ranges: Mapping[str, Range], threads: int = 1, direction: Direction = "auto"
) -> BackwardEvaluator:
    """The question what a property's number is over boxes."""
    program = galton.parse(text)
    asked = Synthesis.prepare(program, prop, ranges, {}, accuracy=1.0, threads=threads, direction=direction).evaluator
    assert isinstance(asked, BackwardEvaluator)
    return asked
