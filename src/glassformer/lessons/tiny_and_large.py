"""Tiny and large: what small models do and do not say about large ones."""

from glassformer.teaching import choice, discuss, expect, lab, number, point, say, show, table, train, work

ORDER = 240
MINUTES = 25
AIMS = (
    "count the parameters of a large model with the formula of a small one",
    "say by what factors models differ in size, data and computing",
    "measure how a loss falls with size, and say how far such a line may be drawn on",
    "sort statements about large models into tested here, testable, and outside of this laboratory",
)
BEFORE = ("the_model", "to_the_floor", "cause_not_correlation", "one_seed_proves_nothing")
ANSWERS = ("1.P12", "1.F", "3.§12")
MISCONCEPTIONS = (
    (
        "Large models are built on another principle.",
        "The same formula counts their parameters to within a few percent. What differs is size, data and training.",
    ),
    (
        "What holds for a tiny model holds for a large one.",
        "Sometimes. A mechanism that exists here can exist there; that it does must be tried there.",
    ),
    (
        "A straight line through some sizes tells what a larger model will do.",
        "It tells what to expect of the loss near those sizes, and nothing about what a lower loss is good for.",
    ),
)
PLAN = (
    (10, "The table of models, without the last column: groups compute the parameters"),
    (15, "The lesson; each group sorts ten headlines about large models into the three kinds"),
    (15, "Debate: two open questions, each side must name the experiment that would change its mind"),
    (5, "Exit question: what does a tiny model prove?"),
)

# %% [markdown]
# ## The same machine, in a table
#
# You have seen tokens become vectors, look at each other, be mixed, fed forward and read out; and the loss going
# backward through all of it. A GPT (a *generative pre-trained transformer*) does exactly that. Here is the small model
# that recites a rhyme, beside four models of one famous family.

# %%
import numpy as np

import glassformer as gf
from glassformer.words import power

run = train("mary")
beside = gf.analyses.parameters(run)
models = beside.compared.axes["model"].labels
quantities = beside.compared.axes["quantity"].labels
sizes = np.asarray(beside.compared.values)  # (model, quantity)
_short = [[f"{x:,.0f}" if x < 1e8 else f"{x / 1e6:,.0f} million" for x in row] for row in sizes]
table(["", *quantities], [[name, *row] for name, row in zip(models, _short, strict=True)])
say(f"Theirs: {beside.compared_from}. For ours every position of every batch counts as a token, each time it comes.")
growth = sizes[-1] / sizes[0]
second, most = (int(k) for k in np.argsort(growth)[-2:])
point(
    f"From this model to {models[-1]}: which of these grew by the largest factor?",
    [models[-1]],
    list(quantities),
    (0, most),
    f"{quantities[most].capitalize()}, by {growth[most]:,.0f} times; then come {quantities[second]}, by "
    f"{growth[second]:,.0f} times. The number of blocks grew by {growth[0]:,.0f}.",
    otherwise="Divide the second number by the first, column by column.",
    cells=[[f"{before} → {after}" for before, after in zip(_short[0], _short[-1], strict=True)]],
)
show(gf.figures.plot_parameters(run), "beside", "This model's tensors, and its size beside published ones.")
lab(run, "The whole of it, working. Everything you see here is in a GPT as well, more often and wider.",
    input="mary had a little", panels=("embedding", "attention", "feed_forward", "output"))  # fmt: skip

# %% [markdown]
# ## One formula for both
#
# A block has four square matrices for attention and two of four times the width for the feed-forward part: twelve
# squares of the width in all. Then come a row for each token and one for each position. Does that count a model that
# fills a hall of computers?


# %%
def count(blocks: int, width: int, vocabulary: int, context: int) -> int:
    return 12 * blocks * width**2 + (vocabulary + context) * width


CONTEXT = 2048  # of the large ones, in tokens
rows = []
for name, (blocks, width, _, vocabulary, _, printed) in zip(models[1:], sizes[1:], strict=True):
    counted = count(int(blocks), int(width), int(vocabulary), CONTEXT)
    rows.append([name, f"{counted:,}", f"{printed:,.0f}", f"{counted / printed - 1:+.1%}"])
