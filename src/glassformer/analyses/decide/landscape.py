"""What would be said at every point of the plane: the probability of each token from the last attention onwards."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock, _counted, _decide
from glassformer.analyses._pairs import at_position, pairs, placed, shown
from glassformer.analyses._plane import Plane
from glassformer.analyses._plane import plane as plane_of
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, numbers, percent, result
from glassformer.errors import CallError, unknown
from glassformer.run import Run

ORDER = 30
ANSWERS = ("4.07", "4.11", "4.r06", "4.r12")
COST = "c"

GRID = 60
QUICK = 4096  # width × neurons
MOST_TOKENS = 40
MOST_ANSWERS = 5000
TELLING = 0.25  # probability that a token must reach somewhere to have a panel of its own
CLOSER = 0.8  # of the whole frame's width, beyond which a closer one shows no more
FEW = 5  # tokens that a title names one by one
WINDOWS = 48  # of the validation part, to know where the points lie
MOST_ENDS = 400  # of their positions drawn
CLEARLY = 0.5  # probability under which the likeliest token is no decision
MARGIN = 0.07
SHAPES = (1.0, 1.6)  # width over height of a frame that takes the shape of its points
POINTS = ("none", "embedded", "value", "middle")
Frame = tuple[float, float, float, float]  # left, right, bottom, top


@result
class Landscape(Result):
    """Probabilities over a plane, and the points of one input and of all pairs on it."""

    probabilities: Labelled  # (token, y, x)
    regions: Labelled  # (y, x): id of the most probable token
    best: Labelled  # (y, x): its probability
    entropy: Labelled  # (y, x)
    won: Labelled  # (group,): share of the drawn plane where a token of the group is the most probable
    edges: Labelled  # (neuron, coefficient): where a ReLU switches, x · a + y · b + c = 0; none for curved ones
    points: dict[
        str, Labelled
    ]  # begin, end: (position, axis); value: (head, key_position, axis); embedded, held_out: (pair or place, axis)
    near: dict[str, Labelled]  # as points, without axis: 1 on the plane, less the farther off it
    said: Labelled  # (pair, token): probabilities if nothing were added to a pair's embedding
    at_end: Labelled  # (position, token): the model's probabilities on this input
    tokens: tuple[str, ...]  # of the input
    words: tuple[str, ...]  # that can be answered
    shown_tokens: tuple[int, ...]  # ids on the token axis
    groups: tuple[str, ...]  # of each answer
    pair_groups: tuple[str, ...]  # of each pair's token
    verdicts: tuple[str, ...]
    right: tuple[tuple[int, ...], ...]  # per position the ids that are right; empty: unconstrained
    plane: Plane
    frame: Frame
    at: str
    shown_points: str
    said_at: Callable[[Array], Array] | None = None  # (..., 2) on the plane → (..., token): log-probabilities

    @property
    def is_slice(self) -> bool:
        """Whether the model has more directions than are drawn."""
        return not self.plane.lossless

    @property
    def undecided(self) -> float:
        """Share of the drawn plane where no token has half of the probability."""
        return float((self.best.values < CLEARLY).mean())


def landscape(
    run: Run,
    *,
    sequence: str | None = None,
    points: str = "embedded",
    at: Literal["middle", "final"] = "middle",
    step: int = -1,
    member: int = 0,
    plane: Plane | tuple[int, int] | None = None,
    frame: Frame | None = None,
    grid: int = GRID,
    shape: float | None = 1.0,
) -> Landscape:
    """P(next token) over the plane of `middle` of the last block (`at="final"`: over what the read-out reads).

    Wider than two features, the plane is a slice: that of the two principal components of `middle` over validation
    windows, all other directions at their mean. Films pass one `plane` and one `frame` for all steps; `shape` is the
    frame's width over its height (None: by the points, the same at every size of a figure).
    """
    if points not in POINTS:
        raise unknown(points, "points", POINTS)
    if at not in ("middle", "final"):
        raise unknown(at, "at", ("middle", "final"))
    a = run.architecture
    if a.answers > MOST_ANSWERS:
        raise CallError(f"{a.answers:,} tokens are too many to draw where each would be said")
    seen = run.trace(sequence, step=step, member=member)
    if seen.tokens.ndim != 1:
        raise CallError("a landscape takes one input at a time")
    w = _decide.params(run, seen.step, member)
    cloud = ends_of_many(run, seen.step, member, at)
    begin = _decide.entering(seen, a.blocks - 1, a)
    end = seen["middle"][-1] if at == "middle" else seen["final"]
    flat = plane if isinstance(plane, Plane) else plane_of(np.concatenate([cloud, end]), features=plane)
    every = pairs(run, step=seen.step, member=member)
    full: dict[str, Array] = {"end": end}
    axes: dict[str, dict[str, tuple[str, ...]]] = {"end": {"position": placed(_words(run, seen.tokens))}}
    if at == "middle":
        full["begin"], axes["begin"] = begin, axes["end"]
        full["embedded"] = every.at("embedded").reshape(-1, a.width)
        axes["embedded"] = {"pair": tuple(f"{t}@{p}" for t in every.tokens for p in range(every.context))}
        full["held_out"] = cloud[:: -(-len(cloud) // MOST_ENDS)]
        axes["held_out"] = {"place": numbers(len(full["held_out"]))}
    drawn = {name: flat.points(each) for name, each in full.items()}
    if at == "middle" and a.attention != "off":
        full["value"] = _decide.pushes(w, seen, a.blocks - 1, a)
        drawn["value"] = flat.zero + flat.directions(full["value"])
        axes["value"] = {"head": numbers(a.heads), "key_position": axes["end"]["position"]}
    box = frame or _frame([flat.points(cloud), drawn["end"], *([drawn["begin"]] if "begin" in drawn else []),
                           *([drawn["embedded"]] if "embedded" in drawn and flat.lossless else []),
                           *([drawn["value"]] if "value" in drawn and flat.lossless else [])], shape=shape)  # fmt: skip
    x, y = (
        np.linspace(box[0], box[1], round(grid * (box[1] - box[0]) / (box[3] - box[2]))),
        np.linspace(box[2], box[3], grid if flat.width > 1 else 1),
    )
    spots = np.stack(np.meshgrid(x, y), -1)  # (y, x, 2)
    after = _decide.onward if at == "middle" else _decide.read_out

    def chances_at(where: Array) -> Array:
        stream = (flat.origin + where @ flat.basis.T).astype(np.float32)
        found: Array = reference.softmax(after(w, stream, a).astype(np.float64))
        return found

    def said_at(where: Array) -> Array:
        found: Array = np.log(np.maximum(chances_at(where)[..., list(kept)], 1e-300))
        return found

    chances = np.moveaxis(chances_at(spots), -1, 0)  # (token, y, x)
    kept = _most_telling(chances)
    winner = chances.argmax(0)
    group = _decide.group_of(run.task)
    names = tuple(run.task.groups)
    sides = np.array([names.index(group[k]) for k in range(len(chances))])
    spread = max(float(np.sqrt(((flat.points(cloud) - flat.points(cloud).mean(0)) ** 2).sum(-1).mean())), 1e-9)
    want = _decide.asked(run, seen.tokens)
    ticks = {"y": tuple(f"{v:.4g}" for v in y), "x": tuple(f"{v:.4g}" for v in x)}
    said = (
        reference.softmax(after(w, full["embedded"], a).astype(np.float64))
        if at == "middle"
        else np.zeros((0, len(chances)))
    )
    answers = run.task.vocabulary[: a.answers]
    return Landscape(
        step=seen.step,
        clock=_clock.text(run, seen.step, member),
        probabilities=Labelled(chances[list(kept)], {"token": tuple(answers[k] for k in kept)} | ticks, "probability"),
        regions=Labelled(winner, ticks, "token id"),
        best=Labelled(chances.max(0), ticks, "probability"),
        entropy=Labelled(-(chances * np.log(np.maximum(chances, 1e-300))).sum(0), ticks, "nats"),
        won=Labelled(np.bincount(sides[winner].ravel(), minlength=len(names)) / winner.size, {"group": names}, "share"),
        edges=_edges(w, flat, run, at),
        points={name: Labelled(drawn[name], axes[name] | {"axis": ("x", "y")}) for name in drawn},
        near={
            name: Labelled(1 / (1 + (_off(flat, full[name], name == "value") / spread) ** 2), axes[name], "share")
            for name in drawn
        },
        said=Labelled(said, {"pair": axes["embedded"]["pair"] if len(said) else (), "token": answers}, "probability"),
        at_end=Labelled(seen["probabilities"], {"position": axes["end"]["position"], "token": answers}, "probability"),
        tokens=_words(run, seen.tokens),
        words=tuple(answers),
        shown_tokens=kept,
        groups=tuple(group[k] for k in range(a.answers)),
        pair_groups=tuple(group[k] for k in every.ids for _ in range(every.context)),
        verdicts=want.verdicts(seen["probabilities"].argmax(-1)),
        right=tuple(
            tuple(np.flatnonzero(want.allowed[k]).tolist()) if want.constrained[k] and want.answerable[k] else ()
            for k in range(len(seen.tokens))
        ),
        plane=flat,
        frame=box,
        at=at,
        shown_points=points,
        said_at=said_at if quick(run) else None,
    )  # fmt: skip


def quick(run: Run) -> bool:
    """Whether the model is small enough to be asked at very many points, for smooth borders."""
    return run.architecture.width * max(run.architecture.feed_forward, run.architecture.answers) <= QUICK


def stage(run: Run, sequence: str | None, member: int, steps: list[int]) -> tuple[Plane, Frame]:
    """One plane, fitted at the last of these steps, and one frame that holds the input's points at all of them."""
    last = landscape(run, sequence=sequence, step=steps[-1], member=member, grid=2)
    boxes = [landscape(run, sequence=sequence, step=s, member=member, plane=last.plane, grid=2).frame for s in steps]
    each = np.array(boxes)
    low, high = each[:, [0, 2]].min(0), each[:, [1, 3]].max(0)
    return last.plane, _frame([low[None], high[None]], 0.0)


