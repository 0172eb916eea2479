"""Questions on the inside: where in the model an answer is, and how it came to be there."""

from glassformer.teaching import choice, discuss, expect, lab, number, point, say, show, table, train

ORDER = 290
MINUTES = 25
AIMS = (
    "say what a plane of embeddings shows, and what it cannot",
    "read an attention map, and say what it is no evidence for",
    "say how attention can find the answer before the answer is known",
    "explain where a comparison comes from that nobody wrote",
)
BEFORE = ("training_dynamics", "cause_not_correlation", "questions_dynamics")
ANSWERS = ("1.Q29", "1.Q32", "1.Q36", "1.Q37", "1.Q38", "1.Q67")
MISCONCEPTIONS = (
    (
        "Tokens of one kind come to lie together.",
        "Tokens that must be told apart come to lie apart: look at Max and Min, which differ most.",
    ),
    (
        "The head must know the answer to look at it.",
        "Every digit carries its own size as a vector; a query that asks for *large* needs no comparison to find it.",
    ),
)
PLAN = (
    (10, "Everybody draws the plane of embeddings as they expect it, and one attention map"),
    (20, "The questions; compare each drawing with the run"),
    (10, "Groups: find a head whose removal changes Max but not First, or show that there is none"),
    (5, "Exit question: where is the rule?"),
)

# %% [markdown]
# ## Embeddings on a plane
#
# An embedding has more features than can be drawn. The two directions in which tokens differ most can. Predict before
# you look: how do digits lie, how operations, and how far apart are `Max` and `Min`?

# %%
import numpy as np

import glassformer as gf

run = train("five_operations", steps=1000)
words = list(run.task.vocabulary)


def cosine(one: str, other: str, step: int = -1) -> float:
    a, b = (run.weights(step)["token"][words.index(word)] for word in (one, other))
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


pairs = [("Max", "Min"), ("First", "Last"), ("8", "9"), ("0", "9")]
first, last = ([cosine(a, b, step) for a, b in pairs] for step in (0, -1))
choice(
    "After training, how do the embeddings of `Max` and `Min` lie to each other?",
    "they point in different, rather opposite directions",
    f"Their cosine goes from {first[0]:.2f} to {last[0]:.2f}. The two stand in the same place of the same questions "
    "and must give different answers: nothing needs telling apart more.".replace("-", "−"),
    {
        "close together: both compare": "That they do; but a model that cannot tell them apart is wrong nearly always.",
        "at right angles, as at the start": "That is where random vectors begin. Training pushes these two apart.",
    },
)
expect(last[0] < first[0] and last[0] < 0, "Max and Min come to point away from each other")
table(
    ["pair", "before", "after"],
    [
        [f"{a}, {b}", *(f"{x:.2f}".replace("-", "−") for x in both)]
        for (a, b), both in zip(pairs, zip(first, last, strict=True), strict=True)
    ],
)
seen = gf.analyses.similarity(run)
number(
    "Put the digits along the direction in which they differ most. How well does their order there agree with their "
    "values, as a rank correlation between zero and one?",
    seen.agreement,
    "Nobody told the model that nine is more than eight. It is what makes Max and Min easy.",
    tolerance=0.1,
    mistakes={0.0: "That would be no order at all. Look at the picture."},
)
expect(seen.agreement > 0.7, "digits come to lie nearly in the order of their values")
show(gf.figures.plot_embeddings(run), "embeddings", "Every token on the plane, and how it came there.")
lab(run, "Let the clock run, and see the digits line up.", step=0, panels=("embedding",))

# %% [markdown]
# ## Who looks at whom
#
# `Min(7,1,9)` and `Max(7,1,9)` differ in one token. The answer is read at its place. What does it look at from there?

# %%
question = {"Min": "Min(7,1,9)", "Max": "Max(7,1,9)"}
rows = {name: run.trace(text)["attention"][:, :, 0] for name, text in question.items()}  # (block, head, key position)
heads = [f"block {b}, head {h}" for b in range(run.architecture.blocks) for h in range(run.architecture.heads)]
differ = (np.abs(rows["Min"] - rows["Max"]).sum(-1) / 2).ravel()
most = int(differ.argmax())
point(
    "Compare both maps in the page. Point at the head whose row changes most from one question to the other.",
    heads,
    ["its row at the operation"],
    (most, 0),
    f"{differ[most]:.0%} of its attention goes elsewhere.",
    otherwise="Its row changes less.",
    reasons={
        (k, 0): f"{share:.0%} of its attention goes elsewhere; there is one with more."
        for k, share in enumerate(differ)
        if k != most
    },
)
tokens = [words[t] for t in run.tokens(question["Max"])]
_block, _head = divmod(most, run.architecture.heads)
table(
    [f"{heads[most]}", *(f"{k}: `{token}`" for k, token in enumerate(["operation", *tokens[1:]]))],
    [[name, *(f"{share:.2f}" for share in rows[name][_block, _head])] for name in question],
)
expect(differ[most] > 0.05, "some head looks elsewhere when the operation changes")
lab(run, "This question, and then the same with the other operation.", input=question["Min"], block=_block, head=_head,
    panels=("attention",))  # fmt: skip
