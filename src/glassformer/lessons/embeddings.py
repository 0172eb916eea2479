"""Embeddings: a row of numbers for each word, before and after training."""

from glassformer.teaching import (
    chance,
    choice,
    discuss,
    expect,
    lab,
    number,
    point,
    say,
    seed,
    show,
    table,
    train,
    work,
    written,
)

ORDER = 90
MINUTES = 20
AIMS = (
    "say what an embedding is, and how a model looks it up",
    "compute how alike two vectors are, and find a word's nearest words",
    "say what training does to embeddings, and what it does not, from measurements",
    "say why a single feature of a vector has no meaning by itself",
)
BEFORE = ("numbers_for_words", "descent", "softmax")
ANSWERS = ("3.§3.1", "3.§3.2", "1.P1.1", "1.Q12")
MISCONCEPTIONS = (
    (
        "Each feature stands for something: an animal, a verb, a mood.",
        "Turn all vectors together, as one turns a map, and every feature is another number; no distance has changed.",
    ),
    (
        "Training makes words with similar meanings similar.",
        "It makes words similar that must be *used* alike. In this rhyme, snow and rules are; lamb and fleece are not.",
    ),
    (
        "Random vectors are useless.",
        "In many dimensions they point in all directions and are easy to tell apart; the rest of the model learns to "
        "read them.",
    ),
)
PLAN = (
    (10, "On a wall: place six words so that words used alike hang close; argue about one of them"),
    (20, "The lesson; each pair takes a word of its own for the nearest neighbours"),
    (10, "Worksheet, alone: three cosines by hand"),
    (5, "Exit question: what makes two words' vectors move together?"),
)

# %% [markdown]
# ## A row for each word
#
# The first lesson gave each word a number, and warned: it is a name, not an amount. So a model must not calculate
# with it. It uses the number for one thing only: to fetch a *row* from a table. That row is the word's **embedding**:
# a list of numbers, its **features**, with which one can calculate. Such a list is called a **vector**. The table is
# learnt, like all other weights.

# %%
import numpy as np

run = train("mary")
rows = run.weights()["token"]  # (word, feature)
words = run.task.vocabulary
lamb = words.index("lamb")
count, width = rows.shape
say(f"Row {lamb} of the table is `lamb`. It begins with {', '.join(written(v, 2) for v in rows[lamb][:6])} …")
number(
    f"The table has a row for each of the {count} words, with {width} features each. How many numbers is that?",
    rows.size,
    "Rows times columns. All of them are parameters, and training may change each.",
    mistakes={count + width: "Every word has all the features: multiply."},
)
work(f"{count} × {width}", rows.size, name="numbers in the table")
ticket = np.eye(count)[lamb]  # all zeros, but a one at the place of this word
expect(np.allclose(ticket @ rows, rows[lamb]), "multiplying by a ticket is the same as looking up the row")
say(
    "Looking up is a product in disguise: a list of zeros with a single one, times the table, picks the row. So "
    "embeddings are weights like any others, and the gradient reaches them."
)
lab(
    run,
    "The rows that this input fetches, one for each of its words.",
    input="mary had a little lamb",
    panels=("embedding",),
)

# %% [markdown]
# ## Before and after
#
# Before training the rows are drawn by chance; they mean nothing. Then come all the steps of descent. Predict: how
# far will the row of `lamb` have moved, compared with its length? (The length of a vector is that of an arrow from zero
# to it: the root of the sum of its squared features.)

# %%
first = run.weights(0)["token"]
length = np.linalg.norm(first[lamb])
moved = np.linalg.norm(rows[lamb] - first[lamb])  # the distance: root of the sum of squared differences
choice(
    f"The row of `lamb` begins with a length of {length:.1f}. How far has it moved at the end of the training?",
    "by a small part of its length",
    f"It has moved by {moved:.2f}, {moved / length:.0%} of its length. The row you see is still mostly the chance it "
    "was born with.",
    {
        "by about its length": "That is what one expects; look at the picture below.",
        "many times its length": "Then nothing of its beginning would be left. Nearly all of it is.",
        "not at all": "Every step moves it in which the word is in view, and weight decay shrinks it a little in all.",
    },
)
expect(0.01 < moved / length < 0.5, "the row moves, but not far")

# %%
from glassformer.figures import plot_one_vector

show(
    plot_one_vector(run, token="lamb"), "vector", "The features of one word before and after, and how each has changed."
)

# %% [markdown]
# ## Then what have they learnt?
#
# Here is a test. We take the trained model and give it back the rows it had at the very beginning. All the rest stays
# trained. If the embeddings hold what was learnt, the loss must leap up.

# %%
context = run.architecture.context
part = run.task.data(context).train
windows = np.stack([part.tokens[k : k + context + 1] for k in range(int(part.windows[0]))])


def loss(edits: str | None = None) -> float:
    chances = run.trace(windows[:, :-1], edits=edits)["probabilities"]
    return float(-np.log(np.take_along_axis(chances, windows[:, 1:, None].astype(int), axis=2)).mean())


