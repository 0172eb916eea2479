"""How far back heads look on average, and how widely over their lives."""

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._attend import largest
from glassformer.analyses._result import thousands
from glassformer.analyses._sought import sought
from glassformer.analyses.attend.attention import named
from glassformer.analyses.attend.attention_profile import AttentionProfile, favourite
from glassformer.figures import _draw, _uncertain

STYLES = ("solid", "dashed", "dash-dotted", "dotted")  # the lines of the entropies, by block
WIDE = 15  # ems of a panel that has room for the name of its head and what it shows


def draw(seen: AttentionProfile, look: _draw.Look) -> Figure:
    """Mean attention by distance and by position, looking everywhere alike, and the entropy of each head over life."""
    page = look.page
    blocks, heads = seen.by_distance.values.shape[1:3]
    every = [(b, h) for b in range(blocks) for h in range(heads)]
    per_page = {"slide": 2, "print_narrow": 3}.get(look.size, 8)
    if len(every) > per_page:
        every.sort(key=lambda at: -favourite(seen, *at).beyond)
    shown, pages = _draw.paged(every, per_page, page)
    across = 1 if len(shown) <= 3 else 2  # pairs of panels side by side
    rows = -(-len(shown) // across)
    title = seen.title_of(shown)
    shows = "Curves of mean attention by distance and by position"
    sheet = look.sheet(seen, _caption(seen), shows, title=title, height=_height(look.size, rows), least=0)
    narrow = sheet.room[0] < _uncertain.NARROW
    alone = page > 0  # the entropies stand on the first page
    share = 1.0 if alone else 0.68 if across == 1 else 0.76 if sheet.room[0] > 80 else 0.71  # for the heads' panels
    within = (0, 1 - rows / (rows + 1), 1, 1) if narrow else (0, 0, share, 1)
    foot = 3 if narrow else 7.2 if seen.asked else 6
    panels = sheet.panels(rows, 2 * across, left=5, right=1.5, bottom=foot, top=2.4, gap=(4, 3.6), within=within)
    if not alone:
        _widths(sheet, seen, narrow, share, rows)
    drawn = [seen.by_distance, seen.by_position, *seen.answer.values()]
    top = largest(*(each.values for each in drawn)) or 1.0
    for k, (block, head) in enumerate(shown):
        row, column = k // across, 2 * (k % across)
        for panel, lines, alike, axis in (
            (panels[row, column], seen.by_distance, seen.uniform_by_distance, "distance"),
            (panels[row, column + 1], seen.by_position, seen.uniform_by_position, "key_position"),
        ):
            x = np.array(lines.axes[axis].values)
            mean, low, high, first, *others = lines.values[:, block, head]
            panel.fill_between(x, low, high, color=sheet.theme.query, alpha=0.2, linewidth=0)
            panel.plot(x, first, color=sheet.theme.rung, linewidth=0.6 * sheet.size.line)
            panel.plot(x, alike.values, color=sheet.theme.ink, linestyle="--", linewidth=0.8 * sheet.size.line)
            for other in others:
                panel.plot(x, other, color=sheet.theme.query, linewidth=0.6 * sheet.size.line)
            panel.plot(x, mean, color=sheet.theme.query, marker="o", clip_on=False, zorder=3)
            if seen.answer:
                panel.plot(x, seen.answer[axis].values, color=sheet.theme.right, marker="x", linestyle="",
                           clip_on=False, zorder=4, markersize=0.9 * sheet.size.text,
                           markeredgewidth=sheet.size.line)  # fmt: skip
            panel.set_ylim(0, min(1.02, 1.08 * top))
            wide = panel.get_window_extent().width / panel.figure.dpi / sheet.em
            panel.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(max(3, round(wide / 2.2)), integer=True))
            by = "by distance" if axis == "distance" else "by position"
            who = named(block, head, blocks) if len(every) > 1 else ""
            if who and wide <= WIDE:  # no room for both; what the panels are, the axes say
                panel.set_title(who if axis == "distance" else "")
            else:
                panel.set_title(f"{who}: {by}" if who else by)
            if k + across >= len(shown):
                far = "positions back (0: itself)" if seen.causal else "key minus query position"
                panel.set_xlabel(far if axis == "distance" else "key position")
            if column == 0 and axis == "distance":
                panel.set_ylabel("share of attention" if rows <= 2 else "share")
    _draw.remove_spare(panels, 2 * len(shown))
    _legend(sheet, seen, narrow)
    notes = []
    if len(shown) < len(every):
        notes.append(
            f"heads {page * per_page + 1} to {page * per_page + len(shown)} of {len(every)}, the clearest first"
        )
    if not alone and 1 < blocks <= len(STYLES):
        notes.append(", ".join(f"{style}: block {block}" for block, style in enumerate(STYLES[:blocks])))
    room = (0.94 if narrow else 0.36) * sheet.inches[0]  # the legend has the rest, or the line above
    if len(notes) > 1 and _draw.text_width(" · ".join(notes), sheet.size.text) > room:
        notes.pop()  # the caption says it too
    sheet.note(" · ".join(notes))
    return sheet.done(pages=pages)


