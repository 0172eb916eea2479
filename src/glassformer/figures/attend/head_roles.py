"""What each head does, measured against looking everywhere alike."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses.attend.attention import named
from glassformer.analyses.attend.head_roles import ANSWER, HAS, INDUCTION, NEEDED, NO_ROLE, REPEATED, HeadRoles
from glassformer.figures import _attend, _draw

MOST_PANELS = 6
ON_A_SLIDE = 6  # heads in the table
MOST_SAID = 8  # heads described in the caption


def draw(seen: HeadRoles, look: _draw.Look) -> Figure:
    """Head × role: attention beyond what looking everywhere alike gives; entropy, distance; the roles over life."""
    blocks, heads, roles = seen.excess.values.shape
    whole = [(b, h) for b in range(blocks) for h in range(heads)]
    every, pages = _draw.paged(whole, ON_A_SLIDE if look.size == "slide" else len(whole), look.page)
    names = seen.excess.axes["role"].labels
    strongest = sorted(every, key=lambda at: -float(np.nanmax(seen.excess.values[at], initial=-100)))
    most = 2 if look.size == "slide" and len(every) > 2 else MOST_PANELS
    small = sorted(strongest[:most])
    across = min(2 if look.size == "slide" else 3, len(small))
    down = -(-len(small) // across)
    table = 1.45 + 0.42 * len(every)
    sheet = look.sheet(seen, _caption(seen), "Table of heads by measured role", height=1.2 + table + 2.6 * down)
    cut = 2.6 * down / (table + 2.6 * down) if sheet.size.fixed is None else 0.6 if len(every) <= 2 else 0.44
    many = len(whole) > 1
    labels = [named(b, h, blocks) if many else "head" for b, h in every]
    left = 1.5 + _attend.longest(labels)
    room = 0.9 * (sheet.room[0] - left - 24) / roles * sheet.em  # inches for the name of a role
    wrapped = [_draw.wrap(name, sheet.size.text, room) for name in names]
    fits = all(_draw.text_width(line, sheet.size.text) < room for each in wrapped for line in each)
    texts = ["\n".join(each) for each in wrapped] if fits else list(names)
    top = 4.6 if fits else 2 + 0.6 * _attend.longest(names)
    grid = sheet.panels(1, 1, left=left, right=24, bottom=2.2, top=top, within=(0, cut, 1, 1))[0, 0]
    grid.xaxis.tick_top()
    _table(grid, seen, every, labels, sheet)
    grid.set_xticks(range(roles), texts, rotation=0 if fits else 35, ha="center" if fits else "left")
    beside = 3.6 + max(_draw.text_width(role, 72) for role in seen.excess.axes["role"].labels)  # ems beside each panel
    lines = sheet.panels(
        down, across, left=5, right=beside, bottom=4.4, top=2.4, gap=(beside + 2.5, 3.4), within=(0, 0, 1, cut)
    )
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
        panel.set_xlim(0, max(end, 1))
        _draw.beside(panel, [(float(last[r]), names[r], sheet.theme.ink) for r in told if np.isfinite(last[r])])
        panel.set_xticks([0, end])
        _draw.steps_axis(panel, "step" if k + across >= len(small) else "")
        panel.set_title(
            f"{named(b, h, blocks)}, over life" if many else "its three clearest roles over life (the others grey)"
        )
        if k % across == 0:
            panel.set_ylabel("percentage points")
        if seen.marked >= 0:
            panel.axvline(seen.marked, color=sheet.theme.ink, linewidth=0.6 * sheet.size.line)
    _draw.remove_spare(lines, len(small))
    sheet.note_page(pages, f": {len(every)} of {len(whole)} heads")
    return sheet.done(pages=pages)


def _caption(seen: HeadRoles) -> str:
    return (
        "Share of the attention that goes to the keys of each role, minus the share that looking everywhere alike "
        f"would give, in percentage points, over {seen.windows} {seen.of_part} windows and all queries that have such "
        f"a key. {_meant(seen.excess.axes['role'].labels)} Beside it, the mean "
        "entropy and the mean distance of the attention, with the values of looking everywhere alike "
        f"({seen.uniform_entropy:.2f} nats, {seen.uniform_distance:.1f} positions). Framed: {HAS:g} points and more, "
        f"from where a head is said to have a role{_but(seen)}. Below, the roles over life. "
        + (
            f"Induction: on {REPEATED} random sequences written twice, the share of the attention that a token of the "
            f"second copy gives to what followed it in the first; from {INDUCTION:g} on a head is called an induction "
            f"head. "
            if np.isfinite(seen.induction.values).any()
            else ""
        )
        + f"In words: {_in_words(seen)}. "
        "Measured, not proven: that a head looks somewhere does not say that the model needs it (see ablation)."
    )


def _but(seen: HeadRoles) -> str:
    """The role that is framed and not said: that of induction has a measure of its own."""
    names = seen.excess.axes["role"].labels
    beyond = np.nan_to_num(seen.excess.values)
    copied = "after a copy" in names and (np.round(beyond[..., names.index("after a copy")]) >= HAS).any()
    own = "; induction is measured by itself" if np.isfinite(seen.induction.values).any() else ""
    return f" (“after a copy” alone does not count{own})" if copied else ""


def _meant(roles: Sequence[str]) -> str:
    """What the names of these roles mean, and that roles overlap."""
    back = [role for role in ("previous", "2 back", "3 back") if role in roles]
    kinds = [role.removesuffix(" tokens") for role in roles if role.endswith(" tokens")]
    numbers = [role for role in roles if role.startswith("number ") or role in ("largest", "smallest")]
    said = [
        f"{', '.join(back)}: so many positions before" if back else "",
        "first: position 0" if "first" in roles else "",
        "… tokens: keys of that token group, other than itself" if kinds else "",
        "answer: what holds the answer" if ANSWER in roles else "",
        f"{NEEDED}: one that the rule computes the answer from" if NEEDED in roles else "",
        f"{', '.join(numbers)}: the numbers of a question, equal ones together" if numbers else "",
        "after a copy: just after an earlier copy of the query's own token" if "after a copy" in roles else "",
    ]
    both = f" Roles overlap: the previous key may be of the group {kinds[0]}, too." if back and kinds else ""
    return f"{'; '.join(filter(None, said))}.{both}"


def _in_words(seen: HeadRoles) -> str:
    """What each head does that has a clear role, the clearest first."""
    blocks, heads = seen.entropy.values.shape
    if blocks * heads == 1:
        return seen.described(0, 0)
    every = sorted(np.ndindex(blocks, heads), key=lambda at: -float(np.nanmax(seen.excess.values[at], initial=-100)))
    told = [f"{named(b, h, blocks)}: {said}" for b, h in every if (said := seen.described(b, h)) != NO_ROLE]
    if not told:
        return "no head has a clear role"
    rest, more = blocks * heads - len(told), len(told) - MOST_SAID
    ends = [f"{more} more {'has' if more == 1 else 'have'} a role"] if more > 0 else []
    ends += [f"{NO_ROLE}: the other {rest if rest > 1 else 'head'}"] if rest else []
    return "; ".join([*told[:MOST_SAID], *ends])


def _table(ax: Axes, seen: HeadRoles, heads: Sequence[tuple[int, int]], labels: list[str], sheet: _draw.Sheet) -> None:
    """Head × role in colour, and beside it each head's entropy, distance and, where measured, induction."""
    flat, limit = np.array([seen.excess.values[at] for at in heads]), _draw.limits("signed", seen.excess.values)
    _draw.heat(ax, flat, kind="signed", theme=sheet.theme, limit=limit, numbers=True, digits=0)
    _draw.outline(ax, [(k, r) for k, r in np.argwhere(np.round(flat) >= HAS).tolist()], sheet.theme.ink, 1.0)
    ax.set_yticks(range(len(labels)), labels)
    ax.tick_params(length=0)
    wide = ax.get_window_extent().width / ax.figure.dpi
    ax.set_xlabel(f"percentage points more than looking everywhere alike (framed: {HAS:g} or more)")
    beside = [("entropy", seen.entropy), ("distance", seen.distance)]
    if np.isfinite(seen.induction.values).any():
        beside.append(("induction", seen.induction))
    for k, (title, values) in enumerate(beside):
        x = 1 + (6.6 * k + 7.8) * sheet.em / wide  # in shares of the map's width
        unit = {"entropy": "nats", "distance": "positions", "induction": "share"}[title]
        ax.text(x, 1.02, f"{title}\n({unit})", transform=ax.transAxes, ha="right", va="bottom")
        for row, value in enumerate(values.values[at] for at in heads):
            strong = title == "induction" and value >= INDUCTION
            ax.text(x, row, _draw.number(float(value), 2), transform=ax.get_yaxis_transform(), ha="right", va="center",
                    fontweight="bold" if strong else "normal")  # fmt: skip
