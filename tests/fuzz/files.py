"""Campaign: texts and files with a few bytes changed. There is an answer or a message, never a traceback or a crash.

What is read is asked about as well: a matrix that was believed may crash what works on it. The runner sees crashes.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from random import Random

import galton

from .judge import Judge, Late, alarm

SECONDS = 20  # for a question about a model of a few states
DTMC = """dtmc
const double p = 0.3;
const int N = 4;
formula up = min(x+1, N);
module walk
  x : [0..N] init 1;
  lost : bool init false;
  [go] x>0 & x<N & !lost -> p : (x'=up) + 1-p-0.1 : (x'=x-1) + 0.1 : (lost'=true);
  [] x=0 | x=N | lost -> true;
endmodule
label "home" = x=N & !lost;
rewards "steps" x>0 & x<N : 1; [go] true : 0.5; endrewards
"""
MDP = """mdp
module m
  s : [0..4] init 0;
  [a] s<3 -> 0.5 : (s'=s+1) + 0.5 : (s'=0);
  [b] s<3 -> 0.9 : (s'=s) + 0.1 : (s'=4);
  [] s>=3 -> true;
endmodule
rewards s<3 : 1; endrewards
"""
CTMC = """ctmc
const double k;
module q
  n : [0..3] init 0;
  [] n<3 -> k : (n'=n+1);
  [] n>0 -> 2*n : (n'=n-1);
endmodule
"""
PROPERTIES = [
    "P=? [ F x=N ]",
    'P>=0.25 [ !lost U<=7 "home" ]',
    'R{"steps"}=? [ F x=0 | x=4 | lost ]',
    'filter(max, P=? [ G<=3 x<N ], x>0 & !"deadlock")',
    "1 - P=? [ X x=2 ] / 3",
    'R{"steps"}=? [ C<=20 ]',
    "S=? [ lost ]",
    'const int k = 3; P=? [ F[k,2*k] "home" ]',
    "P<=0.5 [ F (x=2 & P>0.1 [ X x=3 ]) ]",
]
WORDS = """
int bool true false min max pow mod P= R= F G U W X S C<= I= => <=> ! & | ( ) [ ] { } ' .. ; : -> + - * / 0 1 -1 1e30
1e308 1e-320 1e400 0.1 1/0 99999999999999999999 9007199254740993 nan inf module endmodule rewards formula const ctmc mdp
dtmc init label filter(state, filter(forall, x lost N p // /* é 🎲 " \0
"""
NUMBERS = [0, -1, 1, 2**31, 2**31 - 1, -(2**31), 2**63, 10**12, 1e12, 1e400, -0.0, 0.5, None, True, "", "x", [], {}]


def play(random: Random, judge: Judge) -> None:
    judge.tally.models += 1
    random.choice([model_text, property_text, property_text, explicit, explicit, archive, strategy, resume])(
        random, judge
    )


# -- changes


def scramble(random: Random, text: str) -> str:
    """A few changes of words and letters."""
    for _ in range(random.choice([1, 1, 2, 3, 8])):
        at = random.randrange(len(text) + 1)
        end = min(len(text), at + random.choice([0, 0, 1, 1, 2, 5, 20]))
        kind = random.random()
        if kind < 0.6:
            text = text[:at] + random.choice(WORDS.split()) + text[end:]
        elif kind < 0.8:
            text = text[:at] + text[end:]
        else:
            start = random.randrange(len(text) + 1)
            text = text[:at] + text[start : start + random.randint(1, 40)] + text[at:]
    return text


def corrupt(random: Random, data: bytes) -> bytes:
    """A few bytes that are others, more or fewer."""
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 4])):
        at = random.randrange(len(changed) + 1)
        kind = random.random()
        if kind < 0.5 and at < len(changed):
            changed[at] = random.choice(
                [0, 255, 45, 57, changed[at] ^ (1 << random.randrange(8)), random.randrange(256)]
            )
        elif kind < 0.7:
            changed[at:at] = random.choice(
                [b"-", b"9", b"e9", b"\n", b"nan", b"0 0 0.5\n", b"4294967296", bytes([0] * 8)]
            )
        elif kind < 0.9:
            del changed[at : at + random.choice([1, 1, 3, 30])]
        else:
            del changed[at:]
        changed = changed or bytearray(b" ")
    return bytes(changed)


def bend(random: Random, value: object) -> object:
    """One place of a JSON value, changed."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = random.choice(list(value))
        if random.random() < 0.2:
            return {k: v for k, v in value.items() if k != key}
        return value | {key: bend(random, value[key])}
    if isinstance(value, list) and value and random.random() < 0.9:
        at = random.randrange(len(value))
        if random.random() < 0.2:
            return value[:at] + value[at + 1 :]
        return [*value[:at], bend(random, value[at]), *value[at + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and random.random() < 0.3:
        return random.choice([-value, value + 1, value * 10**9, value / 3])
    return random.choice(NUMBERS)


# -- what is done with them


def quietly(judge: Judge, question: str, shown: str, work: object) -> None:
    """Do it; an error of Galton's is what it should be, any other is a failure."""
    judge.tally.questions += 1
    try:
        with alarm(SECONDS):
            work()  # type: ignore[operator]
    except galton.GaltonError:
        judge.tally.refused["a message about the text or file"] += 1
    except Late as late:
        judge.fail(question, str(late), shown)
    except Exception as error:
        judge.fail(question, f"{type(error).__name__}: {error}"[:300], shown)


def command(judge: Judge, *words: str, shown: str = "") -> None:
    """The command line, in this process."""
    from galton.cli import main

    judge.tally.questions += 1
    out, before = io.StringIO(), sys.argv
    sys.argv = ["galton", *words]
    question = "galton " + " ".join(w if w.isalnum() else repr(w) for w in words)
    try:
        with alarm(SECONDS), redirect_stdout(out), redirect_stderr(out):
            main()
    except SystemExit as end:
        if end.code not in (0, 1, 2, None):
            judge.fail(question, f"exit code {end.code}: {out.getvalue()[-300:]}", shown)
    except Late as late:
        judge.fail(question, str(late), shown)
    except BaseException as error:
        judge.fail(question, f"{type(error).__name__}: {error}"[:300], shown)
    finally:
        sys.argv = before
    if "Traceback" in out.getvalue():
        judge.fail(question, out.getvalue()[-300:], shown)
    if any(word == "-0" for word in out.getvalue().split()):
        judge.fail(question, "-0 is printed", shown)


def model_text(random: Random, judge: Judge) -> None:
    text = scramble(random, random.choice([DTMC, MDP, CTMC]))

    def work() -> None:
        program = galton.parse(text)
        galton.check(program.build(max_states=20_000), "filter(count, true)")

    quietly(judge, "(a text)", text, work)


def property_text(random: Random, judge: Judge) -> None:
    text = scramble(random, random.choice(PROPERTIES))
    quietly(judge, text, DTMC, lambda: galton.check(model(), text))


@cache
def model() -> galton.Model:
    return galton.parse(DTMC).build()


@cache
def files() -> dict[str, bytes]:
    """The same small models in all formats."""
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, text in (("chain", DTMC), ("mdp", MDP)):
            built = galton.parse(text).build()
            paths = [
                Path(folder) / f"{name}.{suffix}" for suffix in ("tra", "sta", "lab", "srew", "trew", "mtx", "npz")
            ]
            for path in paths:
                with suppress(galton.GaltonError):  # not every model can be written in every format
                    for written in galton.write_model(built, [path]):
                        found[written.name] = written.read_bytes()
    return found


def read(judge: Judge, contents: dict[str, bytes], shown: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in contents]
        for path in paths:
            path.write_bytes(contents[path.name])

        def work() -> None:
            found = galton.read_model(paths)
            if found.n_states < 100_000:
                optimum = "max" if found.type == "mdp" else ""
                galton.check(found, f'P{optimum}=? [ F "deadlock" ]')
                galton.check(found, f"filter(max, R{optimum}=? [ C<=3 ])" if found.rewards else "filter(count, true)")

        quietly(judge, f"(reading {', '.join(contents)})", shown, work)


def explicit(random: Random, judge: Judge) -> None:
    name = random.choice(["chain", "mdp"])
    chosen = {n: c for n, c in files().items() if n.startswith(name) and not n.endswith(("npz", "mtx"))}
    if random.random() < 0.2:
        chosen = {n: c for n, c in files().items() if n == "chain.mtx"}
    victim = random.choice(sorted(chosen))
    chosen[victim] = corrupt(random, chosen[victim])
    read(judge, chosen, repr(chosen[victim])[:1500])


def archive(random: Random, judge: Judge) -> None:
    """Bytes of an archive; or, because a checksum finds most of those, numbers in its arrays."""
    import numpy as np

    name = random.choice(["chain.npz", "mdp.npz"])
    data = files()[name]
    if random.random() < 0.3:
        read(judge, {name: corrupt(random, data)}, "")
        return
    arrays = dict(np.load(io.BytesIO(data), allow_pickle=False))
    key = random.choice(sorted(arrays))
    array = np.array(arrays[key])
    change = f"{key}: "
    kind = random.random()
    if array.dtype.kind == "U":  # what the arrays mean
        array = np.array(json.dumps(bend(random, json.loads(str(array)))))
        change += str(array)[:1000]
    elif kind < 0.6 and array.size and array.dtype.kind in "iufb":
        at = random.randrange(array.size)
        with np.errstate(all="ignore"):
            value = random.choice([-1, 2**31 - 1, array.size, np.nan, np.inf, -0.5, 7, 0])
            array.flat[at] = np.array(value).astype(array.dtype)
        change += f"[{at}] = {value}"
    elif kind < 0.7:
        array = array.astype(
            random.choice(["int64", "float64", "float32", "uint8", "complex128", "U5"]), casting="unsafe"
        )
        change += str(array.dtype)
    elif kind < 0.85:
        array = (
            random.choice([array[:-1], array.reshape(-1, 1), np.append(array, array[:1]), array[:0]])
            if array.ndim
            else array
        )
        change += str(array.shape)
    else:
        del arrays[key]
        change += "gone"
    if key in arrays:
        arrays[key] = array
    written = io.BytesIO()
    np.savez(written, **arrays)
    read(judge, {name: written.getvalue()}, change)


@cache
def written_strategy() -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "best.json"
        galton_main("check", _file(folder, "m.prism", MDP), "-p", "Pmax=? [ F<=5 s=3 ]", "--strategy", str(path))
        return path.read_text()


@cache
def written_regions() -> str:
    return galton.synthesize(galton.parse(CTMC), "P>=0.5 [ F<=2 n=3 ]", k=(0.5, 4.0), volume=0.4).to_json()


def galton_main(*words: str) -> str:
    """The command line, in this process; what it prints."""
    from galton.cli import main

    out, before = io.StringIO(), sys.argv
    sys.argv = ["galton", *words]
    try:
        with redirect_stdout(out), redirect_stderr(io.StringIO()), suppress(SystemExit):
            main()
    finally:
        sys.argv = before
    return out.getvalue()


def _file(folder: str, name: str, text: str) -> str:
    path = Path(folder) / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return str(path)


def broken(random: Random, text: str) -> str:
    """A JSON text, with its bytes or its values changed."""
    if random.random() < 0.3:
        return corrupt(random, text.encode()).decode("utf-8", "surrogateescape")
    lines = text.splitlines()
    try:
        return json.dumps(bend(random, json.loads(text)))
    except ValueError:  # a value on each line
        at = random.randrange(len(lines))
        return "\n".join([*lines[:at], json.dumps(bend(random, json.loads(lines[at]))), *lines[at + 1 :]])


def strategy(random: Random, judge: Judge) -> None:
    text = broken(random, written_strategy())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # so that what is printed has no name that changes
        _file(folder, "m.prism", MDP)
        _file(folder, "best.json", text)
        command(judge, "check", "m.prism", "-p", "P=? [ F<=5 s=3 ]", "--apply", "best.json", shown=text[:1500])
        os.chdir("/")


def resume(random: Random, judge: Judge) -> None:
    text = broken(random, written_regions())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _file(folder, "m.prism", CTMC)
        _file(folder, "regions.json", text)
        question = ["-p", "P>=0.5 [ F<=2 n=3 ]", "--param", "k=0.5:4", "--tolerance", "0.3"]
        command(judge, "synth", "m.prism", *question, "--resume", "regions.json", shown=text[:1500])
        os.chdir("/")
