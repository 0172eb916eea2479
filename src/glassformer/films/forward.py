"""One input through the model: the clock is depth, from token to probability, with the operands of each step shown."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _decide
from glassformer.analyses._pairs import drawn, placed, shown
from glassformer.analyses._result import Array, Labelled, Result, numbers
from glassformer.figures import _draw, _style
from glassformer.films import _film
from glassformer.films._film import Film, Stage, Update
from glassformer.run import Run
from glassformer.trace import Trace

ANSWERS = ("3.§3.3.2", "3.§8", "3.§9")
HOLD = 4  # frames a finished stage stands still
MOST_COLUMNS = 64
MOST_NAMES = 21  # columns with a name each
LETTERS = 44  # that fit under a panel
COLUMNS = {"scores": "key position", "attention": "key position", "logits": "next token", "probabilities": "next token",
           "hidden": "neuron", "token id": ""}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One stage of the computation: operands, result, and how the one becomes the other."""

    name: str
    says: str
    operands: tuple[tuple[str, Array, str], ...]  # name, matrix, kind
    result: Array
    kind: str


@dataclass(frozen=True, kw_only=True)
class Seen(Result):
    """One frame: the stage and what of its result has been computed."""

    value: Labelled
    stage: str


@_film.film
def film_forward(
    run: Run,
    *,
    sequence: str | None = None,
    step: int = -1,
    member: int = 0,
    frames: int = 0,
    theme: str = "light",
) -> Film:
    """Every named point of one pass in turn, filled position by position; `frames` above 0 thins the film."""
    seen = run.trace(sequence, step=step, member=member)
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    parts = _parts(run, seen.step, member)(sequence)
    length = len(tokens)
    each = length + HOLD
    total = len(parts) * each
    shown_frames = list(range(total))
    if 2 <= frames < total:
        shown_frames = sorted({round(k) for k in np.linspace(0, total - 1, frames)})
    rows = drawn(placed(tokens))

    def scene(stage: Stage) -> Update:
        t = stage.theme
        box = stage.panels(1, 1, left=0, right=0, bottom=0, top=0, within=(0, 0.86, 1, 1))[0, 0]
        _draw.bare(box)
        head = stage.text(box, 0.012, 0.45, transform=box.transAxes, fontsize=stage.size.title, va="center")
        foot = stage.text(box, 0.5, 0.45, transform=box.transAxes, va="center", color=t.quiet)
        panels = stage.panels(
            1, 3, widths=[1, 1, 1.25], left=4, right=1.5, bottom=3.4, top=3.2, gap=(5, 3), within=(0, 0, 1, 0.9)
        )[0]
        slots = []
        for panel in panels:
            pictures = {}
            for kind in ("signed", "share", "probability"):
                pictures[kind] = stage.picture(panel, kind=kind, limit=(-1, 1) if kind == "signed" else (0, 1))
                pictures[kind].set_visible(False)
            for side in panel.spines.values():
                side.set_visible(False)
            panel.set_xlim(0, 1)
            panel.set_ylim(1, 0)
            panel.set_xticks([])
            panel.set_yticks([])
            names = [
                stage.text(panel, -0.02, (k + 0.5) / length, ha="right", va="center", parse_math=False)
                for k in range(length)
            ]
            for text, row in zip(names, rows, strict=True):
                text.set_text(row if length <= 20 else "")
            columns = [
                stage.text(panel, 0, 1.03, ha="center", va="top", color=t.quiet, parse_math=False)
                for _ in range(MOST_NAMES)
            ]
            title = stage.text(panel, 0, 1.03, transform=panel.transAxes, va="bottom")
            below = stage.text(panel, 0, -0.085, transform=panel.transAxes, va="top", color=t.quiet)
            slots.append((names, columns, pictures, title, below))
        words = run.task.vocabulary
        numbers_in = {
            k: [[stage.text(panel, 0, 0, ha="center", va="center") for _ in range(12)] for _ in range(min(length, 12))]
            for k, panel in enumerate(panels)
        }

        def fill(slot: int, name: str, matrix: Array, kind: str, most: float, filled: int) -> None:
            names, columns, pictures, title, below = slots[slot]
            values = np.array(matrix[:, :MOST_COLUMNS], dtype=float)
            if kind == "signed":
                values = values / most
            values[filled:] = np.nan
            for each_kind, picture in pictures.items():
                picture.set_visible(each_kind == kind)
            pictures[kind].show(values)
            title.set_text(name)
            wide = values.shape[1]
            plain = name.removeprefix("= ").split(",")[0]
            what = COLUMNS.get(plain, "feature")
            labels = (
                [shown(word) for word in words]
                if what == "next token"
                else rows
                if what == "key position"
                else list(numbers(wide))
            )
            for text in names:
                text.set_visible(True)
            longest = max((len(label) for label in labels[:wide]), default=1)
            every = 1 if wide * (longest + 1) <= LETTERS else 2  # names must not touch
            for k, text in enumerate(columns):
                text.set_visible(k < wide <= MOST_NAMES and bool(what) and k % every == 0)
                if k < wide <= MOST_NAMES:
                    text.set_text(labels[k])
                    text.set_position(((k + 0.5) / wide, 1.02))
            below.set_text(what if wide <= MOST_NAMES or not what else f"{what}s 0 to {matrix.shape[1] - 1}")
            fits = wide <= 8 and len(matrix) <= 12
            for r, line in enumerate(numbers_in[slot]):
                for c, text in enumerate(line):
                    here = fits and r < min(filled, len(matrix)) and c < wide and np.isfinite(values[r, c])
                    text.set_visible(here)
                    if here:
                        text.set_position(((c + 0.5) / wide, (r + 0.5) / len(matrix)))
                        text.set_text(_draw.number(float(matrix[r, c]), 2 if wide <= 4 else 1))
                        share = (values[r, c] + 1) / 2 if kind == "signed" else values[r, c]
                        text.set_color(_style.on(_style.colormap(kind, t.name)(float(share))))

        def clear(slot: int) -> None:
            names, columns, pictures, title, below = slots[slot]
            for text in [*names, *columns]:
                text.set_visible(False)
            for picture in pictures.values():
                picture.set_visible(False)
            title.set_text("")
            below.set_text("")
            for line in numbers_in[slot]:
                for text in line:
                    text.set_visible(False)

        def update(frame: int) -> Result:
            part, filled = parts[frame // each], min(frame % each + 1, length)
            head.set_text(f"{frame // each + 1} of {len(parts)} · {part.name}")
            foot.set_text(part.says)
            same = [matrix for _, matrix, kind in part.operands if kind == "signed"] + (
                [part.result] if part.kind == "signed" else []
            )
            finite = [float(np.abs(m[np.isfinite(m)]).max()) for m in same if m.size and np.isfinite(m).any()]
            most = max([*finite, 1e-9])
            for slot in range(2):
                if slot < len(part.operands):
                    name, matrix, kind = part.operands[slot]
                    fill(slot, name, matrix, kind, most, len(matrix))
                else:
                    clear(slot)
            fill(2, f"= {part.name}", part.result, part.kind, most, filled)
            axes = {"position": placed(tokens)[:filled], "column": numbers(part.result.shape[1])}
            return Seen(step=frame, stage=part.name, value=Labelled(part.result[:filled], axes))

        return update

    text = _clock.text(run, seen.step, member)
    return Film(
        run, scene, title=f"What the model computes on {' '.join(map(shown, tokens))}",
        caption="Each stage of one pass, in order: up to two operands at the left, the result at the right, filled "
        "position by position. Signed "
        "numbers share one scale within a stage, 0 at the centre; shares and probabilities run from 0 to 1. Masked "
        "places stay empty.",
        steps=shown_frames, frames=max(len(shown_frames), 2), theme=theme, member=member,
        clock=lambda _: text, mark=lambda _: seen.step,
    )  # fmt: skip


def _parts(run: Run, step: int, member: int) -> Callable[[str | None], list[Part]]:
    def parts(sequence: str | None) -> list[Part]:
        seen, a = run.trace(sequence, step=step, member=member), run.architecture
        ids = seen.tokens
        token = Part(
            "token embedding",
            "each token is looked up in a table",
            (("token id", ids[:, None].astype(float) / max(len(run.task.vocabulary), 1), "share"),),
            seen["token_embedding"],
            "signed",
        )
        found = [token]
        if "position_embedding" in seen:
            found.append(
                Part(
                    "embedded",
                    "token embedding + position embedding",
                    (
                        ("token embedding", seen["token_embedding"], "signed"),
                        ("position embedding", seen["position_embedding"], "signed"),
                    ),
                    seen["embedded"],
                    "signed",
                )
            )
        for block in range(a.blocks):
            found += _block(run, seen, block)
        found.append(
            Part(
                "logits",
                "the stream · read-out + bias",
                (("final", seen["final"], "signed"),),
                seen["logits"],
                "signed",
            )
        )
        found.append(
            Part(
                "probabilities",
                "softmax: each row sums to 1",
                (("logits", seen["logits"], "signed"),),
                seen["probabilities"],
                "probability",
            )
        )
        return found

    return parts


def _block(run: Run, seen: Trace, block: int) -> list[Part]:
    a, many = run.architecture, f", block {block}" if run.architecture.blocks > 1 else ""
    x = _decide.entering(seen, block, a)
    found: list[Part] = []
    future = ~np.tri(len(x), dtype=bool)
    if a.attention != "off":
        head = f", head 0 of {a.heads}" if a.heads > 1 else ""
        weights = seen["attention"][block, 0].astype(float)
        if a.causal:
            weights = np.where(future, np.nan, weights)
        if a.attention == "on":
            query, key, scores = (seen[name][block, 0] for name in ("query", "key", "scores"))
            scores = np.where(future, np.nan, scores) if a.causal else scores
            found.append(
                Part(
                    f"query{many}{head}",
                    "stream · query matrix: what is asked",
                    (("stream", x, "signed"),),
                    query,
                    "signed",
                )
            )
            found.append(
                Part(
                    f"key{many}{head}",
                    "stream · key matrix: what is offered",
                    (("stream", x, "signed"),),
                    key,
                    "signed",
                )
            )
            found.append(
                Part(
                    f"scores{many}{head}",
                    "query · key, scaled; the future is masked",
                    (("query", query, "signed"), ("key", key, "signed")),
                    scores,
                    "signed",
                )
            )
            found.append(
                Part(
                    f"attention{many}{head}",
                    "softmax of the scores: each row sums to 1",
                    (("scores", scores, "signed"),),
                    weights,
                    "share",
                )
            )
        value, mixed = seen["value"][block, 0], seen["mixed"][block, 0]
        found.append(
            Part(
                f"value{many}{head}",
                "stream · value matrix: what is handed over",
                (("stream", x, "signed"),),
                value,
                "signed",
            )
        )
        found.append(
            Part(
                f"mixed{many}{head}",
                "attention · value: an average of values",
                (("attention", weights, "share"), ("value", value, "signed")),
                mixed,
                "signed",
            )
        )
        operands = (
            (("stream", x, "signed"), ("attended", seen["attended"][block], "signed"))
            if a.residual
            else (("attended", seen["attended"][block], "signed"),)
        )
        found.append(
            Part(
                f"middle{many}",
                "stream + what attention brought" if a.residual else "what attention brought",
                operands,
                seen["middle"][block],
                "signed",
            )
        )
    if a.feed_forward:
        middle, hidden, fed = seen["middle"][block], seen["hidden"][block], seen["fed"][block]
        found.append(
            Part(
                f"hidden{many}",
                f"expand, then {a.activation}: {a.feed_forward} neurons",
                (("middle", middle, "signed"),),
                hidden,
                "signed",
            )
        )
        operands = (
            (("middle", middle, "signed"), ("feed-forward", fed, "signed"))
            if a.residual
            else (("feed-forward", fed, "signed"),)
        )
        found.append(
            Part(
                f"out{many}",
                "middle + what the feed-forward made of it" if a.residual else "what the feed-forward made",
                operands,
                seen["out"][block],
                "signed",
            )
        )
    return found
