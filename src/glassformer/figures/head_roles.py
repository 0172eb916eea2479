"""What each head does, measured against looking everywhere alike."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses.head_roles import HAS, INDUCTION, head_roles, say
from glassformer.figures import _draw
from glassformer.figures.attention import applies as applies
from glassformer.run import Run

SECTION = "attend"
ORDER = 100
ANSWERS = ("1.P3", "2.§5.1", "3.§3.3")
COST = "c"
MOST_PANELS = 6


@_draw.drawing
def plot_head_roles(
    run: Run,
    *,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Head × role: attention beyond what looking everywhere alike gives; entropy, distance; the roles over life."""
    seen = head_roles(run, step=step, member=member)
    blocks, heads, roles = seen.excess.values.shape
    every = [(b, h) for b in range(blocks) for h in range(heads)]
    names = seen.excess.axes["role"]
    strongest = sorted(every, key=lambda at: -float(np.nanmax(seen.excess.values[at], initial=-100)))
    most = 2 if size == "slide" and len(every) > 2 else MOST_PANELS
    small = sorted(strongest[:most])
    across = min(2 if size == "slide" else 3, len(small))
    down = -(-len(small) // across)
    table = 1.45 + 0.42 * len(every)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=1.2 + table + 2.6 * down, least=60)
    cut = 2.6 * down / (table + 2.6 * down) if sheet.size.fixed is None else 0.68 if len(every) <= 2 else 0.48
    many = len(every) > 1
    copies = bool(np.isfinite(seen.induction.values).any())
    grid = sheet.panels(
        1,
        4 if copies else 3,
        widths=[roles, 1.4, 1.4, 1.4][: 4 if copies else 3],
        left=10 if many else 5,
        right=1.5,
        bottom=3,
        top=2.8,
        gap=(2.5, 0),
        within=(0, cut, 1, 1),
    )[0]
    labels = [f"block {b}, head {h}" if many else "head" for b, h in every]
    flat = seen.excess.values.reshape(len(every), roles)
    limit = _draw.limits("signed", flat)
    _draw.heat(grid[0], flat, kind="signed", theme=sheet.theme, limit=limit, columns=names, numbers=True, digits=0)
    _draw.outline(grid[0], [(k, r) for k, r in np.argwhere(flat >= HAS).tolist()], sheet.theme.ink, 1.0)
    grid[0].set_yticks(range(len(labels)), labels)
    grid[0].tick_params(length=0)
    grid[0].set_title("percentage points more than looking everywhere alike")
    for text in grid[0].get_xticklabels():
        text.set_rotation(0)
    room = grid[0].get_window_extent().width / grid[0].figure.dpi / roles
    grid[0].set_xticks(
        range(roles),
        [
            name if _draw.text_width(name, sheet.size.text) < 0.82 * room else name.replace(" ", "\n", 1)
            for name in names
        ],
    )
    beside = [
        (grid[1], seen.entropy, "entropy", "entropy", seen.uniform_entropy),
        (grid[2], seen.distance, "entropy", "distance", 2 * seen.uniform_distance),
    ]
    if copies:
        beside.append((grid[3], seen.induction, "share", "induction", 1.0))
        strong = np.argwhere(seen.induction.values.reshape(-1) >= INDUCTION)[:, 0].tolist()
        _draw.outline(grid[3], [(k, 0) for k in strong], sheet.theme.ink, 1.0)
    for panel, values, kind, title, top in beside:
        shown = values.values.reshape(-1, 1)
        _draw.heat(
            panel,
            shown,
            kind=kind,
            theme=sheet.theme,
            limit=(0, max(top, float(np.nanmax(shown, initial=0)), 1e-9)),
            numbers=True,
        )
        panel.set_title(title)
        panel.set_xticks([0], [values.unit])
    lines = sheet.panels(down, across, left=5, right=9, bottom=4.4, top=2.4, gap=(10.5, 3.4), within=(0, 0, 1, cut))
    life = seen.life.values
    span = (min(float(np.nanmin(life, initial=0)), 0), max(float(np.nanmax(life, initial=0)), 1))
    for k, (b, h) in enumerate(small):
        panel = lines.flat[k]
        last = life[-1, b, h]
        told = np.argsort(-np.abs(np.nan_to_num(last)), kind="stable")[:3]
        for r in range(roles):
            chosen = r in told
            panel.plot(
                seen.steps,
                life[:, b, h, r],
                color=sheet.theme.query if chosen else sheet.theme.faint,
                linewidth=sheet.size.line * (1.0 if chosen else 0.5),
                linestyle=("-", "--", ":")[list(told).index(r)] if chosen else "-",
                zorder=3 if chosen else 2,
            )
        panel.axhline(0, color=sheet.theme.ink, linewidth=0.5 * sheet.size.line)
        panel.set_ylim(span[0] * 1.1, span[1] * 1.1)
        end = seen.steps[-1]
        high = panel.get_window_extent().height / panel.figure.dpi
        least = 1.2 * sheet.em / high * (span[1] - span[0]) * 1.1
        free = np.inf
        for r in sorted(told, key=lambda r: -last[r]):
            y = min(float(last[r]), free)
            free = y - least
            panel.annotate(
                f"{names[r]}", (end, y), xytext=(3, 0), textcoords="offset points", va="center", annotation_clip=False
            )
        panel.set_xlim(0, max(end, 1))
        panel.set_xticks([0, end])
        _draw.steps_axis(panel, "step" if k + across >= len(small) else "")
        panel.set_title(f"block {b}, head {h}" if many else "its three clearest roles over life (the others grey)")
        if k % across == 0:
            panel.set_ylabel("points beyond even")
        if seen.marked >= 0:
            panel.axvline(seen.marked, color=sheet.theme.ink, linewidth=0.6 * sheet.size.line)
    for panel in lines.flat[len(small) :]:
        panel.remove()
    return sheet.done(seen)
