"""Positions: the same words in another order."""

from glassformer.teaching import (
    chance,
    choice,
    discuss,
    expect,
    factor,
    lab,
    number,
    products,
    say,
    show,
    table,
    train,
    work,
    written,
)

ORDER = 100
MINUTES = 20
AIMS = (
    "say why a model that adds up its words cannot know their order",
    "compute what enters the model: a row for the word plus a row for the place",
    "say what a row of waves has that a learnt row has not, and the other way round",
    "predict what a model without positions answers when the order changes",
)
BEFORE = ("embeddings",)
ANSWERS = ("2.§5.4", "4.05", "4.06", "4.D1")
MISCONCEPTIONS = (
    (
        "The model reads from left to right, so it knows the order anyway.",
        "It takes in all places at once. Without a mark for the place, two orders with the same last word give the "
        "same sums.",
    ),
    (
        "The position is one more number beside the others.",
        "It is a whole row, as long as a word's row, and added to it: no feature belongs to the place alone.",
    ),
    (
        "Positions must be learnt.",
        "Waves that nobody learns tell places apart as well, and cost no parameter.",
    ),
)
PLAN = (
    (10, "In pairs: three cards with words; find sentences whose meaning turns with the order"),
    (20, "The lesson, to the waves; each pair computes another pair of token and place"),
    (10, "Worksheet, alone"),
    (5, "Exit question: what can a sum over all words never know?"),
)

# %% [markdown]
# ## Does the order matter?
#
# *Dog bites man* and *man bites dog* hold the same words. Our second little model makes the point with numbers: it
# has learnt one rule, **after `+` comes the last even number before it**. So the order decides everything.

# %%
import numpy as np

run = train("plus_last_even")
numbers = [str(n) for n in chance("order").permutation([2, 4, 6, 8, 10])[:3]]
one, other = " ".join([*numbers, "+"]), " ".join([*reversed(numbers), "+"])
choice(
    f"What comes after `{one}`?",
    f"`{numbers[-1]}`",
    f"It is the last even number before the `+`. The model says so, too, with {dict(run.ask(one))[numbers[-1]]:.1%}.",
    {
        f"`{numbers[0]}`": "It is even, but the first one, not the last.",
        f"`{numbers[1]}`": "It is even, but another even number stands after it.",
        "`+`": "The rule asks for an even number after `+`.",
    },
)
heard = {text: run.ask(text)[0] for text in (one, other)}
table(
    ["after", "the model says", "with"], [[f"`{text}`", f"`{said}`", f"{p:.1%}"] for text, (said, p) in heard.items()]
)
expect(heard[one][0] == numbers[-1] and heard[other][0] == numbers[0], "the trained model minds the order")
lab(run, f"The output for `{one}`. Type the numbers in another order, and watch the answer follow.",
    input=one, panels=("output",))  # fmt: skip

# %% [markdown]
# ## A sum has no order
#
# In the lesson on embeddings each word became a row of numbers, the same row wherever the word stands. What a
# transformer does next, as you will see, is to mix such rows: it multiplies each by a share and **adds** them. Try
# the simplest mix, the mean of all rows, for both orders.

# %%
learnt = run.weights()
rows = {text: learnt["token"][run.tokens(text)] for text in (one, other)}  # one row of features for each token
means = {text: each.mean(axis=0) for text, each in rows.items()}
table(["text", *(f"mean of feature `{k}`" for k in range(run.architecture.width))],
      [[f"`{text}`", *(written(x, 4) for x in mean)] for text, mean in means.items()])  # fmt: skip
expect(np.allclose(means[one], means[other]), "the mean of the rows is the same in every order")
say(
    "Not a digit differs. Whatever is computed from this mean must be the same for both texts, and so would be the "
    "answer."
)

