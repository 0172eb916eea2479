"""Heads: several looks at once."""

from glassformer.teaching import (
    chance,
    choice,
    discuss,
    expect,
    factor,
    lab,
    number,
    point,
    say,
    show,
    table,
    train,
    work,
)

ORDER = 130
MINUTES = 20
AIMS = (
    "say what a single attention cannot do, and how a second one helps",
    "find the columns of a head in the model's matrices, and compute with them",
    "write what attention adds as a sum over heads",
    "measure what a head looks at, and what is lost without it",
)
BEFORE = ("causal_mask",)
ANSWERS = ("3.§3.3", "3.§3.3.1", "3.§3.3.2", "3.§6", "2.§5.1.4", "1.P3.2")
MISCONCEPTIONS = (
    (
        "Each head gets its own part of the word's row.",
        "Every head reads the whole row. What is split are the columns of the matrices, that is, what the heads "
        "make of it.",
    ),
    (
        "Heads differ because they have learnt different things.",
        "They differ before the first step, because their weights were drawn by chance. Training makes more of it.",
    ),
    (
        "More heads make a larger model.",
        "The same columns are dealt out among more heads. The number of parameters stays.",
    ),
)
PLAN = (
    (10, "In pairs: two questions about one sentence; underline for each the words that answer it"),
    (20, "The lesson, to the roles of the heads; each pair measures another head"),
    (10, "Worksheet, alone"),
    (5, "Exit question: what does a head share with the others, and what is its own?"),
)

# %% [markdown]
# ## One look, two wishes
#
# Attention gives a word one set of shares, and one mix. What if it wants to know two things at once: *who* is this
# about, and *what* happened? By hand: one earlier word holds the note `(1, 0)`, another one the note `(0, 1)`.

# %%
import numpy as np

who, what = np.array([1.0, 0.0]), np.array([0.0, 1.0])
half = 0.5
one_look = half * who + half * what
work(f"{half} × {who[0]:.0f} + {half} × {what[0]:.0f}", one_look[0], name="first feature of the mix")
work(f"{half} × {who[1]:.0f} + {half} × {what[1]:.0f}", one_look[1], name="second feature of the mix")
expect(np.allclose(one_look, half * what + half * who), "the mix does not tell who gave what")
say(
    "Two words that both hold the note `(0.5, 0.5)` would give the very same. From a mix one cannot tell who gave "
    "what. So we let the word look twice, with different queries, and put the two mixes *side by side* in place of "
    "adding them. Each such look is a **head**."
)
choice(
    "Two heads, each with all of its attention on one of the two words. What do they hand on, side by side?",
    "`(1, 0, 0, 1)`",
    "The mix of the first head, then that of the second. Nothing is lost.",
    {
        "`(0.5, 0.5)`": "That is the mix of a single head that looks at both.",
        "`(1, 1)`": "Added up, they could again not be told apart. Heads are put side by side.",
    },
)

# %% [markdown]
# ## Who gets what?
#
# The matrices of queries, keys and values are as wide as the model. Their *columns* are dealt out among the heads:
# each head makes its own few features. The *rows* are not: every head reads the whole row of the word.

# %%
from glassformer.figures import plot_head_split
from glassformer.tasks.mary import TEXT

run = train("mary")
a, learnt = run.architecture, run.weights()
number(
    f"The model of the rhyme has {a.width} features and {a.heads} heads in each block. How many features does a "
    "head make?",
    a.width // a.heads,
    f"{a.width} columns, dealt out among {a.heads} heads.",
    mistakes={a.width: "That is the width of the model, and of all heads together."},
)
show(plot_head_split(run), "head_split",
     "The matrices of the first block; the lines are borders between heads. Follow the boxes below from left to "
     "right.")  # fmt: skip
text = " ".join(TEXT[: a.context])  # the first window of the rhyme
seen = run.trace(text)
read = seen["normed_1"][0]  # what the heads of block 0 read: (place, feature)
own = [slice(h * a.per_head, (h + 1) * a.per_head) for h in range(a.heads)]  # the columns of each head
queries = [read @ learnt["blocks.0.query"][:, columns] for columns in own]
expect(all(np.allclose(queries[h], seen["query"][0, h], atol=1e-4) for h in range(a.heads)), "columns make the heads")

