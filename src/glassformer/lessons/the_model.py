"""The model: block upon block, all of it in one page."""

from glassformer.teaching import chance, choice, discuss, expect, lab, number, say, show, table, train, work

ORDER = 150
MINUTES = 25
AIMS = (
    "name the parts of a transformer in the order in which data flow",
    "write its whole forward pass in a page of NumPy, and check it against the model",
    "turn logits into the chances of the next word",
    "count the parameters of a model from its settings, and say which setting costs most",
)
BEFORE = ("feed_forward_residuals_norm",)
ANSWERS = ("3.§3", "3.§3.4", "3.§3.5", "3.§8", "3.§9", "4.01", "0.M", "2.§5.5.1")
MISCONCEPTIONS = (
    (
        "There is a part of the model where the grammar, or the rhyme, is stored.",
        "There are matrices of numbers, all used for every word. What one of them is good for has to be measured.",
    ),
    (
        "The first block does simple things and the second one difficult things.",
        "Perhaps. Read the model out after each block and see what it would say there.",
    ),
    (
        "Most parameters of a transformer sit in attention.",
        "With the usual sizes the feed-forward parts hold about twice as many.",
    ),
)
PLAN = (
    (10, "Cards with the parts, in a heap: groups lay them out in order, with arrows for the sums"),
    (20, "The lesson; pairs count one part each, and the class adds up"),
    (10, "Worksheet, alone"),
    (5, "Exit question: which setting makes a model grow fastest?"),
)

# %% [markdown]
# ## Everything in a row
#
# You know all parts now. Here they are, in the order in which data flow through them:
#
# - each word becomes its row of the **token embedding**, and the row of its **position** is added;
# - a **block**: norm, attention with several heads, added to the stream; norm, feed-forward, added to the stream;
# - more such blocks, each with weights of its own;
# - a last norm, and the **read-out**: one more matrix that makes a score for every word of the vocabulary.
#
# The settings of the model of the rhyme say how large each part is.

# %%
from glassformer.figures import plot_architecture
from glassformer.tasks.mary import TEXT

run = train("mary")
a, learnt = run.architecture, run.weights()
text = " ".join(TEXT[:4])  # the rhyme begins so
table(
    ["setting", "here", "what it decides"],
    [
        ["vocabulary", a.vocabulary, "the words it can read and say"],
        ["context", a.context, "how many words it sees at once"],
        ["width", a.width, "features of the stream: numbers for each word"],
        ["heads", a.heads, "looks at once, in each block"],
        ["feed-forward", a.feed_forward, "neurons in each block"],
        ["blocks", a.blocks, "how often it looks and thinks"],
    ],
)
show(plot_architecture(run), "architecture",
     "The thick line is the stream. Follow it from the tokens to the probabilities, and name each box.")  # fmt: skip
lab(run, "The same parts, alive. Each panel is one of them, in the same order.",
    input=text, panels=("embedding", "attention", "residual", "feed_forward", "output"))  # fmt: skip

# %% [markdown]
# ## The whole model on one page
#
# Nothing in the following lines is new: they are the forward pass of this transformer, complete. Read them from the
# last function upwards (in the page, open *the lines that compute this*). Larger models differ in the sizes, and in
# details.

# %%
import numpy as np


def softmax(x: np.ndarray) -> np.ndarray:
    raised = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def norm(x: np.ndarray, name: str) -> np.ndarray:
    left = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((left**2).mean(axis=-1, keepdims=True) + a.norm_epsilon)
    return np.asarray(left / spread * learnt[name] + learnt[f"{name}_bias"])


def attention(x: np.ndarray, block: str) -> np.ndarray:
    query, key, value = (x @ learnt[f"{block}.{name}"] for name in ("query", "key", "value"))
    seen = np.tri(len(x), dtype=bool)  # itself, and what stands before
    mixes = []
    for head in range(a.heads):
        own = slice(head * a.per_head, (head + 1) * a.per_head)
        scores = query[:, own] @ key[:, own].T / np.sqrt(a.per_head)
        mixes.append(softmax(np.where(seen, scores, -np.inf)) @ value[:, own])
    return np.asarray(np.concatenate(mixes, axis=1) @ learnt[f"{block}.output"] + learnt[f"{block}.output_bias"])


def feed_forward(x: np.ndarray, block: str) -> np.ndarray:
    hidden = np.maximum(0, x @ learnt[f"{block}.expand"] + learnt[f"{block}.expand_bias"])
    return np.asarray(hidden @ learnt[f"{block}.contract"] + learnt[f"{block}.contract_bias"])


