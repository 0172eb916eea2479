"""Which token wins where: entropy, winning regions, the embeddings and one input on them."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import Labelled, listed, percent
from glassformer.analyses.decide.landscape_winners import LandscapeWinners
from glassformer.figures import _draw, _regions, _style
from glassformer.figures.know.embeddings import outside

MOST_NAMES = 12  # pairs with a name
MOST_EDGES = 48  # more lines hide the regions


def draw(seen: LandscapeWinners, look: _draw.Look) -> Figure:
    """Entropy over the plane, the winning token's regions, all embeddings and one input on them; two slides."""
    size = look.size
    shape = (seen.frame[1] - seen.frame[0]) / (seen.frame[3] - seen.frame[2])
    pages = 2 if size == "slide" else 1
    page = look.page
    _draw.paged(range(pages), 1, page)
    s = _style.size(size)
    rows, columns = (4, 1) if size == "print_narrow" else (2 // pages, 2)
    right = 7.5 if columns == 1 else 1.5
    each = (s.width * 72 / s.text - 5 - right - 9.5 * (columns - 1)) / columns / shape  # the panels fill the width
    height = _style.inches(size, 12.1 + rows * (each + 3.4) - 3.4 + (4 if columns == 1 else 0))
    shows = f"Four maps of one {seen.flat}: entropy, winners, embeddings, one input"
    sheet = look.sheet(seen, _caption(seen), shows, height=height, least=0)
    bottom = 5.6 + (1.5 if columns == 1 else 0)
    made = sheet.panels(rows, columns, left=5, right=right, bottom=bottom, top=2.2, gap=(9.5, 5), square=shape)
    panels = list(made.flat)
    marks = _style.markers(seen.won.axes["group"].labels)
    if page == 0:
        _plane(sheet, seen, panels[0], panels[1])
    if pages == 1 or page:
        starts, ends = panels[-2:]
        (_starts if seen.blocks == 1 else _closer)(starts, seen, sheet.theme, marks)
        _ends(ends, seen, sheet.theme)
        met = [each for each in ("right", "wrong") if each in seen.verdicts]
        verdicts = [(f"{_style.GLYPH[each]} {each}", ">", sheet.theme[each]) for each in met]
        groups = [(name or "other", marks[name], sheet.theme.ink) for name in marks if name in seen.pair_groups]
        groups = groups if seen.blocks == 1 else []
        unsure = [_regions.undecided(sheet.theme)] * (seen.undecided >= 0.005)
        sheet.legend([*groups, *verdicts, *unsure], columns=8 if columns > 1 else 2)
    for k, panel in enumerate(panels):
        _regions.ticks(panel, seen.plane, x=True, y=True)
        panel.set_xlabel(seen.plane.labels[0] if k >= len(panels) - columns else "")
        panel.set_ylabel(seen.plane.labels[1] if k % columns == 0 else "")
    if pages > 1:
        sheet.note(f"page {page + 1} of 2")
    return sheet.done(pages=pages)


def _caption(seen: LandscapeWinners) -> str:
    shares = sorted(zip(seen.won.axes["group"].labels, seen.won.values, strict=True), key=lambda each: -each[1])
    parts = [f"{name} tokens are likeliest on {percent(float(share)) if share else 'none'}" for name, share in shares]
    return (
        "First: how undecided the model is at each point (entropy in nats). Second: the likeliest token at each point, "
        "after the feed-forward; hatched where even it has less than half of the probability; dots are where "
        f"{len(seen.points['held_out'].values)} positions of {seen.whose} windows end, "
        f"{'faint lines where a neuron switches on, ' if _edges(seen) is not None else ''}greys the groups of tokens. "
        f"Third: {_third(seen)}. Fourth: arrows of this input, from before to after attention. Of what is drawn, "
        f"{listed(parts)}, no token with half of the probability on {percent(seen.undecided)}. "
        + _regions.on_slice(seen)
    )


def _third(seen: LandscapeWinners) -> str:
    """What the third map shows."""
    if seen.blocks == 1:
        return "all pairs of token and position as embedded"
    return f"the dots again, {'larger' if seen.starts is None else 'closer'}"


def _edges(seen: LandscapeWinners) -> Labelled | None:
    """Where neurons switch, unless there are none or too many to see anything else."""
    return seen.edges if 0 < len(seen.edges.values) <= MOST_EDGES else None


def _plane(sheet: _draw.Sheet, seen: LandscapeWinners, entropy: Axes, winners: Axes) -> None:
    """How undecided, and who wins, over the whole plane."""
    most = (0.0, float(np.log(len(seen.words))))
    _regions.field(entropy, seen.entropy.values, seen.frame, kind="entropy", theme=sheet.theme, limit=most)
    entropy.set_title("how undecided: entropy")
    _draw.bar(sheet, "entropy", most, "entropy (nats)", beside=entropy)
    many = seen.points["held_out"].values
    _regions.winners(winners, seen.regions, sheet.theme, edges=_edges(seen), avoid=many)
    _draw.dots(winners, many, colour=sheet.theme.ink, scale=0.3, alpha=np.maximum(0.3, seen.near["held_out"].values))
    _draw.heading(winners, f"likeliest token, and where {len(many)} {seen.whose} positions end")


def _starts(ax: Axes, seen: LandscapeWinners, t: _style.Theme, marks: dict[str, str]) -> None:
    """All pairs before anything is added, the outermost of each token named."""
    near = seen.starts or seen.regions
    pairs, xy = seen.points["embedded"].axes["pair"], seen.points["embedded"].values
    groups, fade = np.array(seen.pair_groups), np.maximum(0.25, seen.near["embedded"].values)
    _regions.winners(ax, near, t, names=False)
    for name, mark in marks.items():
        mine = groups == name
        if mine.any():
            _draw.dots(ax, xy[mine], colour=t.ink, marker=mark, scale=0.6, alpha=fade[mine])
    last = list({pair[0]: k for k, pair in enumerate(pairs.values) if isinstance(pair, tuple)}.values())
    before = len(ax.texts)
    _draw.labels(
        ax, xy[last], [drawn(pairs)[k] for k in last], colours=t.ink, keep_clear=xy, first=outside(xy[last]),
        most=MOST_NAMES, tied=True,
    )  # fmt: skip
    _regions.halo(ax.texts[before:], t)
    _regions.region_names(ax, near, t, xy)
    ax.set_title("all pairs as embedded" + ("" if near is seen.regions else ", closer"))


def _closer(ax: Axes, seen: LandscapeWinners, t: _style.Theme, _: dict[str, str]) -> None:
    """After several blocks no pair stands where it was embedded: where held-out windows end, closer."""
    near = seen.starts or seen.regions
    xy, fade = seen.points["held_out"].values, np.maximum(0.3, seen.near["held_out"].values)
    _regions.winners(ax, near, t, avoid=xy)
    _draw.dots(ax, xy, colour=t.ink, scale=0.5, alpha=fade)
    ax.set_title(f"where {seen.whose} positions end" + ("" if near is seen.regions else ", closer"))


def _ends(ax: Axes, seen: LandscapeWinners, t: _style.Theme) -> None:
    """One input: arrows from each embedding to where attention puts it, those with an answer heavy and named."""
    near = seen.moves or seen.regions
    _regions.moves(ax, seen, t, near)
    ax.set_title("attention moves this input" + ("" if near is seen.regions else ", closer"))
