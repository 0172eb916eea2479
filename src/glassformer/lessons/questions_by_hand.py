"""Questions by hand: what paper and pencil settle."""

from math import exp, log, log2, sqrt

from glassformer.teaching import choice, discuss, expect, lab, number, show, table, train, work

ORDER = 250
MINUTES = 30
AIMS = (
    "count updates, and follow one weight through a few of them",
    "tell a percentage of an interval from a speed",
    "say what a loss before training should be, and what temperature does to a softmax",
    "say when two accuracies differ by more than chance",
)
BEFORE = ("descent", "softmax", "training_dynamics")
ANSWERS = ("1.Q7", "1.Q8", "1.Q9", "1.Q10", "1.Q11", "1.Q12", "1.Q31", "1.Q40", "1.Q45", "1.Q46", "1.Q47", "1.Q48",
           "1.Q52", "1.Q57")  # fmt: skip
MISCONCEPTIONS = (
    (
        "Every example is an update.",
        "An update is made once for a whole batch. Count both: they differ by the size of the batch.",
    ),
    (
        "A negative gradient makes a weight smaller.",
        "Descent goes against the gradient: a negative gradient makes the weight larger. Do one step on paper.",
    ),
    (
        "One per cent more is better.",
        "On a small test set, one per cent comes and goes with the luck of the draw. Compute how much luck there is.",
    ),
)
PLAN = (
    (5, "What must be known to count the updates of a training?"),
    (20, "The questions, alone and on paper; check each before the next"),
    (15, "In pairs: whose answer differed, and which of the listed mistakes was it?"),
    (5, "Exit question: a bit of input, a bit of output"),
)

# %% [markdown]
# ## How many steps, and how far
#
# This and the next lessons ask the questions of the source on training dynamics, all of them. What can be computed is
# computed; of the rest you find what a good answer mentions, and the experiment that would decide.
#
# The source trains on a set of examples, in batches, for some epochs. How many updates is that?

# %%
examples, batch, epochs = 10_000, 32, 50  # as the source has them
full, left = divmod(examples, batch)
updates = full * epochs
number(
    f"{examples:,} examples, {batch} in a batch, {epochs} epochs; not full batches are left out. How many updates?",
    updates,
    f"{full} full batches in an epoch. If the last {left} examples make a batch of their own, it is "
    f"{(full + 1) * epochs:,}.",
    mistakes={
        examples * epochs: "That many examples are shown. An update is made once for a whole batch.",
        (full + 1) * epochs: "So it is if the last, smaller batch counts. Here it is left out.",
        full: "That is one epoch.",
    },
)
work(f"{full} × {epochs}", updates, name="updates")

# %%
rate, start = 0.001, 0.100
gradients = (-0.004, -0.005, -0.003, -0.006, -0.004)
weight = start - rate * sum(gradients)
number(
    f"A weight stands at {start}. Its gradients in {len(gradients)} updates are "
    f"{', '.join(f'−{abs(g)}' for g in gradients)}; the rate is {rate}. Where does plain descent bring it?",
    weight,
    "Against the gradient: five small steps upward.",
    tolerance=5e-7,
    mistakes={
        start + rate * sum(gradients): "That goes along with the gradient; descent goes against it.",
        start - sum(gradients): "The rate is missing: each gradient is multiplied by it.",
    },
)
work(f"{start} + {rate} × ({' + '.join(str(abs(g)) for g in gradients)})", weight, digits=6, name="weight")

# %%
run = train("five_operations", steps=1000)
lab(run, "The same for every weight of a real model at once: one update after the other.", step=0,
    panels=("updates", "curves"), input="Max(5,3,9)")  # fmt: skip
from glassformer.figures import plot_ten_gradients

show(plot_ten_gradients(), "ten_gradients", "The same gradients, four optimisers: plain descent hardly moves.")
expect(weight > start, "negative gradients raise a weight")

# %% [markdown]
# ## Percentages, and how fast is fast
#
# The source prints a loss for some epochs. Between which two does it fall fastest? That depends on what you call fast.