def model(tokens: np.ndarray) -> np.ndarray:
    """A score for every word of the vocabulary, at every place."""
    x = learnt["token"][tokens] + learnt["position"][: len(tokens)]
    for k in range(a.blocks):
        block = f"blocks.{k}"
        x = x + attention(norm(x, f"{block}.norm_1"), block)
        x = x + feed_forward(norm(x, f"{block}.norm_2"), block)
    return np.asarray(norm(x, "norm") @ learnt["read_out"] + learnt["read_out_bias"])


logits = model(run.tokens(text))
difference = np.abs(logits - run.trace(text)["logits"]).max()
say(f"Shape of what comes out: {logits.shape[0]} places × {logits.shape[1]} words. It differs from the engine's own "
    f"result by at most {difference:.6f}: rounding.")  # fmt: skip
expect(difference < 1e-3, "the page of NumPy is the model")

# %% [markdown]
# ## From scores to the next word
#
# The scores that come out are called **logits**. They may be any numbers; only softmax makes chances of them. At the
# last place they say what the model expects next.

# %%
last = logits[-1]
chances = softmax(last)
best = np.argsort(-last)[:4]
table(
    ["word", "logit", "chance"],
    [[f"`{run.task.vocabulary[k]}`", f"{last[k]:.2f}", f"{chances[k]:.2%}"] for k in best],
)
winner, second = best[:2]
ahead = last[winner] - last[second]
work(f"{last[winner]:.2f} − {last[second]:.2f}", ahead, digits=2, name="ahead of the second")
say(
    f"Ahead by so much in the logits means about {float(f'{np.exp(ahead):.2g}'):,.0f} times as likely: the exponential."
)
drawn = 0.85  # what S3 writes into its drawing of the model
say(
    f"S3, the text about this model (`glassformer claims S3`), draws it with {drawn:.0%} for `{TEXT[4]}` here. After "
    f"these words nothing else ever follows in the rhyme, and a trained model knows: ours says {chances[winner]:.1%}."
)
expect(run.task.vocabulary[winner] == TEXT[4] and chances[winner] > drawn, "the model is surer than the drawing")
shift = 3
choice(
    f"Somebody adds {shift} to every logit. What happens to the chances?",
    "nothing",
    "Every exponential grows by the same factor, above and below the fraction. Only differences of logits count.",
    {
        "all of them grow": "They are shares and sum to one: they cannot all grow.",
        "the likeliest one grows": "That happens when logits are *multiplied* by something above one.",
    },
)
expect(np.allclose(softmax(last + shift), chances), "a shift of all logits changes nothing")

# %% [markdown]
# ## Why more than one block?
#
# The second block's words look at each other *after* each has gathered and thought once: what a word found out in the
# first block, others can pick up in the second. Does it help here? Read the stream out early: skip what is still to
# come, go straight to the last norm and the read-out, over all windows of the rhyme.

# %%
ids = run.task.encode(" ".join(TEXT))
windows = np.array([ids[begin : begin + a.context + 1] for begin in range(len(ids) - a.context - 1)])
seen = run.trace(windows[:, :-1])
stops = {"the embedding": seen["embedded"]}
for k in range(a.blocks):
    stops[f"attention of block {k}"] = seen["middle"][:, k]
    stops[f"feed-forward of block {k}"] = seen["out"][:, k]


def cost(x: np.ndarray) -> float:
    """What the right word costs on average, in nats, if the stream is read out here."""
    said = softmax(norm(x, "norm") @ learnt["read_out"] + learnt["read_out_bias"])
    return float(-np.log(np.take_along_axis(said, windows[:, 1:, None], axis=-1)).mean())


costs = {name: cost(x) for name, x in stops.items()}
table(["read out after", "loss in nats"], [[name, f"{lost:.3f}"] for name, lost in costs.items()])
first, *_, final = costs.values()
expect(final < first, "what the blocks add makes the answer better")
expect(final == min(costs.values()), "nowhere is the answer better than at the end")
say("One often hears that first blocks do the simple things and later ones the difficult ones. What one can say is "
    "this table: how much of the answer is there after each part, in this model.")  # fmt: skip
lab(run, "The stream of the last word, read out at each point on its way.", input=text, panels=("stream", "output"))

# %% [markdown]
# ## Counting
#
# How many numbers is that? Each matrix has as many as its sides multiplied. Attention has four of them (query, key,
# value, output) and a bias for each feature of its output, a block has two norms, and each norm has a gain and a bias
# for every feature.