table(["model", "by the formula", "as printed", "off by"], rows)
a = run.architecture
ours = count(a.blocks, a.width, a.vocabulary, a.context)
work(f"12 × {a.blocks} × {a.width}² + ({a.vocabulary} + {a.context}) × {a.width}", ours, 0, name="the same for ours")
say(
    f"Ours really has {run.parameters:,}: the formula leaves out biases, norms and a read-out of its own, "
    f"{run.parameters - ours:,} numbers. In a large model these are lost among the squares. (S3, the text about our "
    "model, gives this count as the whole.)"
)
off = [count(int(b), int(w), int(v), CONTEXT) / p - 1 for b, w, _, v, _, p in sizes[1:]]
expect(max(abs(each) for each in off) < 0.05, "the formula counts the large models to within five percent")
expect(0.5 < ours / run.parameters < 1, "of a tiny model it counts most, and not all")
number(
    f"Our model has {run.parameters:,} parameters, {models[-1]} {sizes[-1, -1] / 1e9:,.0f} thousand million. How many "
    "million times as many is that?",
    float(growth[-1] / 1e6),
    f"{sizes[-1, -1]:,.0f} over {run.parameters:,}.",
    tolerance=0.1,
    unit="million",
    mistakes={float(growth[-1]): "That is the factor itself; the question was in millions."},
)

# %% [markdown]
# ## What it takes to train one
#
# Every token trained on costs about six operations for each parameter: a multiplication and an addition forward, and
# twice as many backward. So the work is six times parameters times tokens.

# %%
work_ours, work_large = (6 * row[quantities.index("parameters")] * row[quantities.index("tokens trained on")] for row in
                         (sizes[0], sizes[-1]))  # fmt: skip
seconds = float(run.times["seconds"][-1])
years = seconds * work_large / work_ours / (365.25 * 24 * 3600)
say(
    f"Ours: {power(work_ours, 2)} operations, in {seconds:.1f} seconds on this machine. {models[-1]}: "
    f"{power(work_large, 2)}, {power(work_large / work_ours, 2)} times as many. At the pace of this machine, with this "
    f"small model's waste, that would be {years / 1e6:.1f} million years. The algorithm is the same; the hall of "
    "machines is what made it possible."
)
BATCH = 3.2e6  # tokens in a batch of the largest, in the same table
work(f"{sizes[-1][quantities.index('tokens trained on')]:.0f} / {BATCH:.0f}",
     float(sizes[-1][quantities.index("tokens trained on")] / BATCH), 0, name="updates of the largest")  # fmt: skip
say(
    f"Fewer than one might think: ours has made {run.last_step:,}. (S1, another of the texts that this laboratory "
    "checks, calls every token an update; an update is made once for a whole batch.)"
)
lab(run, "Train ours once more here, and watch the clock on the wall: this is the whole of it.",
    mode="train", panels=("curves", "output", "updates"))  # fmt: skip
loss = run.metrics["validation_loss"] if "validation_loss" in run.metrics else run.metrics["train_loss"]
vocabulary = int(sizes[-1][quantities.index("vocabulary")])
number(
    f"A fresh model with a vocabulary of {vocabulary:,} tokens guesses evenly. What is its loss?",
    float(np.log(vocabulary)),
    f"ln({vocabulary:,}), as for any other: ours, with {a.vocabulary} tokens, began at {loss[0]:.2f} where an even "
    f"guess costs {np.log(a.vocabulary):.2f}.",
    tolerance=0.02,
    unit="nats",
    mistakes={float(np.log2(vocabulary)): "That is in bits; we use natural logarithms."},
)

# %% [markdown]
# ## A scaling law of your own
#
# The hypothesis that made large models: more parameters, more data, more computing, and the loss falls along a smooth
# curve. We can try the first of the three: the same rhyme, the same steps, other widths, three seeds each. Here we even
# know the floor, so we can look at what is left above it.