# %% [markdown]
# ## A row for each place
#
# The cure is simple. Beside the table with a row for each *word* the model has a second table with a row for each
# **position**, that is, for each place of the window; places count from `0`. The row of the word and the row of its
# place are added, feature by feature. The sum is called **embedded**: it is all that the rest of the model gets to
# see.

# %%
seen = run.trace(one)
place = int(chance("place").integers(len(numbers)))
word = learnt["token"][run.tokens(one)[place]]
here = learnt["position"][place]
embedded = word + here
say(f"For the `{numbers[place]}` at place {place}, feature by feature, the word's number and the place's:")
work(f"{written(word[0], 4)} + {factor(here[0], 4)}", embedded[0])
work(f"{written(word[1], 4)} + {factor(here[1], 4)}", embedded[1])
expect(np.allclose(embedded, seen["embedded"][place]), "the sum by hand is what enters the first block")
say(
    f"In `{one}` the `{numbers[0]}` stands first, in `{other}` last: it gets another place's row, and enters as "
    "another point."
)
lab(run, f"Tokens, places and their sums, as points. Choose `{numbers[place]}` at place {place} and see the two "
    "numbers added.",
    input=one, position=place, panels=("embedding",))  # fmt: skip

# %%
mary = train("mary")
a = mary.architecture
number(
    f"The model of the rhyme sees {a.context} words at once, knows {a.vocabulary} words, and gives each a row of "
    f"{a.width} features. How many numbers has its table of positions?",
    a.context * a.width,
    f"A row for each place of the window: {a.context} × {a.width}. How many words there are does not matter.",
    mistakes={
        a.vocabulary * a.width: "That is the table of words. Places are few: only as many as the model sees at once.",
        a.context: "One number for each place would be too few: each place has a whole row.",
        a.context * a.vocabulary: "A place has a row of features, not a number for each word.",
    },
)
expect(mary.weights()["position"].size == a.context * a.width, "the table has a row of features for each place")

# %% [markdown]
# ## What training made of the places
#
# The rows of places are learnt like all others: they begin as chance, and each step of the training moves them a
# little. Nobody told the model that place `2` lies between `1` and `3`. Look whether it found out.

# %%
from glassformer.figures import plot_positions

places = learnt["position"]
length = np.linalg.norm(places, axis=1)
cosines = places @ places.T / np.outer(length, length)  # how far two rows point the same way, from −1 to 1
near, far = np.diag(cosines, 1).mean(), cosines[0, -1]
show(plot_positions(run), "positions",
     "Left the table itself; in the middle how alike each two rows are; right the rows as points.")  # fmt: skip
say(f"Neighbouring places have a cosine of {written(near)} on average, the first and the last one {written(far)}.")
expect(near > far, "neighbouring places are more alike than the first and the last")
lab(run, "The same at the very beginning, step `0`: the places lie about at random. Let the clock run and watch them "
    "part.",
    step=0, input=one, panels=("embedding",))  # fmt: skip

# %% [markdown]
# ## Waves instead of a table
#
# The model of Shakespeare's plays, later in this course, learns no positions. Its places come from a formula: each
# *pair* of features is the sine and the cosine of an angle that grows with the place, the first pair fast, each
# further pair more slowly, like the hands of a clock. Every place gets a row that no other has, and no parameter is
# spent.


# %%
def waves(context: int, width: int) -> np.ndarray:
    """(place, feature): sines and cosines by turns."""
    speed = 10_000.0 ** (-np.arange(0, width, 2) / width)  # of each pair
    angle = np.arange(context)[:, None] * speed
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(context, width)