newborn = "patch(token_embedding, step=0)"  # the rows as they were at the first step
table(
    ["the model with", "loss, in nats"],
    [
        ["its trained rows", f"{loss():.3f}"],
        ["the rows it was born with", f"{loss(newborn):.3f}"],
        ["no rows at all", f"{loss('zero(token_embedding)'):.3f}"],
    ],
)
expect(loss(newborn) < loss() + 0.2 < loss("zero(token_embedding)"), "random rows nearly do")
say(
    f"It hardly notices! The rows must be *there*, or all is lost; but what they are matters little. With {width} "
    f"features there is so much room that {count} random rows lie far apart, easy to tell from each other, and the "
    "rest of the model learns to read them."
)
lab(
    run,
    "The model with the rows of step zero, and everything else trained.",
    input="mary had a little",
    edits=newborn,
    panels=("embedding", "output"),
    mode="change",
)

# %% [markdown]
# ## How alike are two vectors?
#
# To see what the small moves do, we need a measure. The **cosine** of two vectors is one if they point the same way,
# zero if they stand at a right angle, and minus one if they point in opposite ways. Multiply feature by feature, add
# up, and divide by both lengths.

# %%
a, b = np.array([3.0, 4.0]), np.array([4.0, 3.0])
cosine = float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
number(
    f"Two vectors with two features each: ({a[0]:g}, {a[1]:g}) and ({b[0]:g}, {b[1]:g}). Both have the length "
    f"{np.linalg.norm(a):g}. What is their cosine?",
    cosine,
    "The products added, divided by the product of the lengths.",
    tolerance=0.005,
    mistakes={
        float(a @ b): "That still has to be divided by both lengths.",
        1.0: "They have the same length, but do not point the same way.",
    },
)
work(
    f"({a[0]:g} × {b[0]:g} + {a[1]:g} × {b[1]:g}) / (√({a[0]:g}² + {a[1]:g}²) × √({b[0]:g}² + {b[1]:g}²))",
    cosine,
    name="cosine",
)


def cosines(rows: np.ndarray) -> np.ndarray:
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    alike: np.ndarray = unit @ unit.T  # (word, word)
    return alike


before, after = cosines(first), cosines(rows)
near = {name: np.argsort(-alike[lamb])[1:5] for name, alike in (("before", before), ("after", after))}
table(
    ["nearest to `lamb`", *("first", "second", "third", "fourth")],
    [
        [name, *(f"`{words[k]}` ({written(alike[lamb, k], 2)})" for k in near[name])]
        for name, alike in (("before", before), ("after", after))
    ],
)
pairs = np.triu_indices(count, 1)  # every pair of different words once
say(
    f"For scale: over all {len(pairs[0])} pairs the cosines lie around {written(after[pairs].mean(), 2)}, with a "
    f"spread of {after[pairs].std():.2f}. Most of these neighbours are neighbours by chance."
)
_some = [words.index(w) for w in chance("words").permutation([w for w in words if w != "<END>"])[:5]]
_low, _high = max(
    ((r, c) for r in range(5) for c in range(5) if r < c), key=lambda rc: after[_some[rc[0]], _some[rc[1]]]
)
point(
    "Cosines of five words after training. Point at the pair that is most alike (in the upper half of the table).",
    [words[k] for k in _some],
    [words[k] for k in _some],
    (_low, _high),
    f"`{words[_some[_low]]}` and `{words[_some[_high]]}` have the largest cosine.",
    otherwise="Another pair in the upper half has a larger cosine. (On the diagonal each word meets itself.)",
    cells=[["" if r >= c else written(after[_some[r], _some[c]], 2) for c in range(5)] for r in range(5)],
)

# %%
from glassformer.figures import plot_neighbours

show(
    plot_neighbours(run, token="lamb"),
    "neighbours",
    "The words nearest to lamb; grey is what two words have by chance.",
)

# %% [markdown]
# ## What training pulls together
#
# The source of this lesson expects that words which belong together get similar vectors: lamb and fleece, school and
# rules. But the model knows no meanings. It is only ever told which word came next. So which pairs should move
# together?

# %%
nexts = np.zeros((count, count))
for word, following in zip(part.tokens[:-1], part.tokens[1:], strict=True):
    nexts[word, following] += 1
shares = nexts / np.maximum(nexts.sum(axis=1, keepdims=True), 1)  # what comes after each word, and how often
same = [(int(i), int(j)) for i, j in zip(*pairs, strict=True) if np.array_equal(shares[i], shares[j])]
_best = max(same, key=lambda pair: after[pair] - before[pair])
choice(
    "Which of these pairs gains most, when training is over?",
    f"`{words[_best[0]]}` and `{words[_best[1]]}`, after which the same word comes",
    "After both the answer is the same. Whatever pushes one row towards that answer pushes the other one the same way.",
    {
        "`lamb` and `fleece`, which belong together": "They belong together in the world; in the rhyme different "
        "words follow.",
        "`mary` and `went`, which often stand side by side": "Standing side by side, they "
        "must be answered differently.",
    },
)


