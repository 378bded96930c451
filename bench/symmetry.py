"""Symmetries: how far they reach, and what looking for them costs. ``bench/reductions.py`` compares the answers.

    python bench/symmetry.py coin|rabin N [--name steps_min] [--device cuda] [--memory MB]
    python bench/symmetry.py finding

``coin`` and ``rabin`` write protocols with any number of processes and check them: the shared coin of the gallery, and
M. Rabin's mutual exclusion with a shared variable of logarithmic size (1982). ``finding`` tells what the search costs
where it finds nothing. Times are those of the processor, so that a busy machine does not show.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from pathlib import Path

MODELS = Path(__file__).parents[1] / "models"


def coin(n: int) -> tuple[str, list[str]]:
    """The shared coin of the gallery with more than its ten processes, and its five questions."""
    text = (MODELS / "consensus.prism").read_text()
    more = "".join(
        f"const int id{i} = {i};\nmodule process{i} = process1 [ do1=do{i}, coin1=coin{i}, id1=id{i} ] endmodule\n"
        for i in range(11, n + 1)
    )
    for name in ("do", "coin"):
        text = text.replace(f"+{name}10;", "".join(f"+{name}{i}" for i in range(10, max(n, 10) + 1)) + ";")
    text = text.replace("// Processes beyond N add", f"{more}// Processes beyond N add")
    props = (MODELS / "consensus.props").read_text()
    return text.replace("const int N;", f"const int N = {n};").replace("const int K;", "const int K = 2;"), [props]


def rabin(n: int) -> tuple[str, list[str]]:
    """Rabin's mutual exclusion: who drew the highest lot of a round may enter; rounds are drawn at random."""
    lots = 4 + math.ceil(math.log2(n))
    draws = " + ".join(
        f"1/{2 ** min(lot, lots - 1)} : (lotI'={lot}) & (madeI'=round) & (most'=max(most,{lot})) & (drawingI'=false)"
        for lot in range(1, lots + 1)
    )
    process = f"""module pI
      whereI : [0..2];  lotI : [0..{lots}];  madeI : [0..2];  drawingI : bool;
      [] FREE & whereI=0 -> (whereI'=1);
      [] FREE & whereI=1 & (most<lotI | round!=madeI) & !drawingI -> (drawingI'=true);
      [] drawingI -> {draws};
      [] FREE & whereI=1 & most=lotI & round=madeI & !taken ->
         0.5 : (round'=1) & (taken'=true) & (most'=0) & (lotI'=0) & (madeI'=0) & (whereI'=2)
       + 0.5 : (round'=2) & (taken'=true) & (most'=0) & (lotI'=0) & (madeI'=0) & (whereI'=2);
      [] FREE & whereI=2 -> (whereI'=0) & (taken'=false);
    endmodule
    """

    def written(i: int) -> str:
        free = " & ".join(f"!drawing{j}" for j in range(1, n + 1) if j != i)
        text = process.replace("FREE", free)
        for name in ("p", "where", "lot", "made", "drawing"):
            text = text.replace(f"{name}I", f"{name}{i}")
        return text

    modules = "".join(map(written, range(1, n + 1)))
    inside = "+".join(f"(where{i}=2?1:0)" for i in range(1, n + 1))
    text = f"mdp global taken : bool; global most : [0..{lots}]; global round : [1..2];\n{modules}"
    return text, [f"Pmax=? [ F {inside}>1 ]", f"Pmin=? [ F {inside}=1 ]"]


def check(text: str, props: list[str], name: str | None, device: str, memory: float | None) -> None:
    """Check by the command line, and tell the time of the processor."""
    from galton.cli import main

    with tempfile.TemporaryDirectory() as folder:
        model, asked = Path(folder) / "model.prism", Path(folder) / "asked.props"
        model.write_text(text)
        asked.write_text(";\n".join(props))
        more = [] if memory is None else ["--memory", str(memory)]
        more += [] if name is None else ["--name", name]
        sys.argv = ["galton", "check", str(model), "--props", str(asked), "--device", device, "--explain", *more]
        begin = time.perf_counter()
        try:
            main()
        except SystemExit as stop:
            print(f"exit code {stop.code or 0}")
        print(f"{time.process_time():.1f} s of the processor, {time.perf_counter() - begin:.1f} s")


def finding() -> None:
    """What lowering takes, and what is spent on symmetries besides, for the models of the gallery."""
    import galton
    from galton.lower.symmetry import Symmetries

    for entry in json.loads((MODELS / "gallery.json").read_text())["models"]:
        program = galton.load(MODELS / entry["file"], **entry["instances"][0]["constants"])
        best = [math.inf, math.inf]
        for _ in range(5):
            begin = time.process_time()
            symmetries = Symmetries(program)
            _ = symmetries.lowering
            lowered = time.process_time()
            kept = symmetries.keeping(list(program.labels.values()), range(len(program.rewards)))
            best = [min(best[0], lowered - begin), min(best[1], time.process_time() - lowered)]
        print(
            f"{entry['file']:28} lowered in {1e3 * best[0]:6.2f} ms, searched in {1e3 * best[1]:6.2f} ms: {kept.note}"
        )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["coin", "rabin", "finding"])
    parser.add_argument("n", type=int, nargs="?", default=10)
    parser.add_argument("--name", help="of one property, by its name or number")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--memory", type=float)
    chosen = parser.parse_args()
    if chosen.what == "finding":
        finding()
    else:
        check(*(coin if chosen.what == "coin" else rabin)(chosen.n), chosen.name, chosen.device, chosen.memory)


if __name__ == "__main__":
    main()
