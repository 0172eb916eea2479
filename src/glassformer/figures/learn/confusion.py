"""What is answered when it is wrong: the token that came against the likeliest token."""

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, Labelled, thousands
from glassformer.analyses.learn.confusion import Confusion, diagonal
from glassformer.figures import _draw, _style

NAME = 1.15  # ems of a row with its name
SIDE = 0.33  # of a slide for the tokens, so that beside them every operation of four steps has room for its name


def draw(seen: Confusion, look: _draw.Look) -> Figure:
    """True token down, likeliest token across, at a few steps; below, which operation the answers fit, if there are."""
    tall = 9.6 if seen.answered_as is not None else 7
    shows = f"Matrices of true against predicted token at steps {', '.join(map(str, seen.steps))}"
    sheet = look.sheet(seen, caption(seen), shows, height=tall)
    fewer = seen
    if seen.answered_as is None or seen.beyond_chance is None:
        fewer = _fitting(sheet, seen)
        sheet.words = replace(sheet.words, caption=caption(fewer))
        _tokens(sheet, fewer)
    else:
        _operations(sheet, seen, seen.answered_as, seen.beyond_chance)
    t = sheet.theme
    named = [Patch(fill=False, edgecolor=t.right, label="answered with the token that came")]
    if np.isnan(seen.share.values).any():
        named.append(Patch(facecolor=t.paper, edgecolor=t.masked, hatch="xxxx", label="no number"))
    sheet.legend(named)
    notes = []
    if seen.unused:
        notes.append(f"{'1 token is' if seen.unused == 1 else f'{seen.unused} tokens are'} neither asked for nor said")
    if left := fewer.left_out:
        notes.append(f"{left} rarer token{' is' if left == 1 else 's are'} not shown")
    if notes:
        sheet.note(", ".join(notes))
    return sheet.done()


def caption(seen: Confusion) -> str:
    """How to read the matrices."""
    where = "positions whose answer is in view" if seen.rule else f"{seen.whose} answers"
    where = where if seen.truth_known else f"{seen.whose} places"
    whole = "holds shares of all that was said there" if seen.left_out else "sums to 1"
    return (
        f"Rows are the token that came, columns the likeliest token of the model, at {seen.counted} {where}; each row "
        f"{whole}; colours run from 0 to 1, and cells hold counts where there is room. Frames mark the diagonal, "
        "where the answer is the token that came; a token that is said but never asked for has a column and no row"
        + (f", {seen.unused} that are neither have none. " if seen.unused else ". ")
        + ("Where no answer is a number, rows are hatched. " if seen.lost else "")
        + ("Here several tokens may be right, so a cell off the diagonal may be no mistake. " if seen.several else "")
        + ("Middle row: which operation the answers fit; a wrong answer is shared among the operations that "
           "would give it, or goes to none. Bottom row: what is left of that after coincidence is taken off, which is "
           "what the same wrong answers would fit if they had been given to other questions of the same operation; "
           "red where an operation is confused with another more often than by chance. "
           if seen.answered_as is not None else "")
        + (f"{seen.left_out} rarer tokens are not shown. " if seen.left_out else "")
        + "Exact counts on a fixed sample. A model that guesses blindly fills a column, one that knows fills the "
          "diagonal."
    )  # fmt: skip


def _fitting(sheet: _draw.Sheet, seen: Confusion) -> Confusion:
    """The same with as many tokens as have room for their names: those that came or were said most."""
    came, said = (seen.share.axes[axis].labels for axis in ("token", "answer"))
    widest = max((_draw.text_width(shown(word), 72) for word in said), default=1.0)
    room = int((sheet.room[1] - _foot(widest) - 2.4) / NAME)
    if len(said) <= room:
        return seen
    often = {word: float(seen.count.values[:, :, k].sum()) for k, word in enumerate(said)}
    for k, word in enumerate(came):
        often[word] = often.get(word, 0.0) + float(seen.count.values[:, k].sum())
    kept = sorted(often, key=lambda word: -often[word])[: max(room, 2)]
    rows, columns = ([k for k, word in enumerate(words) if word in kept] for words in (came, said))
    axes: dict[str, Any] = {
        "step": seen.share.axes["step"],
        "token": [came[k] for k in rows],
        "answer": [said[k] for k in columns],
    }
    share, count = (
        Labelled(table.values[:, rows][:, :, columns], axes, table.unit) for table in (seen.share, seen.count)
    )
    return replace(seen, share=share, count=count, left_out=seen.left_out + len(often) - len(kept))


def _foot(widest: float) -> float:
    """Ems under a map whose longest name takes so many."""
    return 5.8 if widest < 2.5 else 4.6 + widest  # long tokens are turned


def _tokens(sheet: _draw.Sheet, seen: Confusion) -> None:
    """The earlier steps, and beside them the last one large."""
    words, early = seen.share.axes["answer"].labels, len(seen.steps) - 1
    side = 0.36 if early else 0.0
    widest = max(_draw.text_width(shown(word), sheet.size.text) for word in words) / sheet.em if words else 1
    foot = _foot(widest)
    edge: dict[str, Any] = {"left": 3.2 + widest, "bottom": foot, "top": 2.4}
    if early:
        smalls = sheet.panels(early, 1, right=0.5, gap=(0, 1.8 + foot - 3), within=(0, 0, side, 1), **edge)[:, 0]
        high = smalls[0].get_window_extent().height / smalls[0].figure.dpi / sheet.em
        named = high > NAME * len(seen.share.axes["token"])  # all of them, or those of the large map stand for them
        for k, small in enumerate(smalls):
            _map(small, seen, k, sheet, counts=False, across=k == early - 1, named=named)
        if not named:
            smalls[-1].set_xlabel("rows and columns as on the right")
    large = sheet.panels(1, 1, right=7, within=(side, 0, 1, 1), **edge)[0, 0]
    _map(large, seen, len(seen.steps) - 1, sheet)
    _draw.bar(sheet, "probability", (0, 1), "share of the row", beside=large)


