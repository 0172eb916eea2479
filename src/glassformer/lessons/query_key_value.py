"""Query, key, value: how words look at each other."""

from glassformer.teaching import (
    chance,
    choice,
    expect,
    lab,
    number,
    point,
    products,
    say,
    show,
    table,
    train,
    work,
    written,
)
from glassformer.teaching.arithmetic import equation

ORDER = 110
MINUTES = 30
AIMS = (
    "say what a query, a key and a value are for, and that all three are made of the same word",
    "compute the attention of one word on three words, from the first product to the mix",
    "say why scores are divided by a root before softmax",
    "read a score as a picture: what counts is the dot product, not the distance",
)
BEFORE = ("softmax", "positions")
ANSWERS = ("3.§3.3", "3.§3.3.1", "3.§5", "4.08", "4.09", "4.10", "4.13", "4.14", "4.D2", "4.D3", "0.M.1")
MISCONCEPTIONS = (
    (
        "Attention looks at words that are alike.",
        "A query meets keys, which are made by another matrix. What matches is learnt, and '+' may look for even "
        "numbers.",
    ),
    (
        "If one word looks at another, that one looks back.",
        "The score of a pair is not that of the pair turned round: another query, another key.",
    ),
    (
        "A key that lies near the query gets the attention.",
        "The score is a dot product: a key further out in the same direction scores more than one close by.",
    ),
)
PLAN = (
    (10, "A game: everyone has a question, a badge and a note; find the best badge for your question, copy the note"),
    (20, "The lesson, to the mix; each pair does another word"),
    (10, "Worksheet, alone"),
    (5, "Exit question: which of the three is handed over?"),
)

# %% [markdown]
# ## One word is not enough
#
# In the rhyme, *mary* is sometimes followed by *had* and sometimes by *went*. The row of numbers that stands for
# *mary* is the same each time. What decides lies in the words before it, and so words must be able to look at each
# other. That is what **attention** does, and it is the heart of a transformer.

# %%
run = train("mary")
alone, led = "mary", "everywhere that mary"
chances = {text: dict(run.ask(text)) for text in (alone, led)}
table(
    ["after", "`had`", "`went`"],
    [[f"`{text}`", f"{each['had']:.1%}", f"{each['went']:.1%}"] for text, each in chances.items()],
)
expect(chances[led]["went"] > chances[alone]["went"], "the words before mary make went more likely")
lab(run, f"The same two lines, in the page: type `{alone}`, then `{led}`, and watch the answer.",
    input=led, panels=("attention", "output"))  # fmt: skip

# %% [markdown]
# ## A question, a badge, a note
#
# Think of a room full of people. Each has a *question*, wears a *badge* that tells what this person knows about, and
# holds a *note*. All compare their question with every badge, and copy from the notes: much where the badge fits,
# little elsewhere. In a model the question is called **query**, the badge **key** and the note **value**. Each word
# makes all three from its own row of numbers, with three matrices that training has found. A matrix turns a row into
# another row: each new number is a sum of products.
#
# By hand, three words with two features each. We follow the word *a* and its question.

# %%
import numpy as np

words = ["mary", "had", "a"]
rows = np.array([[1.0, 0.5], [0.2, 1.0], [0.4, -0.6]])  # a row of features for each word
to_query = np.array([[0.5, 1.0], [-1.0, -0.5]])  # a column makes one feature of the query
to_key = np.array([[1.0, -0.5], [0.5, 1.0]])
to_value = np.array([[2.0, -1.0], [1.0, 1.0]])
query = rows[-1] @ to_query
lab(run, "Here are the same three words in the trained model, with more features. By hand first; we come back to them.",
    input="mary had a", panels=("embedding", "attention"))  # fmt: skip
work(products(rows[-1], to_query[:, 0], 1), query[0], name="query of a, first feature")
work(products(rows[-1], to_query[:, 1], 1), query[1], name="query of a, second feature")

# %% [markdown]
# The keys and the values of all three words are made in the same way, each with its own matrix.

# %%
keys, values = rows @ to_key, rows @ to_value
table(
    ["word", "key, first feature", "key, second feature"],
    [
        [f"*{words[w]}*", *(f"`{equation(products(rows[w], to_key[:, k], 1), keys[w, k])}`" for k in range(2))]
        for w in range(len(words))
    ],
)
table(
    ["word", "value, first feature", "value, second feature"],
    [
        [f"*{words[w]}*", *(f"`{equation(products(rows[w], to_value[:, k], 1), values[w, k])}`" for k in range(2))]
        for w in range(len(words))
    ],
)

