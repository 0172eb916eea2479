"""Diagnostics by temperature: entropy, loss, specific heat, free energy."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from glassformer.analyses._result import Array, thousands
from glassformer.analyses._uncertain import Uncertainty
from glassformer.figures import _draw, _style
from glassformer.figures._uncertain.parts import BAND, curve, key, level, life, reach
from glassformer.figures._uncertain.words import band


def shades(seen: Uncertainty, sheet: _draw.Sheet) -> list[Any]:
    """One shade for each moment, early to late."""
    palette = _style.colormap("time", sheet.theme.name)
    end = 0.85 if sheet.theme.name == "light" else 1.0  # away from the colour of the paper
    return [palette(end * k / max(len(seen.moments) - 1, 1)) for k in range(len(seen.moments))]


def over_temperature(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, name: str, moments: bool = True) -> None:
    """A quantity against temperature: averaged over the life, at some moments, or both."""
    if moments:
        for k, (values, colour) in enumerate(zip(seen.at_moments[name].values, shades(seen, sheet), strict=True)):
            wide = 1.5 if k == len(seen.moments) - 1 else 0.9  # the last is what the words are about
            ax.plot(seen.temperatures, values, color=colour, linewidth=wide * sheet.size.line, zorder=3)
    if name != "heat":
        curve(ax, seen.by_temperature[name], sheet.theme.ink, linewidth=1.5 * sheet.size.line, zorder=4)
    temperature_axis(ax, seen, sheet)


def temperature_axis(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
    """Logarithmic over decades, plain over the source's range; T = 1 in dots."""
    low, high = float(seen.temperatures[0]), float(seen.temperatures[-1])
    if high / low > 50:
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
        ticks = [each for each in (0.01, 0.1, 0.3, 1, 3, 10, 100) if low <= each * 1.001 and each <= high * 1.001]
        ax.set_xticks(ticks, [f"{each:g}" for each in ticks])
    if high > low:
        ax.set_xlim(low, high)
    ax.set_xlabel("temperature T")
    ax.axvline(1, color=sheet.theme.rung, linestyle=":", linewidth=0.7 * sheet.size.line, zorder=0)


def marked(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, name: str, mark: str, text: str) -> None:
    """A dot on each moment's curve where it is least or largest; the last one named.

    The name stands at the upper edge, where no curve is: over a peak; of a least loss at the hot end, since the cold
    one is where losses are high.
    """
    cold, found = seen.temperatures, seen.marks[mark].values
    for k, (at, colour) in enumerate(zip(found, shades(seen, sheet), strict=True)):
        if np.isfinite(at):
            y = seen.at_moments[name].values[k, int(np.argmin(np.abs(cold - at)))]
            ax.plot([at], [y], marker="o", color=colour, markeredgecolor=sheet.theme.paper, zorder=5, clip_on=False)
            if k == len(found) - 1:
                _at_the_top(ax, sheet, f"end: {text} T ≈ {at:.2g}", at if mark == "most_heat" else float(cold[-1]))


def _at_the_top(ax: Axes, sheet: _draw.Sheet, text: str, at: float) -> None:
    """A label under the upper edge, above all curves, as near over `at` as the panel and the line T = 1 allow."""
    half = _draw.text_width(text, sheet.size.text) / 2 * ax.figure.dpi / ax.get_window_extent().width
    across, one = (
        float(ax.transAxes.inverted().transform(ax.transData.transform((each, ax.get_ylim()[0])))[0])
        for each in (at, 1)
    )
    x = float(np.clip(across, half + 0.02, max(1 - half, half + 0.02)))
    free = [place for place in (one - half - 0.02, one + half + 0.02) if half <= place <= 1 - half]
    if abs(x - one) < half + 0.02 and free:
        x = min(free, key=lambda place: abs(place - across))
    ax.text(x, 1, text, transform=ax.transAxes, ha="center", va="top", color=sheet.theme.ink, zorder=6,
            bbox={"facecolor": sheet.theme.paper, "edgecolor": "none", "pad": 0.5})  # fmt: skip


