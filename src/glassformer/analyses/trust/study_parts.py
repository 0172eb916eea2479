"""What each part of a model is worth: trained again without it, over seeds."""

from dataclasses import dataclass, replace

import numpy as np

from glassformer.analyses._result import Labelled, Words, listed, result
from glassformer.analyses.trust.study_cells import Cells, study_cells
from glassformer.study import Study

ORDER = 50
ANSWERS = ("1.P10", "1.A")
COST = "d"
NEEDS = "study"

MOST_NAMED = 3  # parts in a title


@result
class Components(Cells):
    """The cells in order of harm; the whole model first."""

    harmed: tuple[str, ...]  # cells whose interval lies wholly on the worse side of the whole model's
    main: str


def study_parts(study: Study) -> Components:
    """An ablation by retraining, the least harmful part first."""
    seen = study_cells(study, metrics=tuple(dict.fromkeys([study.main, "steps_to_95"])))
    rows = study.rows()
    metric = study.metrics[study.main]
    middle = seen.spreads[study.main].values[:, 0]
    harm = np.where(np.isnan(middle), np.inf, -middle if metric.higher else middle)
    slow = np.nan_to_num(seen.spreads["steps_to_95"].values[:, 0], nan=np.inf)
    first = np.array([bool(row.cell.settings) for row in rows])  # what leaves nothing out is the whole model
    order = sorted(range(len(rows)), key=lambda k: (first[k], harm[k], slow[k], k))
    whole = next((row for row in rows if not row.cell.settings), None)
    harmed = tuple(rows[k].cell.name for k in order if whole and study.better(study.main, whole, rows[k]))
    ordered = {name: getattr(seen, name) for name in seen.__dataclass_fields__}
    ordered["values"] = {name: _taken(each, order) for name, each in seen.values.items()}
    ordered["spreads"] = {name: _taken(each, order) for name, each in seen.spreads.items()}
    ordered["bounds"] = _taken(seen.bounds, order)
    return Components(**ordered, harmed=harmed, main=study.main)


def _taken(each: Labelled, order: list[int]) -> Labelled:
    axes = {**each.axes, "cell": tuple(each.axes["cell"].labels[k] for k in order)}
    return replace(each, values=each.values[order], axes=axes)


def say(seen: Components) -> Words:
    """What is lost without which part."""
    metric, middle = seen.metrics[seen.main], seen.spreads[seen.main]
    labels = list(middle.axes["cell"].labels)
    number = {name: metric.text(value) for name, value in zip(labels, middle.values[:, 0], strict=True)}
    whole = number[labels[0]]
    if seen.harmed:
        worst = seen.harmed[-MOST_NAMED:]  # the last are the worst
        lost = listed([f"{number[name]} {_part(name)}" for name in worst])
        rest = len(labels) - 1 - len(seen.harmed)
        more = len(seen.harmed) - len(worst)
        title = f"{_begun(metric.title)}: {whole} for the whole model, {lost}"
        title += f"; {more} more {'is' if more == 1 else 'are'} worse" if more else ""
        title += f"; the other {rest} are not worse than the whole model" if rest > 1 else ""
    elif len(labels) > 1:
        title = f"No part is missed: {metric.title} is {whole} for the whole model and for those without a part"
    else:
        title = f"{_begun(metric.title)} of the whole model is {whole}"
    bound = np.isfinite(seen.bounds.values).any()
    caption = (
        "Every model is trained from the start without the part named. "
        + ("An open triangle is a bound that no training can beat, by listing all questions. " if bound else "")
        + f"{seen.footing} {seen.conclusion}"
    )
    return Words(title, caption.strip(), f"Dots for every seed of {len(labels)} models. {title}.")


def _part(name: str) -> str:
    if name.startswith("without"):
        return name
    return f"with the {name}" if name.startswith("mean") else f"with {name}"


def _begun(text: str) -> str:
    return text[0].upper() + text[1:]