def _words(run: Run, ids: Array) -> tuple[str, ...]:
    return tuple(run.task.vocabulary[token] for token in ids)


def ends_of_many(run: Run, step: int, member: int, at: str = "middle") -> Array:
    """(n, feature): where validation windows end, at the positions that are read."""
    windows = _decide.examples(run, WINDOWS).windows[:, :-1]
    seen = run.trace(windows, step=step, member=member)
    values = seen["middle"][:, -1] if at == "middle" else seen["final"]
    return values[:, _counted.read(run)].reshape(-1, run.architecture.width)


def _frame(points: list[Array], margin: float = MARGIN, shape: float | None = 1.0) -> Frame:
    """The smallest frame of this shape (None: of theirs, within `SHAPES`) around all points, with a margin."""
    flat = np.concatenate([np.reshape(each, (-1, 2)) for each in points])
    flat = flat[np.isfinite(flat).all(-1)]
    low, high = (flat.min(0), flat.max(0)) if len(flat) else (-np.ones(2), np.ones(2))
    wide, high_ = (high - low) * (0.5 + margin)
    shape = float(np.clip(wide / max(high_, 1e-9), *SHAPES)) if shape is None else shape
    up = max(float(wide) / shape, float(high_), 1e-3)
    across, (x, y) = shape * up, (low + high) / 2
    return float(x - across), float(x + across), float(y - up), float(y + up)


