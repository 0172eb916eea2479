"""What source S4 says of a transformer whose every thought is a point of a plane."""

from dataclasses import replace
from typing import Any

import numpy as np

from glassformer import glossary, summary
from glassformer.architecture import nest
from glassformer.claims._claim import Found, claim, over_seeds, trained
from glassformer.claims._plane import ladder, outside, parted, since
from glassformer.claims._said import fixed, share, steps
from glassformer.errors import CallError
from glassformer.experiment import begun, load, names
from glassformer.reference import linear
from glassformer.run import Run
from glassformer.tasks import Rule

SOURCE = 4
TITLE = "Creating a transformer: every parameter of a two-dimensional model"

PUBLISHED = trained("plus_last_even_as_published", seeds=16)  # the source's settings; its own seed, 18, is the first
OURS = trained("plus_last_even", seeds=16)  # the same model, trained so that nearly all seeds learn the rule
EVEN, ODD, NUMBERS, PLUS = range(0, 11, 2), range(1, 11, 2), range(11), 11
EXAMPLE, DEMO = "5 3 8 7 + 8 10 2 4 + 4", "10 + 10 6 + 6 4 8"
EVERY = 100  # steps between two of the source's checkpoints
WINDOWS = 500  # validation windows that are looked at, of each member
LAST_WINDOWS = 5000  # of which only the last position is


# ---- the task --------------------------------------------------------------------------------------------------------


@claim("S4-01", "5 3 8 7 + 8 10 2 4 + 4 obeys the rule, and so do all training sequences",
       place="4.T", how="E", stated={"wrong": 0}, experiment="plus_last_even_as_published", figure="training_data",
       input=DEMO)  # fmt: skip
def the_data_obeys() -> Found:
    task = _experiment().task
    split = [task.data(8).train, task.data(8).validation]
    drawn = [np.split(part.tokens, part.starts[1:]) for part in split]
    told = [task.verify(task.encode(text)) for text in (EXAMPLE, DEMO)]
    judged = [each for row in (*drawn[0], *drawn[1]) for each in task.verify(row) if each is not None]
    shown = [each for row in told for each in row if each is not None]
    wrong = shown.count(False) + judged.count(False)
    at = [place for place, word in enumerate(DEMO.split()) if word == "+"]
    return Found(
        {"wrong": wrong, "judged": len(judged)},
        measured=f"{shown.count(True)} of the {len(shown)} constrained tokens of the example and of {DEMO} ('+' at "
        f"{at[0]} and {at[1]}) are right; of {len(judged):,} in {sum(map(len, drawn)):,} sequences "
        f"{judged.count(False)} are wrong",
    )


@claim("S4-02", "12 tokens, width 2, context 8, one head of 2, a hidden layer of 16 times the width; 96 pairs of "
       "token and position; 200 checkpoints", place="4.M", how="A", experiment="plus_last_even_as_published",
       figure="parameters",
       stated={"vocabulary": 12, "width": 2, "context": 8, "heads": 1, "head_width": 2, "hidden": 16, "pairs": 96,
               "checkpoints": 200})  # fmt: skip
def the_model() -> Found:
    a, train = _experiment().architecture, _experiment().train
    found = {
        "vocabulary": a.vocabulary, "width": a.width, "context": a.context, "heads": a.heads, "head_width": a.per_head,
        "hidden": a.feed_forward / a.width, "pairs": a.vocabulary * a.context, "checkpoints": train.steps / EVERY,
        "parameters": a.parameters,
    }  # fmt: skip
    return Found(found)


@claim("S4-03", "figure 01: T = 12, vocabulary 11; every internal representation is two-dimensional",
       place="4.01", how="A", stated={"T": 12, "vocabulary": 11}, experiment="plus_last_even_as_published",
       figure="architecture")  # fmt: skip
def shapes_of_figure_01() -> Found:
    a = _experiment().architecture
    flat = [
        shape[-1] for name, shape in a.shapes().items() if name.rpartition(".")[2] in ("token", "position", "value")
    ]
    neurons = [point for point in ("hidden_in", "hidden") if "neuron" in glossary.axes(point)]
    return Found(
        {"T": a.context, "vocabulary": a.vocabulary, "neurons": a.feed_forward},
        idea=set(flat) == {2},
        truth=f"The source's own table has context {a.context} and {a.vocabulary} tokens. The stream, queries, keys "
        f"and values are points of a plane; {' and '.join(neurons)} have {a.feed_forward} numbers, one for each "
        "neuron.",
    )


@claim("S4-04", "after anything but '+' any token may come; '+' appears with about 30 %",
       place="4.03", how="E", stated={"share of '+'": 0.3}, tolerance=0.01, experiment="plus_last_even_as_published",
       figure="token_counts")  # fmt: skip
