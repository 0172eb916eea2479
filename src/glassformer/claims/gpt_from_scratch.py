"""A GPT from scratch on a nursery rhyme: what the source says of its text, its examples by hand and its model.

MARY is its model with its settings, trained with sixteen seeds. Its examples are computed again, those that begin with
random numbers with the numbers that its library draws.
"""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from math import log, prod, sqrt
from typing import Any

import numpy as np

from glassformer.claims import _mary
from glassformer.claims import _printed_mary as printed
from glassformer.claims._claim import Found, claim, over_seeds, trained
from glassformer.claims._said import fixed, share
from glassformer.claims._torch import Generator
from glassformer.experiment import load
from glassformer.reference import softmax
from glassformer.run import Run
from glassformer.tasks.mary import TEXT, WORDS

SOURCE = 3
TITLE = "GPT from scratch (Mary Had a Little Lamb)"

PUBLISHED = "mary_as_published"
MARY = trained(PUBLISHED, seeds=16)
ONE_BLOCK = trained(PUBLISHED, seeds=8, settings=("architecture.blocks=1",))
BY_HEAD = trained(PUBLISHED, seeds=8, settings=("architecture.score_scale=head",))
ALIKE = 0.1  # of all pairs: words are alike if their cosine is among this share of the largest
SURELY = (1, 99)  # percent of single batches that lie between


@claim("S3-01", "the vocabulary has about 25, 27 or 35 words; the text 106 tokens and 546 characters",
       place="3.§2.1, 3.§2.2, 3.§3.1", how="D", stated={"words": 27, "tokens": 106, "characters": 546},
       experiment=PUBLISHED, figure="vocabulary")  # fmt: skip
def words() -> Found:
    """Counted."""
    characters = len(" ".join(TEXT))
    return Found(
        {"words": len(WORDS), "tokens": len(TEXT), "characters": characters},
        idea=(len(WORDS), len(TEXT), characters) == (35, 106, 546),
        truth=f"{len(WORDS)} words, the <END> among them, as its program prints; {len(TEXT)} tokens and {characters} "
        "characters are exact. The 25 and the 27 belong to no text that is shown.",
    )


@claim("S3-02", "about 20,000 parameters, or 25,888, or 27,747, or more than 30,000", place="3.§3.4, 3.§9, 3.§12",
       how="A", stated={"counted": 25_888, "printed": 27_747}, experiment=PUBLISHED, figure="parameters")  # fmt: skip
def parameters() -> Found:
    """All tensors, and those that its own count leaves out."""
    count = {name: prod(shape) for name, shape in load(PUBLISHED).architecture.shapes().items()}
    total = sum(count.values())
    norms = sum(many for name, many in count.items() if "norm" in name)
    head = sum(many for name, many in count.items() if name.startswith("read_out"))
    biases = (
        sum(many for name, many in count.items() if name.endswith("_bias") and "norm" not in name)
        - (count["read_out_bias"])
    )
    return Found(
        {"counted": total - norms - head - biases, "printed": total, "biases": biases, "norms": norms, "head": head},
        holds=total - norms - head - biases == total,
        idea=total == 27_747,
        truth=f"{total:,}, as its program prints. The count of {total - norms - head - biases:,} leaves out {biases} "
        f"biases, {norms} numbers of the norms and {head:,} of the output head.",
    )


@claim("S3-03", "1,120 + 192 numbers in the embeddings, 4,096 + 8,192 in each layer; doubling the heads changes "
       "nothing, doubling the layers doubles the blocks", place="3.§3.4", how="A",
       stated={"token": 1_120, "position": 192, "attention": 4_096, "feed_forward": 8_192, "doubled_heads": 0,
               "doubled_layers": 2}, experiment=PUBLISHED, figure="parameters")  # fmt: skip