def _most_telling(chances: Array) -> tuple[int, ...]:
    if len(chances) <= MOST_TOKENS:
        return tuple(range(len(chances)))
    peak = np.nan_to_num(chances.reshape(len(chances), -1).max(1))
    return tuple(sorted(np.argsort(-peak, kind="stable")[:MOST_TOKENS].tolist()))


def _off(flat: Plane, values: Array, directions: bool) -> Array:
    """How far points lie from the plane."""
    from_origin = values - (0 if directions else flat.origin)
    found: Array = np.linalg.norm(from_origin - (from_origin @ flat.basis) @ flat.basis.T, axis=-1)
    return found


def closer(seen: Landscape, names: tuple[str, ...], grid: int = GRID) -> Landscape:
    """The same plane in a frame of the same shape around some of its points; only frame and regions are new.

    Large models, which cannot be asked quickly, keep the whole frame.
    """
    shape = (seen.frame[1] - seen.frame[0]) / (seen.frame[3] - seen.frame[2])
    box = _frame([seen.points[name].values for name in names], 2 * MARGIN, shape)
    if seen.said_at is None or box[1] - box[0] > CLOSER * (seen.frame[1] - seen.frame[0]):
        return seen
    x, y = np.linspace(box[0], box[1], round(grid * shape)), np.linspace(box[2], box[3], grid)
    said = seen.said_at(np.stack(np.meshgrid(x, y), -1))
    winner = np.array(seen.shown_tokens)[said.argmax(-1)]
    ticks = {"y": tuple(f"{v:.4g}" for v in y), "x": tuple(f"{v:.4g}" for v in x)}
    best = Labelled(np.exp(said.max(-1)), ticks, "probability")
    return replace(seen, frame=box, regions=Labelled(winner, ticks, "token id"), best=best)


