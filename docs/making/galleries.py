"""The gallery of galleries: every figure once, on the model that shows it best, and each model in brief.

Finished runs that are there are used; others are trained into build/gallery, shorter than their experiment asks for
where that takes long.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import glassformer as gf
from glassformer import catalogue, gallery, studies, summary
from glassformer.catalogue import Entry, Subject
from glassformer.errors import Error
from glassformer.gallery import Made, Wish
from glassformer.gallery.brief import BRIEF

OWN = Path(__file__).resolve().parents[2] / "build/gallery"  # what had to be trained for it
SEED = 18
MODELS = {  # experiment → steps to be trained where no run is there; None: all of them
    "plus_last_even": None,
    "five_operations": 2500,
    "mary": None,
    "shakespeare_two_cores": 300,
    "induction": None,
}
BEST = {  # where a figure is best seen, if not on the first model that it applies to
    "five_operations": (
        "head_split", "accuracy", "by_kind", "confusion", "every_question", "similarity", "neurons", "sparsity",
        "probes", "attention", "attention_history", "head_roles", "ablation", "timeline", "birth", "gradients",
        "generalisation", "calibration",
    ),
    "mary": (
        "vocabulary", "batch", "training_log", "unrolled", "neighbours", "one_vector", "continuation", "hand_update",
    ),
    "shakespeare_two_cores": (
        "token_counts", "coverage", "perplexity", "learning_rate", "token_loss", "context_position", "next_token",
        "anchors",
    ),
    "induction": ("patching", "attention_profile", "logit_lens"),
}  # fmt: skip
SEEDS, STEPS = 3, 300  # of a study
STUDIES = {  # figures of many trainings: the study each draws, here with few seeds and steps
    "study_parts": "ablation",
    "study_sizes": "training_size",
    "study_optimisers": "optimiser",
    "study_rates": "rate",
    "study_cells": "batch",
}
THEMES = ("light", "dark")


@dataclass(frozen=True)
class Shown:
    """One figure, drawn on light and on dark paper."""

    entry: Entry
    of: str  # whose
    light: Made
    dark: Made


def page(runs: Path, out: Path) -> str:
    """The page, and its pictures in a folder beside it."""
    there = models(runs)
    drawn = {each.entry.name: each for each in pictures(there, runs, out)}
    entries = catalogue.entries("figures")
    lines = [
        "# A gallery of galleries",
        f"Every figure once, {len(drawn)} of {len(entries)}, each on the model on which it is best seen. "
        "`glassformer figures RUN` draws all that apply to a run of yours, `glassformer figures RUN NAME` one of them.",
        "## The models, in brief",
        *(brief(name, run) for name, run in there.items()),
    ]
    for key, section in catalogue.sections().items():
        inside = [each for each in entries if each.section == key]
        if inside:
            lines += [f"## {section.title}", section.lead]
            lines += [told(drawn[each.name]) if each.name in drawn else absent(each) for each in inside]
    return "\n\n".join(lines) + "\n"


def models(runs: Path) -> dict[str, gf.Run]:
    """The models that can be had here."""
    found = {}
    for name, steps in MODELS.items():
        try:
            found[name] = trained(runs, name, steps)
        except Error as problem:  # a text that is not on this machine
            print(f"{name} is left out: {problem}")
    return found


def trained(runs: Path, name: str, steps: int | None = None, ending: str = "", **more: object) -> gf.Run:
    """A finished run of that name, or a new one."""
    path = runs / f"{name}-{SEED}{ending}"
    own = OWN / (f"{path.name}-steps_{steps}" if steps and not ending else path.name)
    for there in (path, own):
        if there.is_dir() and (run := gf.open(there)).status == "finished":
            return run
    print(f"training {name}")
    return gf.train(name, seed=SEED, steps=steps, out=own, progress=False, **more)


def pictures(there: dict[str, gf.Run], runs: Path, out: Path) -> Iterator[Shown]:
    """Every figure that can be drawn here."""
    drawn: dict[tuple[str, str], Made] = {}
    subjects: dict[str, Subject] = {}
    wanted: dict[str, list[Entry]] = {}
    for each in catalogue.entries("figures"):
        name, subject = whose(each, there, runs)
        if name:
            subjects[name] = subject
            wanted.setdefault(name, []).append(each)
    for name, pieces in wanted.items():
        print(f"drawing {len(pieces)} figures of {name}")
        for theme in THEMES:
            wish = Wish(theme=theme, formats=("png",), others=slower(runs) if name == "two runs" else ())
            for made in gallery.draw(subjects[name], pieces, wish, out / "pictures" / name.replace(" ", "_")):
                if made.files and not made.page:
                    drawn.setdefault((made.name, theme), made)
                elif made.failed:
                    raise RuntimeError(f"{made.name} of {name}: {made.failed}")
        yield from (
            Shown(each, name, drawn[each.name, "light"], drawn[each.name, "dark"])
            for each in pieces
            if (each.name, "light") in drawn
        )


def whose(each: Entry, there: dict[str, gf.Run], runs: Path) -> tuple[str, Subject]:
    """Who a figure is drawn of: its name and itself."""
    if each.needs == "nothing":
        return "no model", None
    if each.needs == "study":
        return f"study {STUDIES[each.name]}", studied(STUDIES[each.name])
    if each.needs == "population":
        return "eight seeds", trained(runs, "plus_last_even", 4000, "x8-steps_4000", seeds=8)
    if each.needs == "runs":
        return "two runs", there["plus_last_even"]
    best = [name for name, figures in BEST.items() if each.name in figures]
    for name in [*best, *there]:
        if name in there and catalogue.why_not(each, there[name]) is None:
            return name, there[name]
    if each.name == "fourier":
        return "modular_addition", trained(runs, "modular_addition", 200, "-steps_200")
    return "", None


def slower(runs: Path) -> tuple[str, ...]:
    """What the first model is compared with: the same at a smaller rate."""
    return (str(trained(runs, "plus_last_even", None, "-rate_0.001", settings={"train.rate": 1e-3}).path),)


def studied(name: str) -> Subject:
    """A small study of the first model; what of it is there is not trained again."""
    print(f"study {name}")
    path = OWN / f"study-{name}-{SEEDS}x{STEPS}"
    return studies.run(name, "plus_last_even", seeds=SEEDS, steps=STEPS, out=path)


def brief(name: str, run: gf.Run) -> str:
    """What a model has learnt and how it does it, in the titles of its figures."""
    told: dict[str, str] = {}
    for figure, question in BRIEF.items():
        each = catalogue.entry("figures", figure)
        if question not in told and catalogue.why_not(each, run) is None:
            told[question] = catalogue.ask("analyses", figure, run).title
    said = [
        f"{sentence if sentence.startswith(name) else sentence[:1].upper() + sentence[1:]}."
        for sentence in summary.sentences(run)
    ]
    answers = [f"- **{question}**: {plain(title)}." for question, title in told.items()]
    return "\n\n".join([f"### {name}", *map(plain, said), "\n".join(answers)])


def told(each: Shown) -> str:
    """One figure with its words."""
    folder = f"pictures/{each.of.replace(' ', '_')}"
    lines = [f"### {each.entry.name}", f"**{plain(each.light.title)}.**"]
    for theme, made in (("light", each.light), ("dark", each.dark)):
        picture = next(name for name in made.files if name.endswith(".png"))
        alt = " ".join(made.alt.split())
        lines.append(f"```{{image}} {folder}/{picture}\n:class: only-{theme}\n:width: 100%\n:alt: {alt}\n```")
    subject = "Drawn of no model" if each.of == "no model" else f"Drawn of {each.of}"
    return "\n\n".join([*lines, plain(each.light.caption), f"{subject}."])


def absent(each: Entry) -> str:
    return f"`{each.name}` ({each.title.rstrip('.')}) is not drawn here: it applies to none of these models."


def plain(text: str) -> str:
    """Words that Markdown leaves as they are: tokens are full of its marks."""
    return re.sub(r"([\\`*_<>\[\]#|~$])", r"\\\1", " ".join(text.split()))
