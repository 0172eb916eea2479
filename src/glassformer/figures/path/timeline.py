"""What happened when? Rungs, kinds, parts and attention on one axis, and the phases of the loss."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses import _clock
from glassformer.analyses._result import Labelled, percent, thousands
from glassformer.analyses._scale import Scale
from glassformer.analyses._sought import sought
from glassformer.analyses.attend.head_roles import ANSWER, NEEDED
from glassformer.analyses.path.timeline import LEFT, LONG, STILL, Timeline
from glassformer.figures import _draw, _life

PHASES = 4.6  # ems for two bars of phases with two lines beside each
ROWS = 4  # labels of a lane that may stand above each other
TALL = 6.0  # ems of the chart of the loss from which its unit has room
FEW = 40  # logged lines under which each is marked


def draw(seen: Timeline, look: _draw.Look) -> Figure:
    """The loss with its plateaus, four lanes of events, and the phases by the bends of the loss and by time."""
    sheet = look.sheet(seen, _caption(seen), "A time line of events of the training in lanes", height=7.8, least=0)
    t = sheet.theme
    held = ANSWER if seen.copied else NEEDED
    lanes: tuple[tuple[str, Labelled, str], ...] = (
        ("rungs reached", seen.rungs, t.ink), ("kinds 95 % right", seen.kinds, t.right),
        ("parts needed", seen.born, t.ink), (f"mean attention on the {held}", seen.attention, t.query),
    )  # fmt: skip
    wide = (sheet.room[0] - 13) * sheet.em
    rows = [_rows(_happened(events), wide, seen.scale, sheet, ROWS)[1] for _, events, _ in lanes]
    needs = [max(2.0, 1.2 * many) for many in rows]
    rest = max(sheet.room[1] - 10.7 - sum(needs) - PHASES, 3.0)  # ems for the loss
    panels = sheet.panels(6, 1, heights=[rest, *needs, PHASES], left=11, right=2, bottom=5.4, top=1.4,
                          gap=(0, 0.7))[:, 0]  # fmt: skip
    _loss(panels[0], seen, sheet)
    for panel, (name, events, colour) in zip(panels[1:5], lanes, strict=True):
        last = seen.attention_last if events is seen.attention else float("nan")
        ends = f" (ends at {percent(last)})" if np.isfinite(last) else ""
        shown = Labelled(np.zeros(0), {"share": ()}) if events is seen.attention and not looked(seen) else events
        _lane(panel, name, shown, colour, sheet, seen.scale, ends)
    _phases(panels[5], seen, sheet)
    for panel in panels:
        _draw.steps_axis(panel, "step" if panel is panels[-1] else "", seen.scale)
        if panel is not panels[-1]:
            panel.set_xticks([])
        sheet.mark_step(panel, seen.step)
        for begin, end in seen.plateaus.values:
            panel.axvspan(begin, end, color=t.unconstrained, alpha=0.35, linewidth=0, zorder=-1)
    if len(seen.plateaus.values):
        sheet.note("grey background: the loss falls slowly, though much is left to learn")
    return sheet.done()


def _caption(seen: Timeline) -> str:
    plateau = (
        f"stretches of at least {percent(LONG)} of the training in which it falls by less than {percent(STILL)} of the "
        f"ladder while more than {percent(LEFT)} is left"
    )
    shaded = f"plateaus shaded ({plateau})" if len(seen.plateaus.values) else f"without plateaus ({plateau})"
    lanes = ["rungs of the ladder first stood on"]
    lanes += ["kinds of places with 95 % right answers"] if len(seen.kinds.values) else []
    lanes += ["parts needed for good (see birth; single neurons left out)"] if len(seen.born.values) else []
    if looked(seen):
        lanes.append(f"a head that keeps 50 % and 90 % of its attention on {sought(seen.copied)}, on average")
    logged = f"{'closely at first, then ' if seen.sooner else ''}every {thousands(seen.every)} steps"
    last = "The last rung asks for the right probabilities, not only for right arg-max answers."
    bends = "the loss is logged too rarely to divide them where it bends; drawn are"
    if np.isfinite(seen.phases.values).all():
        bends = (
            "early, middle and late are by definition divided where the three straight lines that fit the loss curve "
            "best meet; below them"
        )
    return (
        f"One axis of training steps. Top: the {seen.whose} loss{_smoothed(seen)}, {shaded}. "
        f"Lanes: {'; '.join(lanes)}. Phases: {bends} the first fifth, the next two fifths and the last two fifths of "
        "the training, a division by time alone; each with its share of the fall. Everything is dated to the "
        f"first look after it: the loss was logged {logged}. "
        f"{last if seen.truth_known else 'The last rung is the best table of counts, which can be beaten.'}"
    )


def _smoothed(seen: Timeline) -> str:
    """That the curve is not the raw one, which `loss` shows, where there are lines enough to smooth it."""
    if len(seen.loss.values) < _clock.FEW:
        return ""
    return f" (running median over {_clock.SMOOTH} logged lines: spikes do not show)"


def looked(seen: Timeline) -> bool:
    """Whether attention on a token that is looked up was measured: a text names none."""
    return bool(np.isfinite(seen.attention_last) or np.isfinite(seen.attention.values).any())


def _loss(ax: Axes, seen: Timeline, sheet: _draw.Sheet) -> None:
    steps = seen.loss.axes["step"].values
    few = np.searchsorted(steps, np.nan_to_num(seen.rungs.values[-1], nan=np.inf), side="right")  # up to the floor
    dots = list(range(len(steps) if len(steps) < FEW else few if few < FEW else 0))
    ax.plot(steps, seen.loss.values, color=sheet.theme.validation, linewidth=sheet.size.line, linestyle="--",
            marker="o", markevery=dots, markersize=0.36 * sheet.size.text)  # fmt: skip
    tall = ax.get_window_extent().height / ax.figure.dpi > TALL * sheet.em
    ax.set_ylabel("loss (nats)" if tall else "loss")
    _life.plain_powers(ax.yaxis)


def _lane(ax: Axes, name: str, events: Labelled, colour: str, sheet: _draw.Sheet, scale: Scale, ends: str = "") -> None:
    """Ticks at the events with their names, on a few rows so that they do not touch."""
    together = _happened(events)
    wide = ax.get_window_extent().width / ax.figure.dpi
    room = max(1, min(ROWS, int(ax.get_window_extent().height / ax.figure.dpi / (1.15 * sheet.em))))
    placed, rows = _rows(together, wide, scale, sheet, room)
    ax.set(ylim=(rows, 0), yticks=[])
    ax.spines["left"].set_visible(False)
    for at, (row, left, text) in placed.items():
        ax.plot([at, at], [row, row + 1], color=colour, linewidth=sheet.size.line)
        ax.text(at, row + 0.5, f"{text} " if left else f" {text}", ha="right" if left else "left",
                va="center", color=colour)  # fmt: skip
    if not len(events.values):
        ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, ha="center", va="center", color=sheet.theme.quiet)
    missing = [label for at, label in _events(events) if not np.isfinite(at)]
    taken = max((_end(at, text, left, wide, scale, sheet) for at, (row, left, text) in placed.items()
                 if row == rows - 1), default=0.0)  # fmt: skip
    said = [f"not reached: {text}{ends}" for text in _shorter(missing)] if missing else []
    text = next((each for each in said if _draw.text_width(each, sheet.size.text) < wide - taken - 2 * sheet.em), "")
    ax.text(1, 0.5 / rows, f"{text} ", transform=ax.transAxes, ha="right", va="center", color=sheet.theme.quiet)
    hidden = [f"{sum(len(together[at]) for at in together if at not in placed)} more", f"{len(missing)} not reached"]
    told = [each for each, is_hidden in zip(hidden, (len(placed) < len(together), said and not text), strict=True)
            if is_hidden]  # fmt: skip
    lines = _draw.wrap(name + (f" ({', '.join(told)})" if told else ""), sheet.size.text, 10 * sheet.em)
    ax.annotate("\n".join(lines), (0, 0.5), xycoords="axes fraction", xytext=(-0.6 * sheet.size.text, 0),
                textcoords="offset points", ha="right", va="center")  # fmt: skip


def _shorter(names: list[str]) -> list[str]:
    """All names, then fewer and fewer of them and how many more there are."""
    whole = [", ".join(names)]
    return whole + [f"{', '.join(names[:k])} +{len(names) - k} more" for k in range(len(names) - 1, 0, -1)]


def _events(table: Labelled) -> list[tuple[float, str]]:
    """Step and name of each event of a lane."""
    ((name, axis),) = table.axes.items()
    words = [percent(each) for each in np.array(axis.values)] if name == "share" else axis.labels
    words = [str(each) for each in axis.values] if name == "rung" else words
    return [(float(at), word) for at, word in zip(table.values, words, strict=True)]


def _happened(events: Labelled) -> dict[float, list[str]]:
    """Step → names of what happened then, in order."""
    found: dict[float, list[str]] = {}
    for at, label in sorted(each for each in _events(events) if np.isfinite(each[0])):
        found.setdefault(at, []).append(label)
    return found


def _end(at: float, text: str, left: bool, wide: float, scale: Scale, sheet: _draw.Sheet) -> float:
    """How far to the right (inches) a tick and its name reach."""
    x = float(scale.place(np.array(at))) * wide
    return wide if left else x + _draw.text_width(text, sheet.size.text) + 0.8 * sheet.em


def _rows(
    together: dict[float, list[str]], wide: float, scale: Scale, sheet: _draw.Sheet, most: int
) -> tuple[dict[float, tuple[int, bool, str]], int]:
    """Step → row, whether the name stands at the left of its tick, and the name; and how many rows that takes.

    Names of one step that have no room are counted instead; what then finds no row is left to the name of the lane.
    """
    ends: list[float] = [-1.0] * most
    placed: dict[float, tuple[int, bool, str]] = {}
    for at, names in together.items():
        x = float(scale.place(np.array(at))) * wide
        for text in _shorter(names):
            long = _draw.text_width(text, sheet.size.text) + 0.8 * sheet.em
            left = x + long > wide  # no room to the right
            begin = x - long if left else x
            row = next((k for k in range(most) if ends[k] <= begin and begin >= 0), None)
            if row is not None:
                ends[row] = _end(at, text, left, wide, scale, sheet)
                placed[at] = (row, left, text)
                break
    return placed, max((row for row, _, _ in placed.values()), default=0) + 1


def _phases(ax: Axes, seen: Timeline, sheet: _draw.Sheet) -> None:
    """Phases by the bends of the loss above, by time below, each with its share of the fall of the loss."""
    t = sheet.theme
    shades = (t.unconstrained, t.rung, t.unconstrained)
    wide = ax.get_window_extent().width / ax.figure.dpi
    both = (("fall by bends of the loss", seen.phases, seen.fall), ("fall by time", seen.by_time, seen.fall_by_time))
    for row, (name, table, fall) in enumerate(both):
        waiting: list[str] = []  # of bars too short for their words
        if not np.isfinite(table.values).all():
            ax.text(0.5, row, "too few logged steps to tell phases", ha="center", va="center", color=t.quiet,
                    transform=ax.get_yaxis_transform())  # fmt: skip
        for k, (begin, end) in enumerate(table.values):
            if not np.isfinite(begin) or end <= begin:
                continue
            ax.barh([row], [end - begin], left=begin, height=0.72, color=shades[k], edgecolor=t.paper)
            share = float(fall.values[k])
            own = table.axes["part"].labels[k] + (f": {percent(share)}" if np.isfinite(share) else "")
            left, right = seen.scale.place(np.array([begin, end]))
            room = 0.95 * (right - left) * wide
            if _draw.text_width(both_of := ", ".join([*waiting, own]), sheet.size.text) < room:
                own, waiting = both_of, []
            if _draw.text_width(own, sheet.size.text) < room:
                ax.text((left + right) / 2, row, own, ha="center", va="center", color=t.ink,
                        transform=ax.get_yaxis_transform())  # fmt: skip
            else:
                waiting.append(own)
        name += f" ({', '.join(waiting)})" if waiting else ""
        lines = _draw.wrap(name, sheet.size.text, 10 * sheet.em)
        ax.annotate("\n".join(lines), (0, row), xycoords=("axes fraction", "data"), xytext=(-0.6 * sheet.size.text, 0),
                    textcoords="offset points", ha="right", va="center", linespacing=1.0)  # fmt: skip
    ax.set(ylim=(1.5, -0.5), yticks=[])
    ax.spines["left"].set_visible(False)