def ground(seen: Landscape, points: Array) -> Array:
    """(...,): the token that wins on the map under points (..., 2)."""
    found: Array
    if seen.said_at is not None:
        found = np.array(seen.shown_tokens)[seen.said_at(points).argmax(-1)]
        return found
    size = np.array(seen.regions.values.shape[::-1]) - 1
    low, high = np.array(seen.frame[::2]), np.array(seen.frame[1::2])
    at = np.clip(np.rint(np.nan_to_num((points - low) / (high - low)) * size), 0, size).astype(int)
    found = seen.regions.values[at[..., 1], at[..., 0]]
    return found


def astray(seen: Landscape) -> tuple[int, ...]:
    """The positions with an answer to check that say another token than wins on the map where they end."""
    judged = [k for k, verdict in enumerate(seen.verdicts) if verdict in ("right", "wrong")]
    if not (judged and seen.is_slice and np.isfinite(seen.at_end.values).all()):
        return ()
    under = ground(seen, seen.points["end"].values[judged])
    said = seen.at_end.values[judged].argmax(-1)
    return tuple(k for k, here, word in zip(judged, under, said, strict=True) if here != word)


def telling(seen: Landscape) -> list[int]:
    """The places on the token axis of those that somewhere get a quarter of the probability; if none does, of all."""
    peak = seen.probabilities.values.reshape(len(seen.shown_tokens), -1).max(1)
    return [int(k) for k in np.flatnonzero(peak >= TELLING)] or list(range(len(peak)))


def _edges(w: _decide.Params, flat: Plane, run: Run, at: str) -> Labelled:
    a, block = run.architecture, w["blocks"][-1]
    if at != "middle" or not a.feed_forward or a.activation != "relu" or a.norm != "none":
        return Labelled(np.zeros((0, 3)), {"neuron": (), "coefficient": ("x", "y", "1")})
    matrix = block["expand"].astype(np.float64)  # (feature, neuron)
    constant = flat.origin @ matrix + block.get("expand_bias", 0)
    lines = np.column_stack([*(flat.basis.T @ matrix), constant])
    return Labelled(lines, {"neuron": numbers(len(lines)), "coefficient": ("x", "y", "1")})


# ---- words -----------------------------------------------------------------------------------------------------------


def _where(seen: Landscape) -> str:
    over = (
        "`middle`, the stream after the last attention" if seen.at == "middle" else "`final`, what the read-out reads"
    )
    if not seen.is_slice:
        return (
            f"The plane is that of {over}; all that follows acts on one position alone, so the probabilities are exact."
        )
    return (
        f"The plane is a slice through {over}: its two principal components over validation windows "
        f"({percent(seen.plane.kept)} of the variance), all other directions at their mean. The colours are exact on "
        "the slice only: a point off it is drawn where it falls on it and may say another token than the map there."
    )


