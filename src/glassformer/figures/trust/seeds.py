"""How much depends on the seed: all curves, the share solved, and where each seed ends."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import percent
from glassformer.analyses.trust.seeds import Seeds
from glassformer.figures import _draw


def draw(seen: Seeds, look: _draw.Look) -> Figure:
    """Every seed's curve on the ladder, the share solved by step, and the last error of each seed, sorted."""
    shows = f"Loss curves of {len(seen.rung)} seeds, share solved, and final errors"
    sheet = look.sheet(seen, _caption(seen), shows, height=7.4)
    loss = sheet.panels(1, 1, left=5.5, right=12, bottom=3.8, top=2.4, within=(0, 0.48, 0.64, 1))[0, 0]
    solved = sheet.panels(1, 1, left=5.5, right=2, bottom=3.8, top=2.4, within=(0.64, 0.48, 1, 1))[0, 0]
    last = sheet.panels(1, 1, left=5.5, right=2, bottom=4.6, top=2.2, within=(0, 0, 1, 0.48))[0, 0]
    _loss(loss, seen, sheet)
    _solved(solved, seen, sheet)
    _last(last, seen, sheet)
    for panel in (loss, solved):
        panel.set_xlim(0, max(seen.steps, 1))
        panel.locator_params(axis="x", nbins=4)
        _draw.steps_axis(panel)
        sheet.mark_step(panel, seen.step)
    return sheet.done()


def _caption(seen: Seeds) -> str:
    under = "is 0" if seen.threshold < 1e-6 else f"is below {_limit(seen)}"
    return (
        "Top left: validation loss of every seed (thin; those not solved at the end in the colour of wrong) and their "
        "median (thick), in front of the ladder. Top right: share of all seeds solved for good by each step; the "
        f"unsolved stay in the count. Bottom: the last {seen.measure} of each seed, sorted, with the rung on which it "
        f"stands, or the two between which it does. Solved means that the {seen.measure} {under} from then on, at "
        "every logged step. All seeds share the data; they differ in first weights and in the order of batches. One "
        "seed that differs from the others shows that a single run proves nothing."
    )


def _limit(seen: Seeds) -> str:
    """Below what a seed is solved."""
    if seen.measure == "excess loss":
        return f"{seen.threshold:g} nats"
    return "0" if seen.threshold < 1e-6 else percent(seen.threshold)


def _loss(ax: Axes, seen: Seeds, sheet: _draw.Sheet) -> None:
    t, line, at = sheet.theme, sheet.size.line, seen.median.axes["step"].values
    for k in range(seen.loss.values.shape[1]):
        good = np.isfinite(seen.solved_at.values[k])
        ax.plot(
            at,
            seen.loss.values[:, k],
            color=t.validation if good else t.wrong,
            linewidth=(0.45 if good else 0.8) * line,
            zorder=2,
        )
    ax.plot(at, seen.median.values, color=t.ink, linewidth=1.2 * line, zorder=3, marker="o" if len(at) == 1 else "")
    prices = seen.rungs.values
    names = []
    for k, (name, price) in enumerate(zip(seen.rungs.axes["rung"].values, prices, strict=True)):
        floor = k == len(prices) - 1
        ax.axhline(
            price, color=t.ink if floor else t.rung, linestyle="--", linewidth=(1.1 if floor else 0.5) * line, zorder=1
        )
        names.append((float(price), str(name), t.ink if floor else t.quiet))
    finite = seen.loss.values[np.isfinite(seen.loss.values)]
    low, high = (
        min([*prices, *finite[:]], default=0),
        max(float(prices[0]), float(np.quantile(finite, 0.999)) if len(finite) else 0),
    )
    ax.set(ylim=(low - 0.05 * (high - low), high + 0.05 * (high - low)), ylabel="loss (nats per token)")
    ax.set_title("every seed (thin) and the median (thick)")
    _draw.beside(ax, names, most=11)


def _solved(ax: Axes, seen: Seeds, sheet: _draw.Sheet) -> None:
    at, many = seen.median.axes["step"].values, len(seen.error.values)
    ax.step(at, seen.solved.values, where="post", color=sheet.theme.right, linewidth=1.2 * sheet.size.line)
    ax.set_ylim(-0.03, 1.05)
    counts = sorted({0, many // 2, many})
    ax.set_yticks([c / many for c in counts], [f"{c} of {many}" for c in counts])
    ax.axhline(1, color=sheet.theme.rung, linestyle=":", linewidth=0.6 * sheet.size.line, zorder=0)
    ax.set_title("seeds solved for good")


def _last(ax: Axes, seen: Seeds, sheet: _draw.Sheet) -> None:
    t = sheet.theme
    values, members = seen.error.values, seen.error.axes["member"].labels
    order = np.argsort(np.nan_to_num(values, nan=np.inf), kind="stable")
    share = seen.measure != "excess loss"
    least = 1e-3
    top = float(np.nanmax(values)) if np.isfinite(values).any() else 1.0
    ax.set_yscale("symlog", linthresh=least, linscale=0.5)
    ax.set_ylim(-0.4 * least, max(1.5, 1.8 * top) if share else max(0.1, 1.8 * top))
    ticks = [v for v in (0, 0.001, 0.01, 0.1, 1) if v <= max(1.0, top)]
    ax.set_yticks(ticks, [percent(v) if share else f"{v:g}" for v in ticks])
    ax.minorticks_off()
    ax.axhline(seen.threshold, color=t.rung, linestyle=":", linewidth=0.8 * sheet.size.line, zorder=0)
    for place, k in enumerate(order):
        good = np.isfinite(seen.solved_at.values[k])
        value = float(values[k])
        if np.isfinite(value):
            ax.plot(
                [place],
                [value],
                marker="o" if good else "X",
                color=t.right if good else t.wrong,
                markersize=0.9 * sheet.size.text,
            )
        else:
            ax.text(place, least, "not a\nnumber", ha="center", va="bottom", color=t.wrong)
    wide = ax.get_window_extent().width / ax.figure.dpi / len(order)
    labels = []
    for k in order:
        name = f"{members[k]}" if len(order) > 16 else f"seed {members[k]}"
        lines = _draw.wrap(seen.rung[k], sheet.size.text, 0.88 * wide) if len(order) <= 16 else []
        labels.append("\n".join([name, *lines]))
    ax.set_xlim(-0.6, len(order) - 0.4)
    ax.set_xticks(range(len(order)), labels)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel("last error" if share else "excess (nats)")
    ax.set_title(f"last {seen.measure} of each seed and its rung; ● solved (below {_limit(seen)})  ✖ not")
