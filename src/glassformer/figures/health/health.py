"""Is the training healthy? Every check with its curve, its limit and its verdict, and the signs to stop."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import thousands
from glassformer.analyses.health.health import Health
from glassformer.figures import _draw, _life

GLYPH = {"healthy": "✓", "ill": "✗", "note": "○", "not measured": "–"}
LOGARITHMIC = ("size of updates", "gradient reach", "signal reach")
FOOT = 6.6  # ems for the signs to stop
NAMES, VALUE, VERDICT = 11.5, 6.5, 8.0  # ems across; the curve gets a fifth of the sheet, words the rest
LEAST = 14.0  # ems, under which findings are left to the title


CAPTION = (
    "One row per check: its curve over the training, the limit as a dashed line with the unhealthy side shaded, "
    "the number judged, the verdict, and for what was found the evidence and something to try. Limits are rules of "
    "thumb, chosen on runs made ill on purpose; a run that has learnt its task, or knows its text as well as the best "
    "table of counts, is not called ill for the road it took. Losses and gradients are as logged; neurons, attention "
    "and signal, where a check of them applies, are measured on up to 64 {} windows at a few kept steps. Below: four "
    "usual signs that it is time to stop, and the first logged step at which each was met."
)


def draw(seen: Health, look: _draw.Look) -> Figure:
    """One row per check: small curve, limit, verdict and advice; then the signs to stop and when each was met."""
    rows = len(seen.verdicts)
    shows = f"A table of {rows} checks with small curves and verdicts"
    sheet = look.sheet(seen, CAPTION.format(seen.whose), shows, height=9.2, least=0)
    wide, high = sheet.room
    line = (high - 2.4 - FOOT) / rows  # ems from one row to the next
    curve = float(np.clip(0.2 * wide, 5, 18))
    columns = np.cumsum([1.0, NAMES, curve, VALUE, VERDICT])
    page = sheet.panels(1, 1, left=0, right=0, bottom=0, top=0)[0, 0]
    _draw.bare(page)
    page.set(xlim=(0, wide), ylim=(high, 0))
    heads = (
        "check",
        "over the training" if curve > 10 else "curve",
        "judged",
        "verdict",
        "what healthy means, or what was found",
    )
    for x, head in zip(columns, heads if wide - columns[4] > LEAST else heads[:4], strict=False):
        page.text(x, 1.3, head, va="center", color=sheet.theme.quiet)
    for k in range(rows):
        y = 2.2 + (k + 0.5) * line
        page.axhline(2.2 + k * line, color=sheet.theme.faint, linewidth=0.4 * sheet.size.line)
        _words(page, seen, k, y, columns, wide, line, sheet)
        place = (columns[1] + 0.3, y - 0.4 * line, columns[2] - columns[1] - 2.0, 0.8 * line)
        if seen.judged.axes["quantity"].labels[k] in seen.curves:
            _curve(sheet, seen, k, place)
        else:
            once = "– (once)" if np.isfinite(seen.judged.values[k]) else "–"
            page.text(columns[1] + 0.3, y, once, va="center", color=sheet.theme.quiet)
    page.axhline(2.2 + rows * line, color=sheet.theme.faint, linewidth=0.4 * sheet.size.line)
    _signs(page, seen, 2.2 + rows * line, high, wide, sheet)
    return sheet.done()


def _words(
    ax: Axes, seen: Health, k: int, y: float, columns: np.ndarray, wide: float, line: float, sheet: _draw.Sheet
) -> None:
    t, text = sheet.theme, sheet.size.text
    colour = {"healthy": t.right, "ill": t.wrong, "note": t.quiet}.get(seen.verdicts[k], t.quiet)
    name = _draw.wrap(seen.judged.axes["quantity"].labels[k], text, (columns[1] - columns[0] - 0.5) * sheet.em)
    ax.text(columns[0], y, "\n".join(name), va="center", linespacing=1.1)
    ax.text(columns[2], y, _number(seen, k, line), va="center", color=t.quiet, linespacing=1.1)
    verdict = f"{GLYPH[seen.verdicts[k]]} {seen.verdicts[k]}"
    lines = _draw.wrap(verdict, text, (columns[4] - columns[3] - 0.3) * sheet.em)
    ax.text(columns[3], y, "\n".join(lines), va="center", color=colour, linespacing=1.1)
    if wide - columns[4] > LEAST:
        room, most = (wide - columns[4] - 1.0) * sheet.em, max(1, int(line / 1.22))
        ink = t.wrong if seen.verdicts[k] == "ill" else t.ink if seen.findings[k] else t.quiet
        ax.text(columns[4], y, "\n".join(_fitting(_texts(seen, k), text, room, most)), va="center", color=ink,
                linespacing=1.1)  # fmt: skip


def _texts(seen: Health, k: int) -> list[str]:
    """What can be said of a check, at length and shorter."""
    finding = seen.findings[k]
    if finding is None:
        rest = "" if seen.verdicts[k] != "note" else " Beyond the limit, but " + (
            "the task was learnt." if seen.learnt else "it came to the end of its ladder." if seen.well and
            seen.truth_known else "it knows its text as well as the best table of counts." if seen.well else
            "other checks say why, or it still falls.")  # fmt: skip
        short = seen.questions[k].partition(" (")[0]
        return [seen.questions[k] + rest, *([rest.strip(), "Beyond the limit."] if rest else [f"{short}."])]
    said = f"{finding.illness[0].upper()}{finding.illness[1:]}"
    full = f"{said}: {finding.evidence}. Try: {finding.remedy}."
    return [full, f"{said}. Try: {finding.remedy}.", f"{said}."]


def _fitting(texts: list[str], points: float, room: float, most: int) -> list[str]:
    """The first text that needs no more lines than there are; nothing where none does."""
    for text in texts:
        lines = _draw.wrap(text, points, room)
        if len(lines) <= most:
            return lines
    return []


def _number(seen: Health, k: int, line: float) -> str:
    value, limit = float(seen.judged.values[k]), float(seen.limits.values[k])
    if not np.isfinite(value):
        return ""
    digits = next((many for many in (2, 3, 4) if _short(value, many) != _short(limit, many)), 4)
    if line < 2.6 or not np.isfinite(limit):  # ems: one line of words
        return _short(value, digits)
    return f"{_short(value, digits)}\n({'<' if seen.ill_above[k] else '>'} {_short(limit, digits)})"


def _short(value: float, digits: int) -> str:
    return _life.power(value) if 0 < value < 1e-3 else f"{value:.{digits}g}".replace("-", "\u2212")


def _curve(sheet: _draw.Sheet, seen: Health, k: int, place: tuple[float, float, float, float]) -> None:
    """The small curve of a check, in a frame given in ems from the top left of the page."""
    name = seen.judged.axes["quantity"].labels[k]
    t, (wide, high), (x, y, width, height) = sheet.theme, sheet.room, place
    share = high / (sheet.inches[1] / sheet.em)  # of the sheet that lies under the title
    ax = sheet.place((x / wide, share * (1 - (y + height) / high), width / wide, share * height / high))
    curve, limit = seen.curves[name], float(seen.limits.values[k])
    steps, values = np.array(curve.axes["step"].values), curve.values.astype(float)
    log = name in LOGARITHMIC
    values = np.maximum(values, 1e-20) if log else values
    colour = t.wrong if seen.verdicts[k] == "ill" else t.ink
    ax.plot(steps, values, color=colour, linewidth=0.7 * sheet.size.line, marker="." if len(steps) < 10 else "",
            markersize=0.4 * sheet.size.text)  # fmt: skip
    if log:
        ax.set_yscale("log")
    _limits(ax, values, limit, log)
    if np.isfinite(limit):
        low, top = ax.get_ylim()
        ax.axhspan(limit, top if seen.ill_above[k] else low, color=t.wrong, alpha=0.12, linewidth=0)
        ax.axhline(limit, color=t.wrong, linestyle="--", linewidth=0.5 * sheet.size.line)
        ax.set_ylim(low, top)
    ax.set(xlim=(0, max(seen.last, 1)), xticks=[], yticks=[])
    ax.minorticks_off()
    sheet.mark_step(ax, seen.step)


def _limits(ax: Axes, values: np.ndarray, limit: float, log: bool) -> None:
    """Room for the curve, and for the limit where it is not far away."""
    known = [*values[np.isfinite(values)], *([limit] if np.isfinite(limit) else [])]
    low, top = (min(known), max(known)) if known else (0.0, 1.0)
    if log:
        ax.set_ylim(low / 2, top * 2)
    else:
        spread = (top - low) or 1.0
        ax.set_ylim(low - 0.12 * spread, top + 0.12 * spread)


def _signs(ax: Axes, seen: Health, top: float, high: float, wide: float, sheet: _draw.Sheet) -> None:
    """The usual signs that it is time to stop, each with the step at which it was met."""
    t = sheet.theme
    head = "signs that it is time to stop, and the first logged step at which each was met"
    head = head if _draw.text_width(head, sheet.size.text) < (wide - 2) * sheet.em else "signs that it is time to stop"
    ax.text(1, top + 1.3, head, va="center", color=t.quiet)
    names = seen.signs.axes["quantity"].labels
    each = (wide - 2) / len(names)
    for k, (name, at) in enumerate(zip(names, seen.signs.values, strict=True)):
        met = f"step {thousands(int(at))}" if np.isfinite(at) else "not met"
        lines = [*_draw.wrap(name, sheet.size.text, (each - 1) * sheet.em)[:2], met]
        y = min(top + 2.5, high - 1.2 * len(lines) - 0.2)
        colour = t.ink if np.isfinite(at) else t.quiet
        ax.text(1 + k * each, y, "\n".join(lines), va="top", linespacing=1.1, color=colour)