def _ends(seen: Landscape) -> str:
    judged = [verdict for verdict in seen.verdicts if verdict in ("right", "wrong")]
    if not judged:
        return "no position of this input has an answer to check"
    right = judged.count("right")
    places = [k for k, verdict in enumerate(seen.verdicts) if verdict in ("right", "wrong")]
    guess = seen.at_end.values.argmax(axis=-1)
    told = [
        f"{shown(seen.tokens[k])} at position {k} ends where {shown(seen.words[int(guess[k])])} wins"
        for k in (places if len(places) <= 2 else places[-1:])
    ]
    if len(judged) == 1:
        return f"{told[0]}, which is {judged[0]}"
    return f"{listed(told)}: {right} of {len(judged)} answerable positions {'is' if right == 1 else 'are'} right"


def broken(seen: Landscape) -> str | None:
    """The one honest sentence where the training has diverged."""
    if np.isfinite(seen.at_end.values).all():
        return None
    return f"At step {seen.step} the probabilities are not numbers: the training has diverged"


def _some(seen: Landscape, chosen: list[int]) -> str:
    """These of all tokens, in words: by name where they are few, else how many of each group."""
    many = len(seen.words)
    if len(chosen) == many:
        return f"each of the {many} tokens"
    groups = {name: [k for k, group in enumerate(seen.groups) if group == name] for name in dict.fromkeys(seen.groups)}
    found = {name: [k for k in mine if k in chosen] for name, mine in groups.items()}
    whole = [name for name, own in found.items() if own and len(own) == len(groups[name]) > 1]
    if len(chosen) <= FEW and not whole:
        return f"only {listed([f'“{shown(seen.words[k])}”' for k in chosen])}"
    told, last = list[str](), list[str]()
    for name, own in found.items():
        mine = groups[name]
        if len(own) == len(mine) == 1:
            told.append(f"“{shown(seen.words[own[0]])}”")
        elif own:
            every = "all" if all(found.values()) else "the"
            count = f"{every} {len(mine)}" if name in whole else f"{len(own)} of {len(mine)}"
            (last if name == "other" else told).append(f"{count} {name} tokens")  # "other" than those named before
    return ("" if all(found.values()) else "only ") + listed(told + last)


def _likely(seen: Landscape) -> str:
    """How many tokens of each group can become likely: what the model is able to say."""
    peak = seen.probabilities.values.reshape(len(seen.shown_tokens), -1).max(1)
    sure = [k for k, most in zip(seen.shown_tokens, peak, strict=True) if most > 0.5]
    if not sure:
        return "no token gets more than half of the probability anywhere"
    one = len(sure) in (1, len(seen.words))
    return f"{_some(seen, sure)} {'gets' if one else 'get'} more than half of the probability somewhere"


def _unmoved(seen: Landscape) -> str:
    """What would be said if attention added nothing."""
    if not len(seen.said.values) or not np.isfinite(seen.said.values).all():
        return ""
    counts = np.bincount(seen.said.values.argmax(-1), minlength=len(seen.words))
    top = [int(k) for k in np.argsort(-counts, kind="stable")[:2] if counts[k]]
    most = [f"{counts[k]} would say {shown(seen.words[k])}" for k in top]
    return f"If attention added nothing, of {len(seen.said.values)} such pairs {listed(most)}. "


def _start(title: str) -> str:
    return title[:1].upper() + title[1:]


def say(seen: Landscape) -> Words:
    """What would be said where the pairs stand, or where the input's points end."""
    plain = "slice" if seen.is_slice else "plane"
    if bad := broken(seen):
        title = bad
    elif seen.shown_points == "middle":
        title = _start(_ends(seen)) + (" (slice)" if seen.is_slice else "")
    else:
        title = f"{_start(_likely(seen))} on this {plain}"
    marks = {
        "none": "",
        "embedded": "Points are all pairs of token and position as they are embedded, before anything is added; those "
        "that would say the panel's token as they are have the mark of their group of tokens, the others are dots. "
        f"{_unmoved(seen)}",
        "value": "Triangles are the values of this input, drawn as pushes from the origin. ",
        "middle": "Marks are this input's positions after the last attention, with ✓ or ✗ for the answer read there. ",
    }[seen.shown_points if seen.at == "middle" or seen.shown_points == "none" else "middle"]
    left = len(seen.words) - len(telling(seen))
    caption = (
        "One panel for each token that can come next; the colour is its probability at every point, from 0 to 1. "
        f"{marks}{_where(seen)}{f' {left} tokens that nowhere get {percent(TELLING)} are left out.' if left else ''} "
        "If the model did not use the plane to choose the next token, the panels would not differ."
    )
    return Words(title, caption, f"{len(telling(seen))} maps of probability over a {plain}. {title}.")