def _operations(sheet: _draw.Sheet, seen: Confusion, fits: Labelled, beyond: Labelled) -> None:
    """One column per step: the tokens, the operations whose answer was given, and what of that is no coincidence."""
    many = len(seen.steps)
    flat = sheet.room[1] < 0.6 * sheet.room[0]  # a slide has room for the tokens of one step, beside the operations
    first = many - 1 if flat else 0
    above = sheet.panels(
        1, many - first, bottom=6.2, right=0.5 if flat else 7.0, gap=(1.2, 0),
        within=(0, 0, SIDE, 1) if flat else (0, 0.5, 1, 1), left=5.5 if flat else 6.5, top=2.2,
    )[0]  # fmt: skip
    for k, ax in enumerate(above, first):
        _map(ax, seen, k, sheet, down=k == first, across=k == first)
    below = sheet.panels(
        2, many, bottom=6.4, right=7.0, gap=(1.2, 4.2 if flat else 2.6),
        within=(SIDE, 0, 1, 1) if flat else (0, 0, 1, 0.5), left=6.5, top=2.2,
    )  # fmt: skip
    most = _draw.limits("signed", beyond.values)
    looks = (("probability", (0.0, 1.0), fits, ()), ("signed", most, beyond, fits.axes["other_kind"].labels))
    for row, (kind, limit, table, columns) in enumerate(looks):
        for k, ax in enumerate(below[row]):
            _draw.heat(
                ax, table.values[k], kind=kind, limit=limit, theme=sheet.theme, columns=columns, numbers=False,
                rows=fits.axes["kind"].labels if k == 0 else (), row_name="operation asked" if k == 0 else "",
            )  # fmt: skip
            _percent(ax, table.values[k], kind, limit, sheet)
    for ax, step in zip(below[1], beyond.values, strict=True):
        if (np.abs(step) < 0.005).all():
            ax.text(0.5, 0.5, "nothing beyond\ncoincidence", ha="center", va="center", transform=ax.transAxes,
                    color=sheet.theme.quiet)  # fmt: skip
    below[0, 0].set_title("which operation's answer was given, in %")
    below[1, 0].set_title("the same less what coincidence gives, in points")
    for ax, step in zip(below[0], seen.steps if flat else (), strict=flat):  # else they stand at the top
        ax.set_xlabel(f"step {thousands(step)}")
    beside = [below[0, -1]] if flat else [above[-1], below[0, -1]]
    _draw.bar(sheet, "probability", (0, 1), "share of the row", beside=beside)
    _draw.bar(sheet, "signed", (100 * most[0], 100 * most[1]), "points", beside=below[1, -1])


def _percent(ax: Axes, values: Array, kind: str, limit: tuple[float, float], sheet: _draw.Sheet) -> None:
    """Write shares that are not 0 into the cells in whole percent, where there is room for three signs."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    wide, high = box.width / dpi / values.shape[1], box.height / dpi / values.shape[0]
    if wide < 1.1 * _draw.text_width("100", sheet.size.text) or high < 1.1 * sheet.em:
        return
    palette = _style.colormap(kind, sheet.theme.name)
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value) and (whole := _draw.number(100 * value, 0)) != "0":
            colour = palette((value - limit[0]) / (limit[1] - limit[0]))
            ax.text(column, row, whole, ha="center", va="center", color=_style.on(colour))


def _map(
    ax: Axes,
    seen: Confusion,
    k: int,
    sheet: _draw.Sheet,
    *,
    counts: bool = True,
    down: bool = True,
    across: bool = True,
    named: bool = True,
) -> None:
    """The tokens of one step, with what stands `down` and `across`, and counts where there is room."""
    values, empty = seen.share.values[k], np.isnan(seen.share.values[k])
    _draw.heat(
        ax,
        values,
        kind="probability",
        theme=sheet.theme,
        numbers=False,
        masked=empty if empty.any() else None,
        rows=seen.share.axes["token"].labels if down and named else (),
        columns=seen.share.axes["answer"].labels if named else (),
        row_name="the token that came" if down and named else "",
        column_name="likeliest token of the model" if across else "",
    )
    ax.set_title(f"step {thousands(seen.steps[k])}")
    same = ((int(row), int(column)) for row, column in np.argwhere(diagonal(seen) & ~empty))
    _draw.outline(ax, same, sheet.theme.right, 0.6)
    for frame in ax.patches:
        frame.set_clip_on(False)  # the outermost lie on the edge
    if counts:
        _counts(ax, values, seen.count.values[k], sheet)


def _counts(ax: Axes, values: Array, counts: Array, sheet: _draw.Sheet) -> None:
    """Write counts that are not 0 into the cells, where there is room."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    rows, columns = (max(side, 1) for side in counts.shape)
    widest = max((_draw.text_width(f"{int(c)}", sheet.size.text) for c in np.unique(counts)), default=0)
    if box.width / dpi / columns < 1.1 * widest or box.height / dpi / rows < 1.1 * sheet.em:
        return
    palette = _style.colormap("probability", sheet.theme.name)
    for (row, column), count in np.ndenumerate(counts):
        if count:
            colour = _style.on(palette(values[row, column]))
            ax.text(column, row, f"{int(count)}", ha="center", va="center", color=colour)