choice(
    "The largest digit gets much attention. But how could the model know that it is the largest *before* it compared?",
    "it need not: each key says how large its own digit is, and the query asks for large ones",
    "A score is computed for each digit by itself. Softmax then lets the largest score win: the comparison happens "
    "there, and in the blocks that follow.",
    {
        "the first block compares, the second looks": "It may, and often does more of it; but one block alone can do "
        "the task.",
        "it cannot: attention is computed after the answer": "The answer is computed from what attention brings.",
        "it has learnt the question by heart": "It does the same with questions that it has never seen.",
    },
)
discuss(
    "Does the map explain the answer?",
    "It shows what is mixed, not what is used. A head may look somewhere and be ignored; another may matter by what it "
    "brings from a place that it hardly looks at.",
    'Cut the head (`--edit "zero(mixed, block=…, head=…)"`) and see whether the answer changes; compare with the '
    "others.",
)

# %% [markdown]
# ## Neurons as a grid
#
# Put the neurons of a block on a grid, bright where they fire. What would light up for `Max(5,3,9)`?

# %%
hidden = run.trace("Max(5,3,9)")["hidden"][:, 0]  # (block, neuron), where the answer is read
other = run.trace("Min(5,3,9)")["hidden"][:, 0]
on, both = (hidden > 0).mean(axis=1), ((hidden > 0) & (other > 0)).sum(axis=1) / np.maximum((hidden > 0).sum(axis=1), 1)
number(
    f"Of the {hidden.shape[1]} neurons of the last block, how many per cent are on, where the answer is read?",
    100 * float(on[-1]),
    f"Of these, {both[-1]:.0%} are on for `Min(5,3,9)` as well; the others tell the two operations apart.",
    tolerance=10,
    unit="%",
    mistakes={100.0: "ReLU silences every neuron whose sum is below zero."},
)
lab(run, "The grid itself: choose a neuron that is bright here and dark for `Min`.", input="Max(5,3,9)",
    panels=("neurons", "feed_forward"))  # fmt: skip
show(gf.figures.plot_neurons(run), "neurons", "What the most selective neurons answer to, in words.")

# %% [markdown]
# ## Where does the rule come from?
#
# Nobody wrote a comparison. There was an architecture, there were examples, a loss and many small steps.

# %%
unsure = float(run.metrics["validation_loss"][0])
say(
    f"At the beginning the loss was {unsure:.2f} nats, now it is {run.metrics['validation_loss'][-1]:.4f}. What "
    f"changed are {run.parameters:,} numbers, each by a little: that is all a rule is, here."
)
discuss(
    "What is emergence, and where does the ability to compare come from?",
    "From the data (only ordered digits make the answers predictable), the loss (it pays), the architecture "
    "(attention can pick by size) and the search. Each is necessary: shuffle the answers and nothing but memory is "
    "left.",
    "`glassformer train five_operations --set data.shuffled=true`: same model, same digits, no rule; see what it "
    "learns.",
)
discuss(
    "Does the model *understand* what Max means? Is there a difference between learning and fitting a function?",
    "Say first what would count: being right on anything new of this kind; on other lengths; using it inside other "
    "tasks; explaining it. It passes some of these and not others, and so one can say how far its understanding "
    "reaches.",
    "List tests that an understanding must pass and a fit need not, and run them: other lengths, nested questions, a "
    "new token for an old operation.",
)
choice(
    "Exit question. Where in the model is the knowledge that nine is more than five?",
    "in how embeddings, scores and read-out fit together",
    "The order of the digits lies in the embeddings; that order counts, in the scores; which token to say, in the "
    "read-out. Each alone says nothing.",
    {
        "in one neuron": "Take any one away: nearly all answers stay.",
        "in the token `Max`": "Its vector asks for large; what is large the digits' vectors say.",
        "nowhere: it only looks up": "It answers questions that it has never seen.",
    },
)
