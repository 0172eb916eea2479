"""Individual parameters followed through training."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import thousands
from glassformer.analyses.path.parameter_tracks import ParameterTracks, titled
from glassformer.figures import _draw, _life

ON_SLIDE = 6  # panels
GROUPS = ("-", "--", ":", "-.")


def draw(seen: ParameterTracks, look: _draw.Look) -> Figure:
    """One panel per tensor: every parameter of a small model; of a large one some, before their tensor's range."""
    size = look.size
    many = ON_SLIDE if size in ("slide", "print_narrow") else 16
    names, pages = _draw.paged(list(seen.tracks), many, look.page)
    columns = (
        1
        if len(names) == 1
        else 2
        if size == "print_narrow"
        else 3
        if size == "print"
        else min(4 if many > 6 else 3, -(-len(names) // 2))
    )
    rows = -(-len(names) // columns)
    shows = "Lines of parameter values over training steps, one panel each"
    sheet = look.sheet(seen, _caption(seen), shows, height=max(2.5 * rows + 0.8, 4.5), least=0)
    widest = max((_draw.text_width(shown(word), sheet.size.text) for word in _words(seen, names)), default=0)
    right, foot = 2.6 + widest / sheet.em, 6.2 if "read_out_bias" in names else 5
    down = 4.6 if size.startswith("print") or seen.bands else 3
    top = 3.6 if seen.bands else 2.4
    panels = sheet.panels(rows, columns, left=5.8, right=right, bottom=foot, top=top, gap=(4.6, down))
    for k, (panel, name) in enumerate(zip(panels.flat, names, strict=False)):
        _tracks(panel, seen, name, sheet)
        low = k + columns >= len(names)
        _life.steps_axis(panel, seen.scale, seen.per_pass if columns == 1 else 0.0, low, seen.step)
        if not k % columns:
            panel.set_ylabel("weight")
        panel.yaxis.set_major_locator(MaxNLocator(4))
    _draw.remove_spare(panels, len(names))
    notes = ["bands: 5 to 95 % and middle half of the tensor"] if seen.bands.keys() & set(names) else []
    if len(names) < len(seen.tracks):
        notes.insert(0, f"page {look.page + 1} of {pages}: {len(names)} of {len(seen.tracks)} tensors")
    if notes:
        text = "; ".join(notes)
        fits = _draw.text_width(text, sheet.size.text) < sheet.inches[0] - 2 * sheet.em
        sheet.note(text if fits else notes[0])  # the caption explains the bands too
    return sheet.done(pages=pages)


def _caption(seen: ParameterTracks) -> str:
    and_biases = "; and all of the read-out's biases" if "read_out_bias" in seen.tracks else ""
    if seen.called:
        how = "weights asked for by name, each in front of the range of 5 to 95 % and of the middle half of its tensor"
    elif seen.followed == seen.parameters:
        how = f"every one of the {thousands(seen.parameters)} parameters"
    elif seen.preset == "read_out_bias":
        how = "the read-out's biases"
    else:
        how = (
            "one number each of embedding, read-out and the tensors that moved furthest: the one that ended furthest "
            "from where it began (chosen for that, so not typical), in front of the range of 5 to 95 % and of the "
            f"middle half of its tensor{and_biases}"
        )
    biases = (
        "Read-out biases are drawn by token group (line styles); where a bias has a name beside it, that is its token. "
        if "read_out_bias" in seen.tracks
        else ""
    )
    return (
        f"Value by training step of {how}, at {len(seen.looked_at)} kept steps. One panel per "
        f"{'weight' if seen.called else 'tensor'}, each with its own scale. {biases}Values are exact. A weight "
        "that ends where it began may still have moved a lot on the way."
    )


def _words(seen: ParameterTracks, names: list[str]) -> tuple[str, ...]:
    """Tokens written beside the read-out's biases."""
    return seen.tracks["read_out_bias"].axes["parameter"].labels if "read_out_bias" in names else ()


def _tracks(ax: Axes, seen: ParameterTracks, name: str, sheet: _draw.Sheet) -> None:
    t, line, steps = sheet.theme, sheet.size.line, seen.looked_at
    values, words = seen.tracks[name].values, seen.tracks[name].axes["parameter"].labels
    tensor = name.partition("[")[0]
    colour = _life.tensor_colour(tensor, t)
    title = titled(tensor, seen.blocks == 1)
    few = "o" if len(steps) < 3 else ""
    if name == "read_out_bias":
        every = _biases(ax, seen, sheet)
        _draw.heading(ax, "read-out bias" + ("" if every else " (some named)"))
        return
    if name in seen.bands:
        low, lower, upper, high = seen.bands[name].values.T
        ax.fill_between(steps, low, high, color=t.faint, alpha=0.45, linewidth=0)
        ax.fill_between(steps, lower, upper, color=t.faint, alpha=0.9, linewidth=0)
        title = f"{title}: {words[0]}"
    alpha = float(np.clip(12 / values.shape[1], 0.25, 1))
    ax.plot(
        steps, values, color=colour, linewidth=line * (1.1 if values.shape[1] == 1 else 0.55), alpha=alpha, marker=few
    )
    ax.axhline(0, color=t.faint, linewidth=0.4 * line, zorder=0)
    _draw.heading(ax, title)


def _biases(ax: Axes, seen: ParameterTracks, sheet: _draw.Sheet) -> bool:
    """Each group of tokens with its own line; names at the ends, as many as there is room for; whether all are."""
    t, line = sheet.theme, sheet.size.line
    table = seen.tracks["read_out_bias"]
    words = table.axes["parameter"].labels
    style = {word: GROUPS[k % 4] for k, group in enumerate(seen.groups.values()) for word in group}
    colours = (t.ink, t.quiet, t.rung, t.ink)
    tint = {word: colours[k % 4] for k, group in enumerate(seen.groups.values()) for word in group}
    for word, curve in zip(words, table.values.T, strict=True):
        ax.plot(seen.looked_at, curve, color=tint[word], linestyle=style[word], linewidth=0.8 * line,
                marker="o" if len(seen.looked_at) < 3 else "")  # fmt: skip
    ax.axhline(0, color=t.faint, linewidth=0.4 * line, zorder=0)
    ends = table.values[-1]
    room = int(ax.get_window_extent().height / ax.figure.dpi / sheet.em / 1.25)
    order = every = [k for k in np.argsort(ends) if np.isfinite(ends[k])]
    if len(order) > room:
        order = [order[k] for k in np.unique(np.linspace(0, len(order) - 1, max(room, 2)).round().astype(int))]
    _draw.beside(ax, [(float(ends[k]), shown(words[k]), tint[words[k]]) for k in order], most=12)
    present = [group for group, tokens in seen.groups.items() if any(word in tokens for word in words)]
    handles = [ax.plot([], [], color=tint[seen.groups[g][0]], linestyle=style[seen.groups[g][0]])[0] for g in present]
    for handle, name in zip(handles, present, strict=True):
        handle.set_label(name)
    sheet.legend(handles)
    return len(order) == len(every)
