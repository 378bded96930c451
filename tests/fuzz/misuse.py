"""Campaign: Python misuse: wrong types and shapes, numbers that are none, arrays that are written into.

An error is fine if it is one of Galton's or says which argument is of the wrong type or shape; a crash is not, and a
number after an array was changed has to be that of the old model or of the new one.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import scipy.sparse

import galton

from . import chains, exact
from .judge import Judge, Late, alarm, below
from .model import Made

PARAMETRIC = "ctmc const double k; module m s:[0..1]; [] s=0 -> k:(s'=1); endmodule"
ODD: list[Any] = [
    None, True, -1, 0, 3, 2**40, 1.5, float("nan"), float("inf"), -0.0, "", "dtmc", b"x", [], [1], [[1]], {}, {"a": 1},
    object(), np.array([]), np.array([[0.5, 0.5], [0, 1]]), np.array(["a"]), np.int64(1), 1j, [None],
    [[np.nan, 1], [0, 1]], [[-0.5, 1.5], [0, 1]], [[np.inf, 0], [0, 1]], scipy.sparse.eye(3), lambda: 1, range(3),
]  # fmt: skip
FINE = (TypeError, ValueError, AttributeError, OSError)  # Python's own words for a wrong argument


def play(random: Random, judge: Judge) -> None:
    judge.tally.models += 1
    random.choice([arguments, arguments, entries, written_into])(random, judge)


def attempt(judge: Judge, question: str, work: Callable[[], Any]) -> Any:
    judge.tally.questions += 1
    try:
        with alarm(20):
            return work()
    except galton.GaltonError:
        judge.tally.refused["a message about an argument"] += 1
    except Late as late:
        judge.fail(question, str(late))
    except FINE as error:
        judge.tally.refused[f"{type(error).__name__}"] += 1
    except Exception as error:
        judge.fail(question, f"{type(error).__name__}: {error}"[:300])
    return None


def arguments(random: Random, judge: Judge) -> None:
    """A good call with one argument that is odd."""
    good = np.array([[0.5, 0.5], [0.0, 1.0]])
    odd = random.choice(ODD)
    call = random.choice(
        [
            lambda: galton.Model.from_matrix(odd, good),
            lambda: galton.Model.from_matrix("dtmc", odd),
            lambda: galton.Model.from_matrix("dtmc", good, initial=odd),
            lambda: galton.Model.from_matrix("dtmc", good, labels=odd),
            lambda: galton.Model.from_matrix("dtmc", good, labels={"a": odd}),
            lambda: galton.Model.from_matrix("dtmc", good, rewards={"r": odd}),
            lambda: galton.Model.from_matrix("mdp", good, row_groups=odd),
            lambda: galton.Model.from_matrix("mdp", good, row_groups=[0, 1, 2], actions=odd),
            lambda: galton.Model.from_function(odd, 0),
            lambda: galton.Model.from_function(lambda s: odd, 0),
            lambda: galton.Model.from_function(lambda s: [(odd, 1)], 0),
            lambda: galton.check(odd, "P=? [ F true ]"),
            lambda: galton.check(galton.Model.from_matrix("dtmc", good), odd),
            lambda: galton.check(galton.Model.from_matrix("dtmc", good), 'P=? [ F "init" ]', eps=odd),
            lambda: galton.check(galton.Model.from_matrix("dtmc", good), 'P=? [ F "init" ]', method=odd),
            lambda: galton.parse(odd),
            lambda: galton.parse(PARAMETRIC, k=odd).build(),
            lambda: galton.synthesize(galton.parse(PARAMETRIC), "P>=0.5 [ F<=1 s=1 ]", k=odd),
            lambda: galton.Regions.from_json(odd),
            lambda: galton.read_model(odd),
        ]
    )  # fmt: skip
    found = attempt(judge, f"(a call with {odd!r})"[:300], call)
    if isinstance(found, galton.Model):
        attempt(judge, f"(a model made with {odd!r})"[:300], lambda: galton.check(found, ask(found, 'F "init"')))


def ask(model: galton.Model, path: str) -> str:
    return f"P{'max' if model.type == 'mdp' else ''}=? [ {path} ]"


def entries(random: Random, judge: Judge) -> None:
    """A matrix given by its parts, some of which are not what they should be."""
    n = random.randint(1, 4)
    count = random.randint(0, 8)
    values = np.array([random.choice([0.5, 1.0, 0.25, -0.5, np.nan, np.inf, 1e-320, 0.0]) for _ in range(count)])
    rows = np.array([random.choice([0, 1, n - 1, n, -1, 70_000]) for _ in range(count)])
    columns = np.array([random.choice([0, 1, n - 1, n, -1]) for _ in range(count)])
    kind = random.choice(["dtmc", "ctmc", "mdp"])
    groups = random.choice([None, list(range(n + 1)), [0, n], [0, *range(n), n], [n, 0], [0, 2**40], [-1, n]])
    what = f"({kind} of {values.tolist()} at {rows.tolist()}, {columns.tolist()} of {groups})"
    found = attempt(judge, what, lambda: galton.Model.from_matrix(kind, (values, (rows, columns)), row_groups=groups))
    if found is not None:
        attempt(judge, what, lambda: galton.check(found, ask(found, "X true")))


def written_into(random: Random, judge: Judge) -> None:
    """Arrays of a model and those it was made of, changed after a question, and asked again."""
    made = chains.chain(random, random.choice(["dtmc", "ctmc"]), random.randint(2, 6))
    model = judge.build(made, text=random.random() < 0.5 and not any(map(any, made.gains)))
    if model is None:
        return
    question = 'P=? [ F "b" ]'
    attempt(judge, question, lambda: galton.check(model, question))
    name = random.choice(["values", "columns", "row_starts", "initial", "labels", "rewards", "matrix"])
    holder: Any = {
        "labels": lambda: model.labels["b"],
        "rewards": lambda: model.rewards["r"].state,
        "matrix": lambda: getattr(model.matrix, random.choice(["data", "indices", "indptr"])),
    }.get(name, lambda: getattr(model, name))()
    array = getattr(holder, "codes", holder)  # values may be numbers into a dictionary
    value = random.choice([-1, 0, 1, 2**30, 10**6])
    changed = False
    if isinstance(array, np.ndarray) and array.size:
        try:
            with np.errstate(all="ignore"):
                array.flat[random.randrange(array.size)] = np.array(value).astype(array.dtype)
            changed = True
        except ValueError:
            pass  # read-only, as it should be where the core relies on it
    result = attempt(judge, f"{question} after {name}[…] = {value}", lambda: galton.check(model, question))
    if result is not None and not changed and not any(s in made.labels["b"] for s in [made.initial]):
        same(judge, made, question, result)


def same(judge: Judge, made: Made, question: str, result: galton.Result) -> None:
    """Nothing was changed, so nothing may be."""
    truth = exact.until(made.rows, set(range(made.n)), made.labels["b"])[made.initial]
    judge.tally.numbers += 1
    if below(truth, result.lower):
        judge.fail(question, f"{result.lower} is above the truth", made.text)
