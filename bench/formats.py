"""How fast models are written and read, in every format.

    python bench/formats.py [--model tandem -c c=511] [--peer]

prints megabytes and million transitions a second, written and read, for one model. ``--peer`` lets Storm read what can
be read by it, in the same process.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import galton
from galton.io import is_model_file, left_out, read_model, write_model
from galton.io.formats import expanded

ROOT = Path(__file__).resolve().parents[1]
WAYS = [".npz", ".umb", ".umb gzip", ".umb xz", ".drn", ".all", ".mtx", ".mat", ".m", ".dot"]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tandem")
    parser.add_argument("-c", "--const", action="append", default=[])
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--skip", action="append", default=[])
    chosen = parser.parse_args()
    constants = dict(pair.split("=") for pair in chosen.const or ["c=511"])
    model = galton.load(ROOT / "models" / f"{chosen.model}.prism", **constants).build(transition_rewards=True)
    print(f"{chosen.model} {constants}: {model}")
    print(f"{'format':<10} {'MB':>8} {'written':>22} {'read':>22}  {'Storm reads' if chosen.peer else ''}")
    for way in WAYS:
        suffix, _, compression = way.partition(" ")
        if way in chosen.skip or (suffix == ".mtx" and model.has_choices):
            continue
        with TemporaryDirectory() as folder:
            print(measured(model, Path(folder) / f"model{suffix}", compression or None, way, peer=chosen.peer))


def measured(model: galton.Model, path: Path, compression: str | None, way: str, *, peer: bool) -> str:
    """A line of the table."""
    start = time.perf_counter()
    written = write_model(model, path, exact=True, compression=compression)
    wrote = time.perf_counter() - start
    size = sum(file.stat().st_size for file in written) / 1e6
    line = f"{way:<10} {size:>8.1f} {speed(size, model, wrote)}"
    if not is_model_file(path):
        return line
    start = time.perf_counter()
    again = read_model(path)
    line += f" {speed(size, model, time.perf_counter() - start)}"
    kept = not any(left_out(model, expanded([path], model)).values())
    if kept and any(model.differences(again, tolerance=1e-14)):
        raise SystemExit(f"{way} reads another model")
    if peer and path.suffix in (".drn", ".umb"):
        import stormpy

        start = time.perf_counter()
        theirs = (stormpy.build_model_from_drn if path.suffix == ".drn" else stormpy.build_model_from_umb)(str(path))
        line += f" {speed(size, model, time.perf_counter() - start)}"
        assert theirs.nr_transitions == model.n_transitions
    return line


def speed(size: float, model: galton.Model, seconds: float) -> str:
    """Seconds, and what was done in each."""
    return f"{seconds:>6.2f} s {size / seconds:>6.0f} MB/s {model.n_transitions / seconds / 1e6:>5.1f} M/s"


if __name__ == "__main__":
    main()