def _winning(seen: Landscape) -> str:
    """Which tokens have a region of their own."""
    wins = [int(k) for k in np.unique(seen.regions.values)]
    return f"{_some(seen, wins)} {'wins' if len(wins) in (1, len(seen.words)) else 'win'} somewhere"


def _moved(seen: Landscape) -> str:
    """Where the last position with an answer begins and ends, if attention changes what it says."""
    judged = [k for k, verdict in enumerate(seen.verdicts) if verdict in ("right", "wrong")]
    if not judged or "begin" not in seen.points or seen.said_at is None or seen.is_slice:
        return ""
    place, guess = judged[-1], int(seen.at_end.values[judged[-1]].argmax())
    before = seen.shown_tokens[int(seen.said_at(seen.points["begin"].values[place]).argmax())]
    token = f"{shown(seen.tokens[place])} at position {place}"
    return f"{token} from {shown(seen.words[before])} to {shown(seen.words[guess])}" if before != guess else ""


def say_summary(seen: Landscape) -> Words:
    """Which tokens win where."""
    plain = "slice" if seen.is_slice else "plane"
    if bad := broken(seen):
        title = bad
    else:
        moved = f"; attention moves {moved}" if (moved := _moved(seen)) else ""
        title = f"{_start(_winning(seen))} on this {plain}{_unclear(seen)}{moved}"
    caption = (
        "First: how undecided the model is at each point (entropy in nats). Second: the likeliest token at each point, "
        "after the feed-forward; hatched where even it has less than half of the probability; dots are where "
        f"{len(seen.points['held_out'].values)} positions of held-out windows end, faint lines where a neuron switches "
        "on, greys the groups of tokens. Third: all pairs of token and position as embedded (after several blocks, the "
        "dots again, closer). Fourth: arrows of this "
        f"input, from before to after attention. {_shares(seen)}{_where(seen)}{_tips(seen)}"
    )
    return Words(title, caption, f"Four maps of one {plain}: entropy, winners, embeddings, one input. {title}.")


def _unclear(seen: Landscape) -> str:
    """How much of what is drawn is nobody's."""
    return (
        f", but none with half of the probability on {percent(seen.undecided)} of it" if seen.undecided >= 0.1 else ""
    )


def _tips(seen: Landscape) -> str:
    return " Open tips: the map there shows another token than the one that is said." if astray(seen) else ""


def _shares(seen: Landscape) -> str:
    shares = sorted(zip(seen.won.axes["group"].labels, seen.won.values, strict=True), key=lambda each: -each[1])
    parts = [f"{name} tokens are likeliest on {percent(float(share)) if share else 'none'}" for name, share in shares]
    return f"Of what is drawn, {listed(parts)}, no token with half of the probability on {percent(seen.undecided)}. "


def say_grid(seen: Landscape) -> Words:
    """Where the input's points end."""
    title = broken(seen) or _start(_ends(seen)) + (" (maps: a slice)" if seen.is_slice else "")
    caption = (
        f"The input {' '.join(map(shown, seen.tokens))} on maps of the probability of single tokens: framed, the right "
        "answers and what is said in their place, then the tokens that win most of what is drawn. First row: what each "
        "position would add if it alone were looked at, as a push from the origin (+). Second row: arrows from "
        "before to "
        "after attention; the positions whose answer is the column's token are named, and each tip is filled with the "
        f"token's true probability. {_where(seen)} If attention did not carry the answer, the named arrows would not "
        "end at a bright tip."
    )
    return Words(title, caption, f"A grid of probability maps with the path of one input. {title}.")


def label(seen: Landscape, position: int) -> str:
    """A position of the input, as drawn."""
    return at_position(seen.tokens[position], position)
