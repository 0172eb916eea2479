"""What would be said at every point of the plane: the probability of each token from the last attention onwards."""

from typing import Annotated, Any, Literal, get_args

import numpy as np

from glassformer.analyses import _applies, _counted, _decide, _land
from glassformer.analyses._land import Frame, Land, laid, most_telling
from glassformer.analyses._options import Features, Frames, Member, Option, Pace, Sequence, Shown, Step
from glassformer.analyses._pairs import frequent, groups, shown, these
from glassformer.analyses._plane import Plane
from glassformer.analyses._reel import Reel, frames_of, strip
from glassformer.analyses._result import Labelled, capital, numbers, percent, result, thousands
from glassformer.analyses._verdicts import read
from glassformer.errors import CallError, check_name
from glassformer.run import Run

ORDER = 30
ANSWERS = ("4.07", "4.11", "4.r06", "4.r12", "4.D5")
COST = "c"
APPLIES = (_applies.parts, _land.few_answers)
TELLING, FEWEST = 0.25, 6  # probability that a token must reach somewhere to have a map, if so many others have one
MET = 400  # validation windows in which a pair is looked for
LIKELY = 0.5
FILM = 44  # places along a side of a film's maps
MOST_MAPS = 12  # of a film
ROOM, SHAPES = (70, 25), (1.0, 1.9)  # ems that the maps of a film may fill; and of one, width over height

Points = Literal["none", "embedded", "after", "value", "middle"]
Tokens = Literal["telling", "all"]
At = Literal["middle", "final"]
PAIRS = ("embedded", "after")  # points that are pairs of token and position


@result
class Landscape(Land):
    """Probabilities over a plane, and the points of one input and of all pairs on it."""

    probabilities: Labelled  # (token, vertical, horizontal)
    peak: Labelled  # (token,): the highest probability of each anywhere on what is drawn
    says: Labelled  # (pair,): id of what a shown pair says where it is drawn: as embedded, or after attention
    said: Labelled  # (pair, token): with which probabilities
    shown_tokens: tuple[int, ...]  # ids on the token axis
    with_map: Tokens  # those that somewhere get likely, or all of them
    pair_groups: tuple[str, ...]  # of each pair's token
    at: At
    shown_points: Points
    goes_on: bool  # whether the answers are next tokens

    @property
    def title(self) -> str:
        """What would be said where the pairs stand, or where the input's points end."""
        if self.shown_points == "middle" and self.judged:
            return self.broken or capital(self.ends) + (" (slice)" if self.is_slice else "")
        if self.shown_points == "after":
            return self.broken or self._met()
        return self.broken or f"{capital(self._likely())} on this {self.flat}"

    @property
    def telling(self) -> list[int]:
        """The places on the token axis of the tokens with a map: those that get likely, a few at the least, or all."""
        peak = np.nan_to_num(self.peak.values[list(self.shown_tokens)])
        many = len(peak) if self.with_map == "all" else max(FEWEST, int((peak >= TELLING).sum()))
        return sorted(np.argsort(-peak, kind="stable")[:many].tolist())

    def _met(self) -> str:
        """What the pairs say after attention."""
        won = np.bincount(self.says.values, minlength=len(self.words))
        first, others = int(won.argmax()), int((won > 0).sum()) - 1
        rest = f", the others where one of {others} others does" if others > 1 else ""
        return (
            f"After attention, {won[first]} of {won.sum()} pairs of token and position end where "
            f"{shown(self.words[first])} wins{rest}"
        )

    def _likely(self) -> str:
        """How many tokens of each group can become likely: what the model is able to say."""
        sure = [k for k in self.shown_tokens if self.peak.values[k] > LIKELY]
        if not sure:
            return "no token gets more than half of the probability anywhere"
        one = len(sure) in (1, len(self.words))
        return f"{self.some(sure)} {'gets' if one else 'get'} more than half of the probability somewhere"


