"""Feed-forward, residuals, norm: each word thinks, adds, and keeps its size."""

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
    written,
)

ORDER = 140
MINUTES = 25
AIMS = (
    "compute what the feed-forward part makes of one word, and say that no other word has a say in it",
    "write the state of a word as a sum of everything that was added to it",
    "say with numbers why sums let the gradient through where products smother it",
    "bring a row of numbers to a common size, with and without its mean",
)
BEFORE = ("heads", "small_network")
ANSWERS = ("3.§7", "3.§8", "0.M.2", "1.P1.3", "1.Q27", "4.15")
MISCONCEPTIONS = (
    (
        "The feed-forward part looks at the whole sentence.",
        "It is given one place at a time. Change another word's row, and nothing here moves.",
    ),
    (
        "A block replaces what came in by something better.",
        "It adds to it. What came in is still there, and any later part can read it.",
    ),
    (
        "The norm throws information away.",
        "It takes away one thing, the size. (And the mean, in one of its kinds.) Which features are large for the "
        "row stays.",
    ),
)
PLAN = (
    (10, "In pairs: multiply a tenth by itself a few times, then one and a tenth; what does that mean for a chain?"),
    (20, "The lesson, to the norm"),
    (10, "Worksheet, alone"),
    (5, "Exit question: which of the parts lets words learn of each other?"),
)

# %% [markdown]
# ## After looking around: thinking
#
# Attention has brought together what a word needs. Now the **feed-forward** part works on it; attention and
# feed-forward together are one **block** of the model. You have built this second part already, in the lesson on small
# networks: a row of neurons, each with its weights, bias and ReLU, and after it a second row of sums that makes as
# many features as before. The first matrix *expands*, the second *contracts*.

# %%
import numpy as np

from glassformer.tasks.mary import TEXT

run = train("mary")
text = " ".join(TEXT[:4])  # the rhyme begins so
seen, learnt, a = run.trace(text), run.weights(), run.architecture


def feed_forward(x: np.ndarray, block: int = 0) -> np.ndarray:
    """What the feed-forward part makes of one row of features, or of several."""
    w = {name: learnt[f"blocks.{block}.{name}"] for name in ("expand", "expand_bias", "contract", "contract_bias")}
    hidden = np.maximum(0, x @ w["expand"] + w["expand_bias"])  # the neurons
    return np.asarray(hidden @ w["contract"] + w["contract_bias"])


read = seen["normed_2"][0]  # what goes in, at each place: (place, feature)
expect(np.allclose(feed_forward(read), seen["fed"][0], atol=1e-4), "three lines are the model's feed-forward part")
on = int((seen["hidden"][0, -1] > 0).sum())
say(f"{a.width} features → {a.feed_forward} neurons → {a.width} features. For the last word, {on} neurons are on.")
weights = a.width * a.feed_forward + a.feed_forward + a.feed_forward * a.width + a.width
number(
    "How many parameters has this part, with both matrices and both rows of biases?",
    weights,
    f"{a.width} × {a.feed_forward} + {a.feed_forward} for the neurons, {a.feed_forward} × {a.width} + {a.width} for "
    "the way back.",
    mistakes={
        2 * a.width * a.feed_forward: "The biases are missing: one for each neuron, one for each feature.",
        a.width * a.feed_forward + a.feed_forward: "That is the way out only. The way back has a matrix as well.",
    },
)
lab(run, f"The neurons of the first block on `{text}`. Choose one that is on and see its sum.",
    input=text, block=0, panels=("feed_forward", "neurons"))  # fmt: skip

# %% [markdown]
# ## Each place on its own
#
# We gave the function all places at once. Did that matter? Give it one place alone, and then with all other places
# filled with chance.

# %%
place = int(chance("place").integers(len(seen.words)))
alone = feed_forward(read[place])
crowd = chance("crowd").normal(size=read.shape)
crowd[place] = read[place]
difference = np.abs(alone - feed_forward(crowd)[place]).max()
expect(difference < 1e-5, "what other places hold does not matter to the feed-forward part")
say(
    f"At place {place}, `{seen.words[place]}`: the largest difference between alone and in a crowd is {difference:.6f}."
)
choice(
    "In which part of a block can a word learn anything about another word?",
    "in attention only",
    "Attention mixes rows of different places. Feed-forward, norm and sums work on each place by itself.",
    {
        "in feed-forward only": "It is given one place at a time, as you have just seen.",
        "in both": "Feed-forward works on each place by itself.",
        "in the norm": "The norm takes the mean over the features of one place, not over places.",
    },
)