clock = waves(context=12, width=8)
step = 2  # how far we shift
turn = np.array([[np.cos(step), -np.sin(step)], [np.sin(step), np.cos(step)]])  # for the fastest pair, of speed 1
shifted = clock[:-step, :2] @ turn  # the same turn for every place
start = int(chance("start").integers(1, 8))
say(
    f"Going {step} places on is the same small computation wherever one starts: a turn of the pair by the angle of "
    f"{step} places. From place {start}, its sine and cosine, each multiplied by a sine or cosine of that angle:"
)
work(products(clock[start, :2], turn[:, 0], 4), clock[start + step, 0], name=f"sine at {start + step}")
work(products(clock[start, :2], turn[:, 1], 4), clock[start + step, 1], name=f"cosine at {start + step}")
expect(np.allclose(shifted, clock[step:, :2]), "one turn takes every place to the one a step further")
choice(
    "A text is longer than any the model was trained on. Which positions can it even be given?",
    "waves, but not learnt rows",
    "The formula gives a row for any place. The table simply ends. (Whether the model makes sense of places it "
    "never met is another matter.)",
    {
        "learnt rows, but not waves": "The table has a row for each place of the window it was made for, and no more.",
        "both": "A table of learnt rows ends with the window it was made for.",
    },
)

# %% [markdown]
# ## Taken away
#
# Now the test. We set all rows of places to zero while the model computes, and ask again. Predict: what will it
# answer to the two orders?

# %%
without = {text: run.trace(text, edits="zero(position_embedding)")["probabilities"][-1] for text in (one, other)}
answers = {text: run.task.vocabulary[int(chances.argmax())] for text, chances in without.items()}
table(
    ["after", "with positions", "without"],
    [[f"`{text}`", f"`{heard[text][0]}`", f"`{answers[text]}`"] for text in answers],
)
expect(np.allclose(without[one], without[other], atol=1e-5), "without positions, both orders get the same answer")
say(
    "The same answer to both, to the last digit, so that at least one of them is wrong. The numbers before the `+` "
    "have become a *bag of words*: what is in it counts, not the order."
)
lab(run, f"`{one}`, with all positions set to zero. Try it: turn the numbers round; the answer stays.",
    input=one, edits="zero(position_embedding)", panels=("embedding", "output"))  # fmt: skip

# %% [markdown]
# ## With more than one block
#
# This laboratory grew out of five texts about small transformers, its *sources* S0 to S4, and checks what they claim;
# you will meet them again (`glassformer claims S2` lists what the third of them says). S2 says that without positions a
# model cannot tell orders apart. That holds for this model, which mixes its words once. The model of the rhyme mixes
# them twice: it has two **blocks**, one after the other, and each of them mixes, then works on the result. In each mix
# a place gathers only from itself and from what stands before it. So when two words change places, the second place has
# met another word before it than in the other order: in the second mix, the order shows.

# %%
first, second, third, last = mary.task.vocabulary[:4]
turned = [f"{second} {third} {last} {first}", f"{third} {second} {last} {first}"]
blind = [mary.trace(text, edits="zero(position_embedding)")["probabilities"][-1] for text in turned]
difference = np.abs(blind[0] - blind[1]).max()
say(
    f"Without positions, {' and '.join(f'`{text}`' for text in turned)} lead the model with "
    f"{mary.architecture.blocks} blocks to chances that differ by up to {difference:.4f}: little, but not nothing. "
    "S2 is right for one block only."
)
expect(difference > 1e-5, "two blocks tell orders apart even without positions")
discuss(
    "A model that was trained without positions from the beginning: would it do better than one that loses them "
    "afterwards?",
    "Ours was used to its positions: taking them away also shifts every row by something it relied on. A model "
    "that never had them can use what is left, that is, words and, with several blocks, who came before whom.",
    "`glassformer train mary --set architecture.positions=none`, several seeds, and compare how far its loss ends "
    "above the floor with that of `glassformer train mary`.",
)
choice(
    "What can a sum over all words of a text never tell?",
    "their order",
    "Numbers may be added in any order. Only a mark of the place on each word, as the row of its position, "
    "survives the sum.",
    {
        "which words there are": "The rows of the words are in the sum: other words, another sum.",
        "how often a word occurs": "A word that occurs twice adds its row twice.",
    },
)
