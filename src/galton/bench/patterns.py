"""Document 003, Figures 2 and 3: matrices as dot plots, in PRISM's numbering and breadth first.

And Figure 4 with the two examples after it: the storage formats, worked out for a matrix of seven rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from .experiment import Experiment, Found, Options, Row

if TYPE_CHECKING:
    from ..plot.matrix import Pattern

__all__ = ["EXPERIMENTS"]

ABREAST = 2  # models side by side, each with both of its pictures
PANEL, PIXELS = 3.2, 250  # inches of a picture, and pixels that entries are counted in

# As the paper calls them, what the gallery has, and constants: of a small instance, and of a larger one.
Shown = dict[str, tuple[str, dict[str, int], dict[str, int]] | None]
SECOND: Shown = {
    "cluster": ("cluster", {"N": 8}, {"N": 64}),
    "tandem": ("tandem", {"c": 15}, {"c": 255}),
    "cell": None,
    "molecules_knac": None,
    "polling": ("polling", {"N": 7}, {"N": 12}),
    "dice": ("die", {}, {}),
    "firewire_impl": None,
    "embedded": ("embedded", {"MAX_COUNT": 5}, {"MAX_COUNT": 20}),
}
THIRD: Shown = {
    "kanban": ("kanban", {"t": 2}, {"t": 3}),
    "brp": ("brp", {"N": 16, "MAX": 2}, {"N": 64, "MAX": 5}),
    "two_dice": None,
    "leader_synch": ("leader_sync", {"N": 4, "K": 4}, {"N": 5, "K": 5}),
    "fms": ("fms", {"n": 2}, {"n": 4}),
    "herman": ("herman", {"N": 9}, {"N": 11}),
}


def _figure(name: str, title: str, shown: Shown) -> Experiment:
    """The pictures of some models, and how far from the diagonal their entries are."""
    seen: dict[str, tuple[Pattern, Pattern]] = {}  # by instance, for the picture

    def run(options: Options) -> Iterator[Row]:
        from ..plot.matrix import pattern
        from ..programs import load

        seen.clear()
        for known_as, what in shown.items():
            if what is None:
                yield Row(instance=known_as, skipped="the gallery has no such model")
                continue
            model, small, large = what
            constants = small if options.sizes == "small" else large
            instance = " ".join([known_as, *(f"{constant}={value}" for constant, value in constants.items())])
            built = load(options.models / f"{model}.prism", **constants).build(device="cpu")
            original, renumbered = seen[instance] = pattern(built, "canonical"), pattern(built, "bfs")
            yield Row(
                instance=instance,
                measured={
                    "n": built.n_states,
                    "transitions": built.n_transitions,
                    "distance": original.mean_distance,
                    "bfs_distance": renumbered.mean_distance,
                    "bandwidth": original.bandwidth,
                    "bfs_bandwidth": renumbered.bandwidth,
                },
            )

    def draw(found: Found, path: Path) -> None:
        from ..plot.matrix import draw_pattern, figure, save

        drawn = figure(2 * ABREAST * PANEL, PANEL * ceil(len(seen) / ABREAST) + 0.6)
        grid = drawn.subplots(ceil(len(seen) / ABREAST), 2 * ABREAST, squeeze=False)
        for axes in grid.flat[2 * len(seen) :]:
            axes.set_axis_off()
        for place, (instance, pair) in enumerate(seen.items()):
            for side, (one, order) in enumerate(zip(pair, ("original", "breadth first"), strict=True)):
                axes = grid.flat[2 * place + side]
                draw_pattern(axes, one, PIXELS)
                axes.set_title(f"{instance}, {order}", fontsize="small")
                axes.tick_params(labelsize="x-small")
                axes.locator_params(nbins=4, integer=True)
        drawn.supxlabel("to state", fontsize="small")
        drawn.supylabel("from state", fontsize="small")
        drawn.suptitle(f"{found.experiment.name}: {found.experiment.title}; darker where a pixel has more entries")
        save(drawn, path)

    return Experiment(
        name=name,
        title=title,
        run=run,
        draw=draw,
        notes=(
            "The models are the gallery's own, of the same systems; its text does not say which instances.",
            "The original numbering is by the values of the variables, in the order in which they are declared. "
            "distance: how far entries are from the diagonal, in the mean; bandwidth: the farthest.",
            "galton plot-matrix draws these for any model.",
        ),
    )


# The storage formats, for the matrix of Figure 4, whose numbers are letters.

LETTERS = "abcdefghijk"
STARTS = [0, 2, 4, 5, 7, 8, 10, 11]
COLUMNS = [1, 2, 2, 3, 4, 0, 3, 4, 0, 1, 2]
WARP = 4  # of the examples
PRINTED = {
    "MSR": ("0 2 4 5 7 8 10 11", "1 2 2 3 4 0 3 4 0 1 2", "a b c d e f g h i j k"),
    "full warp": ("0 8 14", "1 2 4 0 2 3 - 3 4 0 2 - 1 -", "a c e f b d 0 g h i k 0 j 0"),
    "half warp": ("0 4 8 12 14", "1 2 2 3 4 - 0 3 4 - 0 1 2 -", "a b c d e 0 f g h 0 i j k 0"),
}
NAMES = ("starts", "cols", "non-zeros")


def _examples(options: Options) -> Iterator[Row]:
    """The arrays of each format, as they are printed and as they are made here."""
    import numpy as np

    from ..model.sparse import Model
    from .storage import EMPTY, slices

    matrix = np.zeros((7, 7))
    rows = np.repeat(np.arange(7), np.diff(STARTS))
    matrix[rows, COLUMNS] = np.arange(1, len(LETTERS) + 1)  # a is 1, b is 2
    model = Model.from_matrix("ctmc", matrix)
    stored = (np.asarray(model.row_starts), np.asarray(model.columns), model.values[:].astype(np.int64))
    made = {"MSR": stored, "full warp": slices(*stored, WARP, 1), "half warp": slices(*stored, WARP, 2)}
    for name, arrays in made.items():
        starts, columns, numbers = (array.tolist() for array in arrays)
        texts = (
            " ".join(map(str, starts)),
            " ".join("-" if column == EMPTY else str(column) for column in columns),
            " ".join("0" if number == 0 else LETTERS[number - 1] for number in numbers),
        )
        same = "yes" if texts == PRINTED[name] else "NO"
        yield Row(
            instance=name,
            printed=dict(zip(NAMES, PRINTED[name], strict=True)),
            measured={**dict(zip(NAMES, texts, strict=True)), "same": same},
            wrong="" if same == "yes" else "not as printed",
        )


EXPERIMENTS = [
    _figure("003-figure-2", "Matrices before and after breadth-first numbering", SECOND),
    _figure("003-figure-3", "Matrices before and after breadth-first numbering, continued", THIRD),
    Experiment(
        name="003-example",
        title="The storage formats of a matrix with seven rows, and warps of four threads",
        run=_examples,
        notes=(
            "MSR is how a model is stored here. The other two are worked out by the description that the layouts of a "
            "device are tested with: there warps have 32 threads, and the last segment is as wide as the others.",
        ),
    ),
]
