"""Every token at every position at one point inside the model, and how far the context moves it."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._pairs import at_position, shown
from glassformer.analyses.know.point_atlas import PointAtlas
from glassformer.figures import _draw, _style
from glassformer.figures.know.embeddings import TANGLE, keys, of_tokens, outside

MOST_NAMES = 12
LEAST = 3  # windows that an ellipse needs
CROWD = 40  # more ellipses than this hide one another


def draw(seen: PointAtlas, look: _draw.Look) -> Figure:
    """All pairs at a point; where other tokens have entered, means with an ellipse of one standard deviation."""
    shows = f"Plane of all token and position pairs at {seen.where}"
    sheet = look.sheet(seen, _caption(seen), shows, height=8, least=0)
    t, at = sheet.theme, seen.drawn.values
    colour = t[seen.point] if seen.point in ("query", "key", "value") else t.ink
    shapes = seen.ellipse.values
    there = np.asarray(np.isfinite(shapes).all(axis=(-1, -2)) & np.isfinite(at).all(axis=-1))
    there &= (seen.count.values >= LEAST) | seen.exact
    reach = np.sqrt(np.where(there[..., None], np.diagonal(shapes, axis1=-2, axis2=-1), 0.0))
    around = np.stack([at - reach, at + reach])
    share = _share(sheet, around[np.isfinite(around).all(axis=-1)])
    panel = sheet.panels(1, 1, left=6, right=1, bottom=5.6, top=2.2, within=(0, 0, share, 1))[0, 0]
    if share < 1:
        _bars(sheet.panels(1, 1, left=5.5, right=1.5, bottom=5.6, top=2.2, within=(share, 0, 1, 1))[0, 0], seen, t)
    _draw.plane_axes(panel, seen.plane, around, theme=t, margin=0.05)
    words, length = seen.drawn.axes["token"].labels, at.shape[1]
    marks = _style.markers(seen.task_groups)
    sign = of_tokens(seen.groups, marks)
    joined = int(np.isfinite(at).all(axis=-1).sum()) <= TANGLE
    for word, way in zip(words, at, strict=True):
        some = np.isfinite(way).all(axis=1)
        if not some.any():  # this token never stands in a window
            continue
        if joined:
            panel.plot(*way[some].T, color=t.faint, linewidth=0.5 * sheet.size.line, zorder=1.5)
        fade = np.linspace(0.3, 1, length)[some]
        _draw.dots(panel, way[some], colour=colour, alpha=fade, marker=sign[word], scale=0.8)
    ends = [(k, np.flatnonzero(np.isfinite(way).all(axis=1))) for k, way in enumerate(at)]
    picks = [(k, int(some[-1])) for k, some in ends if len(some)]
    picks += [(k, int(some[0])) for k, some in ends if len(some) > 1]
    moved = bool(np.nanmax(np.ptp(np.where(np.isfinite(at), at, 0.0), axis=1), initial=0) > 0)
    picks = picks if moved else picks[: len(words)]
    where = np.array([at[pick] for pick in picks]).reshape(-1, 2)
    texts = [at_position(words[k], place) if moved else shown(words[k]) for k, place in picks]
    written = _draw.labels(
        panel, where, texts, colours=t.ink, first=_first(seen, picks, where), most=MOST_NAMES, tied=True,
        keep_clear=at[np.isfinite(at).all(axis=-1)],
    )  # fmt: skip
    for text in panel.texts:
        text.set_path_effects([withStroke(linewidth=0.25 * sheet.size.text, foreground=t.paper)])
    circled = there.copy()
    if int(there.sum()) > CROWD:  # a cloud: only those that have a name
        circled[:] = False
        for k in written:
            circled[picks[k]] = there[picks[k]]
    if not seen.exact and circled.any():
        sizes, turns = np.linalg.eigh(shapes[circled])
        sizes = 2 * np.sqrt(np.maximum(sizes, 0))
        angle = np.degrees(np.arctan2(turns[:, 1, 1], turns[:, 0, 1]))
        panel.add_collection(EllipseCollection(
            sizes[:, 1], sizes[:, 0], angle, units="xy", offsets=at[circled], offset_transform=panel.transData,
            facecolors="none", edgecolors=(colour, 0.45), linewidths=0.5 * sheet.size.line, zorder=1,
        ), autolim=False)  # fmt: skip
    told = [f"pale to dark: position 0 to {length - 1}"] if length > 1 else []
    told += ["lines: one token's positions"] if joined else []
    whose = "" if circled.sum() == there.sum() else " of the named ones"
    told += [f"ellipse: spread by context{whose}"] if not seen.exact and circled.any() else []
    if share < 1:
        sheet.note("; ".join(told))
    else:
        _draw.heading(panel, "; ".join(told))
    if len(seen.groups) > 1:
        occur = {word for word, way in zip(words, at, strict=True) if np.isfinite(way).any()}
        sheet.legend(keys([name for name, own in seen.groups.items() if occur & set(own)], marks, t))
    return sheet.done()


def _caption(seen: PointAtlas) -> str:
    shades = (
        "Marker shapes are the token groups, later positions are darker (lighter on a dark page); where there are not "
        f"too many, thin lines join a token's positions. Bars: how far {'position' if seen.exact else 'context'} moves "
        "each token (root mean square distance, in all features). The cross is zero. "
    )
    rare = f" {seen.left_out} rarer tokens are left out." if seen.left_out else ""
    if seen.exact:
        return (
            f"Every token at every position at {seen.where}, exact: nothing else enters there. {shades}"
            f"If position did not matter here, each token's line would shrink to a dot.{rare}"
        )
    return (
        f"Every token at every position at {seen.where}, where the other tokens in view have entered: each mark is the "
        f"mean over {seen.windows} {seen.of_part} windows, the ellipse one standard deviation around it (an estimate; "
        f"where there are many, only marks with a label have theirs, and none that occurs under {LEAST} times). "
        f"{shades}If context did not matter here, every ellipse would shrink to a dot.{rare}"
    )


def _first(seen: PointAtlas, picks: list[tuple[int, int]], where: np.ndarray) -> list[int]:
    """The order of the names: the token that the title speaks of, then from the outermost inwards."""
    if not len(where):
        return []
    far = np.nan_to_num(seen.moved.values, nan=-1.0)
    told = [k for k, (token, _) in enumerate(picks) if token == int(far.argmax())]
    return [*told, *(k for k in outside(where) if k not in told)]


def _share(sheet: _draw.Sheet, points: np.ndarray) -> float:
    """The part of the width for the plane, by the shape of what it holds; the bars have the rest."""
    wide, high = sheet.room
    if wide <= 50:
        return 1.0
    sides = np.ptp(np.vstack([points, np.zeros((1, 2))]), axis=0)
    wanted = 6 + (high - 7.8) * float(sides[0] / max(sides[1], 1e-9))
    return float(np.clip(wanted / wide, 0.6, 1 - 19 / wide))


def _bars(ax: Axes, seen: PointAtlas, theme: _style.Theme) -> None:
    """How far each token is moved, in the order of the vocabulary; tokens that stand in no window are left out."""
    known = np.flatnonzero(np.isfinite(seen.moved.values))
    far = seen.moved.values[known]
    most = int(far.argmax()) if len(far) else -1
    ax.barh(range(len(far)), far, height=0.7, color=[theme.ink if k == most else theme.rung for k in range(len(far))])
    ax.set_ylim(len(far) - 0.4, -0.6)
    names = [seen.moved.axes["token"].labels[k] for k in known]
    _draw.places(ax, names, "y", most=1000)
    ticks = [int(k) for k in ax.get_yticks()]
    if len(ticks) < len(names) and most not in ticks:  # of the names that have room, one is that of the longest bar
        apart = ticks[1] - ticks[0] if len(ticks) > 1 else 1
        ticks = sorted([*(k for k in ticks if abs(k - most) >= apart), most])
        ax.set_yticks(ticks, [shown(names[k]) for k in ticks])
    ax.xaxis.set_major_locator(MaxNLocator(3))
    _draw.heading(ax, "moved by position" if seen.exact else "moved by context")
    ax.set_xlabel("distance")
