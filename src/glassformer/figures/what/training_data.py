"""What it was trained on: sequences as rows of cells, right, wrong, unconstrained or not in view."""

from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import percent
from glassformer.analyses._sought import sought
from glassformer.analyses.what.training_data import say, training_data
from glassformer.figures import _draw
from glassformer.run import Run

APART = 1.75  # from row to row, in cells
CELL = 3.0  # ems, the narrowest cell that holds two digits and a glyph


@_draw.drawing
def plot_training_data(run: Run, *, ax: _draw.Host = None, theme: str = "light", size: str = "screen") -> Figure:
    """Six training sequences, every token judged; thin lines lead to where the answer can be read off."""
    seen = training_data(run)
    sheet = _draw.Sheet(ax, theme, size, say(seen), height=5.4, least=60)
    left = 2.6 + max(_draw.text_width(name, 72) for name in seen.ids.axes["sequence"].labels)
    panel = sheet.panels(1, 1, left=left, right=3.6, bottom=7.0 if not seen.one else 3.4, top=0.8)[0, 0]
    widest = max(_draw.text_width(shown(token), 72) for row in seen.tokens for token in row)
    fits = int((sheet.room[0] - left - 3.6) / max(CELL, widest + 1.5))
    longest = max(map(len, seen.tokens))
    columns = min(longest, fits)
    panel.set_xlim(-0.5, max(columns, 9) - 0.5)
    panel.set_ylim(len(seen.tokens) * APART - 0.9, -1.25)
    for row, (words, verdicts, source) in enumerate(zip(seen.tokens, seen.verdicts, seen.source, strict=True)):
        y = row * APART
        for column, (word, verdict) in enumerate(zip(words[:columns], verdicts[:columns], strict=True)):
            plain = (seen.one or seen.text) and verdict == "unconstrained"  # a question is given, not judged
            said = None if plain else verdict
            _draw.cell(panel, column, y, word, said, theme=sheet.theme, size=sheet.size.text, line=sheet.size.line)
            begin, end = column - 1 if seen.read < 0 else seen.read, source[column]
            if 0 <= end != begin:
                lift = min(0.62, 0.3 + 0.06 * abs(begin - end))
                over = [
                    (begin, y - 0.46),
                    (begin, y - 0.46 - 1.2 * lift),
                    (end, y - 0.46 - 1.2 * lift),
                    (end, y - 0.46),
                ]
                curve = Path(over, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
                panel.add_patch(
                    PathPatch(curve, fill=False, edgecolor=sheet.theme.ink, linewidth=sheet.size.line * 0.5)
                )
        if len(words) > columns:
            panel.text(columns - 0.4, y, f"+{len(words) - columns}", va="center", color=sheet.theme.quiet)
    _draw.bare(panel)
    panel.set_yticks([row * APART for row in range(len(seen.tokens))], seen.ids.axes["sequence"].labels)
    panel.tick_params(length=0)
    panel.set_ylabel("question" if seen.one else "place in the text" if seen.text else "sequence")
    panel.set_clip_on(False)
    judged = ("right", "wrong", *(() if seen.one or seen.text else ("unconstrained",)), "not_in_view")
    kinds = [name for name in judged if any(name in row for row in seen.verdicts)]
    sheet.legend(kinds, x=1, y=0)
    if not seen.one and not seen.text:
        free, known, away = seen.shares.values
        shares = (
            f"in {seen.windows} training windows: {percent(free)} unconstrained · {percent(known)} constrained "
            "and in view"
        )
        sheet.note(shares + f" · {percent(away)} not in view", y=3.6 * sheet.em / sheet.inches[1])
    notes = []
    if any(s >= 0 and s != c - 1 for source in seen.source for c, s in enumerate(source[:columns])):
        target = "the token that is the answer" if seen.copied else sought(seen.copied)
        notes.append(f"arc: from where the answer is read to {target}")
    if longest > columns:
        notes.append("+: so many more tokens (counted in the title)")
    if notes:
        sheet.note(" · ".join(notes), y=0 if seen.one else 2.0 * sheet.em / sheet.inches[1])
    return sheet.done(seen)
