"""Where heads look when they are asked for this or for that."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import listed
from glassformer.analyses.attend.attention import named
from glassformer.analyses.attend.attention_by_kind import AttentionByKind
from glassformer.figures import _attend, _draw

ACROSS = 2  # panels side by side, so that the numbers can be read
MOST_PANELS = {"slide": 4, "screen": 8}  # else 6


def draw(seen: AttentionByKind, look: _draw.Look) -> Figure:
    """One panel per head: rows are kinds of question, columns the positions looked at, the last one the answer."""
    blocks, heads, kinds, columns = seen.share.values.shape
    every = [(b, h) for b in range(blocks) for h in range(heads)]
    places, pages = _draw.paged(every, MOST_PANELS.get(look.size, 6), look.page)
    across = min(ACROSS, len(places))
    rows = -(-len(places) // across)
    title, asked = seen.title_of(places), seen.share.axes["kind"].labels
    shows = f"Tables of attention by kind of question ({listed(list(asked))})"
    sheet = look.sheet(seen, _caption(seen), shows, title=title, height=1.9 + (0.5 + 0.26 * kinds) * rows)
    names, values = drawn(seen.share.axes["key_position"]), seen.share.values
    if seen.on_answer is not None:
        names, values = [*names, "answer"], np.concatenate([values, seen.on_answer.values[..., None]], axis=-1)
    panels = sheet.panels(
        rows, across, left=1.5 + _attend.longest(asked), right=7.5,
        bottom=(1.5 if pages == 1 else 3.5) + _attend.longest(names), top=2.4, gap=(2, 2.4),
    )  # fmt: skip
    for k, (block, head) in enumerate(places):
        panel = panels.flat[k]
        bottom = k + across >= len(places)
        _draw.heat(
            panel, values[block, head], kind="share", theme=sheet.theme,
            rows=asked if k % across == 0 else (), columns=names if bottom else (), numbers=True,
        )  # fmt: skip
        if seen.on_answer is not None:
            panel.axvline(columns - 0.5, color=sheet.theme.ink, linewidth=sheet.size.line)
        _draw.heading(panel, named(block, head, blocks))
    _draw.remove_spare(panels, len(places))
    _draw.bar(sheet, "share", (0, 1), "share of attention", beside=panels[0, across - 1])
    sheet.note_page(pages, f": {len(places)} of {blocks * heads} heads")
    return sheet.done(pages=pages)


def _caption(seen: AttentionByKind) -> str:
    return (
        f"One panel per head: the share of its attention that {seen.me}, where the answer is read, gives to each "
        "position, by kind of question, on a scale fixed from 0 to 1; means over validation questions, at least "
        f"{int(seen.questions.values.min())} of each kind. A position is named by its token, or by the group of its "
        "tokens where they vary. "
        + (
            "The last column, right of the line, is the share on the positions that hold the answer, wherever they "
            "stand; it is counted once more among the others. "
            if seen.on_answer is not None
            else ""
        )
        + "Exact means, not causes (see ablation). If a head did not care what is asked, its rows would be alike."
    )