def how_often_plus() -> Found:
    task = _experiment().task
    first, after_number = task.law(task.start), task.law((4, 4))
    after_plus, no_even = task.law((4, PLUS)), task.law((None, PLUS))
    often = float(next(rung for rung in task.ladder(8) if rung.name == "token frequencies").guess(np.array([0]))[PLUS])
    rate = float(after_number[PLUS])
    return Found(
        {"share of '+'": often, "after a number": rate},
        idea=bool(rate == 0.3 and (after_number > 0).all()),
        truth=f"'+' has a chance of {rate:.2f} after a number, {after_plus[PLUS]:.0f} after '+' and {first[PLUS]:.0f} "
        f"at the start, which makes {share(often)} of the tokens. After '+' with no even number before it, which the "
        f"source does not mention, each of the {int((no_even > 0).sum())} even numbers has the same chance.",
    )


@claim("S4-05", "the answer lies at a variable place in the past that depends on the content",
       place="4.T", how="E", experiment="plus_last_even_as_published", figure="every_question")  # fmt: skip
def where_the_answer_lies() -> Found:
    task = _experiment().task
    kind = task.examples(8, "validation", 20_000).kind
    back = np.bincount(kind[kind >= 0], minlength=len(task.kinds)) / (kind >= 0).sum()
    nats = {rung.name: rung.nats for rung in task.ladder(8)}
    return Found(
        {name: float(each) for name, each in zip(task.kinds, back, strict=True) if each},
        measured=f"of the answers in view {share(back[1], 0)} stand just before the '+', {share(back[2], 0)} two "
        f"back, {share(back[3], 0)} farther; who sees two tokens only pays {nats['last two tokens']:.3f} nats, who "
        f"finds the even number {nats['the rule']:.3f}",
        holds=bool((back > 0).sum() > 1 and nats["the rule"] < nats["last two tokens"]),
    )


# ---- training --------------------------------------------------------------------------------------------------------


@claim("S4-06", "in the first 2,000 steps the model learns token frequencies; then the loss falls gradually",
       place="4.02", how="R S", needs=[PUBLISHED], figure="loss", step=2000)  # fmt: skip
def first_steps(run: Run) -> Found:
    floor, step, excess = run.task.floor(8), run.metrics["step"], run.metrics["excess"]
    above = {rung.name: rung.nats - floor for rung in run.task.ladder(8) if rung.reachable}
    passed = excess <= above["token frequencies"]
    frequencies = over_seeds(np.where(passed.any(axis=0), step[passed.argmax(axis=0)], np.nan), higher=False)
    then = int(np.flatnonzero(step <= 2000)[-1])
    halfway = (above["token frequencies"] + above["last token"]) / 2
    slower = (excess[0] - excess[then]) / step[then] > (excess[then] - excess[-1]) / (step[-1] - step[then])
    at = over_seeds(excess[then] + floor, higher=False)
    return Found(
        {
            "step past frequencies": frequencies,
            f"loss at step {step[then]:,}": at,
            "loss at the end": over_seeds(excess[-1] + floor),
        },
        measured=f"frequencies passed at step {steps(frequencies)}; loss {fixed(at)} at step {step[then]:,}",
        holds=bool(np.median(excess[then]) > halfway),
        idea=bool(np.mean(slower) > 0.5),
        truth=f"The price of knowing the frequencies ({above['token frequencies'] + floor:.3f} nats) is passed at "
        f"step {steps(frequencies)}. By step {step[then]:,} the loss is {fixed(at)}: the rung of the last token, "
        f"which knows that an even number follows '+', costs {above['last token'] + floor:.3f}, the rule {floor:.3f}.",
    )


@claim("S4-07", "the rule error (the likeliest token after '+' is wrong) starts near 90 %, as with guessing among 12 "
       "tokens", place="4.02", how="R S", needs=[PUBLISHED], stated={"rule error at step 0": 0.9}, tolerance=0.05,
       figure="rule_error", step=0)  # fmt: skip
def first_error(run: Run) -> Found:
    seen = run.task.examples(8, "validation", 20_000)
    guess = 1 - seen.allowed.mean(axis=-1)[seen.constrained].mean()
    some_even = 1 - 1 / len(EVEN)
    first = over_seeds(run.metrics["rule_error"][0], higher=False)
    return Found(
        {"rule error at step 0": first, "random guess": float(guess), "some even number": some_even},
        measured=f"{share(first)} over {run.members} seeds at step 0; a random guess among 12 tokens is wrong at "
        f"{share(guess)} of these places, a random even number at about {share(some_even, 0)}",
        truth=f"A random guess is wrong at {share(guess)}; before training, where every seed has its favourite token, "
        f"it is {share(first)}.",
    )


