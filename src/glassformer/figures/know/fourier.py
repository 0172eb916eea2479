"""Waves in a model that adds on a clock: spectrum of the embedding, of the answers, of the neurons, and their use."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses.know.fourier import KEY, Fourier
from glassformer.figures import _draw

LEAST = 1e-9  # nats at the bottom of the logarithmic axis


def draw(seen: Fourier, look: _draw.Look) -> Figure:
    """Power by frequency in embedding, logits and neurons, and the loss with and without the key frequencies."""
    shows = "Bars of a spectrum, a map of frequencies, curves of loss"
    sheet = look.sheet(seen, _caption(seen), shows, height=8, least=70)
    top = sheet.panels(1, 2, widths=[1.6, 1], left=5.5, right=8, bottom=3.8, top=2.4, gap=(6, 0), within=(0, 0.5, 1, 1))
    low = sheet.panels(1, 2, left=5.5, right=2, bottom=3.8, top=2.4, gap=(15, 0), within=(0, 0, 1, 0.5))
    _spectrum(top[0, 0], seen, sheet)
    _plane(top[0, 1], seen, sheet)
    _losses(low[0, 0], seen, sheet)
    _neurons(low[0, 1], seen, sheet)
    return sheet.done()


def _caption(seen: Fourier) -> str:
    return (
        f"Top left: share of the token embedding's variance over the {seen.modulus} numbers at each frequency (sine "
        "and cosine together), faint at the first kept step; the dashed line is an even spectrum, and from "
        f"{KEY:g} times that a frequency is a key one (coloured, numbered). Top right: the logits of all questions "
        "transformed in both numbers; addition on a clock lights up equal frequencies, on the diagonal. Bottom left: "
        "loss on training and test questions, the loss on all questions when only the mean logits and the key waves of "
        "the sum are kept (restricted), and the loss on training questions without these waves (excluded); the keys "
        f"are those of the chosen step. Dots mark the {len(seen.steps)} kept steps at which the four losses were "
        "computed; the lines of the restricted and the excluded loss only join them. Bottom right: neurons by the "
        "frequency that explains them best, with the mean share of their "
        "variance it explains. Everything is exact, over all questions. A model that learned by heart has no key "
        "frequencies, and loses nothing when they are excluded."
    )


def _spectrum(ax: Axes, seen: Fourier, sheet: _draw.Sheet) -> None:
    t, waves = sheet.theme, np.arange(1, len(seen.spectrum.values) + 1)
    colours = [t.query if k in seen.keys else t.rung for k in waves]
    ax.bar(waves, seen.spectrum.values, color=colours, width=0.8)
    ax.plot(waves, seen.over_life.values[0], color=t.quiet, linewidth=0.6 * sheet.size.line)
    ax.axhline(seen.even, color=t.ink, linestyle="--", linewidth=0.6 * sheet.size.line)
    for k in seen.keys[:12]:
        ax.text(k, seen.spectrum.values[k - 1], str(k), ha="center", va="bottom")
    ax.set_xlim(0, len(waves) + 1)
    ax.set(ylim=(0, 1.18 * max(float(np.nanmax(seen.spectrum.values, initial=0)), 2 * seen.even)), xlabel="frequency")
    ax.set_ylabel("share of variance")
    _draw.heading(ax, "token embedding (line: first step)")


def _plane(ax: Axes, seen: Fourier, sheet: _draw.Sheet) -> None:
    limit = (0.0, max(float(np.nanmax(seen.answers.values, initial=0)), 1e-9))
    names = seen.answers.axes["frequency"]
    _draw.heat(ax, seen.answers.values, kind="error", theme=sheet.theme, limit=limit, rows=names, columns=names,
               row_name="frequency, first number", column_name="frequency, second number", numbers=False)  # fmt: skip
    _draw.heading(ax, "logits of all questions")
    _draw.bar(sheet, "error", limit, "share of variance", beside=ax)


def _losses(ax: Axes, seen: Fourier, sheet: _draw.Sheet) -> None:
    t, names = sheet.theme, []
    for part, colour, style in (
        ("training", t.train, "-"), ("test", t.validation, "--"),
        ("restricted", t.query, ":"), ("excluded", t.wrong, "-."),
    ):  # fmt: skip
        values = seen.losses.values[seen.losses.axes["part"].labels.index(part)]
        known = part in seen.logged.axes["part"].labels  # then the dots lie on a finer line
        ax.plot(seen.steps, np.maximum(values, LEAST), color=colour, linestyle="" if known else style, marker="o",
                markersize=0.3 * sheet.size.text)  # fmt: skip
        if known:
            line = seen.logged.values[seen.logged.axes["part"].labels.index(part)]
            ax.plot(seen.logged.axes["step"].values, np.maximum(line, LEAST), color=colour, linestyle=style)
        if np.isfinite(values[-1]):
            names.append((float(max(values[-1], LEAST)), f"{part} {_draw.number(float(values[-1]), 3)}", colour))
    every = np.concatenate([seen.losses.values.ravel(), seen.logged.values.ravel()])
    finite = np.maximum(every[np.isfinite(every)], LEAST)
    if len(finite) and finite.max() > 20 * finite.min():  # over less, a logarithmic axis has no numbers
        ax.set_yscale("log")
        ax.minorticks_off()
    if seen.step is not None and seen.step != seen.steps[-1]:
        ax.axvline(seen.step, color=t.quiet, linewidth=0.5 * sheet.size.line)
    _draw.steps_axis(ax)
    ax.set_ylabel("loss (nats)")
    _draw.heading(ax, "with and without the key waves")
    _draw.beside(ax, names, most=10)


def _neurons(ax: Axes, seen: Fourier, sheet: _draw.Sheet) -> None:
    t, waves = sheet.theme, np.arange(1, len(seen.neurons.values) + 1)
    ax.bar(waves, seen.neurons.values, color=[t.query if k in seen.keys else t.rung for k in waves], width=0.8)
    for k in np.argsort(-seen.neurons.values, kind="stable")[:5]:
        if seen.neurons.values[k] > 0 and np.isfinite(seen.explained.values[k]):
            ax.text(k + 1, seen.neurons.values[k], f"{100 * seen.explained.values[k]:.0f} %", ha="center", va="bottom")
    ax.set_xlim(-3, len(waves) + 3)  # a percentage stands over the first bar
    ax.set_ylim(0, 1.2 * max(float(seen.neurons.values.max(initial=0)), 1))
    ax.set_xlabel("frequency")
    ax.set_ylabel("neurons")
    _draw.heading(ax, "neurons by the frequency that explains them best (% explained)")
