"""Inside one update: one weight's move as a sum, the batch's examples, and every tensor."""

from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import SHOWN
from glassformer.analyses._result import percent, thousands
from glassformer.analyses._uncertain import small
from glassformer.analyses.know.weights import spoken
from glassformer.analyses.path.one_update import SAID, OneUpdate
from glassformer.figures import _draw

SINGLE = 45  # ems of width under which the panels stand below each other
Place: TypeAlias = tuple[float, float, float, float]
LOOK = {
    "gradient": ("train", "o"), "clipping": ("quiet", "x"), "momentum": ("validation", "s"),
    "scaling": ("feed_forward", "^"), "decay": ("wrong", "D"), "rounding": ("quiet", "."), "change": ("ink", "|"),
    "weights": ("rung", "_"),
}  # fmt: skip


def draw(seen: OneUpdate, look: _draw.Look) -> Figure:
    """A waterfall of one weight, its pull by every example of the batch, and all tensors."""
    shows = "A waterfall, bars by example and sizes by tensor"
    sheet = look.sheet(seen, _caption(seen), shows, height=15 if look.size == "print_narrow" else 9, least=0)
    narrow, slide = sheet.room[0] < 60, look.size == "slide"
    first, second, third = _places(sheet.room, slide)
    names = [*(SAID[part] for part in seen.waterfall.axes["part"].labels), "true change"]
    _waterfall(sheet.panels(1, 1, left=_widest(names, sheet) + 2, right=6.5, bottom=4, top=2.4, within=first)[0, 0],
               seen, sheet)  # fmt: skip
    rows = max(3, int((sheet.room[1] * (second[3] - second[1]) - 6.4) / 1.5))
    texts = _texts(seen, rows, sheet, 11.5 if narrow else 15 if slide else 19)
    right = sheet.panels(1, 1, left=_widest(texts, sheet) + 2, right=5.2, bottom=4, top=2.4, within=second)[0, 0]
    _examples(right, seen, texts, sheet)
    foot = 8.2 if narrow else 6
    below = sheet.panels(1, 1, left=12.5, right=1.5, bottom=foot, top=2.4, within=third)[0, 0]
    _tensors(below, seen, sheet)
    said = {**SAID, "change": "true change", "weights": "weights"}
    entries = [(said[part], LOOK[part][1], sheet.theme[LOOK[part][0]]) for part in seen.by_tensor.axes["part"].labels]
    sheet.legend(entries, x=0, columns=2 if sheet.room[0] < SINGLE else 3 if narrow else 8)
    return sheet.done()


def _caption(seen: OneUpdate) -> str:
    return (
        f"The update that leads to step {thousands(max(seen.step or 0, 1))}, replayed with its own batch of "
        f"{len(seen.sequences)} and "
        f"what the optimiser ({seen.optimiser}, rate {seen.rate:.3g}) remembered. Top left: one weight's move as a "
        "sum; each bar begins where the one before ended, and the last is the true change. Top right: how far each "
        "example alone would push that weight (rate × its share of the gradient), with the example written out, and at "
        "the right its share of the whole gradient. Below: the typical size (root of the mean square) of every part in "
        "every tensor. (The figure `ten_gradients` does the same by hand.) The parts sum to "
        f"the true change of every parameter to within {small(seen.difference)}, which is the rounding of 32-bit "
        "numbers; " + _faithful(seen)
    )


def _faithful(seen: OneUpdate) -> str:
    if np.isnan(seen.replayed):
        return "the weights of that step were not kept, so the replay cannot be compared with them."
    if seen.replayed == 0:
        return "the replayed weights equal the kept ones bit for bit."
    return (
        f"the replayed weights differ from the kept ones by up to {small(seen.replayed)}, as they do on another "
        "machine or with other versions."
    )


def _places(room: tuple[float, float], slide: bool) -> tuple[Place, Place, Place]:
    """Where the panels lie: two above and one below, on a narrow sheet below each other."""
    if room[0] < SINGLE:
        return (0, 0.7, 1, 1), (0, 0.34, 1, 0.7), (0, 0, 1, 0.34)
    half = 0.4 if slide else 0.46
    return (0.0, half, 0.5, 1.0), (0.5, half, 1.0, 1.0), (0, 0, 1, half)


def _widest(texts: list[str], sheet: _draw.Sheet) -> float:
    """In ems."""
    return max(_draw.text_width(text, sheet.size.text) for text in texts) / sheet.em