def landscape(
    run: Run, *, sequence: Sequence = None,
    points: Annotated[Points | None, Option("what is drawn on the maps: all pairs as embedded or after attention, the "
                                            "input's values or positions; none given: the pairs as embedded, or after "
                                            "several blocks the positions")] = None,
    tokens: Annotated[Tokens, Option("maps of the tokens that somewhere get likely, or of all")] = "telling",
    at: Annotated[At, Option("the plane of the stream after the last attention, or of what is read out")] = "middle",
    step: Step = -1, member: Member = 0, plane: Features = None, on: Plane | None = None, frame: Frame | None = None,
    grid: int = _land.GRID, shape: float | None = None, maps: tuple[int, ...] = (),
) -> Landscape:  # fmt: skip
    """P(next token) over the plane of the stream after the last attention, exactly, and points on it.

    Wider than two features, the plane is a slice. Films pass one plane `on` which to draw, one `frame` and the tokens
    whose `maps` are shown for all steps.
    """
    points = points or ("embedded" if run.architecture.blocks == 1 else "middle")
    for name, value, known in (
        ("points", points, get_args(Points)), ("at", at, get_args(At)), ("tokens", tokens, get_args(Tokens))
    ):  # fmt: skip
        check_name(value, name, known)
    if points == "after" and at == "final":
        raise CallError("points = 'after' lie in the stream after attention, not in what is read out: at = 'middle'")
    ground = laid(
        run, sequence=sequence, step=step, member=member, at=at, features=plane, plane=on, frame=frame, grid=grid,
        shape=shape, borders="none", through=(points,) if points in PAIRS else ("begin", "end"),
        also={"after": _met(run, step, member)} if points == "after" else None,
    )  # fmt: skip
    words, kept = ground.fields["words"], maps or most_telling(ground.chances)
    pairs: dict[str, Any] = {"pair": ()}
    said = np.zeros((0, len(words)))
    if at == "middle" and points in PAIRS:
        pairs = {"pair": ground.fields["points"][points].axes["pair"]}
        said = ground.ground.model.answer(ground.full[points][:, None])[:, 0]
    group, shown_words = dict(zip(run.task.vocabulary, groups(run), strict=True)), {"token": [words[k] for k in kept]}
    return Landscape(
        **ground.fields,
        probabilities=Labelled(_land.coarse(ground.chances[list(kept)]), shown_words | ground.places, "probability"),
        peak=Labelled(ground.chances.reshape(len(words), -1).max(1), {"token": words}, "probability"),
        says=Labelled(said.argmax(-1), pairs, "token id"),
        said=Labelled(np.round(said[:, list(kept)], 6), pairs | shown_words, "probability"),
        shown_tokens=kept,
        with_map=tokens,
        pair_groups=tuple(group[token] for token, _ in pairs["pair"].values) if pairs["pair"] else (),
        at=at,
        shown_points=points,
        goes_on=run.task.answers == "next",
    )


def _met(run: Run, step: int, member: int) -> Labelled:
    """(pair, feature): each pair of token and position after the last attention, in the first window that has it.

    What attention adds depends on the other tokens, so each is looked at where it really occurs: in windows of the
    validation part, at the positions that are read.
    """
    windows = _decide.examples(run, _decide.affordable(run, MET)).windows[:, :-1]
    ends = run.trace(windows, step=step, member=member)["middle"][:, -1]  # (window, position, feature)
    known, first = set(frequent(run)), dict[tuple[int, int], int]()
    for place in np.arange(windows.shape[1])[_counted.read(run)].tolist():
        tokens, rows = np.unique(windows[:, place], return_index=True)
        first |= {(int(token), place): int(row) for token, row in zip(tokens, rows, strict=True) if token in known}
    order = sorted(first)
    names = these((run.task.vocabulary[token], place) for token, place in order)
    values = np.array([ends[first[pair], pair[1]] for pair in order])
    return Labelled(values, {"pair": names, "feature": numbers(run.architecture.width)})


