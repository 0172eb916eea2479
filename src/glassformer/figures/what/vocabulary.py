"""Which tokens there are, and how a text becomes numbers and comes back."""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import thousands
from glassformer.analyses.what.vocabulary import Vocabulary
from glassformer.figures import _draw, _style, _table

LINE = 3.0  # ems from row to row, where there is room
MOST = 40  # tokens listed; beyond, the most frequent and those of the text


def draw(seen: Vocabulary, look: _draw.Look) -> Figure:
    """Id, token, group and count of every token; below, one text as tokens, as ids, and back."""
    chosen, marks, names = listed_ids(seen), _style.markers(seen.families), seen.counts.axes["token"].labels
    words = [(str(k), shown(names[k]), seen.groups[k], thousands(int(seen.counts.values[k]))) for k in chosen]
    wide = [max(_draw.text_width(row[c], 72) for row in [("id", "token", "", "count"), *words]) for c in range(4)]
    wide[2] = max(_draw.text_width(group, 72) for group in seen.groups) + 1.4
    each = sum(wide) + 4.8  # ems of a column with the gap after it
    wanted = 2 if len(chosen) <= 12 else 3 if len(chosen) <= 24 else 4
    height = 2.6 + 0.32 * (len(chosen) // wanted + 2)
    ids = [str(int(each)) for each in seen.ids.values]
    shows = f"A table of tokens and the text {' '.join(map(shown, seen.tokens))} as ids [{', '.join(ids)}]"
    sheet = look.sheet(seen, _caption(seen), shows, height=height, least=2 * each + 1)
    columns = min(wanted, max(1, int((sheet.room[0] - 1) / each)))
    per = -(-len(chosen) // columns)
    low = min(0.42, 10.5 / sheet.room[1])
    panels = sheet.panels(1, columns, left=2, right=2, bottom=0.5, top=1, gap=3, within=(0, low, 1, 1))
    most = max(int(seen.counts.values[k]) for k in chosen)
    line = min(LINE, (_table.ems(panels[0, 0], sheet.em)[1] - 0.4) / (per + 1))  # the same in every column
    for panel, begin in zip(panels[0], range(0, len(chosen), per), strict=False):
        rows = words[begin : begin + per]
        cells = [(a, b, "", d) for a, b, _, d in rows]
        _table.table(
            panel,
            sheet.em,
            ("id", "token", "", "count"),
            cells,
            theme=sheet.theme,
            align="rllr",
            widths=wide,
            line=line,
        )
        width, _ = _table.ems(panel, sheet.em)
        gap = min(2.0, max(0.6, (width - sum(wide)) / 3))
        x = wide[0] + wide[1] + 2 * gap
        panel.text(x, 0.5 * line, "group", va="center", color=sheet.theme.quiet)
        for k, (_, _, group, _) in enumerate(rows):
            y = (k + 1.6) * line
            panel.plot([x + 0.4], [y], marker=marks[group], color=sheet.theme.ink, linestyle="")
            panel.text(x + 1.4, y, group, va="center")
        begin_bar = sum(wide) + 3 * gap + 0.8
        room = width - begin_bar
        if compared := room > 3:  # the counts once more, to be compared at a glance
            share = [int(seen.counts.values[k]) / max(most, 1) for k in chosen[begin : begin + per]]
            at = [(k + 1.6) * line for k in range(len(rows))]
            panel.barh(at, [room * each for each in share], left=begin_bar, height=0.45 * line, color=sheet.theme.rung)
    sheet.words = replace(sheet.words, caption=_caption(seen, compared))
    text = sheet.panels(1, 1, left=7, right=2, bottom=0.8, top=2.2, within=(0, 0, 1, low))[0, 0]
    text.set_title(f"“{seen.text}” as the model gets it")
    plain: list[str | None] = [None] * len(ids)
    _draw.cells(text, [seen.tokens, ids, seen.tokens], [plain, plain, plain], theme=sheet.theme,
                row_names=("tokens", "ids", "decoded"))  # fmt: skip
    text.set_xlim(-0.5, max(len(ids), 10) - 0.5)
    return sheet.done()


def _caption(seen: Vocabulary, compared: bool = False) -> str:
    size = len(seen.groups)
    rest = f" Listed are {MOST} of {size} tokens: those of the text and the most frequent." if size > MOST else ""
    bars = "; bars compare the counts" if compared else ""
    return (
        f"Above: {'every token' if size <= MOST else 'tokens, each'} with its id, its group (marker and word) and how "
        f"often it occurs in {seen.counted} ({thousands(seen.total)} tokens, counted exactly{bars}).{rest} Below: a "
        "text cut into tokens, the ids the model gets in their place, and the tokens these ids stand for; the round "
        "trip was checked by encoding the result again."
        + (f" This tokenizer does not keep the text: “{seen.text}” comes back as “{seen.back}”." if seen.lost else "")
    )


def listed_ids(seen: Vocabulary) -> list[int]:
    """Ids to list: all, or the most frequent together with those of the text; in the order of the ids."""
    if len(seen.groups) <= MOST:
        return list(range(len(seen.groups)))
    often = np.argsort(-seen.counts.values, kind="stable").tolist()
    first = dict.fromkeys([int(token) for token in seen.ids.values] + often)
    return sorted(list(first)[:MOST])