def _caption(seen: AttentionProfile) -> str:
    over = f"Mean attention of the newest token over the {seen.windows} steps of a life, one input a step: "
    if not seen.steps_are_inputs:
        which = "all queries" if not seen.asked else "the queries at which the rule asks, those"
        over = f"Mean attention over {seen.windows} {seen.of_part} windows, {which} that have such a key: "
    apart = (
        f"The line with dots is of the {thousands(seen.asked)} queries after which the rule asks for something that is "
        f"in view; crosses: in how many of them {sought(seen.copied)} lies there, which is what a head that looks it "
        "up would show; the thin line is of all other queries. "
    )
    return (
        f"{over}left by "
        + ("how many positions back the key lies" if seen.causal else "where the key lies relative to the query")
        + ", right by the key's position. Band: where eight in ten "
        + ("steps" if seen.steps_are_inputs else "of these queries, each by itself,")
        + " lie. Dashed: the same if all that may be seen got alike. Thin grey: step "
        f"{thousands(seen.first)}. The means are exact for these windows. If position did not matter to the head, its "
        "line would follow the dashed one; what depends on the tokens shows as the width of the band. "
        + (apart if seen.asked else "")
        + _entropies(seen)
    )


def _entropies(seen: AttentionProfile) -> str:
    """What the last chart shows, and from where to where it went."""
    first, last = (seen.entropy.values[..., k] for k in (0, -1))
    words = (
        "Last: the entropy of each head's attention by training step, averaged over queries"
        + ("" if seen.steps_are_inputs else f" and {seen.entropy_windows} windows")
        + f"; the thick dashes are at {float(seen.if_alike.values.max()):.3f} nats, looking everywhere alike, and 0 "
        "would be looking at one position only."
    )
    blocks = len(first)
    if 1 < blocks <= len(STYLES):
        words += f" Lines by block, from the first: {', '.join(STYLES[:blocks])}."
    if not np.isfinite([first, last]).all() or seen.steps_are_inputs:
        return words
    if first.size == 1:
        return f"{words} It goes from {first.item():.2f} to {last.item():.2f} nats."
    ends = [(f"{values.min():.2f}", f"{values.max():.2f}") for values in (first, last)]
    begin, end = (f"at {low}" if low == high else f"between {low} and {high}" for low, high in ends)
    return f"{words} At the first step the heads lie {begin} nats, at the last {end} nats."


def _legend(sheet: _draw.Sheet, seen: AttentionProfile, narrow: bool) -> None:
    t, line = sheet.theme, matplotlib.lines.Line2D
    who = "steps" if seen.steps_are_inputs else "queries"
    words = [
        line([], [], color=t.query, marker="o", label="mean, where the rule asks" if seen.asked else "mean"),
        matplotlib.patches.Patch(
            facecolor=t.query, alpha=0.2, label=f"8 in 10 of {'these' if seen.asked else 'the'} {who}"
        ),
        line([], [], color=t.ink, linestyle="--", label="looking everywhere alike"),
        line([], [], color=t.rung, label=f"step {seen.first}"),
    ]
    if seen.asked:
        lies = f"how often {sought(seen.copied)} lies there"
        words.insert(1, line([], [], color=t.right, marker="x", linestyle="", label=lies))
        words.append(line([], [], color=t.query, linewidth=0.6 * sheet.size.line, label="mean of all other queries"))
    columns = 2 if narrow else 3 if seen.asked else 4
    sheet.legend(words, columns=columns, y=1.5 * sheet.em / sheet.inches[1] if narrow else 0.0)


def _height(size: str, rows: int) -> float:
    """Inches at screen size; a narrow column has the entropies below the heads."""
    tall = 1.4 + (4.4 if rows == 1 else 2.3 * rows)
    return min(tall * 1.8, 16.4) if size == "print_narrow" else tall


def _widths(sheet: _draw.Sheet, seen: AttentionProfile, narrow: bool, share: float, rows: int) -> None:
    """Entropy of every head over life, beside the heads or below them."""
    within = (0, 0, 1, 1 / (rows + 1)) if narrow else (share, 0, 1, 1)
    names, foot = 7.0, 8.4 if narrow else 7.2 if seen.asked else 6
    panel = sheet.panels(1, 1, left=5, right=names + 2.2, bottom=foot, top=2.4, within=within)[0, 0]
    steps = seen.entropy.axes["step"].values
    panel.set_xlim(min(steps[0], 0), max(steps[-1], 1))
    _draw.steps_axis(panel)
    panel.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(_uncertain.fitting(panel, sheet), integer=True))
    _uncertain.attention_entropy(panel, seen.entropy, seen.if_alike, sheet, names)
    if seen.marked >= 0:
        panel.axvline(seen.marked, color=sheet.theme.quiet, linewidth=0.5 * sheet.size.line, zorder=0)
    panel.set_title("how widely")
