"""Do seeds find the same thing? All seeds' embeddings on each other, beside what random ones would do."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle

from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import Array, listed, percent, thousands
from glassformer.analyses.trust.seeds_aligned import RANDOM, SeedsAligned, middle, pairs
from glassformer.figures import _draw, _style


def draw(seen: SeedsAligned, look: _draw.Look) -> Figure:
    """Embeddings of all seeds after rotation, reflection and scale; distances; the same for random embeddings."""
    narrow = look.size == "print_narrow"  # one column: the panels stand below each other
    shows = f"Aligned embeddings of {seen.members} seeds, distances, and a random baseline"
    sheet = look.sheet(seen, _caption(seen), shows, height=_style.inches(look.size, 92) if narrow else 7, least=0)
    parts = [(0, 0.6, 1, 1), (0, 0.26, 1, 0.6), (0, 0, 1, 0.26)] if narrow else [
        (0, 0, 0.56, 1), (0.56, 0.42, 1, 1), (0.56, 0, 1, 0.41)
    ]  # fmt: skip
    left = sheet.panels(1, 1, left=6, right=1, bottom=4.8, top=2.4, within=parts[0])[0, 0]
    heat = sheet.panels(1, 1, left=4.5, right=8, bottom=3.4, top=2.4, within=parts[1])[0, 0]
    strip = sheet.panels(1, 1, left=8.5, right=2, bottom=6 if narrow else 4.8, top=2.4, within=parts[2])[0, 0]
    marks = _style.markers(seen.groups)
    _plane(left, seen, sheet, marks)
    members = seen.distance.axes["member"]
    _draw.heat(heat, seen.distance.values, kind="error", theme=sheet.theme, rows=members, columns=members,
               row_name="seed", column_name="seed")  # fmt: skip
    heat.set_title("distance of every two seeds")
    _draw.bar(sheet, "error", (0, 1), "distance", beside=heat)
    _strip(strip, seen, sheet)
    sheet.legend([(group, marks[group], sheet.theme.ink) for group in seen.groups], x=0.0)
    return sheet.done()


def _caption(seen: SeedsAligned) -> str:
    drawn_share = f"All {seen.width} features are aligned, {percent(seen.plane.kept)} of the variance is drawn. "
    return (
        f"Left: token embeddings of all {seen.members} seeds, centred, then rotated, mirrored and scaled onto "
        "their common mean; small marks are single seeds (shape by token group), labels stand at the mean, ellipses "
        "show one standard deviation. "
        f"{'' if seen.plane.lossless else drawn_share}"
        "Right: distance of every seed from every other after the best turn, 0 the same shape, 1 nothing in "
        "common, similar seeds side by side. Below: all those distances (the diamond is their median) against those "
        f"of random embeddings of the same size (grey: the middle 90 % of {RANDOM} pairs, dashed: their median), "
        f"which alignment also makes look alike. {_parts_told(seen)}"
        "If the seeds’ distances were not below the grey, agreement would be an effect of the alignment."
    )


def _parts_told(seen: SeedsAligned) -> str:
    """How heads and neurons were paired, and what that found."""
    told = []
    if "heads" in seen.matched:
        many = f"the {seen.heads} heads of each block, in any order,"
        one = "the one head of each block" if seen.heads == 1 else many
        told.append(f"{one} by the share of attention on the same places")
    if "neurons" in seen.matched:
        told.append("neurons, in any order, by the correlation of their activations")
    if not told:
        return ""
    found = [
        f"{kind}: median {middle(pairs(each)):.2f}, by chance {seen.by_chance[kind].values[1]:.2f}"
        for kind, each in seen.matched.items()
        if np.isfinite(seen.by_chance[kind].values).all()
    ]
    pairing = "there is only one head to a block, so heads need no pairing; " if seen.heads == 1 else ""
    some, whole = seen.pairs_compared
    which = f"all {thousands(whole)}" if some == whole else f"{thousands(some)} of the {thousands(whole)}"
    return (
        f"The parts of two seeds are compared on {seen.inputs} {seen.whose} inputs, for {which} pairs of seeds"
        f"{'' if some == whole else ', in which every seed takes part equally often'}: {listed(told)}, paired so that "
        f"they agree best ({pairing}1 minus the mean agreement is drawn); grey is what the same pairing finds when the "
        f"two seeds are shown different inputs. {'; '.join(found)}{'. ' if found else ''}"
    )


def _plane(ax: Axes, seen: SeedsAligned, sheet: _draw.Sheet, marks: dict[str, str]) -> None:
    t, points, mean = sheet.theme, seen.points.values, seen.mean.values
    points = points[np.isfinite(points).all(axis=(1, 2))]  # seeds that diverged have no place
    if len(points) < 2:
        _draw.bare(ax)
        lost = "embeddings that are not numbers\ncannot be aligned"
        ax.text(0.5, 0.5, lost, transform=ax.transAxes, ha="center", va="center")
        return
    _draw.plane_axes(ax, seen.plane, points, theme=t)
    ax.set_xlabel("aligned axis 1" if seen.plane.lossless else seen.plane.labels[0])
    ax.set_ylabel("aligned axis 2" if seen.plane.lossless else seen.plane.labels[1])
    for group, tokens in seen.groups.items():
        _draw.dots(ax, points[:, list(tokens)], colour=t.masked, marker=marks[group], scale=0.8)
    for token, (long, short, angle) in enumerate(seen.spread.values):
        width = 0.5 * sheet.size.line
        ax.add_patch(Ellipse(tuple(mean[token]), 2 * long, 2 * short, angle=angle, fill=False, edgecolor=t.rung,
                             linewidth=width, zorder=1))  # fmt: skip
    where, names = _together(mean, drawn(seen.mean.axes["token"]), 0.03 * float(np.ptp(points)))
    _draw.labels(ax, where, names, colours=t.ink, scale=1.25)
    _draw.dots(ax, mean, colour=t.ink, scale=0.6, zorder=4)
    _draw.heading(ax, "token embeddings of all seeds, and their mean (label)")


def _together(points: Array, names: list[str], near: float) -> tuple[Array, list[str]]:
    """Points that lie on each other share one label."""
    groups: list[list[int]] = []
    for k, point in enumerate(points):
        close = [group for group in groups if np.hypot(*(points[group[0]] - point)) < near]
        close[0].append(k) if close else groups.append([k])
    return np.array([points[group].mean(axis=0) for group in groups]), [
        " ".join(names[k] for k in group) for group in groups
    ]


def _strip(ax: Axes, seen: SeedsAligned, sheet: _draw.Sheet) -> None:
    """One row for each kind of part: all pairs of seeds, their median, and the range of chance."""
    rows = {"embeddings": (pairs(seen.distance), seen.random.values)}
    rows |= {kind: (pairs(each), seen.by_chance[kind].values) for kind, each in seen.matched.items()}
    for row, (found, (low, half, high)) in enumerate(rows.values()):
        _row(ax, row, found[np.isfinite(found)], (low, half, high), sheet)
    ax.set(xlim=(0, 1), ylim=(len(rows) - 0.4, -0.6))
    _draw.name_rows(ax, list(rows))
    ax.set_xlabel("distance of two seeds (0: alike)")
    some, whole = seen.pairs_compared
    which = "all pairs of seeds" if some == whole else f"parts: {thousands(some)} of {thousands(whole)} pairs of seeds"
    ax.set_title(f"{which}; grey: by chance")


def _row(ax: Axes, at: int, found: Array, chance: tuple[float, float, float], sheet: _draw.Sheet) -> None:
    t, (low, half, high) = sheet.theme, chance
    if np.isfinite(chance).all():
        ax.add_patch(Rectangle((low, at - 0.36), high - low, 0.72, facecolor=t.unconstrained, linewidth=0, zorder=0))
        ax.plot([half, half], [at - 0.36, at + 0.36], color=t.quiet, linestyle="--", linewidth=sheet.size.line)
    ax.plot(found, np.full(len(found), at), linestyle="", marker="|", color=t.ink, markersize=0.9 * sheet.size.text)
    if len(found):
        size = 0.6 * sheet.size.text
        ax.plot([np.median(found)], [at], marker="D", color=t.ink, markersize=size, markeredgecolor=t.paper)