@claim("S4-08", "the rule error ends near 0 %", place="4.02", how="R S", needs=[PUBLISHED, OURS], figure="rule_error",
       stated={"published settings": 0.0}, tolerance=0.01)  # fmt: skip
def last_error(published: Run, ours: Run) -> Found:
    """Averaged over all positions of a window, as the metrics are, and at the last one, with eight tokens in view."""
    view, hidden = ours.task.shares(8), _hidden_in_full_view(ours.task)  # type: ignore[attr-defined]
    theirs, mine = (over_seeds(run.metrics["rule_error"][-1], higher=False) for run in (published, ours))
    solved, full = [_solved(run) for run in (published, ours)], [_last_errors(run) for run in (published, ours)]
    learnt = [over_seeds(each[who], higher=False) for each, who in zip(full, solved, strict=True)]
    return Found(
        {"published settings": theirs, "ours": mine, "least possible": view.least_error,
         "out of view": 1 - view.answerable, "out of view, eight in view": hidden,
         "published settings, eight in view": over_seeds(full[0], higher=False),
         "published settings, eight in view, learnt": learnt[0], "ours, eight in view, learnt": learnt[1]},
        measured=f"{share(theirs)} with the published settings and {share(mine)} with ours, averaged over one to eight "
        f"tokens in view, where {share(view.least_error)} is the least possible; with eight tokens in view "
        f"{share(learnt[0])} in the {solved[0].sum()} of {published.members} seeds that learnt the rule with the "
        "published settings",
        idea=learnt[0].median < 0.01,
        truth=f"With all eight tokens in view it is {share(learnt[0])} in the {solved[0].sum()} of {published.members} "
        f"seeds that learnt the rule with the published settings and {share(learnt[1])} in the {solved[1].sum()} of "
        f"{ours.members} with ours; there {share(hidden, 2)} of the constrained positions have no answer in view. "
        "Averaged over all positions of a window, that is, over one to eight tokens in view, "
        f"{share(1 - view.answerable)} of the constrained positions have no answer in view, and the least possible "
        f"error is {share(view.least_error)}; by this average all {ours.members} seeds end at {share(theirs)} with "
        f"the published settings and at {share(mine)} with ours.",
    )  # fmt: skip


@claim("S4-09", "training succeeds (20,000 steps at rate 0.001; one seed is shown)",
       place="4.L", how="S", needs=[PUBLISHED, OURS], figure="seeds")  # fmt: skip
def who_learns(published: Run, ours: Run) -> Found:
    theirs, mine = (int(_solved(run).sum()) for run in (published, ours))
    many = published.members
    return Found(
        {"solved, published settings": theirs, "solved, ours": mine, "seeds": many},
        measured=f"{theirs} of {many} seeds with the published settings, {mine} of {many} with ours",
        holds=theirs > many / 2,
        idea=theirs > 0,
        truth=f"Only {theirs} of {many} seeds have less than 2 % of the answers in view wrong; the others are stuck. "
        f"With a higher rate that falls, and smaller first embeddings, {mine} of {many} learn the rule.",
    )


@claim("S4-10", "in what the trained model writes, the few remaining errors are on unconstrained positions",
       place="4.04", how="A E", needs=[OURS], figure="generated")  # fmt: skip
def errors_where_nothing_is_asked(run: Run) -> Found:
    free = int((run.task.law((4, 4)) > 0).sum())  # type: ignore[attr-defined]
    wrong = asked = 0
    for member in np.flatnonzero(_solved(run))[:4]:
        said = run.task.verify(np.array([4, *run.generate("4", tokens=200, seed=int(member), member=int(member))]))
        wrong, asked = wrong + said.count(False), asked + len(said) - said.count(None)
    return Found(
        {"tokens allowed after a number": free, "wrong where the rule speaks": wrong, "asked": asked},
        measured=f"{free} of {len(run.task.vocabulary)} tokens are allowed after a number; after '+' {wrong} of "
        f"{asked} are wrong",
        holds=free < len(run.task.vocabulary),
        truth=f"After a number all {free} tokens are allowed, so nothing written there can be an error. What is wrong "
        f"is wrong after '+': {wrong} of {asked} such tokens that four models wrote.",
    )


# ---- embeddings ------------------------------------------------------------------------------------------------------


@claim("S4-11", "'+' lies far from all numbers, and even and odd numbers form separate clusters",
       place="4.05", how="T S", needs=[PUBLISHED, OURS], figure="embeddings")  # fmt: skip
