"""What it was trained on: sequences as rows of cells, right, wrong, unconstrained or not in view."""

from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import listed, percent
from glassformer.analyses._sought import sought
from glassformer.analyses.what.training_data import TrainingData
from glassformer.figures import _draw, _table

APART = 1.75  # from row to row, in cells
LINE = 2.4  # ems, the least from row to row of one sequence
CELL = 3.0  # ems, the narrowest cell that holds two digits and a glyph


def draw(seen: TrainingData, look: _draw.Look) -> Figure:
    """Six training sequences, every token judged; thin lines lead to where the answer can be read off."""
    judgement = "" if seen.text else " with verdicts"
    shows = f"Rows of token cells{judgement}. The first row: {' '.join(seen.tokens[0])}"
    sheet = look.sheet(seen, _caption(seen), shows, height=5.4)
    names = seen.ids.axes["window"].labels
    left = 2.6 + max(_draw.text_width(name, 72) for name in (*names, *(() if seen.held_out else ("000",))))
    panel = sheet.panels(1, 1, left=left, right=3.6, bottom=7.0 if not seen.one else 3.4, top=0.8)[0, 0]
    widest = max(_draw.text_width(shown(token), 72) for row in seen.tokens for token in row)
    sign = 1.5 if seen.held_out else 2.4  # ems of check and air beside the longest word
    fits = int((sheet.room[0] - left - 3.6) / max(CELL, widest + sign))
    longest = max(map(len, seen.tokens))
    columns = min(longest, fits)
    rows = list(zip(names, seen.tokens, seen.verdicts, seen.source, strict=True))
    if not seen.held_out:  # one text, which goes on in the next row
        most = int(_table.ems(panel, sheet.em)[1] / LINE)
        _, words, verdicts, source = rows[0]
        parts = [slice(k, k + columns) for k in range(0, longest, columns)][:most]
        rows = [(str(part.start), words[part], verdicts[part], source[part]) for part in parts]
    last = sum(len(words) for _, words, _, _ in rows) if not seen.held_out else columns
    panel.set_xlim(-0.5, max(columns, 9 if seen.held_out else 1) - 0.5)
    arcs = any(s >= 0 and s != c - 1 for source in seen.source for c, s in enumerate(source[:columns]))
    apart = APART if seen.held_out else 1.2
    panel.set_ylim(len(rows) * apart - (0.9 if apart == APART else 0.6), -1.25 if apart == APART else -0.6)
    for row, (_, words, verdicts, source) in enumerate(rows):
        y = row * apart
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
    panel.set_yticks([row * apart for row in range(len(rows))], [name for name, _, _, _ in rows])
    panel.tick_params(length=0)
    panel.set_ylabel("question" if seen.one else "place in the text" if seen.text or not seen.held_out else "sequence")
    panel.set_clip_on(False)
    judged = ("right", "wrong", *(() if seen.one or seen.text else ("unconstrained",)), "not_in_view")
    kinds = [name for name in judged if name in seen.counts]
    entries = [_draw.handle(kind, sheet.theme) for kind in kinds]
    if not seen.held_out:
        told = {
            "right": "✓ follows from what is in view",
            "not_in_view": "∅ another may follow",
            "unconstrained": "given",
        }
        for kind, entry in zip(kinds, entries, strict=True):
            entry.set_label(told.get(kind, kind))
    sheet.legend(entries, x=1, y=0)
    if not seen.one and not seen.text and seen.held_out:
        free, known, away = seen.shares.values
        shares = (
            f"over all positions of {seen.windows} training windows: {percent(free)} unconstrained · {percent(known)} "
            "constrained and in view"
        )
        sheet.note(shares + f" · {percent(away)} not in view", y=3.6 * sheet.em / sheet.inches[1])
    notes = []
    if arcs:
        target = "the token that is the answer" if seen.copied else sought(seen.copied)
        notes.append(f"arc: from where the answer is read to {target}")
    if not seen.held_out and last < longest:
        notes.append(f"the first {last} of {longest} tokens (the title counts all)")
    elif longest > last:
        notes.append("+: so many more tokens" + ("" if seen.text else " (counted in the title)"))
    if notes:
        sheet.note(" · ".join(notes), y=0 if seen.one else 2.0 * sheet.em / sheet.inches[1])
    return sheet.done()


def _caption(seen: TrainingData) -> str:
    if seen.text:
        return (
            "Rows are stretches of the training part, evenly spaced, one cell per token; at the left the place at "
            "which each begins. Nothing is right or wrong about a token of a text: the model is to give each a high "
            "probability, given those before it."
        )
    if not seen.held_out:
        return (
            "The whole text, row by row, one cell per token; at the left the place at which each row begins. Of the "
            f"tokens after the first, which is given, those with a check are the only one that follows the at most "
            f"{seen.context} tokens before it, the most the model can see; those hatched follow where the text goes on "
            "in another way elsewhere, so that no model with this window can be sure of them. Exact."
        )
    each = zip(seen.shares.axes["kind"].labels, seen.shares.values, strict=True)
    shares = listed([f"{percent(float(share))} {name}" for name, share in each])
    cells = (
        "White cells are the question, the last one is its answer, right or wrong. "
        if seen.one
        else "A cell is right or wrong where the rule restricts the token, plain grey where it leaves it free, "
        f"hatched where the rule holds but the {seen.context} tokens before it, the most the model can see, do not "
        "settle the answer. "
    )
    return (
        f"Rows are {'questions' if seen.one else 'sequences'} of the training part, one cell per token. {cells}"
        f"A thin line leads from the position where the answer is read to {sought(seen.copied)}; none is drawn where "
        "that is the same token. "
        + ("" if seen.one else f"Over all positions of {seen.windows} training windows, {shares}. ")
        + "The verdicts are exact. A red cell would refute that the data obey the rule."
    )
