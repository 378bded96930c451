"""Pareto sets as pictures: what is attained, what nobody attains, and the corners between; two objectives or three.

Numbers are turned so that more is better. What is attained is the hull of the corners and all that is worse; what
nobody attains lies beyond a half space. Both are drawn in a box around the corners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..lang import GaltonError
from .files import check_kind, is_page, new_figure, write

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Points = npt.NDArray[np.float64]

__all__ = ["Front", "check_front_picture", "inside_polygon", "outside_polygon", "plot_front"]

# Colours that people tell apart who do not see red and green alike.
INSIDE, OUTSIDE, OPEN, CORNER = "#9fd8c3", "#f3d3ba", "#ffffff", "#0b3d2e"
EYE = (1.6, 1.3, 1.0)  # where a page is looked at from, in sizes of the box
MARGIN = 0.08  # of the box on each side
SEEN = 0.01  # of the box: less cannot be seen
_LONG = 46  # characters of a label


class Front(Protocol):
    """A Pareto set, such as that of ``multi(…)``."""

    @property
    def points(self) -> Sequence[Sequence[float]]:
        """The corners."""

    @property
    def half_spaces(self) -> Sequence[tuple[Sequence[float], float]]:
        """Weights and a limit that no weighted sum passes."""

    @property
    def objectives(self) -> Sequence[str]:
        """The names of the axes."""

    @property
    def maximise(self) -> Sequence[bool]:
        """For each axis, whether more is better."""


def check_front_picture(path: str | Path, objectives: int) -> None:
    """Refuse a picture that cannot be drawn, before anything is computed."""
    check_kind(path)
    if objectives > 3:
        raise GaltonError(f"a Pareto set of {objectives} objectives cannot be drawn, only those of two or three")


def plot_front(front: Front, path: str | Path, title: str = "") -> None:
    """Draw a Pareto set of two or three objectives into a file: a picture, or with ``.html`` a page to turn."""
    path, count = Path(path), len(front.objectives)
    check_front_picture(path, count)
    if is_page(path):
        figure = (_flat_page if count == 2 else _solid_page)(front)
        figure.update_layout(title={"text": title, "font": {"size": 14}}, template="simple_white")
        write(figure, path)
        return
    drawn = (_flat_picture if count == 2 else _solid_picture)(front)
    drawn.suptitle(title, fontsize="small")
    write(drawn, path)


def _label(front: Front, axis: int) -> str:
    text = front.objectives[axis]
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def _signs(front: Front) -> Points:
    import numpy as np

    return np.array([1.0 if more else -1.0 for more in front.maximise])


def _box(front: Front) -> tuple[Points, Points]:
    """The corners of the box, turned: the worst and the best."""
    import numpy as np

    points = np.array(front.points) * _signs(front)
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.abs(points).max(axis=0)
    spread = np.where(high - low > 1e-9 * size, high - low, np.where(size > 0, size, 1.0))
    return low - 2 * MARGIN * spread, high + MARGIN * spread


def _limits(front: Front) -> list[tuple[float, float]]:
    """From where to where each axis goes: the box, but not far below zero, where no probability or cost is."""
    low, high = (corner * _signs(front) for corner in _box(front))
    found = []
    for axis, (one, other) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        least, most = min(one, other), max(one, other)
        if min(point[axis] for point in front.points) >= 0:
            least = max(least, -0.03 * most)
        found.append((least, most))
    return found


def inside_polygon(front: Front) -> Points:
    """The corners of what is attained in the box, for two objectives: ``(corners, 2)``."""
    import numpy as np

    signs, (low, _) = _signs(front), _box(front)
    points = np.array(front.points) * signs
    points = points[np.argsort(points[:, 0])]
    outline = [low, [low[0], points[0, 1]], *points, [points[-1, 0], low[1]]]
    return np.array(outline) * signs


def outside_polygon(front: Front) -> Points:
    """The corners of what half spaces leave of the box, for two objectives: beyond, nobody gets."""
    import numpy as np

    signs, (low, high) = _signs(front), _box(front)
    left = np.array([low, [high[0], low[1]], high, [low[0], high[1]]]) * signs
    for weights, limit in front.half_spaces:
        left = _cut(left, np.array(weights), limit)
        if not len(left):
            break
    return left


def _cut(polygon: Points, weights: Points, limit: float) -> Points:
    """The part of a convex polygon in a half space (Sutherland and Hodgman 1974)."""
    import numpy as np

    inside = polygon @ weights - limit
    if (inside <= 0).all():
        return polygon
    found = []
    for k, corner in enumerate(polygon):
        after = (k + 1) % len(polygon)
        if inside[k] <= 0:
            found.append(corner)
        if (inside[k] < 0 < inside[after]) or (inside[after] < 0 < inside[k]):
            share = inside[k] / (inside[k] - inside[after])
            found.append(corner + share * (polygon[after] - corner))
    return np.array(found).reshape(-1, 2)


@dataclass(frozen=True)
class _Surface:
    """Facets that are seen from above: corners and triangles."""

    corners: Points
    triangles: npt.NDArray[np.intp]

    @property
    def faces(self) -> Points:
        return self.corners[self.triangles]


def _surfaces(front: Front) -> list[_Surface]:
    """What is attained by three objectives and, where the difference can be seen, beyond which nobody gets."""
    import numpy as np
    from scipy.spatial import ConvexHull, HalfspaceIntersection

    signs, (low, high) = _signs(front), _box(front)
    points, scale = np.array(front.points) * signs, high - low
    # All that is worse, down to the walls of the box: each corner with some of its numbers replaced.
    masks = np.array(list(product((False, True), repeat=3)))
    everything = np.unique(np.concatenate([np.where(mask, low, points) for mask in masks]), axis=0)
    inner = ConvexHull((everything - low) / scale, qhull_options="QJ")
    weights = np.array([weights for weights, _ in front.half_spaces]) * signs * scale
    limits = np.array([limit for _, limit in front.half_spaces]) - weights @ (low / scale)
    walls = np.hstack([np.vstack([np.eye(3), -np.eye(3)]), [[-1.0]] * 3 + [[0.0]] * 3])
    spaces = np.vstack([np.hstack([weights, -limits[:, None]]), walls])
    outer = HalfspaceIntersection(spaces, np.full(3, MARGIN / 4)).intersections
    hulls = [inner]
    if (inner.equations[:, :3] @ outer.T + inner.equations[:, 3:]).max() > SEEN:
        hulls.append(ConvexHull(outer, qhull_options="QJ"))
    return [
        _Surface((low + hull.points * scale) * signs, hull.simplices[hull.equations[:, :3].min(axis=1) > -1e-6])
        for hull in hulls
    ]


# Pictures.


def _flat_picture(front: Front) -> Any:
    from matplotlib.patches import Patch, Polygon

    figure = new_figure(6.5, 5)
    axes = figure.subplots()
    axes.set_facecolor(OUTSIDE)
    axes.add_patch(Polygon(outside_polygon(front), closed=True, facecolor=OPEN, edgecolor="#999999", linewidth=0.6))
    axes.add_patch(Polygon(inside_polygon(front), closed=True, facecolor=INSIDE, edgecolor="none"))
    x, y = zip(*sorted(map(tuple, front.points)), strict=True)
    axes.plot(x, y, color=CORNER, linewidth=1, marker="o", markersize=4 if len(x) < 50 else 2)
    for limit, ends in zip((axes.set_xlim, axes.set_ylim), _limits(front), strict=True):
        limit(*ends)
    axes.set_xlabel(_label(front, 0))
    axes.set_ylabel(_label(front, 1))
    keys = [
        Patch(facecolor=INSIDE, label="attained"),
        Patch(facecolor=OUTSIDE, label="attained by no strategy"),
        Patch(facecolor=OPEN, edgecolor="#999999", label="not known"),
    ]
    figure.legend(handles=keys, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    return figure


def _solid_picture(front: Front) -> Any:
    import numpy as np
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    figure = new_figure(7, 6)
    axes = figure.add_subplot(projection="3d")
    inner, *beyond = _surfaces(front)
    faces, scale = inner.faces, np.ptp(inner.corners, axis=0)
    normals = np.cross((faces[:, 1] - faces[:, 0]) / scale, (faces[:, 2] - faces[:, 0]) / scale)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    light = 0.65 + 0.35 * np.abs(normals @ (np.array([0.35, 0.2, 0.9])))  # the lid is brighter than the walls
    shades = np.clip(np.array([0x9F, 0xD8, 0xC3]) / 255 * light[:, None], 0, 1)
    axes.add_collection3d(Poly3DCollection(faces, facecolors=shades, edgecolors="#5a8f7d", linewidths=0.3, alpha=0.9))
    for outer in beyond:
        outline = {"facecolors": OUTSIDE, "edgecolors": "#d95f02", "linewidths": 0.3, "alpha": 0.18}
        axes.add_collection3d(Poly3DCollection(outer.faces, **outline))
    points = np.array(front.points)
    axes.scatter(*points.T, color=CORNER, s=18 if len(points) < 50 else 5, depthshade=False)
    signs = _signs(front)
    limits = (axes.set_xlim, axes.set_ylim, axes.set_zlim)
    labels = (axes.set_xlabel, axes.set_ylabel, axes.set_zlabel)
    box = np.sort(np.array(_box(front)) * signs, axis=0)
    for axis, (limit, label) in enumerate(zip(limits, labels, strict=True)):
        limit(*box[:, axis])
        label(_label(front, axis), fontsize="small", labelpad=8)
    # Seen from where all numbers are good.
    axes.view_init(elev=28 * signs[2], azim=float(np.degrees(np.arctan2(signs[1], signs[0]))) + 10)
    return figure


# Pages.


def _flat_page(front: Front) -> Any:
    import numpy as np
    import plotly.graph_objects as objects

    figure = objects.Figure()
    signs, box = _signs(front), _box(front)
    low, high = (corner * signs for corner in box)
    whole = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    parts = [
        (whole, OUTSIDE, "attained by no strategy"),
        (outside_polygon(front), OPEN, "not known"),
        (inside_polygon(front), INSIDE, "attained"),
    ]
    for polygon, shade, name in parts:
        closed = np.concatenate([polygon, polygon[:1]])
        outline = {"color": "#999999", "width": 0.5}
        figure.add_trace(
            objects.Scatter(
                x=closed[:, 0],
                y=closed[:, 1],
                fill="toself",
                fillcolor=shade,
                line=outline,
                mode="lines",
                name=name,
                hoverinfo="skip",
            )
        )
    x, y = zip(*sorted(map(tuple, front.points)), strict=True)
    figure.add_trace(objects.Scatter(x=x, y=y, mode="lines+markers", line={"color": CORNER}, name="corners"))
    across, up = _limits(front)
    figure.update_xaxes(title=front.objectives[0], range=across)
    figure.update_yaxes(title=front.objectives[1], range=up)
    return figure


def _solid_page(front: Front) -> Any:
    import numpy as np
    import plotly.graph_objects as objects

    inner, *beyond = _surfaces(front)
    points = np.array(front.points)
    meshes = []
    for surface, shade, opacity, name in (
        (inner, INSIDE, 0.9, "attained"),
        *((outer, OUTSIDE, 0.25, "attained by no strategy beyond") for outer in beyond),
    ):
        corners = dict(zip("xyz", surface.corners.T, strict=True))
        triangles = dict(zip("ijk", surface.triangles.T, strict=True))
        look = {"color": shade, "opacity": opacity, "flatshading": True, "hoverinfo": "skip", "showlegend": True}
        meshes.append(objects.Mesh3d(**corners, **triangles, **look, name=name))
    dots = objects.Scatter3d(
        x=points[:, 0],
        y=points[:, 1],
        z=points[:, 2],
        mode="markers",
        marker={"color": CORNER, "size": 4},
        name="corners",
    )
    figure = objects.Figure([*meshes, dots])
    signs = _signs(front)
    ranges = np.sort(np.array(_box(front)) * signs, axis=0).T.tolist()
    axes = [{"title": _label(front, axis), "range": ends} for axis, ends in enumerate(ranges)]
    # Seen from where all numbers are good, and from so far that axes and their names are in the picture.
    eye = dict(zip("xyz", (signs * EYE).tolist(), strict=True))
    figure.update_scenes(
        **dict(zip(("xaxis", "yaxis", "zaxis"), axes, strict=True)), aspectmode="cube", camera={"eye": eye}
    )
    figure.update_layout(height=700, margin={"l": 20, "r": 20, "t": 60, "b": 20})
    return figure