def _waterfall(ax: Axes, seen: OneUpdate, sheet: _draw.Sheet) -> None:
    t, line = sheet.theme, sheet.size.line
    values = dict(zip(seen.waterfall.axes["part"].labels, seen.waterfall.values, strict=True))
    total = float(np.sum(seen.waterfall.values))
    rows = [(SAID[part], begin_at, values[part], t[LOOK[part][0]]) for part, begin_at in _begins(values)]
    rows.append(("true change", 0.0, total, t.ink))
    for k, (_, begin, value, colour) in enumerate(rows):
        ax.barh(k, value, left=begin, color=colour, height=0.62, linewidth=0)
        ax.plot([begin + value] * 2, [k - 0.31, k + 0.31], color=colour, linewidth=line)
        if k < len(rows) - 1:
            ax.plot([begin + value] * 2, [k + 0.31, k + 0.69], color=t.faint, linewidth=0.5 * line, zorder=0)
    ax.axvline(0, color=t.quiet, linewidth=0.5 * line, zorder=0)
    ends = [0.0, *(b + v for _, b, v, _ in rows)]
    ends = [end for end in ends if np.isfinite(end)]
    low, high = min(ends), max(ends)
    reach = (high - low) or 1e-12
    ax.set(xlim=(low - 0.04 * reach, high + 0.04 * reach), ylim=(len(rows) - 0.4, -0.6))
    _draw.name_rows(ax, [row[0] for row in rows])
    for k, (_, _, value, _) in enumerate(rows):
        ax.annotate(_signed(value), (1, k), xycoords=("axes fraction", "data"), xytext=(4, 0), va="center", ha="left",
                    textcoords="offset points", annotation_clip=False)  # fmt: skip
    ax.locator_params(axis="x", nbins=3)
    ax.set_xlabel(f"change of the weight (it was {seen.weight_before:.3g})".replace("-", "\u2212"), loc="left")
    _draw.heading(ax, seen.called.removeprefix("the "))


def _begins(values: dict[str, float]) -> list[tuple[str, float]]:
    """Where each bar begins: where the one before ended."""
    found, at = [], 0.0
    for part, value in values.items():
        found.append((part, at))
        at += float(value)
    return found


def _order(seen: OneUpdate, rows: int) -> tuple[list[int], list[int]]:
    """The examples that pull most, as many as fit, and the others."""
    order = [int(k) for k in np.argsort(-np.abs(np.nan_to_num(seen.pulls.values)), kind="stable")]
    many = len(order) if len(order) <= rows else rows - 1
    return order[:many], order[many:]


def _texts(seen: OneUpdate, rows: int, sheet: _draw.Sheet, most: float) -> list[str]:
    first, rest = _order(seen, rows)
    texts = [_cut(seen.sequences[k], sheet, most) for k in first]
    return [*texts, f"{len(rest)} others"] if rest else texts


def _cut(text: str, sheet: _draw.Sheet, most: float) -> str:
    """The end of a long text, on one line."""
    text = text.replace("\n", SHOWN["\n"])
    while _draw.text_width(text, sheet.size.text) > most * sheet.em and " " in text:
        text = "… " + text.removeprefix("… ").partition(" ")[2]
    return text


def _examples(ax: Axes, seen: OneUpdate, texts: list[str], sheet: _draw.Sheet) -> None:
    t = sheet.theme
    first, rest = _order(seen, len(texts))
    groups = [[k] for k in first] + ([rest] if rest else [])
    pulls = [float(seen.pulls.values[group].sum()) for group in groups]
    shares = [float(seen.share.values[group].sum()) for group in groups]
    ax.barh(range(len(groups)), pulls, color=t.train, height=0.62)
    ax.axvline(0, color=t.quiet, linewidth=0.5 * sheet.size.line, zorder=0)
    ax.set_ylim(len(groups) - 0.4, -0.6)
    _draw.name_rows(ax, texts)
    for k, share in enumerate(shares):
        ax.annotate(percent(share).replace("-", "\u2212"), (1, k), xycoords=("axes fraction", "data"), xytext=(4, 0),
                    va="center", textcoords="offset points", color=t.quiet, annotation_clip=False)  # fmt: skip
    ax.locator_params(axis="x", nbins=3)
    ax.set_xlabel("− rate × gradient", loc="left")
    ax.set_title(f"pull of {len(seen.sequences)} examples", loc="left")
    ax.annotate("share", (1, 1), xycoords="axes fraction", xytext=(4, 4), textcoords="offset points", color=t.quiet)


def _tensors(ax: Axes, seen: OneUpdate, sheet: _draw.Sheet) -> None:
    t, table = sheet.theme, seen.by_tensor
    names, parts = table.axes["tensor"].labels, table.axes["part"].labels
    room = int(ax.get_window_extent().height / ax.figure.dpi / sheet.em / 1.15)
    change = table.values[:, parts.index("change")]
    rows = sorted(np.argsort(-np.nan_to_num(change), kind="stable")[:room].tolist())
    single = not any(name.startswith("blocks.1.") for name in names)
    for k, part in enumerate(parts):
        colour, marker = LOOK[part]
        values = table.values[rows, k]
        good = np.isfinite(values) & (values > 0)
        big = 1.3 if part in ("change", "weights") else 0.6
        ax.plot(values[good], np.flatnonzero(good), linestyle="", marker=marker, color=t[colour],
                markersize=big * sheet.size.text, markeredgewidth=sheet.size.line if big > 1 else None,
                zorder=3 if part == "change" else 2)  # fmt: skip
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_ylim(len(rows) - 0.4, -0.6)
    _draw.name_rows(ax, [spoken(names[k]).removesuffix(" (block 0)" if single else "") for k in rows])
    ax.grid(axis="y")
    ax.set_xlabel("typical size")
    less = "" if len(rows) == len(names) else f" (the {len(rows)} that move most)"
    _draw.heading(ax, f"the whole update by tensor{less}")


def _signed(value: float) -> str:
    return f"{value:+.2g}".replace("-", "\u2212") if value else "0"
