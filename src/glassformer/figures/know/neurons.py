"""What each neuron of the feed-forward part answers to, measured."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import Array, Labelled, thousands
from glassformer.analyses.know.neurons import BlockNeurons, Neurons
from glassformer.figures import _draw
from glassformer.figures.know.embeddings import roomy

MOST_LINES = 5  # borders in the plane, of the most selective neurons that fire
GRID = 64  # neurons beyond which the hidden values of one place are laid out as a grid
MOST_ROWS = {"screen": 20, "slide": 10}  # neurons with a row; else 12
MOST_TOKENS = 40  # with a column, so that each has a name; of more, those to which some neuron answers most


def draw(every: Neurons, look: _draw.Look) -> Figure:
    """Mean activations by label, selectivity in bits, boundaries in the plane, hidden values, descriptions.

    One page per block, the last block first.
    """
    (seen,), pages = _draw.paged(list(every.blocks.values()), 1, look.page)
    shows = "Mean activations, selectivity and descriptions of the neurons"
    sheet = look.sheet(every, _caption(seen), shows, title=seen.title, height=9.6)
    slide = sheet.size.name == "slide"
    split = 0.47 if slide else 0.44
    most = MOST_ROWS.get(sheet.size.name, 12) - 2 * (slide and "role" in seen.mean)  # its labels are long
    shown_rows = min(len(seen.mean["token"].axes["neuron"]), most)
    _means(sheet, seen, shown_rows, (0, split, 1, 1))
    left = 0.28 if seen.lines is not None else 0.0
    if seen.lines is not None:
        part = (0, 0, left, split)
        _boundaries(
            sheet.panels(1, 1, left=4.8, right=1, bottom=3.6, top=2.2, within=part, square=True)[0, 0], seen, sheet
        )
    begin = 0.64 if left else 0.5 if slide else 0.68
    panel = sheet.panels(1, 1, left=4.2, right=7, bottom=3.6, top=2.2, within=(left, 0, begin, split))[0, 0]
    _hidden(panel, seen, sheet)
    panel = sheet.panels(1, 1, left=1, right=0.5, bottom=1, top=2.2, within=(begin, 0, 1, split))[0, 0]
    _described(panel, seen, sheet)
    sheet.note_page(pages, f": block {seen.block}")
    return sheet.done(pages=pages)


def _caption(seen: BlockNeurons) -> str:
    fires = "fires means: its hidden value is above 0"
    fires += "" if seen.activation == "relu" else f" (with {seen.activation}, a convention)"
    said = (
        f"The {len(seen.order)} neurons of block {seen.block}, the most selective first: selectivity is the "
        f"information, in bits, between firing and the label of the place ({_labels(seen)}), "
        f"less what shuffled labels give by chance ({fires}). Measured at {thousands(seen.samples)} places of "
        "judged windows. Heat maps: mean hidden value; "
        "bars: bits, with the shuffled baseline as a tick. Descriptions name the one yes-or-no question that firing "
        "answers best, with the share of places at which the neuron fires on yes and on no; they are measured, not "
        "guessed, and say nothing about causes. "
    )
    if seen.specialities:
        said += (
            "The first ones are those that tell most about the kind of question and, among the numbers of a question, "
            "about which is the largest, the smallest, the answer; there “else” means the other numbers. "
        )
    if seen.lines:
        said += (
            "Lines: where each of the five most selective neurons starts to fire, in the plane of `middle`, with a "
            "tick to the firing side; dots are such places. "
        )
    return said + "A neuron without a meaning would stay at its baseline."


def _labels(seen: BlockNeurons) -> str:
    """What the labels of a place are, in words."""
    kind = "kind of question" if seen.specialities else "distance of the answer" if _back(seen) else "kind of place"
    words = {"token": "token here", "kind": kind}
    return ", ".join(words.get(each, each) for each in seen.bits.axes["quantity"].labels)


def _back(seen: BlockNeurons) -> bool:
    """Whether the kinds are how far back the answer lies."""
    return "kind" in seen.mean and any("back" in label for label in seen.mean["kind"].axes["kind"].labels)


def _means(sheet: _draw.Sheet, seen: BlockNeurons, rows: int, part: tuple[float, float, float, float]) -> None:
    kinds, tables = list(seen.mean), {kind: each.values[:rows] for kind, each in seen.mean.items()}
    names_of = {kind: _short(each, kind) for kind, each in seen.mean.items()}
    if many := len(names_of["token"]) > MOST_TOKENS:
        chosen = np.sort(np.argsort(-np.nan_to_num(np.abs(tables["token"])).max(axis=0), kind="stable")[:MOST_TOKENS])
        tables["token"], names_of["token"] = tables["token"][:, chosen], [names_of["token"][k] for k in chosen]
    widths = [float(np.clip(tables[kind].shape[1], 4, MOST_TOKENS if kind == "token" else 16)) for kind in kinds] + [
        10.0
    ]
    limit = _draw.limits("signed", *tables.values())
    low = max(3.6, 1.6 + max(_draw.widest(names) for kind, names in names_of.items() if kind != "position"))
    panels = sheet.panels(
        1, len(widths), widths=widths, left=4.2, right=8, bottom=low, top=2.2, gap=(1.6, 0), within=part
    )[0]
    names = seen.mean["token"].axes["neuron"].labels[:rows]
    for k, (panel, kind) in enumerate(zip(panels, kinds, strict=False)):
        panel_labels = names_of[kind]
        _draw.heat(
            panel, tables[kind], kind="signed", theme=sheet.theme, limit=limit, rows=names if k == 0 else (),
            columns=() if kind == "token" else panel_labels,
            row_name="neuron" if k == 0 else "", numbers=False,
        )  # fmt: skip
        back = kind == "kind" and _back(seen)
        ending = _shared(seen.mean[kind].axes[kind].labels) if kind == "kind" and not back else ""
        panel.set_title(
            {
                "token": f"mean hidden value by token here{f' ({MOST_TOKENS} strongest)' if many else ''}",
                "position": "by position",
                "kind": "by answer's distance" if back else ending or "by kind",
                "role": "by role",
            }[kind]
        )
        if (
            _draw.text_width(panel.get_title(loc="left"), 1.1 * sheet.size.text)
            > panel.get_window_extent().width / panel.figure.dpi
        ):
            panel.set_title({"token": "by token", "kind": "distance" if back else "kind"}.get(kind, kind))
        if all(label.isdigit() for label in panel_labels):
            roomy(panel, panel_labels)
        elif kind == "token":
            _draw.places(panel, panel_labels, "x", most=MOST_TOKENS)
        if k == 0:
            roomy(panel, (), names)
    if rows + seen.silent < len(seen.order):
        panels[0].set_ylabel(f"neuron (first {rows} of {len(seen.order)})")
    elif seen.silent:
        panels[0].set_ylabel(f"neuron ({seen.silent} more never fire)")
    _bits(panels[-1], seen, rows, sheet)
    panels[-1].set_xlabel("bits" if sheet.size.name == "slide" else "bits on the token, or as said")
    _bar(sheet, limit, "mean hidden value", panels[-1], [each.values[:rows] for each in seen.mean.values()])


def _short(table: Labelled, kind: str) -> list[str]:
    """The columns of a table; kinds and roles are words, not tokens, and keep their spaces."""
    labels = table.axes[kind].labels
    cut = len(_shared(labels)) if kind == "kind" else 0  # what all end with stands above them
    short = [label[: len(label) - cut].strip() for label in labels]
    short = [label.replace(" or more", "+").replace(" back", "").replace(" ", "\u00a0") for label in short]
    return short if kind in ("kind", "role") else list(labels)


def _shared(labels: Sequence[str]) -> str:
    """The words that all labels end with: `may follow`; empty where there are none, or nothing else would be left."""
    words = [label.split() for label in labels]
    found: list[str] = []
    while len(words) > 1 and all(len(each) > 1 for each in words) and len({each[-1] for each in words}) == 1:
        found.insert(0, words[0][-1])
        words = [each[:-1] for each in words]
    return " ".join(found)


def _bar(sheet: _draw.Sheet, limit: tuple[float, float], label: str, beside: Axes, values: list[Array]) -> None:
    """A colour bar; where no value is below 0, as after a ReLU, only its upper half."""
    made = _draw.bar(sheet, "signed", limit, label, beside=beside)
    if min(float(np.nanmin(each, initial=0)) for each in values) >= 0:
        made.set_ylim(0, limit[1])


def _bits(ax: Axes, seen: BlockNeurons, rows: int, sheet: _draw.Sheet) -> None:
    t, line = sheet.theme, sheet.size.line
    bits, base = seen.bits.values[:rows], seen.baseline.values[:rows]
    best = (bits - base).argmax(axis=1)
    at = np.arange(rows)
    ax.barh(at, bits[at, best], color=t.feed_forward, height=0.7)
    ax.vlines(base[at, best], at - 0.42, at + 0.42, color=t.ink, linewidth=line)
    ax.set(ylim=(rows - 0.5, -0.5), yticks=[], xlim=(0, max(float(np.nanmax(bits, initial=0)) * 1.45, 1e-3)))
    room = ax.get_window_extent().height / ax.figure.dpi / sheet.em / rows
    kinds = seen.bits.axes["quantity"].labels
    if room > 1.0:
        for row in range(rows):
            if bits[row, best[row]] > 0 and kinds[best[row]] != "token":
                ax.annotate(
                    kinds[best[row]],
                    (bits[row, best[row]], row),
                    xytext=(3, 0),
                    textcoords="offset points",
                    va="center",
                    color=t.quiet,
                )
    ax.set_title("selectivity")
    ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.xaxis.set_major_formatter("{x:g}")


def _boundaries(ax: Axes, seen: BlockNeurons, sheet: _draw.Sheet) -> None:
    assert seen.lines is not None
    assert seen.middle is not None
    t, points = sheet.theme, seen.middle.values
    _draw.plane_axes(ax, seen.plane, points, theme=t, margin=0.12)
    _draw.dots(ax, points, colour=t.faint, scale=0.5, zorder=1)
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    middle, reach = np.array([(x0 + x1) / 2, (y0 + y1) / 2]), max(x1 - x0, y1 - y0)
    names: list[tuple[float, float, str]] = []
    alive = len(seen.order) - seen.silent
    for k, (across, up, bias) in enumerate(seen.lines.values[: min(alive, MOST_LINES)]):
        normal = np.array([across, up])
        size = float(np.linalg.norm(normal))
        if not size > 0:
            continue
        normal /= size
        foot = middle - normal * (normal @ middle + bias / size)  # the line's point nearest to the middle of the panel
        if not (x0 <= foot[0] <= x1 and y0 <= foot[1] <= y1):
            continue
        along = np.array([-normal[1], normal[0]])
        ends = np.array([foot - along * 2 * reach, foot + along * 2 * reach])
        ax.plot(*ends.T, color=t.feed_forward, linewidth=0.7 * sheet.size.line, zorder=3, scalex=False, scaley=False)
        tick = np.array([foot, foot + normal * 0.05 * reach])
        ax.plot(*tick.T, color=t.feed_forward, linewidth=1.4 * sheet.size.line, zorder=3)
        names.append((*tick[1], str(seen.order[k])))
    if names:
        where = np.array([[x, y] for x, y, _ in names])
        _draw.labels(ax, where, [name for _, _, name in names], colours=t.ink, tied=True)
    for text in ax.texts:
        text.set_path_effects([withStroke(linewidth=0.25 * sheet.size.text, foreground=t.paper)])
    ax.set_title("where they begin to fire")


def _hidden(ax: Axes, seen: BlockNeurons, sheet: _draw.Sheet) -> None:
    values = seen.hidden.values
    many, alive = len(seen.order), values.shape[1]
    limit = _draw.limits("signed", values)
    where, neurons = seen.hidden.axes["position"], seen.hidden.axes["neuron"]
    if many > GRID:
        _draw.heat(ax, _grid(seen.at_read.values), kind="signed", theme=sheet.theme, limit=limit, numbers=False)
        ax.set_title(f"all {many} hidden values at {drawn(where)[seen.read]}")
        ax.set_xlabel("most selective first, row by row")
    else:
        _draw.heat(
            ax, values, kind="signed", theme=sheet.theme, limit=limit, rows=where, columns=neurons,
            column_name="neuron, most selective first", numbers=False,
        )  # fmt: skip
        roomy(ax, neurons, where)
        ax.set_title("hidden values of the input" if many == alive else f"hidden values of the {alive} that fire")
    _bar(sheet, limit, "hidden value", ax, [values])


def _grid(values: Array) -> Array:
    """Many values as a nearly square table, row by row; places that are over are NaN."""
    side = int(np.ceil(np.sqrt(len(values))))
    table = np.full(side * -(-len(values) // side), np.nan)
    table[: len(values)] = values
    return table.reshape(-1, side)


def _described(ax: Axes, seen: BlockNeurons, sheet: _draw.Sheet) -> None:
    _draw.bare(ax)
    ax.set_xlim(0, 1)
    box = ax.get_window_extent()
    inches, high = box.width / ax.figure.dpi, box.height / ax.figure.dpi
    line = 1.35 * sheet.em / high
    y, many = 0.97, 0
    best = zip(seen.special, seen.specialities, strict=True)
    told = list(dict.fromkeys([*best, *zip(seen.order, seen.descriptions, strict=False)]))
    for neuron, text in told:
        rows = _draw.wrap(text, sheet.size.text, inches - 2.6 * sheet.em)
        if y - line * len(rows) < -0.02:
            break
        ax.text(1.8 * sheet.em / inches, y, str(neuron), ha="right", va="top", color=sheet.theme.feed_forward)
        ax.text(2.4 * sheet.em / inches, y, "\n".join(rows), ha="left", va="top")
        y, many = y - 1.25 * line - line * (len(rows) - 1), many + 1
    most = "the most selective" if many == 1 else f"the {many} most selective"
    ax.set(title="best by kind, by role, of all" if seen.specialists else most, ylim=(0, 1))