# %% [markdown]
# S3, the text about this model (`glassformer claims S3`), draws it differently: there the first head gets the first
# half of the features, the second head the other half. Its program does not do so, and neither does this model. A
# test: change one feature in the *second* half of a word's row.

# %%
poked = read[-1].copy()
feature = int(chance("feature").integers(a.width // 2, a.width))
poked[feature] += 1
matrix = "blocks.0.query"
change = (poked - read[-1]) @ learnt[matrix][:, own[0]]
say(f"One more in feature {feature} moves the query of the first head by up to {np.abs(change).max():.3f}.")
expect(np.abs(change).max() > 1e-3, "the first head reads the second half of the features, too")
lab(run, "The learnt matrix of queries of the first block: columns are what heads make, rows what they read.",
    tensor=matrix, panels=("weights",))  # fmt: skip

# %% [markdown]
# ## Side by side, and out
#
# The mixes of all heads are put side by side, which gives as many features as the model has, and one more matrix, the
# **output projection**, makes of them what is handed on. It has rows for each head, so that its result is a plain
# sum: what the first head says, plus what the second says, plus a bias.

# %%
mixed = seen["mixed"][0, :, -1]  # of every head, at the last place: (head, feature)
output, bias = learnt["blocks.0.output"], learnt["blocks.0.output_bias"]
says = [mixed[h] @ output[own[h]] for h in range(a.heads)]  # what each head adds
attended = np.concatenate(mixed) @ output + bias
strongest = int(np.abs(attended).argmax())
terms = " + ".join(factor(each[strongest], 4) for each in says)
work(f"{terms} + {factor(bias[strongest], 4)}", attended[strongest], name=f"feature {strongest}")
expect(np.allclose(sum(says) + bias, seen["attended"][0, -1], atol=1e-4), "attention adds the sum of its heads")

# %% [markdown]
# ## Two heads, one line
#
# Now look at them. The same words, the same block, two sets of shares.

# %%
from glassformer.figures import plot_attention

show(plot_attention(run, sequence=text, size="print"), "attention",
     "Every head of every block; each row sums to one. Where do heads of one block agree, where not?")  # fmt: skip
head = int(chance("head").integers(a.heads))
shares = seen["attention"][0, head]
back = np.tril(shares, -1)  # below the diagonal: looks at other words
labels = [f"{word} at {k}" for k, word in enumerate(seen.words)]
cell = np.unravel_index(back[1:].argmax(), back[1:].shape)
answer = (int(cell[0]) + 1, int(cell[1]))
point(
    f"This is head {head} of the first block. Which word looks hardest at *another* word? Point at the share.",
    labels, labels, answer,
    f"`{seen.words[answer[0]]}` gives {shares[answer]:.0%} to `{seen.words[answer[1]]}`.",
    otherwise="There is a larger share somewhere below the diagonal. (On the diagonal, words look at themselves.)",
    cells=[[f"{x:.2f}" if k <= r else "" for k, x in enumerate(line)] for r, line in enumerate(shares)],
    reasons={(0, 0): "The first word has only itself to look at: that is no choice."},
)  # fmt: skip
lab(run, "All heads on this line. Choose a head, then a place, and see where it looks.",
    input=text, head=head, block=0, panels=("attention", "values"))  # fmt: skip

# %% [markdown]
# ## Different from the start
#
# S3 shows two heads with different shares and says that they have *learnt* to differ. But nothing was trained there:
# its weights were drawn a moment before. Let us measure both, over all windows of the rhyme.

# %%
tokens = run.task.encode(" ".join(TEXT))
windows = np.array([tokens[begin : begin + a.context + 1] for begin in range(len(tokens) - a.context - 1)])


def apart(step: int) -> float:
    """How far the shares of the first two heads of block 0 differ on average, at a step of the training."""
    attention = run.trace(windows[:, :-1], step=step)["attention"]  # (window, block, head, query, key)
    return float(np.abs(attention[:, 0, 0] - attention[:, 0, 1]).mean())


table(["", "mean difference of the shares"],
      [["before training", f"{apart(0):.3f}"], ["after training", f"{apart(-1):.3f}"]])  # fmt: skip
expect(apart(0) > 0.005, "untrained heads differ already")
expect(apart(-1) > apart(0), "training makes them differ more")
say("They begin different, by chance. Training makes more of a difference that was there before it.")
lab(run, "The heads before the first step. Let the clock run: when does a head begin to prefer a place?",
    step=0, input=text, panels=("attention",))  # fmt: skip

# %% [markdown]
# ## What is each head for?
#
# It is tempting to give heads names: *this one finds out who, that one what happened*. A name is a guess until it is
# measured. Two measurements: where does a head look, over all windows; and what does the next word cost when the head
# is silenced?

# %%
attention = run.trace(windows[:, :-1])["attention"]
places = np.arange(1, a.context)


def cost(edits: str | None = None) -> float:
    """What the right word costs on average, in nats."""
    chances = run.trace(windows[:, :-1], edits=edits)["probabilities"]
    return float(-np.log(np.take_along_axis(chances, windows[:, 1:, None], axis=-1)).mean())


lines = []
for block in range(a.blocks):
    for head in range(a.heads):
        shares = attention[:, block, head]
        itself, before = shares[:, places, places].mean(), shares[:, places, places - 1].mean()
        lines.append((block, head, itself, before, cost(f"zero(mixed, block={block}, head={head})")))
table(
    ["block", "head", "looks at itself", "at the word before", "loss without it"],
    [[block, head, f"{itself:.0%}", f"{before:.0%}", f"{lost:.3f}"] for block, head, itself, before, lost in lines],
)
none = cost("zero(attended)")
say(
    f"With all heads the loss is {cost():.3f}, without any attention {none:.3f}. No single head carries it all: the "
    "others make up for much of what one of them does. (Which of them does what depends on the seed: try another "
    "one.)"
)
expect(all(lost > cost() for *_, lost in lines), "every head is of some use")
expect(none > max(lost for *_, lost in lines), "no head alone does all that attention does")
lab(run, "One head of the first block silenced. Try it: silence the others in turn, and watch the answer.",
    input=text, edits="zero(mixed, block=0, head=0)", mode="change", panels=("attention", "output"))  # fmt: skip

# %% [markdown]
# ## What do heads cost?
#
# Count the numbers of one attention: three matrices for queries, keys and values, and the output projection.

# %%
from dataclasses import replace

inner = a.heads * a.per_head
made = ("query", "key", "value")
square = len(made) * a.width * inner + inner * a.width
work(f"{len(made)} × {a.width} × {inner} + {inner} × {a.width}", square, name="weights of one attention")
twice = replace(a, heads=2 * a.heads, head_width=a.width // (2 * a.heads))
number(
    f"The whole model has {a.parameters:,} parameters. How many would it have with {twice.heads} heads in each "
    f"block, of {twice.per_head} features each?",
    twice.parameters,
    "As many as before: the same columns, dealt out among more heads. Each gets fewer of them.",
    mistakes={
        a.parameters
        + a.blocks * square: "The matrices do not get larger: their columns are dealt out among more heads.",
        2 * a.parameters: "Only the number of heads changes, and heads share the columns.",
    },
)
expect(twice.parameters == a.parameters, "the number of heads does not change the number of parameters")
discuss(
    "If heads cost nothing, why not have as many as there are features?",
    "Each head then has one feature for its query and one for its key: its score is a single product, so that it "
    "can only look for *more* or *less* of one thing.",
    "`glassformer train mary --set architecture.heads=1`, then `2`, `4`, `8`, `16`, several seeds each, and "
    "compare the losses at the end.",
)
choice(
    "What is a head's own, and not shared with the other heads of its block?",
    "its queries, keys, values and shares",
    "It makes them with columns of its own. The row it reads and the sum it adds to are common to all.",
    {
        "the features it reads": "All heads read the same whole row.",
        "the words it can see": "The mask is the same for all heads.",
    },
)
