"""Time bounds of stiff CTMCs: equations, uniformisation and Storm, side by side in one run.

    python bench/stiff.py [--only cascade,controller] [--repeat 2] [--timeout 120] [--threads 2] [--cpu] [--quick]
    python bench/stiff.py --never-slower [--only cycle] [--repeat 5]

For each question: q·t, the jumps to expect; the best seconds of solving it as Galton does by default, by equations
(``--method rational-krylov``), by uniformisation (``--method uniformisation``), and by Storm as it comes; and how many
times faster the default is than the last two. Every measurement runs in a process of its own, which builds the model
before the clock starts, and is ended after ``--timeout`` seconds: then its time stands with a ">". Galton's bounds must
overlap, and hold Storm's value up to 1e-5 of it but for ``I=t``, else the program ends with an error.

The models of the gallery come first; then those that the method was not made for: a cycle, whose numbers swing, stages
that follow each other, a queue, states with rates drawn at random, and blocks that hardly meet.

``--never-slower`` compares the default with what it would be without equations, and with uniformisation, where
equations do not pay, or hardly: cycles, stages and queues of several sizes, CTMCs of the gallery within a time, and
nine kinds of chains that are younger than the rule that decides. Seconds are those of the processor, with one thread,
the best of some runs in turns inside one process. The program ends with an error where the default takes more than 1.05
times as long and 10 ms more because equations were tried in vain. Without equations it may still take longer than
uniformisation, because going forward was tried (``bench/timed.py``).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

MODELS = Path(__file__).resolve().parent.parent / "models"
WAYS = ("default", "rational-krylov", "uniformisation", "storm")
LINE = "{:11} {:26} {:24} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8}  {}"
COLUMNS = (
    *("model", "constants", "property", "states", "jumps", "default", "equations", "steps", "Storm"),
    *("x steps", "x Storm", "by"),
)


class Question(NamedTuple):
    """A property of a model."""

    model: str
    constants: dict[str, Any]
    text: str


CYCLE = """ctmc
const int N;
module cycle
  s : [0..N-1] init 0;
  [] true -> (s<10 ? 1e4 : 10) : (s'=mod(s+1, N));
  [] s>0 & s<10 -> 1e4 : (s'=s-1);
endmodule
label "half" = s=floor(N/2);
rewards "place" true : s; endrewards
"""
STAGES = """ctmc
const int N;
module stages
  s : [0..N] init 0;
  busy : bool init false;
  [] s<N & busy -> 1 : (s'=s+1);
  [] !busy -> 2000 : (busy'=true);
  [] busy -> 3000 : (busy'=false);
endmodule
label "done" = s=N;
rewards "place" true : s; endrewards
"""
QUEUE = """ctmc
const int N;
module queue
  n : [0..N] init 0;
  fast : bool init true;
  [] n<N -> 800 : (n'=n+1);
  [] n>0 -> (fast ? 1000 : 790) : (n'=n-1);
  [] fast -> 0.01 : (fast'=false);
  [] !fast -> 0.1 : (fast'=true);
endmodule
label "full" = n=N;
rewards "length" true : n; endrewards
"""
BLOCKS = """ctmc
const int N;
module blocks
  block : [0..20] init 0;
  x : [0..N] init 0;
  y : [0..N] init 0;
  [] x<N -> 500+7*y : (x'=x+1);
  [] x>0 -> 20*x    : (x'=x-1);
  [] y<N -> 300     : (y'=y+1);
  [] y>0 -> 15*y+x  : (y'=y-1);
  [] x=N & y=0 & block<20 -> 0.5 : (block'=block+1);
  [] x=0 & y=N & block>0  -> 0.3 : (block'=block-1);
endmodule
label "last" = block=5;
rewards "block" true : block; endrewards
"""
# Rates from 1e-4 to 1e4, as good as random: digits of multiples of irrational numbers.
RANDOM = """ctmc
const int N;
formula a = mod(floor(1000*(s*0.6180339887+0.3)), 1000)/1000;
formula b = mod(floor(1000*(s*0.4142135623+0.7)), 1000)/1000;
formula c = mod(floor(1000*(s*0.7320508075+0.1)), 1000)/1000;
module random
  s : [0..N-1] init 0;
  [] true -> pow(10, 8*a-4) : (s'=mod(s*17+5, N));
  [] true -> pow(10, 8*b-4) : (s'=mod(s*31+11, N));
  [] true -> pow(10, 6*c-3) : (s'=mod(s+1, N));
endmodule
label "end" = s=N-1;
rewards "place" true : mod(s, 10); endrewards
"""
# The next ones are younger than the rule that decides whether equations are tried: no constant was chosen on them.
RING = """ctmc
const int N;
module ring
  s : [0..N-1] init 0;
  [] true -> (mod(s, 50)=0 ? 5000 : 30) : (s'=mod(s+1, N));
  [] true -> (mod(s, 50)=1 ? 5000 : 20) : (s'=mod(s+N-1, N));
endmodule
label "far" = s=floor(N/2);
rewards "place" true : s; endrewards
"""
BURSTS = """ctmc
const int N;
module bursts
  n : [0..N] init 0;
  phase : [0..3] init 0;
  [] n<N & phase=3 -> 5000 : (n'=n+1);
  [] n<N & phase=2 -> 300 : (n'=n+1);
  [] n>0 -> 900 : (n'=n-1);
  [] phase<3 -> 2*(phase+1) : (phase'=phase+1);
  [] phase>0 -> 40 : (phase'=0);
endmodule
label "full" = n=N;
rewards "length" true : n; endrewards
"""
TRAP = """ctmc
const int N;
module trap
  n : [0..N+1] init 0;
  [] n<N -> 1000+n : (n'=n+1);
  [] n>0 & n<=N -> 1010+n : (n'=n-1);
  [] n=N -> 1e-3 : (n'=N+1);
  [] n=N+1 -> 1e-6 : (n'=0);
endmodule
label "trapped" = n=N+1;
rewards "place" true : n; endrewards
"""
LEAVES = 1_000
STAR = "\n".join(
    [
        f"ctmc\nmodule star\n  s : [0..{LEAVES}] init 0;",
        *(f"  [] s=0 -> {(7 * k) % 13 + 1} : (s'={k});" for k in range(1, LEAVES + 1)),
        "  [] s>0 -> pow(10.0, mod(s, 7)-3) : (s'=0);",
        'endmodule\nlabel "last" = s=1000;\nrewards "leaf" true : mod(s, 10); endrewards\n',
    ]
)
SERVERS = """ctmc
const int N;
module servers
  n : [0..N] init 0;
  up : [0..20] init 20;
  [] n<N -> 500 : (n'=n+1);
  [] n>0 & up>0 -> 30*min(n, up) : (n'=n-1);
  [] up>0 -> 0.01*up : (up'=up-1);
  [] up<20 -> 1 : (up'=up+1);
endmodule
label "full" = n=N;
rewards "waiting" true : max(n-up, 0); endrewards
"""
RESETS = """ctmc
const int N;
module resets
  s : [0..N] init 0;
  wake : bool init true;
  [] s<N & wake -> 100 : (s'=s+1);
  [] s>0 & s<N -> 1 : (s'=0);
  [] wake -> 4000 : (wake'=false);
  [] !wake -> 6000 : (wake'=true);
endmodule
label "done" = s=N;
rewards "place" true : s; endrewards
"""
RATES = """ctmc
const int N;
formula a = mod(floor(1000*(s*0.6180339887+0.3)), 1000)/1000;
formula b = mod(floor(1000*(s*0.4142135623+0.7)), 1000)/1000;
module rates
  s : [0..N-1] init 0;
  [] true -> pow(10, 15*a-9) : (s'=mod(s*19+7, N));
  [] true -> pow(10, 15*b-9) : (s'=mod(s*23+3, N));
  [] true -> 10 : (s'=mod(s+1, N));
endmodule
label "end" = s=N-1;
rewards "place" true : mod(s, 10); endrewards
"""
TORUS = """ctmc
const int N;
module torus
  x : [0..N-1] init 0;
  y : [0..N-1] init 0;
  [] true -> (y=0 ? 20000 : 40) : (x'=mod(x+1, N));
  [] true -> (y=0 ? 20000 : 10) : (x'=mod(x+N-1, N));
  [] true -> 25 : (y'=mod(y+1, N));
  [] true -> 20 : (y'=mod(y+N-1, N));
endmodule
label "far" = x=floor(N/2) & y=floor(N/2);
rewards "high" true : y; endrewards
"""
TIMER = """ctmc
const int N;
module timer
  phase : [0..49] init 0;
  load : [0..N] init 0;
  [] phase<49 -> 5000 : (phase'=phase+1);
  [] phase=49 & load>0 -> 5000 : (phase'=0) & (load'=load-1);
  [] phase=49 & load=0 -> 5000 : (phase'=0);
  [] load<N -> 80 : (load'=load+1);
endmodule
label "full" = load=N;
rewards "load" true : load; endrewards
"""
TEXTS = {"cycle": CYCLE, "stages": STAGES, "queue": QUEUE, "blocks": BLOCKS, "random": RANDOM}
UNSEEN = {
    "ring": RING,
    "bursts": BURSTS,
    "trap": TRAP,
    "star": STAR,
    "servers": SERVERS,
    "resets": RESETS,
    "rates": RATES,
    "torus": TORUS,
    "timer": TIMER,
}
QUESTIONS = (
    Question("cascade", {"N": 8}, 'P=? [ F<=100 "expressed" ]'),
    Question("cascade", {"N": 8}, 'R{"spent"}=? [ C<=1000 ]'),
    Question("cascade", {"N": 16}, 'R{"output"}=? [ I=40 ]'),
    Question("cascade", {"N": 16}, 'P=? [ F<=1000 "expressed" ]'),
    Question("controller", {"sensors": 9, "processors": 6}, 'P=? [ F<=100 "down" ]'),
    Question("controller", {"sensors": 9, "processors": 6}, 'P=? [ F<=3600 "down" ]'),
    Question("controller", {"sensors": 9, "processors": 6}, 'R{"rounds"}=? [ C<=3600 ]'),
    Question("repairable", {"N": 8}, 'P=? [ F<=20 "lost" ]'),
    Question("repairable", {"N": 8}, 'P=? [ F<=1000 "crashed" ]'),
    Question("repairable", {"N": 16}, 'R{"downtime"}=? [ C<=1000 ]'),
    Question("repairable", {"N": 16}, 'R{"broken"}=? [ I=1000 ]'),
    Question("cycle", {"N": 200}, 'P=? [ F<=20 "half" ]'),
    Question("cycle", {"N": 200}, 'R{"place"}=? [ I=100 ]'),
    Question("stages", {"N": 100}, 'P=? [ F<=250 "done" ]'),
    Question("queue", {"N": 2000}, 'P=? [ F<=100 "full" ]'),
    Question("queue", {"N": 2000}, 'R{"length"}=? [ I=1000 ]'),
    Question("blocks", {"N": 25}, 'P=? [ F<=500 "last" ]'),
    Question("random", {"N": 5003}, 'P=? [ F<=20 "end" ]'),
    Question("random", {"N": 5003}, 'R{"place"}=? [ C<=100 ]'),
)
# Where it should not matter that there are equations.
EVEN = (
    *(Question("cycle", {"N": n}, 'P=? [ F<=20 "half" ]') for n in (50, 200, 800, 3000)),
    *(Question("cycle", {"N": n}, 'R{"place"}=? [ I=100 ]') for n in (50, 200, 800)),
    *(Question("cycle", {"N": n}, 'R{"place"}=? [ C<=30 ]') for n in (200, 800)),
    *(Question("stages", {"N": n}, f'P=? [ F<={3 * n} "done" ]') for n in (30, 100, 300)),
    *(Question("stages", {"N": n}, f'R{{"place"}}=? [ I={2 * n} ]') for n in (30, 100, 300)),
    *(Question("queue", {"N": n}, 'P=? [ F<=100 "full" ]') for n in (20, 100, 500)),
    *(Question("queue", {"N": n}, 'R{"length"}=? [ I=1000 ]') for n in (20, 100, 500)),
    *(Question("random", {"N": n}, 'P=? [ F<=20 "end" ]') for n in (53, 503)),
    Question("tandem", {"c": 63}, 'P=? [ F<=20 "second_full" ]'),
    Question("tandem", {"c": 63}, 'R{"customers"}=? [ I=100 ]'),
    Question("cluster", {"N": 16}, 'P=? [ F<=1000 !"minimum" ]'),
    Question("cluster", {"N": 64}, 'P=? [ F<=100 !"minimum" ]'),
    Question("cluster", {"N": 16}, 'R{"percent_op"}=? [ I=500 ]'),
    Question("polling", {"N": 8}, 'P=? [ F<=100 "served1" ]'),
    Question("polling", {"N": 8}, 'R{"served"}=? [ C<=100 ]'),
    Question("kanban", {"t": 2}, 'R{"tokens_cell1"}=? [ I=1000 ]'),
    Question("fms", {"n": 3}, 'R{"productivity"}=? [ C<=1000 ]'),
)
# The same of kinds that the rule was not made on.
EVEN_UNSEEN = (
    Question("ring", {"N": 500}, 'P=? [ F<=100 "far" ]'),
    Question("ring", {"N": 500}, 'R{"place"}=? [ I=200 ]'),
    Question("ring", {"N": 2000}, 'R{"place"}=? [ C<=50 ]'),
    Question("bursts", {"N": 300}, 'P=? [ F<=20 "full" ]'),
    Question("bursts", {"N": 300}, 'R{"length"}=? [ I=100 ]'),
    Question("bursts", {"N": 1000}, 'R{"length"}=? [ C<=30 ]'),
    Question("trap", {"N": 200}, 'P=? [ F<=500 "trapped" ]'),
    Question("trap", {"N": 200}, 'R{"place"}=? [ I=500 ]'),
    Question("trap", {"N": 2000}, 'P=? [ F<=50 "trapped" ]'),
    Question("star", {}, 'P=? [ F<=20 "last" ]'),
    Question("star", {}, 'R{"leaf"}=? [ I=50 ]'),
    Question("servers", {"N": 100}, 'P=? [ F<=100 "full" ]'),
    Question("servers", {"N": 100}, 'R{"waiting"}=? [ C<=200 ]'),
    Question("servers", {"N": 400}, 'R{"waiting"}=? [ I=100 ]'),
    Question("resets", {"N": 100}, 'P=? [ F<=50 "done" ]'),
    Question("resets", {"N": 400}, 'P=? [ F<=50 "done" ]'),
    Question("resets", {"N": 400}, 'R{"place"}=? [ I=100 ]'),
    Question("rates", {"N": 101}, 'P=? [ F<=1 "end" ]'),
    Question("rates", {"N": 1009}, 'P=? [ F<=0.3 "end" ]'),
    Question("rates", {"N": 1009}, 'R{"place"}=? [ C<=0.3 ]'),
    Question("torus", {"N": 30}, 'P=? [ F<=5 "far" ]'),
    Question("torus", {"N": 30}, 'R{"high"}=? [ I=10 ]'),
    Question("torus", {"N": 60}, 'R{"high"}=? [ C<=5 ]'),
    Question("timer", {"N": 20}, 'P=? [ F<=10 "full" ]'),
    Question("timer", {"N": 100}, 'P=? [ F<=50 "full" ]'),
    Question("timer", {"N": 100}, 'R{"load"}=? [ I=50 ]'),
)
SLOWER, SURPLUS = 1.05, 0.01  # times as long, and seconds, that are put up with
QUICK = (Question("repairable", {"N": 2}, 'P=? [ F<=100 "crashed" ]'),)


def path_of(question: Question, folder: Path) -> Path:
    """The file of a model; texts of our own are written to a folder."""
    text = (TEXTS | UNSEEN).get(question.model)
    if text is None:
        return MODELS / f"{question.model}.prism"
    path = folder / f"{question.model}.prism"
    path.write_text(text)
    return path


def by_galton(path: Path, question: Question, way: str, threads: int | None) -> dict[str, Any]:
    """One answer, and what it took, but for building the model."""
    import galton

    model = galton.load(path, **question.constants).build(device="cpu")
    settings = galton.Settings(method=None if way == "default" else way, threads=threads)
    galton.check(model, 'P=? [ F<=1e-9 "init" ]')  # whatever is loaded once
    start, cpu = time.perf_counter(), time.process_time()
    found = galton.check(model, question.text, settings=settings)
    seconds = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    rate = float(model.matrix.sum(axis=1).max())
    return {
        **seconds,
        "bounds": [found.lower, found.upper],
        "by": found.steps[-1].method,
        "states": model.n_states,
        "rate": rate,
    }


def by_storm(path: Path, question: Question) -> dict[str, Any]:
    """One answer of Storm, and the time that checking took."""
    import stormpy

    given = ",".join(f"{name}={value}" for name, value in question.constants.items())
    program = stormpy.parse_prism_program(str(path), prism_compatibility=True)
    program, (asked,) = stormpy.instantiate_constants(program, given, stormpy.parse_properties(question.text, program))
    model = stormpy.build_model(program, [asked])
    start, cpu = time.perf_counter(), time.process_time()
    result = stormpy.model_checking(model, asked)
    seconds = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    return {**seconds, "value": float(result.get_value(model.initial_states[0]))}


def one(options: argparse.Namespace) -> None:
    """What a process of its own does."""
    question = Question(*json.loads(options.one))
    path = Path(options.path)
    found = (
        by_storm(path, question) if options.way == "storm" else by_galton(path, question, options.way, options.threads)
    )
    print(json.dumps(found))


def measured(question: Question, path: Path, way: str, options: argparse.Namespace) -> dict[str, Any]:
    """The best of some runs; the error, or that it took too long."""
    best: dict[str, Any] = {}
    command = [sys.executable, __file__, "--one", json.dumps(question), "--path", str(path), "--way", way]
    command += ["--threads", str(options.threads)] if options.threads else []
    measure = "cpu" if options.cpu else "seconds"
    for _ in range(options.repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout, check=False)
        except subprocess.TimeoutExpired:
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            return best or {"seconds": spent if options.cpu else options.timeout, "late": True}
        if done.returncode != 0:
            return {"error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no answer"}
        found = json.loads(done.stdout.splitlines()[-1])
        found["seconds"] = found[measure]
        if not best or found["seconds"] < best["seconds"]:
            best = found
    return best


def row(question: Question, folder: Path, options: argparse.Namespace) -> bool:
    """Print one line; whether all answers agree."""
    path = path_of(question, folder)
    answers = {way: measured(question, path, way, options) for way in WAYS}
    default = answers["default"]
    if "rate" not in default:
        print(f"{question.model} {question.text}: {default.get('error', 'too late')}", flush=True)
        return False
    text = question.text.partition("=? ")[2]
    end = float("".join(c for c in text.partition("=")[2].split()[0] if c in "0123456789.e"))

    def cell(way: str) -> str:
        answer = answers[way]
        return "refused" if "error" in answer else f"{'>' if 'late' in answer else ''}{answer['seconds']:.2f}"

    def times(way: str) -> str:
        answer = answers[way]
        more = ">" if "late" in answer else ""
        return "" if "error" in answer else f"{more}{answer['seconds'] / default['seconds']:.1f}"

    given = ",".join(f"{name}={value}" for name, value in question.constants.items())
    jumps = f"{default['rate'] * end:.1e}"
    cells = (*map(cell, WAYS), times("uniformisation"), times("storm"), default["by"])
    print(LINE.format(question.model, given, question.text, default["states"], jumps, *cells), flush=True)
    bounds = [answer["bounds"] for answer in answers.values() if "bounds" in answer]
    agree = max(lower for lower, _ in bounds) <= min(upper for _, upper in bounds)
    # For cascade N=2, Storm 2.0 says of I=50 what a matrix exponential says of I=100: I=t is not compared.
    if (value := answers["storm"].get("value")) is not None and "I=" not in question.text:
        lower, upper = default["bounds"]
        if not lower * (1 - 1e-5) - 1e-6 <= value <= upper * (1 + 1e-5) + 1e-6:
            print(f"  Storm says {value:.9g}, and the bounds are {lower:.9g} and {upper:.9g}", flush=True)
            agree = False
    return agree


def beside_steps(options: argparse.Namespace) -> None:
    """What a process of its own does to compare the default with uniformisation."""
    import galton
    from galton.checking.bounded import stiff_time

    question, path = Question(*json.loads(options.one)), Path(options.path)
    model = galton.load(path, **question.constants).build(device="cpu")
    best: dict[str, float] = {}
    by: dict[str, str] = {}
    before_equations = stiff_time.STEPS_BEFORE
    for _ in range(options.repeat + 1):  # the first loads what is loaded once
        for way in ("default", "without", "uniformisation"):
            settings = galton.Settings(method=way if way == "uniformisation" else None, threads=1)
            stiff_time.STEPS_BEFORE = sys.maxsize if way == "without" else before_equations
            before = time.process_time()
            found = galton.check(model, question.text, settings=settings)
            best[way] = min(best.get(way, float("inf")), time.process_time() - before)
            by[way] = found.steps[-1].method
            tried = "tried in vain" if any("given up with" in work.detail for work in found.work) else ""
            by[f"{way}, tried"] = tried
    print(json.dumps({**best, "by": by["default"], "tried": by["default, tried"], "states": model.n_states}))


def never_slower(questions: list[Question], folder: Path, options: argparse.Namespace) -> int:
    """Print a line for each question; how many the default is slower for than uniformisation."""
    line = "{:9} {:8} {:30} {:>7} {:>9} {:>9} {:>9} {:>7}  {}"
    print(line.format("model", "constant", "property", "states", "default", "without", "steps", "ratio", "by"))
    slower = 0
    for question in questions:
        command = [sys.executable, __file__, "--one", json.dumps(question), "--path", str(path_of(question, folder))]
        command += ["--never-slower", "--repeat", str(options.repeat)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{question.model} {question.text}: {done.stderr.strip().splitlines()[-1]}", flush=True)
            slower += 1
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        mine, without = found["default"], found["without"]
        worse = bool(found["tried"]) and mine > SLOWER * without and mine > without + SURPLUS
        slower += worse
        given = ",".join(f"{name}={value}" for name, value in question.constants.items())
        cells = (found["states"], *(f"{found[way]:.4f}" for way in ("default", "without", "uniformisation")))
        told = f"{found['by']}{', ' + found['tried'] if found['tried'] else ''}{'  SLOWER' if worse else ''}"
        print(line.format(question.model, given, question.text, *cells, f"{mine / without:.2f}", told), flush=True)
    print(f"{len(questions)} questions, {slower} of them slower than without equations")
    return slower


def main() -> int:
    """Run all that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of models, with commas between")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120.0)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cpu", action="store_true", help="seconds of the processor, for a machine that others use")
    parser.add_argument("--quick", action="store_true", help="one small question")
    parser.add_argument("--never-slower", action="store_true", help="beside uniformisation, where it does not pay")
    for hidden in ("--one", "--path", "--way"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        (beside_steps if options.never_slower else one)(options)
        return 0
    names = options.only.split(",") if options.only else None
    all_of_them = (*EVEN, *EVEN_UNSEEN) if options.never_slower else QUICK if options.quick else QUESTIONS
    asked = [q for q in all_of_them if names is None or q.model in names]
    with tempfile.TemporaryDirectory() as folder:
        if options.never_slower:
            return int(never_slower(asked, Path(folder), options) > 0)
        print(LINE.format(*COLUMNS))
        agree = [row(question, Path(folder), options) for question in asked]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
