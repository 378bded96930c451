"""The words and signs of the language, in plain words. Operators and functions are those of ``lang/operations.py``."""

from __future__ import annotations

from ..lang.operations import BINARY, FUNCTIONS, OPERATIONS, UNARY, Operation

__all__ = ["FILTER_WORDS", "KEYWORD_WORDS", "about", "signature"]

_TYPES = {"bool": "bool", "int": "int", "number": "number", "alike": "number or bool", "choice": "bool"}

KEYWORD_WORDS: dict[str, str] = {
    "dtmc": "A discrete-time Markov chain: each step has a probability. `probabilistic` is the old word.",
    "probabilistic": "A discrete-time Markov chain; today one writes `dtmc`.",
    "ctmc": "A continuous-time Markov chain: each transition has a rate. `stochastic` is the old word.",
    "stochastic": "A continuous-time Markov chain; today one writes `ctmc`.",
    "mdp": "A Markov decision process: where several commands are enabled, the choice among them is open.",
    "nondeterministic": "A Markov decision process; today one writes `mdp`.",
    "const": "Declares a constant: `const int N = 5;`, or `const int N;`, whose value is given from outside.",
    "rate": "Declares a constant of type double; today one writes `const double`.",
    "prob": "Declares a constant of type double; today one writes `const double`.",
    "int": "The type of whole numbers.",
    "double": "The type of real numbers, as doubles.",
    "bool": "The type of `true` and `false`.",
    "true": "What always holds; as an update, nothing changes.",
    "false": "What never holds.",
    "global": "Declares a variable that all modules may write, in commands without an action.",
    "formula": "Gives an expression a name, which stands for it everywhere: `formula busy = x>0;`.",
    "label": 'Names a set of states, for properties: `label "done" = x=N;`.',
    "init": "The initial value of a variable, or `init … endinit`: all states where an expression holds are initial.",
    "endinit": "Ends `init`.",
    "module": "A part of the model with its own variables and commands; or a copy: `module b = a [x=y] endmodule`.",
    "endmodule": "Ends `module`.",
    "rewards": "Rewards, or costs, of states (`guard : value;`) and transitions (`[action] guard : value;`).",
    "endrewards": "Ends `rewards`.",
    "system": "How modules are put together: `||`, `|||`, `|[a]|`, `/{a}`, `{a<-b}`.",
    "endsystem": "Ends `system`.",
    "min": "The least of some numbers; in properties, the least over all strategies.",
    "max": "The greatest of some numbers; in properties, the greatest over all strategies.",
    "func": "The old way to call a function: `func(min, a, b)` is `min(a, b)`.",
    "filter": "What the values of a property in some states come to: `filter(max, P=? [ F a ], states)`.",
    "P": "The probability of all paths that satisfy a formula: `P=? [ F a ]`, `P>=0.9 [ F a ]`.",
    "Pmin": "The least probability over all strategies: `Pmin=? [ F a ]`.",
    "Pmax": "The greatest probability over all strategies: `Pmax=? [ F a ]`.",
    "R": 'The expected reward: `R{"cost"}=? [ F a ]`, `[ C<=t ]`, `[ I=t ]`, `[ S ]`. In a path formula, release.',
    "Rmin": "The least expected reward over all strategies.",
    "Rmax": "The greatest expected reward over all strategies.",
    "S": "How much of the long run is spent in some states: `S=? [ a ]`. In rewards, the long-run average.",
    "A": "Whether all paths satisfy a formula: `A [ F a ]`.",
    "E": "Whether some path satisfies a formula: `E [ F a ]`.",
    "X": "Next: in the next state.",
    "F": "Finally: at some time, perhaps within a bound: `F<=10 a`.",
    "G": "Globally: at all times, perhaps within a bound: `G<=10 a`.",
    "U": "Until: `a U b`, b at some time, and a up to then.",
    "W": "Weak until: as until, but b need not come if a holds for ever.",
    "C": "The reward that is collected: `C<=t` up to a time, `C` for ever.",
    "I": "The reward at a time: `I=t`.",
    "multi": "Several objectives at once: `multi(Pmax=? [ F a ], Pmax=? [ F b ])`.",
    "quantile": "The least or greatest bound for which something holds: `quantile(min b, P>=0.9 [ F<=b a ])`.",
    "T": "The expected time, or number of steps: `T=? [ F a ]`.",
    "Tmin": "The least expected time over all strategies.",
    "Tmax": "The greatest expected time over all strategies.",
    "LRA": "How much of the long run is spent in some states, as Storm writes it; PRISM writes `S`.",
    "LRAmin": "The least share of the long run over all strategies.",
    "LRAmax": "The greatest share of the long run over all strategies.",
    "Smin": "The least share of the long run over all strategies.",
    "Smax": "The greatest share of the long run over all strategies.",
    "rew": 'A bound on a reward: `F^{rew{"cost"}<=5} a`.',
    "steps": "A bound on the number of steps: `F^{steps<=5} a`.",
    "time": "A bound on the time: `F^{time<=5} a`.",
    "HOA": 'The paths that an automaton in a file accepts: `HOA: {"file.hoa", "p" <- states}`.',
    "clock": "A clock of a timed model, which Galton does not check.",
    "invariant": "An invariant of a timed model, which Galton does not check.",
    "endinvariant": "Ends `invariant`.",
    "observables": "What is seen of a partially observable model, which Galton does not check.",
    "endobservables": "Ends `observables`.",
    "observable": "What is seen of a partially observable model, which Galton does not check.",
    "pomdp": "A partially observable MDP, which Galton does not check.",
    "popta": "A partially observable timed automaton, which Galton does not check.",
    "pta": "A timed automaton, which Galton does not check.",
}
"""What keywords mean, and the words of properties that are names elsewhere."""