# %% [markdown]
# ## How well does a badge fit the question?
#
# The **score** of a pair is the *dot product* of query and key: multiply feature by feature, add up. It is large
# where both are large in the same features with the same signs. Then it is divided by the square root of the number
# of features; why, we see in a moment.

# %%
features = len(query)
scores = keys @ query / np.sqrt(features)
asked = int(chance("which score").integers(len(words)))
number(
    f"The query of *a* is ({written(query[0])}, {written(query[1])}), the key of *{words[asked]}* is "
    f"({written(keys[asked, 0])}, {written(keys[asked, 1])}). What is their score, after dividing by √{features}?",
    scores[asked],
    f"The products come to {written(keys[asked] @ query, 4)}; divided by √{features} that is "
    f"{written(scores[asked], 4)}.",
    tolerance=0.005,
    mistakes={round(float(keys[asked] @ query), 4): "Right so far. Now divide by the root of the number of features."},
)
work(f"({products(query, keys[0])}) / √{features}", scores[0], name="a looks at mary")
work(f"({products(query, keys[1])}) / √{features}", scores[1], name="a looks at had")
work(f"({products(query, keys[2])}) / √{features}", scores[2], name="a looks at a")

# %% [markdown]
# ## From scores to shares
#
# Softmax, which you know, makes shares of them: all above zero, together one. These shares are the **attention**
# of the word *a*.

# %%
raised = np.exp(scores)
attention = raised / raised.sum()
below = " + ".join(f"exp({written(score, 4)})" for score in scores)
work(f"exp({written(scores[0], 4)}) / ({below})", attention[0], name="share of mary")
work(f"exp({written(scores[1], 4)}) / ({below})", attention[1], name="share of had")
work(f"exp({written(scores[2], 4)}) / ({below})", attention[2], name="share of a")
expect(np.isclose(attention.sum(), 1), "the shares sum to one")

# %% [markdown]
# ## The mix
#
# Last, *a* copies from all notes: each value times its share, added up. The result is what attention found out for
# *a*: a row of numbers that holds something of every word, most of those whose badges fit best.

# %%
mixed = attention @ values
work(products(attention, values[:, 0], (4, 1)), mixed[0], name="first feature")
work(products(attention, values[:, 1], (4, 1)), mixed[1], name="second feature")


def attend(
    rows: np.ndarray, to_query: np.ndarray, to_key: np.ndarray, to_value: np.ndarray, divide_by: float
) -> tuple[np.ndarray, np.ndarray]:
    """All of it, for every word at once: who looks at whom, and what each takes along."""
    query, key, value = rows @ to_query, rows @ to_key, rows @ to_value
    raised = np.exp(query @ key.T / divide_by)
    shares = raised / raised.sum(axis=1, keepdims=True)  # each row sums to one
    return shares, shares @ value


shares, mixes = attend(rows, to_query, to_key, to_value, np.sqrt(features))
expect(np.allclose(mixes[-1], mixed), "the short program comes to what we did by hand")
say("The function `attend`, in the lines that compute this, does it for every word at once. There is no more to it.")

# %% [markdown]
# ## Why the root?
#
# A dot product of many features is a sum of many terms, and such sums grow. Here are queries and keys drawn by
# chance: how far do their dot products spread?

# %%
rng = chance("spread")
spread = {n: (rng.normal(size=(4000, n)) * rng.normal(size=(4000, n))).sum(axis=1).std() for n in (2, 16, 64, 256)}
table(
    ["features", "spread of query · key", "divided by the root"],
    [[n, f"{each:.2f}", f"{each / n**0.5:.2f}"] for n, each in spread.items()],
)
expect(all(0.9 < each / n**0.5 < 1.1 for n, each in spread.items()), "the spread grows with the root of the features")
say(
    "The spread grows as the root of the number of features. Undivided, wide models would begin with huge scores, "
    "softmax would give everything to one word, and where softmax is that sure its slope is next to nothing: "
    "little to learn from."
)

# %% [markdown]
# ## The same in the trained model
#
# Now with what training found. The first head of the first block (a *head* is one such attention, a *block* one round
# of them; there are more of both) takes the rows of our three words, brought to a common size first (a lesson of its
# own), and does what you just did. Only the last word is compared here: the others may not see all words, which is the
# next lesson.