# %% [markdown]
# ## Added, not replaced
#
# What attention and feed-forward find out is not handed on *in place of* what came in: it is **added** to it. Such a
# shortcut around a part is called a **residual connection**, and the row that runs through the whole model, gathering
# one sum after the other, the **residual stream**. Here is one feature of the last word on its way: the embedding, then
# what attention and feed-forward of the first block add, then those of the second.

# %%
parts = {"embedding": seen["embedded"][-1]}
for block in range(a.blocks):
    parts[f"attention {block}"] = seen["attended"][block, -1]
    parts[f"feed-forward {block}"] = seen["fed"][block, -1]
feature = int(chance("feature").integers(a.width))
total = seen["out"][-1, -1]  # what leaves the last block
work(" + ".join(factor(part[feature], 4) for part in parts.values()), total[feature], name=f"feature {feature}")
expect(
    np.allclose(sum(parts.values()), total, atol=1e-4), "what leaves the last block is the sum of all that was added"
)
columns = np.sort(np.argsort(-np.abs(total))[:4])  # four features that end up large
rows = list(parts)
cells = np.array([[parts[name][k] for k in columns] for name in rows])
thinking = [k for k, name in enumerate(rows) if name.startswith("feed-forward")]
largest = np.unravel_index(np.abs(cells[thinking]).argmax(), cells[thinking].shape)
answer = (thinking[int(largest[0])], int(largest[1]))
point(
    "Some features of the last word, and who added how much. Point at the strongest push, up or down, that a "
    "feed-forward part gives.",
    rows, [f"feature {k}" for k in columns], answer,
    f"{rows[answer[0]]} adds {written(cells[answer])} there.",
    otherwise="Look at the rows of the feed-forward parts only; a large negative number is a strong push, too.",
    cells=[[written(x) for x in line] for line in cells],
)  # fmt: skip
lab(run, "The stream of the last word, sum by sum. Move along it and see what would be said if one stopped there.",
    input=text, panels=("residual", "stream"))  # fmt: skip

# %% [markdown]
# In the small model of the rule a word's state is a point of the plane, and one can *see* the sum: attention pushes
# the point from where it was to where the feed-forward part makes the right answer of it.

# %%
from glassformer.figures import plot_residual

rule = train("plus_last_even")
told = "10 + 10 6 +"
lab(rule, "The state of each place as a point, and its two pushes: by attention, then by feed-forward. In whose region "
    "does the last `+` end?",
    input=told, panels=("residual", "landscape"))  # fmt: skip
show(plot_residual(rule, sequence=told), "residual",
     "Left what came in, what attention adds and their sum; right the push as an arrow, over what will be answered "
     "from there.")  # fmt: skip

# %% [markdown]
# ## Why sums?
#
# Training sends the gradient back through every part, and the chain rule multiplies slopes. Several parts in a row,
# each with a small slope, smother it. With a shortcut around each part the slope is *one plus* that of the part, and
# the gradient arrives.

# %%
slope, depth = 0.1, 6
work(f"{slope}^{depth}", slope**depth, digits=6, name="through the parts only")
work(f"(1 + {slope})^{depth}", (1 + slope) ** depth, name="with a shortcut around each")
early = run.trace(text, step=0)
before, after = early["embedded"][-1], early["out"][-1, -1]
cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
say(
    "There is a second reason. Before training, all that a block adds is noise. In this model what leaves the last "
    f"block at step `0` still points where the embedding points: their cosine is {cosine:.2f}. A new block begins "
    "by nearly passing on what it gets, and learns what to add."
)
expect(cosine > 0.7, "an untrained model passes on most of what came in")
discuss(
    "What goes wrong when a deep model is built without residual connections?",
    "Gradients shrink from part to part, so the first blocks hardly learn; each block must pass on by itself "
    "whatever later ones need; at the start the input is scrambled before anything can be read off it.",
    "`glassformer train mary --set architecture.residual=false`, several seeds, beside the usual one: compare how "
    "early the loss passes each line of the ladder.",
)

# %% [markdown]
# ## Keeping the size: the norm
#
# Sums grow. So that every part gets numbers of a size it is used to, each part reads the stream through a **norm**.
# For one word: take away the mean of its features, then divide by their spread. By hand, three features.