def clusters(published: Run, ours: Run) -> Found:
    token = {run: run.weights()["token"] for run in (published, ours)}
    parity = {run: parted(each, EVEN, ODD) for run, each in token.items()}
    far = {run: outside(each, PLUS, NUMBERS) for run, each in token.items()}
    good = {run: _solved(run) for run in token}
    both = np.concatenate([parity[run][good[run]] & (far[run][good[run]] > 1) for run in token])
    parts = np.concatenate([parity[run][good[run]] for run in token])
    stuck = parity[published][~good[published]]
    away = over_seeds(np.concatenate([far[run][good[run]] for run in token]))
    return Found(
        {
            "distance of '+'": away,
            "parity parted, solved": float(parts.mean()),
            "parity parted, stuck": float(stuck.mean()),
        },
        measured=f"of {len(parts)} seeds that learnt the rule, a straight line parts even from odd in "
        f"{int(parts.sum())} and '+' is farther from the centre of the numbers than any number in {int(both.sum())}, "
        f"{fixed(away, 2)} times as far as the farthest; of {len(stuck)} stuck ones {int(stuck.sum())} part even from "
        "odd",
        holds=bool(both.mean() > 0.5),
        idea=bool(parts.mean() > 0.5),
        truth=f"What goes with success is the line between even and odd ({int(parts.sum())} of {len(parts)} seeds "
        f"that learnt the rule, {int(stuck.sum())} of {len(stuck)} that did not).",
    )


@claim("S4-12", "the position embeddings form a straight ladder from the first position to the last",
       place="4.05", how="T S", needs=[PUBLISHED, OURS], figure="positions")  # fmt: skip
def position_ladder(published: Run, ours: Run) -> Found:
    def measured(run: Run) -> tuple[Any, Any, Any]:
        order, line = (each[_solved(run)] for each in ladder(run.weights()["position"]))
        return order, line, (order > 0.95) & (line > 0.9)  # a ladder: hardly a rung out of order, hardly a bend

    (order, line, theirs), (our_order, our_line, mine) = measured(published), measured(ours)
    return Found(
        {"order, published": over_seeds(order), "on one line, published": over_seeds(line),
         "order, ours": over_seeds(our_order), "on one line, ours": over_seeds(our_line)},
        measured="among seeds that learnt the rule, a ladder (rank correlation above 0.95, 90 % of the variance on "
        f"one line) in {int(theirs.sum())} of {len(theirs)} with the published settings and {int(mine.sum())} of "
        f"{len(mine)} with ours",
        holds=bool(theirs.mean() > 0.5 and mine.mean() > 0.5),
        idea=bool(max(theirs.mean(), mine.mean()) > 0.5),
        truth=f"It comes with our settings (rank correlation of order and place {fixed(over_seeds(our_order), 2)}) "
        f"more than with the published ones ({fixed(over_seeds(order), 2)}), where seeds answer what they can see "
        "without it.",
    )  # fmt: skip


@claim("S4-13", "'+' separates from the numbers in the first few thousand steps, even from odd at 5,000 to 10,000",
       place="4.D1", how="T S", needs=[PUBLISHED, OURS], figure="embedding_paths", step=5000)  # fmt: skip
def when_they_separate(published: Run, ours: Run) -> Found:
    def apart(run: Run, one: Any, other: Any) -> Any:
        looked = [int(step) for step in run.steps if step % EVERY == 0]
        return since(looked, lambda step: parted(run.weights(step)["token"], one, other))[_solved(run)]

    plus, parity = (over_seeds(apart(published, *groups), higher=False) for groups in (([PLUS], NUMBERS), (EVEN, ODD)))
    our_plus, our_parity = (
        over_seeds(apart(ours, *groups), higher=False) for groups in (([PLUS], NUMBERS), (EVEN, ODD))
    )
    return Found(
        {"'+', published": plus, "parity, published": parity, "'+', ours": our_plus, "parity, ours": our_parity},
        measured="first step from which a straight line parts them for good, seeds that learnt the rule: '+' "
        f"{steps(plus)}, parity {steps(parity)} with the published settings; {steps(our_plus)} and "
        f"{steps(our_parity)} with ours, at a rate up to 30 times as high",
        holds=plus.median < 5000 <= parity.median <= 10_000,
        idea=plus.median < parity.median,
        truth=f"These are steps of the published rate; with ours even and odd part at {steps(our_parity)}.",
    )


@claim("S4-14", "early in training the spaces of embeddings, queries, keys and values are nearly identical, and every "
       "query attends to everything alike", place="4.D2", how="T S", needs=[PUBLISHED], figure="qkv",
       step=0)  # fmt: skip
