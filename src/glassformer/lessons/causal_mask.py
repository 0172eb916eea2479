"""The causal mask: no looking ahead."""

from glassformer.teaching import (
    chance,
    choice,
    discuss,
    expect,
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

ORDER = 120
MINUTES = 20
AIMS = (
    "say why a model that sees the next word learns nothing worth knowing",
    "draw the mask of a window and count the pairs it allows",
    "compute a masked row of attention, and say why the mask comes before softmax",
    "test whether a model looks ahead",
)
BEFORE = ("query_key_value", "batches_and_windows")
ANSWERS = ("3.§5", "2.§3.2")
MISCONCEPTIONS = (
    (
        "A word may not look at itself.",
        "It may: the diagonal is allowed. The very first word has nothing else to look at.",
    ),
    (
        "A negative score means that the word is masked.",
        "A negative score gives a small share, never none. Only what lies ahead gets none at all.",
    ),
    (
        "The mask is learnt.",
        "It is a fixed triangle, the same before, during and after training.",
    ),
)
PLAN = (
    (
        10,
        "Cover a sentence with a card and uncover it word by word; bet on each next word. Then bet with the card away",
    ),
    (20, "The lesson, to the test for looking ahead"),
    (10, "Worksheet, alone"),
    (5, "Exit question: why is nothing computed for a word ever wrong once more words follow?"),
)

# %% [markdown]
# ## The answer lies in the window
#
# Remember how a window is used: at every place the model is to guess the *next* word, and the next word stands right
# there, one place on. Here is a window of the rhyme, with what each place is asked for.

# %%
import numpy as np

from glassformer.tasks.mary import TEXT

run = train("mary")
n = run.architecture.context  # places of a window
window, targets = TEXT[:n], TEXT[1 : n + 1]
table(["place", "word", "is asked for"], [[p, f"`{window[p]}`", f"`{targets[p]}`"] for p in range(len(window))])
lab(run, "The window in the model. Choose a place: below it stand the places it looks at, and none of them lies ahead.",
    input=" ".join(window), panels=("attention", "output"))  # fmt: skip
asked = int(chance("peek").integers(len(window) - 1))
number(
    "Suppose every place could look at every other one. At which place stands the answer to the question at place "
    f"{asked}?",
    asked + 1,
    f"It is asked for `{targets[asked]}`, and that is the word at the next place.",
    mistakes={asked: f"At place {asked} stands `{window[asked]}`: that is the word itself, not the one after it."},
)
say(
    "Such a model would learn one thing only: look one place to the right and copy. It would be nearly always "
    "right, and of no use: when it writes, there is nothing to the right yet. Glassformer refuses to train it:"
)

# %%
from glassformer.errors import Error

try:
    train("mary", settings={"architecture.causal": False})
    refused = ""
except Error as problem:
    refused = str(problem)
say(f"> {refused}")
expect(refused, "a model that sees its answers is refused")

# %% [markdown]
# ## A triangle
#
# So we forbid it. Each place may look at itself and at what stands before it. Written as a table with a row for each
# place that looks and a column for each place that is looked at, the allowed pairs are a triangle. It is called the
# **causal mask**: only what came before can be a cause.

# %%
from glassformer.figures import plot_mask

allowed = np.tri(n, dtype=bool)  # true on the diagonal and below
number(
    f"A window has {n} places, so there are {n * n} pairs of a place that looks and one that is looked at. How many "
    "of them are allowed?",
    allowed.sum(),
    f"The rows allow {', '.join(str(row.sum()) for row in allowed)}, together {allowed.sum()}.",
    mistakes={
        allowed.sum() - n: "You left out the diagonal: every place may look at itself.",
        n * n // 2: "A little more than half: the diagonal belongs to it as well.",
        n * n: "These are all pairs. Those above the diagonal look ahead.",
    },
)
show(plot_mask(run, sequence=" ".join(window)), "mask",
     "Hatched: forbidden. The numbers are the shares if all that is in view counted the same.")  # fmt: skip
labels = [f"{word} at {p}" for p, word in enumerate(window)]
row = int(chance("row").integers(1, n - 1))
point(
    f"Which pair would let `{window[row]}` at place {row} copy its answer?",
    labels, labels, (row, row + 1),
    f"Its row, and the column one place on: there stands `{targets[row]}`. This pair is above the diagonal, so it "
    "is masked.",
    otherwise="Rows look, columns are looked at; the answer stands one place further on than the word that looks.",
    reasons={
        (row + 1, row): "Turned round: there the later word looks back at the earlier one, which is allowed.",
        (row, row): "There it looks at itself, which is allowed and gives nothing away.",
    },
)  # fmt: skip

# %% [markdown]
# ## Before softmax, not after
#
# How is a pair forbidden? Its score is replaced by *minus infinity* before softmax. The exponential of that is
# zero, so the pair gets no share, and the others still sum to one. Take the scores of the model's first head for
# the second word, which may look at two places.

# %%
text = " ".join(window)
seen = run.trace(text)
scores = seen["scores"][0, 0]  # block 0, head 0: (place that looks, place that is looked at), not yet masked
masked = np.where(allowed, scores, -np.inf)
raised = np.exp(masked)
shares = raised / raised.sum(axis=1, keepdims=True)
expect(np.allclose(shares, seen["attention"][0, 0], atol=1e-5), "masked by hand, it is the model's own attention")
below = f"(exp({written(scores[1, 0], 4)}) + exp({written(scores[1, 1], 4)}))"
work(f"exp({written(scores[1, 0], 4)}) / {below}", shares[1, 0], name=f"{window[1]} looks at {window[0]}")
work(f"exp({written(scores[1, 1], 4)}) / {below}", shares[1, 1], name=f"{window[1]} looks at {window[1]}")

# %%
free = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
late = np.where(allowed, free, 0)  # the wrong way: softmax over everything, then cross out
table(
    ["the row of", "masked before softmax, sum", "crossed out after softmax, sum"],
    [[f"`{window[p]}`", f"{shares[p].sum():.3f}", f"{late[p].sum():.3f}"] for p in range(n)],
)
expect((late.sum(axis=1)[:-1] < 0.999).all(), "crossing out after softmax leaves rows that sum to less than one")
say(
    "Crossed out afterwards, early places would get less than a whole share. And how much less depends on the "
    "words ahead: even so, the future would leak."
)
lab(run, f"`{text}`: scores of all pairs, and the attention that is left. The upper triangle is empty in every head.",
    input=text, panels=("scores", "attention"))  # fmt: skip

# %% [markdown]
# ## Small is not forbidden
#
# S4, one of the texts that this laboratory checks (`glassformer claims S4`), draws negative scores as if they were
# masked, and for a `+` at some place hides the key at that same place, too. Neither is so: a place sees itself, and a
# negative score only makes for a smaller share.

# %%
negative = allowed & (scores < 0)
lowest = np.unravel_index(np.where(allowed, scores, np.inf).argmin(), scores.shape)
looks, looked_at = (window[place] for place in lowest)
say(
    f"In this head {negative.sum()} of the {allowed.sum()} allowed pairs have a negative score. The lowest is that "
    f"of `{looks}` with `{looked_at}`, {written(scores[lowest])}, and it still gets {shares[lowest]:.2%}: how much "
    "that is depends on the other scores of its row."
)
expect((shares[allowed] > 0).all() and (shares[~allowed] == 0).all(), "shares are above nothing exactly where allowed")

# %% [markdown]
# ## A test for looking ahead
#
# Here is how to find out whether any model looks ahead: change the last word, and see whether an answer at an earlier
# place moves. Predict first: at which places will it, with the mask and without?

# %%
from dataclasses import replace

from glassformer.architecture import nest
from glassformer.reference import forward

other = [*window[:-1], next(word for word in reversed(TEXT) if word != window[-1])]
ids = [run.tokens(" ".join(each)) for each in (window, other)]


def moved(causal: bool) -> np.ndarray:
    """How far the chances at each place move when the last word changes."""
    model = replace(run.architecture, causal=causal)
    weights = nest(run.weights())  # block by block, as forward takes them; it is the whole model in plain NumPy
    before, after = (forward(weights, each, model)[1]["probabilities"] for each in ids)  # [1]: every number inside
    return np.asarray(np.abs(before - after).max(axis=-1))


with_mask, without = moved(causal=True), moved(causal=False)
table(
    ["place", "word", "moves, with the mask", "without"],
    [[p, f"`{window[p]}`", f"{with_mask[p]:.4f}", f"{without[p]:.4f}"] for p in range(n)],
)
expect((with_mask[:-1] == 0).all(), "with the mask, nothing before the changed word moves")
expect(without[:-1].max() > 1e-3, "without the mask, earlier places know about later words")
say("With the mask, only the place that was changed moves. Without it, the news travels backwards.")
lab(run, "Try it: change the last word and watch the answers at earlier places stand still.",
    input=" ".join(other), panels=("attention", "output"))  # fmt: skip

# %% [markdown]
# ## What the mask buys
#
# It looks like a mere ban, but it is what makes training cheap: since no place knows its answer, *every* place of a
# window is a fair question. One pass through the model asks all of them at once.

# %%
tokens = run.task.encode(" ".join(TEXT))
windows = np.array([tokens[begin : begin + n + 1] for begin in range(len(tokens) - n - 1)])
chances = run.trace(windows[:, :-1])["probabilities"]  # (window, place, token)
right = np.take_along_axis(chances, windows[:, 1:, None], axis=-1)[..., 0]  # of the word that came
by_place = -np.log(right).mean(axis=0)
say(f"{len(windows)} windows of {n} places are {right.size} questions. What the right word costs on average, by place:")
table(["place", "words in view", "loss in nats"], [[p, p + 1, f"{cost:.3f}"] for p, cost in enumerate(by_place)])
expect(by_place[0] > by_place[-1], "with more words in view, the next one is easier to guess")
say("The first place sees a single word and must guess; with each word more in view the guess gets better.")
lab(run, "What is forbidden, done by force: in every head, the third word looks at the fourth as well.",
    input=text, position=2, edits="set(attention, 1, query_position=2, key_position=3)",
    panels=("attention", "output"))  # fmt: skip
discuss(
    "Some models, such as those that fill in a missing word in the middle of a text, have no causal mask. Why may "
    "they, and what can they not do?",
    "They are not asked for the next word: the word they are asked for is taken out of the window, so there is "
    "nothing to copy. In return they cannot write a text word by word: what they have computed changes with each "
    "word that is added.",
    "In `five_operations` the question stands whole in the window and the answer outside: its models have no mask. "
    "`glassformer show five_operations` tells.",
)
choice(
    "The model has read ten words and computed everything about them. Now it reads the next one. What of the old "
    "must be computed again?",
    "nothing",
    "No earlier place can see the new word, so nothing about them changes: a program may keep it all. (Until the "
    "window is full and slides: then every word stands at another place.)",
    {
        "everything": "With the mask, no earlier place knows that a word was added.",
        "the last place": "It, too, cannot see what comes after it.",
    },
)