# %%
WIDTHS = (4, 8, 16)
scaled = {
    width: train(
        "mary", seeds=3, steps=500, settings={"architecture.width": width, "architecture.feed_forward": 4 * width}
    )
    for width in WIDTHS
}
left = {width: np.sort(each.metrics["excess"][-1]) for width, each in scaled.items()}
table(
    ["width", "parameters", "above the floor: median", "from", "to"],
    [
        [w, f"{scaled[w].parameters:,}", *(f"{each:.3f}" for each in (np.median(e), e[0], e[-1]))]
        for w, e in left.items()
    ],
)
logs = np.log([[scaled[w].parameters, np.median(left[w])] for w in WIDTHS])
slopes = np.diff(logs[:, 1]) / np.diff(logs[:, 0])
say(
    "With twice the width there is less left, each time. If it were a law of the form *a power of the size*, the slope "
    f"between neighbours would be the same everywhere; it is {' and '.join(f'{each:.2f}' for each in slopes)}. The "
    f"usual model, with a width of {a.width} and {run.last_step:,} steps, is {run.metrics['excess'][-1]:.4f} above the "
    "floor: there size has nothing more to win. Large models have a floor as well, and nobody knows where."
)
expect(all(left[width].min() > left[2 * width].max() for width in WIDTHS[:-1]), "each width beats the one before")
choice(
    "Models of a rhyme leave "
    + ", ".join(f"{np.median(left[width]):.2f}" for width in WIDTHS)
    + " nats above the floor, each twice as wide as the one before. What would a model of the size of "
    f"{models[-1]} make of that rhyme?",
    "Nothing new: the floor is reached by then",
    "A line through a few sizes ends where what it measures ends. That is the trouble with drawing it on.",
    {
        "A loss far below the floor": "The floor is what the rhyme itself leaves open; no size gets below it.",
        "A better rhyme": "The loss says how well this rhyme is guessed, and nothing else.",
    },
)
lab(scaled[WIDTHS[0]], "The narrowest of them. It cannot keep the rhyme apart in so few features: ask it and see.",
    input="mary had a little", panels=("output", "embedding", "curves"))  # fmt: skip

# %% [markdown]
# ## What a tiny model says, and what it does not
#
# Three kinds of statements. Some we have *tested*: they are about the machine, and the machine is the same. Some could
# be tested, here or there, and were not. And some are outside of what a laboratory like this can say.

# %%
table(
    ["statement", "kind"],
    [
        ["attention is a mean weighted by softmax, and each row adds up to one", "tested: it is the same formula"],
        ["a fresh model costs about the logarithm of its vocabulary", "tested, for ours"],
        ["what a head looks at need not be what the answer hangs on", "tested here; a warning anywhere"],
        ["one seed may fail where most succeed", "tested here; too dear to test for the largest"],
        [
            "heads of large models take up roles, such as copying what followed before",
            "testable: ours do with `induction`",
        ],
        ["statistics are learnt first, structure later", "tested for small tasks; testable elsewhere"],
        [
            "at some size a new ability appears at once",
            "outside: depends on what is called an ability, and how it is counted",
        ],
        ["it understands", "outside, until somebody says which measurement would decide"],
    ],
)
say(
    "S1 lists in which order the largest model learns syntax, facts and reasoning, and what its training cost. Such "
    "numbers and orders cannot be checked here, so we do not repeat them. What we can say: where a small model shows a "
    "mechanism in every number, one knows what to look for in a large one, and what would count as finding it."
)
rule = train("plus_last_even")
lab(rule, "Every number of this one is known, and what it is for. That is what small models are for.",
    input="10 + 10 6 +", panels=("weights", "landscape", "output"))  # fmt: skip
discuss(
    "Why do larger models, with far more parameters than they need to learn their text by heart, not simply do that?",
    "They do with what comes often; descent finds smooth solutions first; much text repeats patterns and not words; "
    "why this suffices is an open question.",
    "Deal the answers of `five_operations` anew (`--set data.shuffled=true`): how much longer does it take by heart?",
)
discuss(
    "Heads and embeddings of trained models can often be read. They might be noise that works. Why are they not?",
    "Partly they are, and we look at those we can read; descent finds simple directions first; many seeds agree.",
    "Align many seeds (`seeds_aligned`), count which parts agree beyond chance, and ablate those that nobody can read.",
)
choice(
    "Exit question. A mechanism was found in every number of a tiny model. What follows for a large one?",
    "It is possible there, and one knows what to measure",
    "A proof for one machine is a hypothesis for the next.",
    {
        "It works the same there": "Perhaps. Other sizes and other data can lead to other solutions.",
        "Nothing": "The parts are the same, so one knows what could be there and how it would show.",
        "It cannot be there": "Nothing in its size forbids it.",
    },
)