def spaces_at_the_start(run: Run) -> Found:
    from glassformer.analyses.trust.seeds_aligned import distances

    def apart(step: int) -> Any:
        weights = run.weights(step)
        pairs = (weights["token"][:, :, None] + weights["position"][:, None]).reshape(run.members, -1, 2)
        spaces = [pairs, *(pairs @ weights[f"blocks.0.{name}"] for name in ("query", "key", "value"))]
        centred = np.array(spaces) - np.mean(spaces, axis=2, keepdims=True)
        return np.median([distances(each)[np.triu_indices(4, 1)] for each in centred.swapaxes(0, 1)], axis=1)

    first, last = over_seeds(apart(0)), over_seeds(apart(run.last_step))
    even, later = (over_seeds(_evenness(run, step)) for step in (0, run.last_step))
    return Found(
        {"distance at first": first, "distance at last": last, "evenness at first": even, "evenness at last": later},
        measured=f"distance of two spaces {fixed(first, 2)} at step 0; entropy of attention {share(even, 0)} of the "
        "largest possible",
        holds=first.median < 0.1 and even.median > 0.8,
        idea=even.median > 0.8,
        truth="They are four different random images: after the best turn and scaling two of them still differ by "
        f"{fixed(first, 2)} (0: the same shape, 1: nothing in common), at the end by {fixed(last, 2)}. That attention "
        f"begins spread out is right: its entropy is {share(even, 0)} of the largest possible, {share(later, 0)} at "
        "the end.",
    )  # fmt: skip


# ---- attention and output --------------------------------------------------------------------------------------------


@claim("S4-15", "each even number owns a region of the output plane, and the '+' that ask for it land there; after a "
       "number '+' gets its base rate of 30 %", place="4.07", how="T S", needs=[OURS], figure="landscape_winners",
       input=DEMO)  # fmt: skip
def regions(run: Run) -> Found:
    least, plus = [], []
    for member in np.flatnonzero(_solved(run)):
        seen, trace = _seen(run, int(member))
        came, guess = seen.windows[:, 1:], trace["probabilities"].argmax(axis=-1)
        right = [(guess == came)[seen.answerable & (came == even)].mean() for even in EVEN]
        least.append(min(right))
        free = ~seen.constrained
        plus.append(trace["probabilities"][..., PLUS][free].mean())
    land, rate = over_seeds(least), over_seeds(plus)
    exact = float(run.task.law((4, 4))[PLUS])  # type: ignore[attr-defined]
    return Found(
        {"landing right, worst even": land, "'+' after a number": rate, "exact": exact},
        measured=f"of the '+' whose answer is in view, {share(land)} land where that even number is the likeliest, "
        f"counted for the even number that fares worst; '+' gets {fixed(rate)} after a number, where {exact:g} is "
        f"exact ({len(least)} seeds that learnt the rule)",
        holds=land.median > 0.95 and abs(rate.median - exact) < 0.02,
        idea=land.median > 0.95,
        truth=f"Surer than that nobody can be: after a number '+' has a chance of {exact:g}, each number one of "
        f"{(1 - exact) / len(NUMBERS):.3f}.",
    )


@claim("S4-16", "linear decision boundaries of the read-out partition the plane in which the embeddings are drawn",
       place="4.07", how="T S", needs=[OURS], figure="landscape_winners")  # fmt: skip
def boundaries(run: Run) -> Found:
    rng = np.random.default_rng(0)
    bent = []
    for member in np.flatnonzero(_solved(run)):
        params = nest(run.weights(member=int(member)))
        _, trace = _seen(run, int(member))
        points = {name: trace[name][:, 0].reshape(-1, 2) for name in ("middle", "out")}

        def wins(at: Any, name: str, params: Any = params) -> Any:
            block = params["blocks"][0]
            out = at if name == "out" else at + linear(np.maximum(linear(at, block, "expand"), 0), block, "contract")
            return (out @ params["read_out"] + params["read_out_bias"]).argmax(axis=-1)

        bent.append([_bent(points[name], name, wins, rng) for name in ("middle", "out")])
    before, after = (over_seeds(each, higher=False) for each in np.array(bent).T)
    return Found(
        {"bent before the feed-forward part": before, "bent after it": after},
        measured=f"regions are not convex for {share(before)} of pairs before the feed-forward part, {share(after)} "
        "after it",
        holds=before.median == 0,
        idea=after.high == 0,
        truth="Straight boundaries make convex regions. Of two points with the same likeliest token, the one halfway "
        f"between them has another in {share(after)} of pairs after the feed-forward part, and in {share(before)} "
        "before it, where the figure draws them: there the boundaries bend at each neuron.",
    )


@claim("S4-17", "'+' attends to the last even number and not to odd ones; numbers attend broadly; free positions are "
       "hardly moved", place="4.10", how="T S", needs=[OURS], figure="score_field", input="10 + 10 6 +")  # fmt: skip