# ---- over life -------------------------------------------------------------------------------------------------------


def reel(
    run: Run, *, sequence: Sequence = None,
    points: Annotated[Literal["middle", "embedded"], Option("dots where this input ends, or at all pairs")] = "middle",
    member: Member = 0, frames: Frames = 200, pace: Pace = "even", steps: Shown = None,
) -> Reel:  # fmt: skip
    """The maps of a few tokens at each step, on one plane in one frame."""
    check_name(points, "points", ("middle", "embedded"))
    ages = frames_of(run, frames, pace, steps, member)
    plane = _land.fitted(run, sequence=sequence, step=ages[-1], member=member)
    frame = _land.over_life(run, plane, ages, sequence=sequence, member=member, embedded=points == "embedded")

    def at(step: int, maps: tuple[int, ...] = (), grid: int = FILM) -> Landscape:
        return landscape(
            run, sequence=sequence, points=points, step=step, member=member, on=plane, frame=frame, grid=grid, maps=maps
        )  # fmt: skip

    maps = _told(at(ages[-1]))
    frame = _land.around([np.reshape(frame, (2, 2)).T], 0, _shape(len(maps)))  # `at` draws in it from here on
    last = at(ages[-1], maps)
    title = _grown(at(ages[0], maps, 2), last) + (" (slice)" if last.is_slice else "")
    return Reel(title, ages, lambda step: at(step, maps), strip(run, member), {"last": last})


def _shape(many: int) -> float:
    """Width over height of so many maps that together fill a film."""
    wide, high = ROOM
    grids = [(-(-many // columns), columns) for columns in range(1, many + 1)]
    sides = [((wide - columns) / columns, (high - 2.4 * rows) / rows) for rows, columns in grids]
    shapes = [(float(np.clip(across / up, *SHAPES)), across, up) for across, up in sides]
    return max(shapes, key=lambda each: min(each[1] ** 2 / each[0], each[2] ** 2 * each[0]))[0]


def _told(last: Landscape) -> tuple[int, ...]:
    """The ids of up to twelve tokens: all, or this input's answers, then those with most of the plane."""
    if len(last.words) <= MOST_MAPS:
        return tuple(range(len(last.words)))
    chances = np.nan_to_num(last.probabilities.values.reshape(len(last.shown_tokens), -1))
    asked = {token for right in last.right for token in right}
    answers = [k for k, token in enumerate(last.shown_tokens) if token in asked]
    order = answers + [int(k) for k in np.argsort(-chances.mean(1), kind="stable") if k in last.telling]
    return tuple(last.shown_tokens[k] for k in sorted(list(dict.fromkeys(order))[:MOST_MAPS]))


def dots(last: Landscape) -> str:
    """Whose the dots of a film are."""
    text = " ".join(map(shown, last.tokens))
    if last.shown_points != "middle":
        return "every token"
    many = len(read(last.verdicts))
    return f"each position of {text}" if many == len(last.tokens) else f"where the answer of {text} is read"


def _grown(first: Landscape, last: Landscape) -> str:
    """How probable the right tokens of this input become, or that there is no right one."""
    steps = f"step {thousands(first.step or 0)}", f"step {thousands(last.step or 0)}"
    ends = [
        [float(each.at_end.values[k, list(right)].sum()) for k, right in enumerate(each.right) if right]
        for each in (first, last)
    ]
    if last.shown_points == "middle" and ends[1] and np.isfinite(ends).all():
        was, is_now = (percent(float(np.mean(each))) for each in ends)
        text, mean = " ".join(map(shown, last.tokens)), "probability" if len(ends[1]) == 1 else "mean probability"
        return f"On {text}, the right next token has a {mean} of {was} at {steps[0]}, {is_now} at {steps[1]}"
    return f"Where each next token is probable, from {steps[0]} to {steps[1]}, with {dots(last)} on the map"