def mean_entropy(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, *, moments: bool = False) -> None:
    """Entropy averaged over the life, against temperature."""
    over_temperature(ax, seen, sheet, "entropy", moments)
    level(ax, seen.highest, sheet)
    reach(
        ax,
        seen.at_moments["entropy"].values if moments else seen.by_temperature["entropy"].values,
        seen.highest,
        above=0.12,
    )
    ax.set_ylabel("entropy (nats)")
    one = float(ax.transAxes.inverted().transform(ax.transData.transform((1, seen.highest)))[0])
    x, side = (0.98, "right") if one < 0.5 else (0.02, "left")  # away from the line T = 1
    ax.annotate(
        f"ln {thousands(seen.tokens)} = {seen.highest:.3f}", (x, seen.highest), xycoords=ax.get_yaxis_transform(),
        xytext=(0, 0.15 * sheet.size.text), textcoords="offset points", va="bottom", ha=side, color=sheet.theme.quiet,
    )  # fmt: skip


def heat(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
    """Specific heat against temperature at some moments, peaks marked."""
    over_temperature(ax, seen, sheet, "heat")
    reach(ax, seen.at_moments["heat"].values, above=0.2)
    marked(ax, seen, sheet, "heat", "most_heat", "peak at")
    ax.set_ylabel("specific heat Var(E)/T²")


def loss_over_temperature(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
    """Loss against temperature at some moments, minima marked; cut off where the cold makes errors dear."""
    over_temperature(ax, seen, sheet, "loss")
    found = seen.at_moments["loss"].values
    top = float(np.clip(found[np.isfinite(found)].max(initial=1.0), 1.2 * seen.highest, 2 * seen.highest))
    ax.set_ylim(-0.03 * top, top)
    marked(ax, seen, sheet, "loss", "least_loss", "least at")
    ax.set_ylabel("loss (nats)")


def energies(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
    """U, T S and F = U − T S of the last moment against temperature."""
    t, cold = sheet.theme, seen.temperatures
    mean, free, entropies = (seen.at_moments[name].values[-1] for name in ("energy", "free_energy", "entropy"))
    ax.plot(cold, mean, color=t.ink)
    ax.plot(cold, cold * entropies, color=t.quiet, linestyle="--")
    ax.plot(cold, free, color=t.ink, linestyle="-.")
    temperature_axis(ax, seen, sheet)
    reach(ax, mean, free, cold * entropies)
    ax.set_ylabel("energy (logits)")
    key(ax, ("U", t.ink, "-"), ("T S", t.quiet, "--"), ("F = U − T S", t.ink, "-."), loc="upper left")


def heat_map(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, name: str = "heat") -> tuple[float, float]:
    """A quantity over temperature and step."""
    found = seen.maps[name]
    x, y = (np.array(found.axes[axis].values, dtype=float) for axis in ("step", "temperature"))
    limit = _draw.limits("entropy", found.values)
    ax.pcolormesh(
        np.clip(_edges(x), 0, seen.scale.last), np.exp(_edges(np.log(y))), np.ma.masked_invalid(found.values),
        vmin=limit[0], vmax=limit[1], cmap=_style.colormap("entropy", sheet.theme.name), rasterized=True,
    )  # fmt: skip
    if y[-1] / y[0] > 50:
        ax.set_yscale("log")
        ax.yaxis.set_minor_locator(NullLocator())
        ticks = [each for each in (0.1, 0.3, 1, 3, 10) if y[0] <= each * 1.001 and each <= y[-1] * 1.001]
        ax.set_yticks(ticks, [f"{each:g}" for each in ticks])
    ax.set_ylabel("temperature T")
    life(ax, seen, sheet)
    return limit


def _edges(centres: Array) -> Array:
    """Borders half-way between neighbours; the outer ones half a gap beyond."""
    if len(centres) == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    middle = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])


def spread(seen: Uncertainty, sheet: _draw.Sheet) -> list[Patch]:
    """The key's entry of the band around an average, where there is one."""
    label = f"band: {band(seen)}"
    return [Patch(facecolor=(sheet.theme.ink, BAND), edgecolor="none", label=label)] if band(seen) else []


def by_rows(entries: list[Any], across: int) -> list[Any]:
    """The entries of a key in the order in which Matplotlib, which fills columns, makes rows of them."""
    return [each for column in range(across) for each in entries[column::across]]


def by_moments(seen: Uncertainty, sheet: _draw.Sheet, mean: bool = True) -> list[Line2D]:
    """The key of charts over temperature."""
    made = (
        [Line2D([], [], color=sheet.theme.ink, linewidth=1.5 * sheet.size.line, label="averaged over the life")]
        if mean
        else []
    )
    return made + [
        Line2D([], [], color=colour, label=f"step {thousands(step)}")
        for step, colour in zip(seen.moments, shades(seen, sheet), strict=True)
    ]