# %%
printed = {0: 3.00, 10: 1.42, 20: 0.52, 30: 0.28, 50: 0.05}
ends = list(zip(printed, list(printed)[1:], strict=False))
falls = {f"{a} to {b}": 1 - printed[b] / printed[a] for a, b in ends}
per_epoch = {f"{a} to {b}": 1 - (printed[b] / printed[a]) ** (1 / (b - a)) for a, b in ends}
nats = {f"{a} to {b}": printed[a] - printed[b] for a, b in ends}
first = next(iter(falls))
number(
    f"The loss goes from {printed[0]:.2f} to {printed[10]:.2f}. By how many per cent does it fall?",
    100 * falls[first],
    "What is lost, over what there was.",
    tolerance=0.05,
    unit="%",
    mistakes={
        round(100 * printed[10] / printed[0], 1): "That is what is left.",
        round(100 * (printed[0] / printed[10] - 1), 1): "Over what was left; it is over what there was.",
    },
)
work(f"({printed[0]:.2f} - {printed[10]:.2f}) / {printed[0]:.2f}", falls[first], name="fall")
largest, fastest = (max(each, key=each.__getitem__) for each in (falls, per_epoch))
choice(
    "In which stretch of epochs does the loss fall fastest, in per cent of what is left *per epoch*?",
    fastest,
    f"There it loses {100 * per_epoch[fastest]:.1f} % of what is left in every epoch.",
    {
        name: (
            f"It has the largest percentage in all, but it is longer: {100 * per_epoch[name]:.1f} % an epoch."
            if name == largest
            else f"There it is {100 * per_epoch[name]:.1f} % an epoch."
        )
        for name in falls
        if name != fastest
    },
)
table(
    ["epochs", "fall", "per epoch", "in nats"],
    [[name, f"{100 * falls[name]:.1f} %", f"{100 * per_epoch[name]:.1f} %", f"{nats[name]:.2f}"] for name in falls],
)
expect(largest != fastest, "the largest percentage is not the fastest fall")

# %% [markdown]
# ## Rows, ratios, distances
#
# An attention row before and after training, two changes of weights, an embedding that has moved: differences,
# quotients, and the theorem of Pythagoras.

# %%
before = (0.13, 0.12, 0.11, 0.14, 0.12, 0.13, 0.12, 0.13)
after = (0.02, 0.01, 0.14, 0.02, 0.13, 0.02, 0.65, 0.01)
change = [b - a for a, b in zip(before, after, strict=True)]
gainer = change.index(max(change))
table(["position", *range(8)], [["before", *before], ["after", *after]])
number(
    "Which position gained most attention?",
    gainer,
    f"It gained {change[gainer]:.2f}; all the others together lost as much.",
    mistakes={after.index(sorted(after)[-2]): "That one has the second largest weight; look at the differences."},
)
early, late = 0.0045, 0.0001
number(
    f"In one epoch early in training a weight changes by {early} on average, in one at the end by {late}. How many "
    "times as much is that?",
    early / late,
    "The steps shrink as the gradients do. With Adam at a constant rate they shrink far less: it divides by the "
    "gradients.",
    tolerance=0.5,
    mistakes={early - late: "That is the difference. Times as much is a quotient."},
)
was, now = (0.023, -0.145), (0.567, -0.523)
moved = sqrt(sum((b - a) ** 2 for a, b in zip(was, now, strict=True)))
number(
    f"An embedding goes from ({was[0]}, −{abs(was[1])}) to ({now[0]}, −{abs(now[1])}). How far is that?",
    moved,
    f"Over {epochs} epochs, {moved / epochs:.4f} in each, had it gone straight.",
    tolerance=0.0005,
    mistakes={
        round(
            sum(abs(b - a) for a, b in zip(was, now, strict=True)), 3
        ): "The distance is the root of the sum of squares.",
        round(moved**2, 3): "The root is missing.",
    },
)
lab(run, "The embeddings of this run: move the clock, and see them move.", panels=("embedding",), step=0)

# %% [markdown]
# ## The first loss, and temperature
#
# A model that finds all tokens equally likely loses the logarithm of their number. But random scores are not equal
# ones.

# %%
import numpy as np