def matrices() -> Found:
    """Without biases and norms, as it counts; then the model again with twice the heads, and with twice the blocks."""
    made = load(PUBLISHED).architecture
    count = {name: prod(shape) for name, shape in made.shapes().items()}
    attention = sum(count[f"blocks.0.{name}"] for name in ("query", "key", "value", "output"))
    forward = count["blocks.0.expand"] + count["blocks.0.contract"]
    heads = replace(made, heads=2 * made.heads, head_width=made.width // (2 * made.heads))
    blocks = replace(made, blocks=2 * made.blocks)
    outside = sum(many for name, many in count.items() if not name.startswith("blocks."))
    inside = made.parameters - outside
    return Found(
        {"token": count["token"], "position": count["position"], "attention": attention, "feed_forward": forward,
         "doubled_heads": heads.parameters - made.parameters, "doubled_layers": (blocks.parameters - outside) / inside,
         "layer": inside // made.blocks},
        measured=f"{count['token']:,} + {count['position']} and {attention:,} + {forward:,}; twice the heads, "
        f"{heads.parameters - made.parameters} more; twice the blocks, {(blocks.parameters - outside) / inside:g} "
        f"times as many in them. With biases and norms a layer has {inside // made.blocks:,}",
    )  # fmt: skip


@claim("S3-04", "1,500 epochs with batches of 4", place="3.§3, 3.§10", how="A", stated={"batch": 4, "epochs": 1_500},
       experiment=PUBLISHED, figure="batch")  # fmt: skip
def epochs() -> Found:
    """An epoch is a pass over all windows."""
    made = load(PUBLISHED)
    train, many = made.train, len(made.task.examples(made.architecture.context, "train", 10**6).windows)
    passes = train.steps * train.batch / many
    return Found(
        {"batch": train.batch, "epochs": passes, "steps": train.steps, "windows": many},
        idea=train.steps == 1_500,
        truth=f"{train.steps:,} steps with batches of {train.batch}, the default of its function, where 4 is only "
        f"printed: {train.steps * train.batch:,} windows, {passes:.0f} passes over the {many} there are.",
    )


@claim("S3-05", "the loss falls from 3.7665 by .4061, .3361, .2343 and .2704 to .2198", place="3.§10", how="R, S",
       stated={f"at_{step}": loss for step, loss in printed.LOSSES.items()}, needs=[MARY], figure="loss")  # fmt: skip
def losses(run: Run) -> Found:
    """Each printed number is the loss of one batch: whether such batches of our seeds come to it."""
    drawn = {step: _mary.batch_losses(run, step) for step in printed.LOSSES}
    low, high = ({step: float(np.percentile(each, p)) for step, each in drawn.items()} for p in SURELY)
    middle = {step: over_seeds(each.mean(axis=1), False) for step, each in drawn.items()}
    inside = [low[step] <= loss <= high[step] for step, loss in printed.LOSSES.items()]
    last, floor = middle[1499], run.experiment.floor
    rows = ", ".join(f"{middle[step].median:.3f} ({low[step]:.2f} to {high[step]:.2f})" for step in drawn)
    return Found(
        {f"at_{step}": each for step, each in middle.items()} | {"floor": floor},
        measured=f"{rows}: medians of {run.members} seeds, and where {SURELY[1] - SURELY[0]} % of single batches lie. "
        f"It begins above ln {len(run.task.vocabulary)} = {log(len(run.task.vocabulary)):.3f}, as an untrained head is "
        f"not uniform, and ends {last.median - floor:.3f} above the floor of {floor:.4f}: finished, not stuck",
        holds=all(inside),
        idea=sum(inside) >= len(inside) - 1 and last.median < floor + 0.05,
        truth=f"{sum(inside)} of {len(inside)} printed losses are such as single batches have here; the end is "
        f"{last.median - floor:.3f} above the floor of {floor:.4f}.",
    )


@claim("S3-06", '"mary" is followed by had or went, "little" by lamb; lamb with 85 % confidence',
       place="3.§2.1, 3.§3.5", how="D, R", stated={"confidence": 0.85}, tolerance=0.005, needs=[MARY],
       figure="next_token", input="mary had a little")  # fmt: skip
def followers(run: Run) -> Found:
    """Counted in the rhyme; and what the trained models say after the line's first four words."""
    after = {word: Counter(b for a, b in pairwise(TEXT) if a == word) for word in ("mary", "little")}
    sure = over_seeds([dict(run.ask("mary had a little", member=member))["lamb"] for member in range(run.members)])
    mary, little = after["mary"], after["little"]
    every = {b for *a, b in zip(*(TEXT[k:] for k in range(5)), strict=False) if a == ["mary", "had", "a", "little"]}
    return Found(
        {"confidence": sure, "mary_had": mary["had"], "mary_went": mary["went"], "little_lamb": little["lamb"]},
        idea=set(mary) >= {"had", "went"} and set(little) == {"lamb"} and sure.low > 0.85,
        truth=f"mary is followed by had {mary['had']} and went {mary['went']} times of {mary.total()}, little by lamb "
        f"{little['lamb']} times of {little.total()}. After “mary had a little” nothing but "
        f"{' and '.join(sorted(every))} ever comes, and the models know it: {share(sure)}.",
    )


@claim("S3-07", "lamb and fleece, mary and went, school and rules get similar embeddings", place="3.§3.2", how="T, S",
       needs=[MARY], figure="similarity")  # fmt: skip
def alike(run: Run) -> Found:
    """The rank of each cosine among all pairs of words; alike: among the largest tenth in the median seed."""
    from glassformer.analyses.know.similarity import cosines

    where = [[run.task.vocabulary.index(word) for word in pair] for pair in printed.PAIRS]
    upper = np.triu_indices(len(run.task.vocabulary), 1)
    ranks = []
    for member in range(run.members):
        each = cosines(run.weights(-1, member)["token"])
        ranks.append([int((each[upper] > each[a, b]).sum()) + 1 for a, b in where])
    found = [over_seeds(column, False) for column in np.array(ranks, dtype=float).T]
    near = [rank.median <= ALIKE * len(upper[0]) for rank in found]
    mean = np.mean([cosines(run.weights(-1, member)["token"]) for member in range(run.members)], axis=0)
    closest = int(mean[upper].argmax())
    top = [run.task.vocabulary[int(axis[closest])] for axis in upper]
    told = "; ".join(f"{a} and {b} {fixed(rank, 0)}" for (a, b), rank in zip(printed.PAIRS, found, strict=True))
    return Found(
        {"_".join(pair): rank for pair, rank in zip(printed.PAIRS, found, strict=True)},
        measured=f"rank of the cosine among {len(upper[0])} pairs, over {run.members} seeds: {told}",
        holds=all(near),
        idea=any(near),
        truth=f"{sum(near)} of {len(near)} pairs are among the {100 * ALIKE:.0f} % most alike; by chance one would "
        f"have rank {len(upper[0]) // 2}. What is most alike in the mean over seeds is {top[0]} and {top[1]}, with a "
        f"cosine of {mean[upper][closest]:.2f}: the rhyme asks no likeness of meaning.",
    )


@claim("S3-08", "one neuron with inputs .8 and .2 gives .66 in the drawing, .50 in the program", place="3.§3.1.1",
       how="A", stated={"drawing": 0.66, "program": 0.50}, tolerance=0.005, experiment=PUBLISHED,
       figure="one_neuron")  # fmt: skip
def one_neuron() -> Found:
    """The same neuron, if its second weight were the same."""
    x, y = printed.INPUTS
    drawing, program = (max(0.0, 0.6 * x + weight * y + 0.1) for weight in (0.4, -0.4))
    return Found(
        {"drawing": drawing, "program": program},
        holds=abs(drawing - program) < 0.005,
        idea=round(drawing, 2) == 0.66 and round(program, 2) == 0.5,
        truth=f"Both sums are right, {drawing:.2f} and {program:.2f}, but of two neurons: the second weight is +0.4 in "
        "the drawing and −0.4 in the program.",
    )


@claim("S3-09", "nine parameters predict .4420, and for the loss .5560: loss .1971, gradient −.4973",
       place="3.§3.1.2, 3.§3.1.3, 3.§3.1.4", how="A",
       stated={"prediction": 0.5560, "loss": 0.1971, "gradient": -0.4973}, tolerance=0.00005, experiment=PUBLISHED,
       figure="chain_rule")  # fmt: skip
def nine_parameters() -> Found:
    """Forward, loss, and the gradient of the first output weight by the chain rule; then what its own .5560 would "
    "give."""
    hidden, prediction = _forward(printed.OUTPUT)
    error = printed.TARGET - prediction
    loss, gradient = error**2, -2 * error * hidden[0]
    said = printed.TARGET - 0.5560
    return Found(
        {"prediction": prediction, "loss": loss, "gradient": gradient},
        idea=round(prediction, 4) == 0.4420 and abs(said**2 - 0.1971) < 5e-5 and gradient < 0,
        truth=f"The prediction is {prediction:.4f}, as it first says, so the loss is {loss:.4f} and the gradient "
        f"{gradient:.4f}. The .5560 comes from nowhere; with it the loss of {said**2:.4f} would be right.",
    )


@claim("S3-10", "one update takes the weight from .7 to .7497 and the loss from .3114 to .2811, a gain of .0303",
       place="3.§3.1.4.2", how="A", stated={"weight": 0.7497, "before": 0.3114, "after": 0.2811, "gain": 0.0303},
       tolerance=0.00005, experiment=PUBLISHED, figure="hand_update")  # fmt: skip
def one_update() -> Found:
    """With the gradient of the network at hand."""
    hidden, prediction = _forward(printed.OUTPUT)
    gradient = -2 * (printed.TARGET - prediction) * hidden[0]
    weight = printed.OUTPUT[0] - printed.RATE * gradient
    _, better = _forward((weight, *printed.OUTPUT[1:]))
    before, after = ((printed.TARGET - each) ** 2 for each in (prediction, better))
    return Found(
        {"weight": weight, "before": before, "after": after, "gain": before - after, "prediction": better},
        idea=after < before and abs(before - 0.3114) < 5e-5,
        truth=f"Right for the wrong gradient. With {gradient:.4f} the weight becomes {weight:.4f}, the prediction "
        f"{better:.4f}, the loss {after:.4f}: a gain of {before - after:.4f}.",
    )


@claim("S3-11", "on (w − 3)² from 1.0: down to 1.4 (2.56), up to 0.6 (5.76); eight steps from 0 end at 2.4967 (.2533) "
       "without overshooting", place="3.§3.1.4.1", how="A",
       stated={"down": 1.4, "down_loss": 2.56, "up": 0.6, "up_loss": 5.76, "eighth": 2.4967, "eighth_loss": 0.2533},
       tolerance=0.00005, experiment=PUBLISHED, figure="descent")  # fmt: skip
def parabola() -> Found:
    """Every row of its table."""
    rate, best = printed.RATE, 3.0
    down, up = 1.0 - rate * 2 * (1.0 - best), 1.0 + rate * 2 * (1.0 - best)
    path = [0.0]
    for _ in printed.DESCENT[1:]:
        path.append(path[-1] - rate * 2 * (path[-1] - best))
    rows = [abs(w - said) < 5e-5 for w, said in zip(path, printed.DESCENT, strict=True)]
    rows += [abs((w - best) ** 2 - said) < 5e-5 for w, said in zip(path, printed.DESCENT_LOSS, strict=True)]
    numbers = {"down": down, "down_loss": (down - best) ** 2, "up": up, "up_loss": (up - best) ** 2,
               "eighth": path[-1], "eighth_loss": (path[-1] - best) ** 2}  # fmt: skip
    return Found(
        numbers,
        measured=f"{down:g} ({(down - best) ** 2:.2f}) and {up:g} ({(up - best) ** 2:.2f}); {sum(rows)} of {len(rows)} "
        f"numbers of the table exact, to {path[-1]:.4f} ({(path[-1] - best) ** 2:.4f}). Each step leaves "
        f"{1 - 2 * rate:g} of the distance, so that overshooting needs a rate above {1 / 2:g}",
        holds=all(rows) and down == 1.4 and max(path) < best,
        truth=f"{sum(rows)} of {len(rows)} numbers of the table are exact.",
    )


@claim("S3-12", "the mountain drawing has its lowest point at weight 3", place="3.§3.1.4.1", how="A",
       experiment=PUBLISHED, figure="descent")  # fmt: skip
def mountain() -> Found:
    """The weights at which the drawing is highest and lowest, by the columns of its characters."""
    rows = printed.MOUNTAIN.splitlines()
    axis = next(row for row in rows if row.split() == ["1", "2", "3", "4", "5"])
    beside = next(row for row in rows if "go RIGHT" in row)

    def weights(mark: str) -> list[float]:
        """The weights below a mark, in the order of the rows."""
        apart = (axis.index("5") - axis.index("1")) / 4
        return [1 + (at - axis.index("1")) / apart for row in rows for at, each in enumerate(row) if each == mark]

    peak, *feet = weights("●")
    arrow, meant = weights("↑")[-1], min(range(7), key=lambda w: (w - 3) ** 2)
    wrong_way = beside.index("go RIGHT") > beside.index("╲")
    return Found(
        {"peak": peak, "left_foot": feet[0], "right_foot": feet[1], "arrow": arrow, "of_the_function": meant},
        measured=f"by its columns the drawing is highest at weight {peak:.1f} and lowest at {feet[0]:.1f} and "
        f"{feet[1]:.1f}; the arrow of the optimal weight is at {arrow:.1f}",
        holds=any(abs(foot - 3) < 0.5 for foot in feet),
        idea=meant == 3,
        truth="The drawing is a hill where a valley is meant: by its columns the peak, with “You are here!” on top, "
        f"is at weight {peak:.1f}, and the arrow of the optimal weight is at {arrow:.1f}. (w − 3)², which is meant, "
        f"has its lowest point at {meant}."
        + (" “Gradient says go RIGHT (points uphill)” is written beside the right flank, where uphill is to the left."
           if wrong_way else ""),
    )  # fmt: skip


@claim("S3-13", "a small network learns .5456, .7946, .9066, .9579, .9812, .9874; two heads attend as printed",
       place="3.§3.1.5, 3.§3.3.1", how="A", stated={f"epoch_{k}": said for k, said in printed.PREDICTIONS.items()},
       tolerance=0.00005, experiment=PUBLISHED, figure="network")  # fmt: skip
def with_seed_42() -> Found:
    """With the numbers that its library draws after the seed 42."""
    said = _ten_rounds()
    attention = np.array(_demo_attention())
    wrong = float(np.abs(attention - np.array(printed.ATTENTION)).max())
    exact = all(abs(said[k] - value) <= 5e-5 for k, value in printed.PREDICTIONS.items())
    return Found(
        {f"epoch_{k}": said[k] for k in printed.PREDICTIONS} | {"after_the_last": said[10], "attention_error": wrong},
        measured=f"{', '.join(f'{said[k]:.4f}' for k in printed.PREDICTIONS)}; all {attention.size} attention weights "
        f"agree to {wrong:.4f}. The last line stands before the tenth update, after which it is {said[10]:.4f}",
        holds=exact and wrong <= 5e-4 + 1e-6,
        truth=f"{', '.join(f'{said[k]:.4f}' for k in printed.PREDICTIONS)}, and attention off by up to {wrong:.3f}.",
    )


@claim("S3-14", "the two heads differ because of their learned weights, and each word gathers from all others",
       place="3.§3.3.1, 3.§3.3.2", how="A, R", needs=[MARY], figure="attention",
       input="mary had a little lamb <END>")  # fmt: skip
def learned_heads(run: Run) -> Found:
    """How the demo's heads differ without any training, and what the trained model's words see of later ones."""
    one, two = np.array(_demo_attention())
    seen = run.trace("mary had a little lamb <END>")["attention"]
    later = float(np.triu(seen, 1).max())
    apart = float(np.abs(one - two).max())
    return Found(
        {"untrained_difference": apart, "to_later_words": later},
        holds=apart < 0.01 and later > 0,
        truth=f"Nothing was trained in the demo: its heads differ by up to {apart:.2f} through the random numbers they "
        "begin with. And in the model a word gathers from itself and the words before it: attention to later ones is "
        f"{later:g}, by the causal mask that the demo lacks.",
    )


@claim("S3-15", "head 1 gets dimensions 0 to 15 of the embedding, head 2 dimensions 16 to 31", place="3.§3.3, 3.§3.3.1",
       how="A, R", needs=[MARY], figure="head_split")  # fmt: skip
def split(run: Run) -> Found:
    """How much of each head's queries, keys and values comes from the other half of the embedding."""
    a, shares = run.architecture, []
    for member in range(run.members):
        weights = run.weights(-1, member)
        for name in ("query", "key", "value"):
            each = (weights[f"blocks.0.{name}"].reshape(a.width, a.heads, -1) ** 2).sum(axis=2)  # (feature, head)
            own = sum(part[:, head].sum() for head, part in enumerate(np.split(each, a.heads)))
            shares.append(1 - own / each.sum())
    other, size = over_seeds(np.reshape(shares, (run.members, -1)).mean(axis=1)), a.width // a.heads
    return Found(
        {"from_the_other_half": other},
        holds=other.median < 0.01,
        truth=f"Every head reads all {a.width} numbers: its matrices are {a.width} × {size}, and "
        f"{100 * other.median:.0f} % of their squares lie on the other half. It is the results, {size} numbers a "
        "head, that are put side by side.",
    )


@claim("S3-16", "scores are divided by the root of the head's size", place="3.§5, 3.§3.3.1", how="A, B", slow=True,
       needs=[MARY, BY_HEAD], figure="scoring", input="mary had a little lamb <END>")  # fmt: skip
def scale(run: Run, other: Run) -> Found:
    """The model's program divides by the root of the width. Trained again as the text says: does it matter?"""
    a, size = run.architecture, run.architecture.width // run.architecture.heads
    ends = [over_seeds(each.metrics["validation_loss"][-1], False) for each in (run, other)]
    same = ends[0].low <= ends[1].high and ends[1].low <= ends[0].high
    return Found(
        {"divisor": sqrt(a.width if a.score_scale == "width" else size), "said": sqrt(size), "loss": ends[0],
         "loss_as_said": ends[1]},
        holds=a.score_scale == "head",
        idea=same,
        truth=f"The demo does, but the model divides by √{a.width}, so that its scores are {sqrt(size / a.width):.2f} "
        f"times as large. {'The seeds do not tell them apart' if same else 'It matters'}: {fixed(ends[0], 4)} at the "
        f"end, divided as the text says {fixed(ends[1], 4)}.",
    )  # fmt: skip


@claim("S3-17", 'windows such as "lamb little lamb mary had a" and "mary had a little lamb whose"; all of the text is '
       'used',
       place="3.§4, 3.§10", how="D", experiment=PUBLISHED, figure="training_data")  # fmt: skip
def windows() -> Found:
    """Whether they are windows of the text, and which targets there are."""
    made = load(PUBLISHED)
    context = made.architecture.context
    there = [tuple(TEXT[k : k + context]) for k in range(len(TEXT) - context + 1)]
    real = [tuple(words.split()) in there for words in printed.WINDOWS]
    unknown = [word for words in printed.WINDOWS for word in words.split() if word not in WORDS]
    drawn = len(made.task.examples(context, "train", 10**6).windows)
    unused = len(TEXT) - (drawn + context)
    return Found(
        {"windows": drawn, "real": sum(real), "never_a_target": unused},
        holds=all(real) and unused == 0,
        truth=f"{sum(real)} of the {len(real)} windows it shows occurs: one skips an <END>, and “{unknown[0]}” is not "
        f"in the rhyme. Windows begin at 0 to {drawn - 1}, so that the last <END> is never a target.",
    )


@claim("S3-18", "every word has its number: mary 32, had 28, a 13", place="3.§2.2, 3.§3.3.1", how="D",
       stated=printed.NUMBERED, experiment=PUBLISHED, figure="vocabulary", input="mary had a")  # fmt: skip
def numbered() -> Found:
    """Its numbers come from a set, whose order is another in every process: here in eight of them."""
    code = "import sys; print(list(set(sys.argv[1:])).index('mary'))"
    asked = [subprocess.run([sys.executable, "-c", code, *TEXT], capture_output=True, text=True, check=True,
                            env={**os.environ, "PYTHONHASHSEED": str(seed)}) for seed in range(8)]  # fmt: skip
    drawn = [int(each.stdout) for each in asked]
    ours = {word: WORDS.index(word) for word in printed.NUMBERED}
    back = [WORDS[WORDS.index(word)] for word in TEXT]
    return Found(
        {**ours, "different_in_eight": len(set(drawn))},
        idea=back == TEXT and len(set(ours.values())) == len(ours),
        truth=f"The numbers come from an unordered set: in eight processes mary was {', '.join(map(str, drawn))}. Ours "
        f"are those of first appearance, {', '.join(f'{word} {k}' for word, k in ours.items())}, the same everywhere.",
    )


@claim("S3-19", "the model writes text in the style of the rhyme", place="3.§11", how="R, S", needs=[MARY],
       figure="generated")  # fmt: skip
def writes(run: Run) -> Found:
    """How many runs of seven words, of its samples and of ours, stand in the rhyme word for word."""
    theirs = [_mary.copied(text.split(), TEXT, len(text.split())) for text in printed.SAMPLES]
    ours = []
    for member in range(run.members):
        texts = [run.generate(word, tokens=40, seed=member, member=member).text.split() for word in run.task.starts]
        ours.append(sum(_mary.copied(text, TEXT) for text in texts) / len(texts))
    taken = over_seeds(ours)
    return Found(
        {"copied": taken, "samples_copied": sum(theirs)},
        holds=sum(theirs) == 0 and taken.high < 0.5,
        idea=taken.low > 0.5,
        truth=f"It writes the rhyme itself: {sum(theirs):.0f} of the {len(theirs)} samples shown are pieces of it word "
        f"for word, and of what ours write {share(taken, 0)} of all runs of seven words are.",
    )


@claim("S3-20", "layer 1 learns simple patterns and layer 2 complex ones; one head asks who owns, the other what "
       "happened",
       place="3.§3.3, 3.§3.4", how="T, B", slow=True,
       illustrative="“simple”, “complex” and what a head asks are not defined; of GPT-3, GPT-4 and king − man + woman "
       "nothing "
       "can be computed here", needs=[MARY, ONE_BLOCK], figure="ablation")  # fmt: skip
def roles(run: Run, single: Run) -> Found:
    """The loss of a model with one block, and what is lost without each head of the model with two."""
    a = run.architecture
    whole = np.array([_mary.window_losses(run, member=member).mean() for member in range(run.members)])
    rises = {}
    for block in range(a.blocks):
        for head in range(a.heads):
            edit = f"zero(mixed, block={block}, head={head})"
            without = [_mary.window_losses(run, member=member, edits=edit).mean() for member in range(run.members)]
            rises[block, head] = over_seeds(np.array(without) - whole)
    one = over_seeds([_mary.window_losses(single, member=member).mean() for member in range(single.members)], False)
    two = over_seeds(whole, False)
    told = ", ".join(f"{block}.{head} {each.median:.2f}" for (block, head), each in rises.items())
    return Found(
        {f"without_{block}_{head}": each for (block, head), each in rises.items()}
        | {"one_block": one, "two_blocks": two},
        measured=f"one block reaches {fixed(one, 4)}, two {fixed(two, 4)}: the seeds "
        f"{'tell' if two.high < one.low else 'do not tell'} them apart. Nats lost without head {told}, in the median "
        f"of {run.members} seeds",
    )


# ---- the examples by hand -------------------------------------------------------------------------------------------


def _forward(output: tuple[float, ...]) -> tuple[list[float], float]:
    """The hidden neurons and the prediction of the nine-parameter network."""
    x, y = printed.INPUTS
    hidden = [max(0.0, a * x + b * y + bias) for a, b, bias in printed.HIDDEN]
    return hidden, max(0.0, output[0] * hidden[0] + output[1] * hidden[1] + output[2])


def _ten_rounds() -> list[float]:
    """What the small network predicts before each of ten updates, and after them."""
    drawn = Generator(42)
    layers: list[Any] = [drawn.linear(2, 2), drawn.bias(2, 2), drawn.linear(2, 1), drawn.bias(2, 1)]
    w1, b1, w2, b2 = layers
    x, rate, found = np.array(printed.INPUTS, np.float32), np.float32(printed.RATE), []
    for _ in range(11):
        z = w1 @ x + b1
        h = np.maximum(z, 0)
        y = w2 @ h + b2
        found.append(float(y[0]))
        wrong = 2 * (y - np.float32(printed.TARGET))
        back = (w2.T @ wrong) * (z > 0)
        w2, b2, w1, b1 = (
            w2 - rate * np.outer(wrong, h),
            b2 - rate * wrong,
            w1 - rate * np.outer(back, x),
            b1 - rate * back,
        )
    return found


def _demo_attention() -> list[list[list[float]]]:
    """(head, query, key): the demo on three words, without mask or training; each head on its half of the embedding."""
    embedded = Generator(42).normal(35, 32)[list(printed.ROWS)]
    drawn = Generator(42)
    matrices = [drawn.linear(16, 16) for _ in range(6)]  # query, key and value of each head
    found = []
    for head, part in enumerate(np.split(embedded, 2, axis=1)):
        query, key = (part @ matrices[3 * head + k].T for k in range(2))
        found.append(softmax(query @ key.T / np.sqrt(np.float32(16))).tolist())
    return found