def who_attends(run: Run) -> Found:
    rows = np.array([_attending(run, int(member)) for member in np.flatnonzero(_solved(run))])
    names = ("last even", "earlier evens", "odd", "itself", "evenness of '+'", "evenness of numbers", "push on '+'",
             "push on numbers", "wrong with the last even hidden")  # fmt: skip
    found = {name: over_seeds(each) for name, each in zip(names, rows.T, strict=True)}
    first = found["last even"].median > 0.8 and found["wrong with the last even hidden"].median > 0.5
    return Found(
        found,
        measured=f"'+' gives {share(found['last even'])} to the last even number; entropy of a number's attention "
        f"{share(found['evenness of numbers'], 0)} of the largest possible, its push "
        f"{share(found['push on numbers'], 0)} of its length ({len(rows)} seeds that learnt the rule)",
        holds=bool(first and found["evenness of numbers"].median > 0.8 and found["push on numbers"].median < 0.2),
        idea=bool(first),
        truth=f"'+' gives {share(found['last even'])} of its attention to the last even number and "
        f"{share(found['odd'])} to odd ones; with that one position hidden "
        f"{share(found['wrong with the last even hidden'])} of the answers are wrong. Numbers look sharply, too "
        f"(entropy {share(found['evenness of numbers'], 0)} of the largest possible), and are pushed by "
        f"{share(found['push on numbers'], 0)} of their own length, '+' by {share(found[names[6]], 0)}.",
    )


@claim("S4-18", "queries attend to keys that are near or point the same way; '+' queries lie at the bottom right "
       "(figure 09), at the left (figure 10)", place="4.09", how="A S", needs=[OURS],
       figure="query_key_space")  # fmt: skip