# %%
number(
    f"The read-out turns {a.width} features into {a.vocabulary} scores, with a bias for each word. How many "
    "parameters?",
    a.width * a.vocabulary + a.vocabulary,
    f"{a.width} × {a.vocabulary} weights and {a.vocabulary} biases.",
    mistakes={
        a.width * a.vocabulary: "The biases are missing: one for each word.",
        a.width * a.vocabulary
        + a.width: "There is a bias for each score that comes out, not for each feature that goes in.",
    },
)
w, f, v, c = a.width, a.feed_forward, a.vocabulary, a.context
counts = {
    "token embedding": (f"{v} × {w}", v * w),
    "positions": (f"{c} × {w}", c * w),
    "attention of one block": (f"4 × {w} × {w} + {w}", 4 * w * w + w),
    "feed-forward of one block": (f"{w} × {f} + {f} + {f} × {w} + {w}", 2 * w * f + f + w),
    "norms of one block": (f"4 × {w}", 4 * w),
    "last norm": (f"2 × {w}", 2 * w),
    "read-out": (f"{w} × {v} + {v}", w * v + v),
}
table(["part", "numbers", "together"], [[part, f"`{how}`", f"{many:,}"] for part, (how, many) in counts.items()])
of_block = sum(many for part, (_, many) in counts.items() if part.endswith("one block"))
rest = sum(many for part, (_, many) in counts.items() if not part.endswith("one block"))
work(f"{rest:,} + {a.blocks} × {of_block:,}", rest + a.blocks * of_block, name="the whole model")
expect(rest + a.blocks * of_block == a.parameters, "counted by hand, it is what the model has")

# %% [markdown]
# S3 names several totals for the same model. One of them it adds up part by part, and it comes out lower than what
# its program counts. What did it leave out?

# %%
its_sum = v * w + c * w + a.blocks * (4 * w * w + 2 * w * f)  # as S3 adds up: embeddings, and matrices of the blocks
biases = a.blocks * (w + f + w)  # of the output projections and the feed-forward parts
norms = (2 * a.blocks + 1) * 2 * w
read_out = w * v + v
work(f"{its_sum:,} + {biases} + {norms} + {read_out:,}", its_sum + biases + norms + read_out)
say(
    f"{biases} biases, {norms} numbers of norms and the whole read-out, {read_out:,}. With them it is this model's "
    "count."
)
expect(its_sum + biases + norms + read_out == a.parameters, "what S3's sum lacks are biases, norms and read-out")

# %% [markdown]
# ## What makes it grow?
#
# Change one setting at a time, and count again.

# %%
from dataclasses import replace

from glassformer.figures import plot_parameters

larger = {
    "twice the blocks": replace(a, blocks=2 * a.blocks),
    "twice the heads": replace(a, heads=2 * a.heads, head_width=a.per_head // 2),
    "twice the context": replace(a, context=2 * a.context),
    "twice the width (and neurons)": replace(
        a, width=2 * a.width, head_width=2 * a.per_head, feed_forward=2 * a.feed_forward
    ),
}
asked = chance("which").choice(["twice the blocks", "twice the context"])
number(
    f"The model has {a.parameters:,} parameters, {of_block:,} of them in each of its {a.blocks} blocks, and {c * w} "
    f"for positions. How many has it with {asked}?",
    larger[asked].parameters,
    "Only what belongs to that setting doubles: " + ("the blocks." if "blocks" in asked else "the rows of places."),
    mistakes={2 * a.parameters: "Not everything doubles: embedding and read-out, for instance, stay as they are."},
)
table(
    ["change", "parameters", "times as many"],
    [[name, f"{each.parameters:,}", f"{each.parameters / a.parameters:.2f}"] for name, each in larger.items()],
)
expect(max(larger, key=lambda name: larger[name].parameters).startswith("twice the width"), "width costs most")
say("Width goes into the square: matrices have it on both sides. Heads cost nothing, and places next to nothing.")
say(
    "Not every cost is a parameter, though: a longer window makes more *work*. Every place scores every other one, "
    f"so twice the context means {larger['twice the context'].context ** 2 / a.context**2:.0f} times as many scores."
)
show(plot_parameters(run), "parameters",
     "Every tensor of the model, and how it compares with models one reads about.")  # fmt: skip
lab(run, "All its numbers, tensor by tensor. Choose one, and let the clock run from the first step.",
    step=0, panels=("weights",))  # fmt: skip
discuss(
    "Double the width or double the blocks: which makes the better model, for the same number of parameters?",
    "It depends on what there is to learn. More blocks allow more steps of *look and think*; more width allows "
    "each step to hold more. For a rhyme learnt by heart, either is far more than enough.",
    "`glassformer train mary --set architecture.blocks=4`, and with the width that comes to as many parameters; "
    "several seeds; compare how fast the losses fall, and where they end.",
)
choice(
    "Which part of the model lets the second word know what the first one is?",
    "attention",
    "It is the only part that mixes places. Everything else works on each place by itself.",
    {
        "the positions": "They tell each word where it stands, not who stands beside it.",
        "the read-out": "It turns each place's row into scores, by itself.",
        "the feed-forward part": "It works on each place by itself.",
    },
)