# %%
text = " ".join(words)
seen, learnt, a = run.trace(text), run.weights(), run.architecture
read = seen["normed_1"][0]  # block 0: (position, feature)
head = slice(0, a.per_head)  # the columns of head 0
its_query, its_key, its_value = (learnt[f"blocks.0.{name}"][:, head] for name in ("query", "key", "value"))
shares, mixes = attend(read, its_query, its_key, its_value, np.sqrt(a.per_head))
expect(np.allclose(shares[-1], seen["attention"][0, 0, -1], atol=1e-5), "our program gives the model's own attention")
expect(np.allclose(mixes[-1], seen["mixed"][0, 0, -1], atol=1e-4), "and the model's own mix")
table(["*a* looks at", *(f"*{w}*" for w in words)], [["share", *(f"{x:.1%}" for x in shares[-1])]])
say(
    f"The model has {a.width} features, but each of its {a.heads} heads makes queries and keys of {a.per_head}: a dot "
    f"product adds {a.per_head} terms, and so the scores are divided by √{a.per_head}."
)
lab(run, f"`{text}`: the row of the last word. Choose a score to see its products.",
    input=text, head=0, block=0, panels=("scores", "attention", "values"))  # fmt: skip

# %% [markdown]
# ## A picture of looking
#
# The small model of the rule has two features only, so that queries and keys are points. Each query has *one* way to
# look: along its own direction. The further out a key lies that way, the higher its score; sideways does not count,
# and near does not count either.

# %%
from glassformer.figures import plot_score_field, plot_scoring

rule = train("plus_last_even")
early, late = chance("rule").permutation([2, 4, 6, 8, 10])[:2]
told = f"{early} + {early} {late} +"
inside = rule.trace(told)
scores = inside["scores"][0, 0]  # (query, key)
here = len(inside.words) - 1  # the last +
lab(rule, f"Queries and keys of `{told}` on one plane; the last `+` asks. Try it: move the clock to an early step "
    "and see how they come to match.",
    input=told, position=here, panels=("query_key", "scores", "values"))  # fmt: skip
show(plot_score_field(rule, sequence=told, query=f"+@{here}"), "score_field",
     "What the last `+` looks for: red is a high score, the arrow is its query, the squares are keys.")  # fmt: skip
show(plot_scoring(rule, sequence=told), "scoring",
     "The same from start to end on this input: queries and keys, scores, and the attention.")  # fmt: skip
near, out = np.array([0.9, 0.2]), np.array([3.0, 1.0])
arrow = np.array([1.0, 0.0])
say("By hand, with the query `(1, 0)`: one key close to its tip, `(0.9, 0.2)`, and one far out, `(3, 1)`.")
work(products(arrow, near, 1), arrow @ near, name="the near one")
work(products(arrow, out, 1), arrow @ out, name="the far one")
expect(arrow @ out > arrow @ near and np.linalg.norm(out - arrow) > np.linalg.norm(near - arrow), "the far key wins")
answer = here - 1  # where the last even number stands
labels = [f"{word} at {k}" for k, word in enumerate(inside.words)]
point(
    f"The rule says that after `{told}` comes the last even number. In a table of scores each row is a query and "
    "each column a key. Which cell must be the highest of its row, so that the last `+` finds its answer?",
    labels, labels, (here, answer),
    f"The last `+` asks, so it is its row; the `{late}` just before it is the last even number. Their score is "
    f"{written(scores[here, answer])}.",
    otherwise="Rows ask, columns are asked. Find the row of the last `+` and the column of the last even number.",
    reasons={(answer, here): "That is the pair turned round: the number asks and the `+` is asked."},
)  # fmt: skip
expect(scores[here].argmax() == answer, "the last + scores the last even number highest")
say(
    f"Turned round, the score of the `{late}` with the `+` is {written(scores[answer, here])}, not "
    f"{written(scores[here, answer])}: to look is not to be looked at."
)
choice(
    "A word looks at another one with all of its attention. What does it take along from there?",
    "the other word's value",
    "Query and key only decide how much; what is handed over is the value.",
    {
        "the other word's key": "The key is compared with the query, and stays where it is.",
        "the other word's query": "The query is what that word asks of others.",
        "the other word's row of the embedding": "Not the row itself: what the value matrix makes of it.",
    },
)