# %%
row = np.array([2.0, -1.0, 5.0])
mean = row.mean()
variance = ((row - mean) ** 2).mean()
normed = (row - mean) / np.sqrt(variance)
many = len(row)
work(f"({' + '.join(factor(x, 0) for x in row)}) / {many}", mean, name="mean")
work(f"({' + '.join(f'{factor(x - mean, 0)}²' for x in row)}) / {many}", variance, name="mean square of what is left")
work(f"({row[0]:.0f} − {mean:.0f}) / √{variance:.0f}", normed[0], name="first feature")
work(f"({written(row[1], 0)} − {mean:.0f}) / √{variance:.0f}", normed[1], name="second feature")
work(f"({row[2]:.0f} − {mean:.0f}) / √{variance:.0f}", normed[2], name="third feature")
choice(
    "All features of a word are made twice as large. What does the norm make of it?",
    "the same as before",
    "Mean and spread double with them, so everything cancels: only the size is lost.",
    {
        "numbers twice as large": "The spread by which it divides is twice as large, too.",
        "numbers half as large": "Above and below the fraction everything doubles.",
    },
)
doubled = (2 * row - (2 * row).mean()) / (2 * row).std()
expect(np.allclose(doubled, normed), "the norm does not see the size of a row")


# %% [markdown]
# The model's own norm does this, then multiplies each feature by a learnt **gain** and adds a learnt bias. A tiny
# number under the root keeps it from dividing by zero.


# %%
def layer_norm(x: np.ndarray, gain: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Each row to mean zero and spread one, then scaled and shifted feature by feature."""
    left = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(left / np.sqrt((left**2).mean(axis=-1, keepdims=True) + a.norm_epsilon) * gain + bias)


def rms_norm(x: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """The simpler kind, of the model of Shakespeare: the mean stays, and only the size is taken away."""
    return np.asarray(x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + a.norm_epsilon) * gain)


own = layer_norm(seen["embedded"], learnt["blocks.0.norm_1"], learnt["blocks.0.norm_1_bias"])
theirs = seen["normed_1"][0]
expect(np.allclose(own, theirs, atol=1e-4), "two lines are the model's norm")
simple = rms_norm(row, np.ones(many))
table(
    ["feature", "in", "layer norm", "RMS norm"],
    [[k, written(row[k], 0), written(normed[k]), written(simple[k])] for k in range(many)],
)
size = {
    "embedded": seen["embedded"],
    "after the first block": seen["out"][0],
    "after the last block": seen["out"][-1],
    "after the final norm": seen["final"],
}
table(["the stream", "typical size of a number"], [[name, f"{np.sqrt((x**2).mean()):.2f}"] for name, x in size.items()])
expect((seen["out"][-1] ** 2).mean() > (seen["embedded"] ** 2).mean(), "the stream grows on its way")
say("The stream grows from block to block; what is read through a norm does not. (Its gains set a size of their own.)")
lab(run, "The stream before and after each norm, from part to part.",
    input=text, panels=("stream", "residual"))  # fmt: skip

# %% [markdown]
# ## Who can be spared?
#
# Last, the test that decides: silence a part and see what the next word costs.

# %%
tokens = run.task.encode(" ".join(TEXT))
windows = np.array([tokens[begin : begin + a.context + 1] for begin in range(len(tokens) - a.context - 1)])


def cost(edits: str | list[str] | None = None) -> float:
    """What the right word costs on average over all windows, in nats."""
    chances = run.trace(windows[:, :-1], edits=edits)["probabilities"]
    return float(-np.log(np.take_along_axis(chances, windows[:, 1:, None], axis=-1)).mean())


losses = {
    "nothing": cost(),
    "attention of all blocks": cost("zero(attended)"),
    "feed-forward of all blocks": cost("zero(fed)"),
    "both": cost(["zero(attended)", "zero(fed)"]),
}
table(["silenced", "loss in nats"], [[name, f"{lost:.3f}"] for name, lost in losses.items()])
expect(min(list(losses.values())[1:]) > 2 * losses["nothing"], "neither part can be spared")
say(
    "With both silenced only the embedding is left, and the read-out: no word can learn of another, and none can think."
)
lab(run, "The feed-forward parts silenced. Try it: take the edit away, and silence attention in its place.",
    input=text, edits="zero(fed)", mode="change", panels=("feed_forward", "output"))  # fmt: skip
number(
    f"Exit question. The stream of a word passes through {a.blocks} blocks. How many terms has the sum that leaves "
    "the last one, the embedding included?",
    1 + 2 * a.blocks,
    "The embedding, and from each block what attention adds and what feed-forward adds.",
    mistakes={2 * a.blocks: "Do not forget what came in: the embedding.", 1 + a.blocks: "Each block adds twice."},
)