tokens = run.architecture.answers
work(f"ln({tokens})", log(tokens), name="equal scores")
draws = np.random.default_rng(0).uniform(-1, 1, (20_000, tokens))  # scores between minus one and one
spread_out = float((np.log(np.exp(draws).sum(axis=1)) - draws[:, 0]).mean())
choice(
    "The scores are drawn evenly from minus one to one. Is the mean loss below, at or above that of equal scores?",
    "above",
    f"It is {spread_out:.2f}: whoever is sure by chance is punished more where that is wrong than rewarded where "
    "right.",
    {
        "the same": "Only if all scores are equal. Any difference is a bet, and these bets know nothing.",
        "below": "A bet that knows nothing cannot gain on average.",
    },
)
expect(spread_out > log(tokens), "random scores cost more than equal ones")
scores, temperatures = (2.0, 1.0, 0.5), (0.1, 1.0, 10.0)
shares = {t: [exp(s / t) / sum(exp(each / t) for each in scores) for s in scores] for t in temperatures}
number(
    f"Softmax of {', '.join(map(str, scores))} at temperature {temperatures[1]:g}: what does the first get?",
    shares[1.0][0],
    "Each score's exponential over the sum of all.",
    tolerance=0.0005,
    mistakes={round(scores[0] / sum(scores), 4): "That is its share of the scores. Take exponentials first."},
)
table(["temperature", *map(str, scores)], [[t, *(f"{p:.4f}" for p in row)] for t, row in shares.items()])
lab(run, "Temperature on the model's own answer: turn it down, and up.", panels=("output",), input="Max(5,3,9)",
    temperature=temperatures[2])  # fmt: skip

# %% [markdown]
# ## Chance, size and cost
#
# Is a per cent a difference? And how small is this model?

# %%
asked, one, other = 2_000, 0.95, 0.94
both = (one + other) / 2
error = sqrt(2 * both * (1 - both) / asked)
z = (one - other) / error
choice(
    f"Two students train the same model with two seeds: {one:.0%} and {other:.0%} on {asked:,} questions. Is the first "
    "better?",
    "nobody can say from these numbers: chance alone makes such gaps",
    f"The difference is {z:.2f} standard errors; below about two, chance can explain it. Compare many seeds to know.",
    {
        "yes: one per cent is one per cent": f"The luck of {asked:,} questions alone moves the gap by "
        f"{100 * error:.2f} %.",
        "yes, and the second must train longer": "Nothing says that it would change. First find out whether it "
        "differs.",
    },
)
work(f"({one} - {other}) / √(2 × {both:.3f} × {1 - both:.3f} / {asked})", z, digits=2, name="z")
places = batch * run.architecture.context
number(
    f"One weight of a query matrix takes part at every position of every example. How many contributions to its "
    f"gradient does a batch of {batch} make, {run.architecture.context} positions each?",
    places,
    f"They are averaged, and Adam divides by their size: the step stays near {rate}, however many there are.",
    mistakes={batch: "Each example has several positions.", run.architecture.context: "There are several examples."},
)
size = 4 * run.parameters
others, other_tokens = 175e9, 300e9  # parameters and tokens of GPT-3, as its authors print them
own_tokens = updates * batch * run.architecture.context
number(
    f"A number takes four bytes. How many thousand bytes do the {run.parameters:,} parameters take?",
    size / 1000,
    f"GPT-3 has {others / run.parameters / 1e6:.1f} million times as many, and its training took about "
    f"{others * other_tokens / (run.parameters * own_tokens) / 1e9:.0f} thousand million times the arithmetic.",
    tolerance=1,
    mistakes={round(run.parameters / 1000): "A byte is too small for a number like these: they take four."},
)

# %% [markdown]
# ## Bits
#
# A question has eight tokens, the answer one. Must the model squeeze eight times as much into one? Count what can
# really be asked.

# %%
from glassformer.tasks import five_operations

possible = len(five_operations.questions()[0])
as_asked = run.architecture.context * log2(tokens) / log2(tokens)
entropy = next(r.nats for r in run.task.ladder(run.architecture.context) if r.name == "answer frequencies") / log(2)
number(
    f"Exit question. There are {possible:,} different questions. How many bits does it take to name one?",
    log2(possible),
    f"And the answers, as often as they come, carry {entropy:.2f} bits: {log2(possible) / entropy:.1f} to one, not "
    f"{as_asked:.0f} to one. Most of the tokens (brackets, commas) say nothing.",
    tolerance=0.05,
    mistakes={
        round(run.architecture.context * log2(tokens), 2): "So many if any token could stand anywhere. They cannot."
    },
)
expect(log2(possible) < run.architecture.context * log2(tokens) / 2, "most of what tokens could say is never said")
discuss(
    "Must embeddings become more ordered in training? The source's argument: tokens that often occur together get "
    "similar gradients, so they come together.",
    "Tokens that must be *told apart* get opposite gradients: `Max` and `Min` occur in the same places and end up far "
    "apart. Order comes from what the answer needs, not from company.",
    "Measure the cosine of `Max` and `Min` before and after, over several seeds: `glassformer figures five_operations "
    "similarity`.",
)