def told(i: int, j: int) -> list[str]:  # a line of the tables below; `written` rounds
    return [f"`{words[i]}`, `{words[j]}`", *(written(float(alike[i, j]), 2) for alike in (before, after))]


belong = [(words.index(p), words.index(q)) for p, q in (("lamb", "fleece"), ("mary", "went"), ("school", "rules"))]
table(["followed by the same word", "cosine before", "after"], [told(i, j) for i, j in same])
table(["said to belong together", "cosine before", "after"], [told(i, j) for i, j in belong])
change = after - before
gained = float(np.mean([change[i, j] for i, j in same]))
say(
    f"On average, pairs with the same next word gain {written(gained, 3)}; all pairs gain "
    f"{written(change[pairs].mean(), 3)}; the three of the second table "
    f"{written(float(np.mean([change[i, j] for i, j in belong])), 3)}. What is *used* alike becomes alike. Where use "
    "and meaning go together, as in very much text, that looks like meaning."
)
_others = max(float(change[i, j]) for i, j in belong[:2])
expect(change[_best] > _others, "of the pairs asked about, the one with the same next word gains most")
expect(gained > 0.03 > abs(change[pairs].mean()), "words with the same next word are pulled together, others not")

# %% [markdown]
# ## With less room
#
# What if there is no room for chance? The model of the last even number has two features for each of its tokens: a
# point in a plane. Its rule needs the even numbers, each by itself. The odd ones are never the answer to a `+`: for
# the rule, one is as good as the other.

# %%
plane = train("plus_last_even")
tokens = plane.task.vocabulary
odd = [k for k, token in enumerate(tokens) if token.isdigit() and int(token) % 2]
even = [k for k, token in enumerate(tokens) if token.isdigit() and not int(token) % 2]


def apart(step: int, group: list[int]) -> float:
    spots = plane.weights(step)["token"][group]
    distances = np.linalg.norm(spots[:, None] - spots[None, :], axis=2)
    return float(distances[np.triu_indices(len(group), 1)].mean())


table(
    ["mean distance between", "before training", "after"],
    [
        [name, f"{apart(0, group):.2f}", f"{apart(-1, group):.2f}"]
        for name, group in (("odd numbers", odd), ("even numbers", even))
    ],
)
expect(apart(-1, odd) < 0.3 * apart(-1, even), "the odd numbers fall together, the even ones keep apart")
say(
    "The odd numbers have fallen nearly into one point: what plays the same part gets the same vector. Nobody asked "
    "for it."
)
lab(
    plane,
    "The plane of tokens at the start. Play the clock, and watch the odd numbers gather.",
    step=0,
    panels=("embedding",),
)

# %%
from glassformer.figures import plot_embeddings

show(
    plot_embeddings(plane, layout="scatter"),
    "plane",
    "Tokens, positions and their sums, in the plane in which this model thinks.",
)
lab(plane, "And at the end of the training.", panels=("embedding", "landscape"))

# %% [markdown]
# ## Does a single feature mean something?
#
# It may look so: in the picture above, one feature may well tell kinds of tokens apart. Could feature zero be *how
# animal-like* a word is? Turn all rows together, as one turns a map on the table. Every single feature becomes
# another number; all lengths and cosines stay as they were. In the model of the plane one could turn everything that
# reads and writes these rows along with them, and it would say exactly the same. What has meaning is how the rows lie
# to each other.

# %%
turn, _ = np.linalg.qr(np.random.default_rng(seed()).normal(size=(width, width)))  # a rotation, drawn by chance
turned = rows @ turn
table(
    ["row of `lamb`", *(f"feature {k}" for k in range(4)), "cosine with `fleece`"],
    [
        [name, *(written(v, 2) for v in each[lamb][:4]), written(cosines(each)[lamb, words.index("fleece")], 4)]
        for name, each in (("as it is", rows), ("turned", turned))
    ],
)
expect(np.allclose(cosines(turned), after, atol=1e-4), "turning changes every feature and no cosine")
discuss(
    "Of word vectors that were learnt from very much text (`word2vec`) it is told that `king` − `man` + `woman` lands "
    "near `queen`. Could the model of this rhyme do such a thing?",
    "It would need many texts in which pairs of words differ in use by the same thing; the rhyme has no such pairs. "
    "Mind also that the three words of the question are usually left out of the search, which helps a lot.",
    f"`glassformer figures {run.name} neighbours --set token=school --set minus=day --set plus=play` computes such a "
    "sum here; compare with what random rows give, `--step 0`.",
)
choice(
    "Exit question. What makes the vectors of two words move together in training?",
    "that they have to be answered in the same way",
    "The gradient of a row depends on what the model should have said after it. Like answers, like pushes.",
    {
        "that they mean similar things": "The model is never told what a word means, only what came next.",
        "that they stand next to each other": "Neighbours in the text often need quite different answers.",
        "that they have neighbouring ids": "An id is a name. It fetches the row and plays no part after that.",
    },
)