FILTER_WORDS: dict[str, str] = {
    "min": "the least value",
    "max": "the greatest value",
    "argmin": "the states with the least value",
    "argmax": "the states with the greatest value",
    "count": "how many states satisfy it",
    "sum": "the sum of the values",
    "avg": "the average of the values",
    "first": "the value in the first state",
    "range": "the least and the greatest value",
    "forall": "whether all states satisfy it",
    "exists": "whether some state satisfies it",
    "print": "the values that are not 0 or false, listed",
    "printall": "all values, listed",
    "state": "the value in the only state",
}
"""What filters of properties give."""

_SIGNS = {
    "->": "Between the guard of a command and its updates.",
    "..": "From one number to another, both included.",
    "'": "The value of a variable after the update: `(x'=x+1)`.",
    ":": "Behind a probability, a rate, the states of a reward, or the name of a variable.",
}


def about(text: str, *, unary: bool = False) -> str | None:
    """What a word or sign of the language means, as Markdown; None for others.

    >>> about("mod").splitlines()[0]
    '`mod(a: int, b: int) → int`'
    """
    operation = FUNCTIONS.get(text) or (UNARY.get(text) if unary else None) or BINARY.get(text) or UNARY.get(text)
    if text == "?":
        operation = next(row for row in OPERATIONS if row.text == ("?:",))
    if operation is not None:
        return f"`{signature(operation, text)}`\n\n{operation.about}"
    return KEYWORD_WORDS.get(text) or _SIGNS.get(text)


def signature(operation: Operation, text: str) -> str:
    """How an operation is written, with types."""
    takes, gives = _TYPES[operation.takes], operation.gives
    result = {"widest": "int or double", "branch": "the type of the branches"}.get(gives, gives)
    if text.isidentifier():
        names = [f"{name}: {takes}" for name in "abc"[: operation.arity]] + ["…"] * operation.chained
        return f"{text}({', '.join(names)}) → {result}"
    if operation.arity == 3:
        return f"condition ? a : b → {result}"
    written = f"{text}a" if operation.arity == 1 else f"a {text} b"
    return f"{written}, of {takes}s → {result}".replace("number or bools", "two numbers or two bools")