def nearness(run: Run) -> Found:
    weights = run.weights()
    pairs = (weights["token"][:, :, None] + weights["position"][:, None]).astype(np.float64)
    query, key = (pairs @ weights[f"blocks.0.{name}"][:, None] for name in ("query", "key"))
    asks, keys = query[:, PLUS, 5], key[:, :, :6].reshape(run.members, -1, 2)
    best = (keys @ asks[..., None])[..., 0].argmax(axis=1)
    near = np.linalg.norm(keys - asks[:, None], axis=-1).argmin(axis=1)
    turn = np.degrees(np.arctan2(asks[:, 1], asks[:, 0]))
    quarters = len({int(each // 90) for each in turn})
    stretch = np.array([[0.0, 0.1], [-0.1, 0.0]])  # any matrix that can be undone: queries by it, keys by its inverse
    moved, others = asks @ stretch, keys @ np.linalg.inv(stretch).T
    change = float(np.abs(others @ moved[..., None] - keys @ asks[..., None]).max())
    then = np.linalg.norm(others - moved[:, None], axis=-1).argmin(axis=1)
    first, after = (int((best == each).sum()) for each in (near, then))
    return Found(
        {"nearest key scores highest": first, "after stretching": after, "quarters": quarters, "change": change},
        measured=f"the nearest key scores highest in {first} of {run.members} seeds, and in {after} when seen "
        "otherwise, with the same scores",
        holds=first == after == run.members and quarters == 1,
        idea=change < 1e-9,
        truth="Only the product counts. Of the keys that '+' at position 5 can see, the nearest has the highest "
        f"score in {first} of {run.members} seeds; with queries a tenth as long and keys ten times, both turned, "
        f"which changes no score, in {after}. The query points into {quarters} of the four quarters of the plane, by "
        "the seed: its place means nothing, and the two figures cannot both be right about one model.",
    )


@claim("S4-19", "for '+' at position 5 the keys at positions 5 and later are masked, and so are negative products",
       place="4.10", how="A S", needs=[OURS], figure="mask", input="4 1 + 4 6 + 7 2")  # fmt: skip
def what_is_masked(run: Run) -> Found:
    ids = run.tokens("4 1 + 4 6 + 7 2")
    seen = [run.trace(ids, member=member) for member in range(run.members)]
    attention = np.array([each["attention"][0, 0, 5] for each in seen])
    negative = np.array([(each["scores"][0, 0] < 0) & np.tri(len(ids), dtype=bool) for each in seen])
    visible = [int(each) for each in np.flatnonzero((attention > 0).any(axis=0))]
    weight = [float((each["attention"][0, 0] * low).max()) for each, low in zip(seen, negative, strict=True)]
    return Found(
        {"positions in view": len(visible), "most attention to a negative score": over_seeds(weight)},
        measured=f"{len(visible)} positions in view; up to {share(over_seeds(weight))} of the attention goes to a "
        "negative score",
        holds=visible == list(range(5)) and max(weight) == 0,
        idea=bool((attention[:, 6:] == 0).all()),
        truth=f"A query sees itself: the positions {visible[0]} to {visible[-1]} are in view, only later ones are "
        f"masked. A negative score is no mask: in this input a key with one gets up to {share(over_seeds(weight))} of "
        "a query's attention, since only differences between scores count.",
    )


@claim("S4-20", "after attention each of the 96 token-position pairs has its point, and every final point lies in the "
       "region of its next token", place="4.16", how="T S", needs=[OURS], figure="point_atlas", input=DEMO)  # fmt: skip
def final_points(run: Run) -> Found:
    spread, asked, free = [], [], []
    for member in np.flatnonzero(_solved(run)):
        seen, trace = _seen(run, int(member))
        pair = seen.windows[:, :-1] * 8 + np.arange(8)
        points = trace["middle"][:, 0].astype(np.float64)
        within = sum(((points[pair == k] - points[pair == k].mean(axis=0)) ** 2).sum() for k in np.unique(pair))
        spread.append(within / ((points - points.mean(axis=(0, 1))) ** 2).sum())
        right = trace["probabilities"].argmax(axis=-1) == seen.windows[:, 1:]
        asked.append(right[seen.answerable].mean())
        free.append(right[~seen.constrained].mean())
    law = run.task.law((4, 4))  # type: ignore[attr-defined]
    by_context, answered, guessed = (over_seeds(each) for each in (spread, asked, free))
    return Found(
        {"spread by context": by_context, "right after '+', in view": answered, "right after a number": guessed},
        measured=f"{share(by_context, 0)} of the variance is by context; {share(answered)} right after '+', "
        f"{share(guessed)} after a number",
        holds=by_context.median < 0.01 and guessed.median > 0.95,
        idea=answered.median > 0.95,
        truth=f"After attention a pair has as many points as there are contexts: {share(by_context, 0)} of the "
        f"variance lies between points of one and the same pair. In the right region lie {share(answered)} of the '+' "
        f"whose answer is in view, but only {share(guessed)} of the points after a number, where the best guess, '+', "
        f"comes with {law[PLUS]:.1f} and each number with {law[0]:.3f}.",
    )


# ---- other rules -----------------------------------------------------------------------------------------------------


@claim("S4-21", "step_back: each token is one less than the one before; copy_modulo: copies with modular arithmetic",
       place="4.O", how="E", experiment="step_back", figure="training_data")  # fmt: skip
def two_rules_told_wrong() -> Found:
    back, copied = load("step_back_as_published").task, load("copy_modulo_as_published").task
    rows = [back.sample(np.random.default_rng(k), 80) for k in range(200)]
    less = float(np.mean([np.mean(np.diff(row) == -1) for row in rows]))
    three = float(np.mean([row[k + 1] == row[k - 3] for row in rows for k in range(3, 79) if row[k] == 9]))
    triples = [copied.sample(np.random.default_rng(k), 60) for k in range(200)]
    same = float(np.mean([np.mean(row[3:] == row[:-3]) for row in triples]))
    return Found(
        {"one less": less, "three before a 9": three, "as three before": same},
        measured=f"step_back: {share(less, 0)} are one less than the token before; copy_modulo: {share(same, 0)} are "
        "the token three before",
        holds=less > 0.99 and same < 0.99,
        truth=f"In step_back {share(less, 0)} of the tokens are one less than the one before, no more than by chance; "
        f"{share(three, 0)} of those after a 9 are the token three places before it. In copy_modulo {share(same, 0)} "
        "of the tokens are the one three before: a random triple repeats, and nothing is calculated.",
    )


@claim("S4-22", "lucky7, plus_max_of_two and plus_means_even are what the table says", place="4.O", how="E",
       stated={"wrong": 0}, experiment="lucky7", figure="training_data")  # fmt: skip
def three_rules_told_right() -> Found:
    def drawn(name: str, many: int = 200) -> list[list[int]]:
        task = load(name).task
        return [task.sample(np.random.default_rng(k), 50).tolist() for k in range(many)]

    def largest(before: list[int]) -> int:
        return max([token for token in before if token != 21][-2:])

    lucky = [row[k + 1] == row[k - 1] for row in drawn("lucky7") for k in range(1, 49) if row[k] == 7]
    larger = [row[k + 1] == largest(row[:k]) for row in drawn("plus_max_of_two") for k in range(1, 49) if row[k] == 21]
    even = [
        row[k + 1] % 2 == 0 and row[k + 1] < 21 for row in drawn("plus_means_even") for k in range(49) if row[k] == 21
    ]
    judged = (*lucky, *larger, *even)
    return Found(
        {"wrong": judged.count(False), "judged": len(judged)},
        measured=f"{judged.count(False)} of {len(judged):,} judged tokens differ from the description; the two "
        "preceding numbers are counted without operators between them, and a single number so far is its own maximum",
    )


@claim("S4-23", "the same framework supports all the rules in its list of configurations", place="4.O", how="A",
       stated={"cannot run": 0}, experiment="plus_means_even", figure="head_split")  # fmt: skip
def all_rules() -> Found:
    published = {name.removesuffix("_as_published") for name in names()
                 if issubclass(begun(name)[1], Rule) and not name.startswith("ill_")}  # fmt: skip
    every = [load(f"{name}_as_published" if f"{name}_as_published" in names() else name) for name in sorted(published)]
    cannot = []
    for each in every:
        try:
            replace(each.architecture, output_projection=False)
        except CallError:
            cannot.append(each.name.removesuffix("_as_published"))
    return Found(
        {"cannot run": len(cannot), "rules": len(every)},
        measured=f"{len(cannot)} of {len(every)} configurations cannot run",
        truth=f"{len(cannot)} of the {len(every)} published configurations ({', '.join(cannot)}) have heads whose "
        "width together is not the stream's, and so cannot be added to it without an output projection, which the "
        "source's model does not have; ours has one wherever it is needed.",
    )


# ---- what several of them look at ------------------------------------------------------------------------------------


def _experiment() -> Any:
    return load("plus_last_even_as_published")


def _solved(run: Run) -> Any:
    """(member,): who has learnt the rule, by the mark of every summary."""
    return np.array([summary.solved(run, each) for each in summary.members(run)])


def _seen(run: Run, member: int, step: int = -1) -> tuple[Any, Any]:
    """Validation windows with what is known of them, and what a member computes on them."""
    seen = run.task.examples(8, "validation", WINDOWS)
    return seen, run.trace(seen.windows[:, :-1], step=step, member=member)


def _hidden_in_full_view(task: Any) -> float:
    """The share of constrained positions whose answer is not in view although eight tokens are; exact."""
    known = task._beliefs(8)
    last = known.visits[-1]
    return float(1 - last @ known.answerable / (last @ known.constrained))


def _last_errors(run: Run) -> Any:
    """(member,): the rule error at the last position of validation windows, where eight tokens are in view."""
    seen = run.task.examples(8, "validation", LAST_WINDOWS)
    rows = np.flatnonzero(seen.constrained[:, -1])
    windows, allowed = seen.windows[rows, :-1], seen.allowed[rows, -1]
    guess = [run.trace(windows, member=member)["probabilities"][:, -1].argmax(-1) for member in range(run.members)]
    return 1 - np.array([allowed[np.arange(len(rows)), each].mean() for each in guess])


def _evenness(run: Run, step: int) -> list[float]:
    """(member,): the entropy of attention, as a share of the largest possible; 1: everything counts alike."""
    return [
        float(_even(_seen(run, member, step)[1]["attention"][:, 0, 0])[:, 1:].mean()) for member in range(run.members)
    ]


def _even(attention: Any) -> Any:
    """(window, query): entropy over its largest; the first query sees itself alone, and counts as 0."""
    entropy = -(attention * np.log(np.where(attention > 0, attention, 1))).sum(axis=-1)
    return entropy / np.log(np.maximum(np.arange(attention.shape[-1]) + 1, 2))


def _attending(run: Run, member: int) -> list[float]:
    """Where the '+' with an answer in view look, how evenly, how far positions are pushed, and what hiding costs."""
    seen, trace = _seen(run, member)
    words, attention = seen.windows[:, :-1], trace["attention"][:, 0, 0].astype(np.float64)
    window, query = np.nonzero(seen.answerable)
    keys, weight, place = words[window], attention[window, query], np.arange(8)
    even, before = np.isin(keys, EVEN), place <= query[:, None]
    last = np.where(even & before, place, -1).max(axis=1)[:, None]
    shares = [place == last, even & (place < last), np.isin(keys, ODD), place == query[:, None]]
    push = np.linalg.norm(trace["attended"][:, 0], axis=-1) / np.linalg.norm(trace["embedded"], axis=-1)
    free = ~seen.constrained & (place > 0)

    def hide(value: Any) -> Any:
        value[window, 0, query, last[:, 0]] = -np.inf
        return value

    blind = run.trace(words, member=member, edits={"scores": hide})["probabilities"].argmax(axis=-1)
    return [
        *(float((weight * share).sum(axis=1).mean()) for share in shares),
        float(_even(attention)[seen.answerable].mean()),
        float(_even(attention)[free].mean()),
        float(np.median(push[seen.answerable])),
        float(np.median(push[free])),
        float((blind != seen.windows[:, 1:])[seen.answerable].mean()),
    ]


def _bent(points: Any, name: str, wins: Any, rng: Any) -> float:
    """Of pairs of points with the same likeliest token, the share whose midpoint has another."""
    one, other = points[rng.integers(len(points), size=(2, 20_000))].astype(np.float64)
    same = wins(one, name) == wins(other, name)
    halfway = wins((one[same] + other[same]) / 2, name)
    return float(np.mean(halfway != wins(one[same], name)))
