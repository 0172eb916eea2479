"""Generating: one word after the other, and what it cannot say."""

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
)

ORDER = 170
MINUTES = 25
AIMS = (
    "write the loop that turns a guesser of next words into a writer",
    "compute what a temperature does to two chances, and what top-k leaves",
    "say why always taking the likeliest word ends in a circle",
    "measure how much of a generated text is copied",
)
BEFORE = ("to_the_floor",)
ANSWERS = ("3.§11", "3.§12", "0.V3.5", "0.M.4")
MISCONCEPTIONS = (
    (
        "The model plans its sentence and then writes it down.",
        "It knows one next word at a time. What it wrote itself comes back as input, no different from what you typed.",
    ),
    (
        "A higher temperature makes it more creative.",
        "It makes unlikely words likelier, all of them, sensible or not. Measure how much of the text still makes "
        "sense.",
    ),
    (
        "If it does not know, it says so.",
        "It spreads its shares over the words it has. There is always a likeliest one, whatever the input.",
    ),
)
PLAN = (
    (10, "A game: write a sentence in turns, one word each, seeing only the last few words"),
    (20, "The lesson; each group writes at another temperature"),
    (10, "Worksheet, alone"),
    (5, "Exit question: what can this model never say, at any temperature?"),
)

# %% [markdown]
# ## From guessing to writing
#
# The model gives chances for one next word. To write, take a word by these chances, put it at the end of the text, and
# ask again: what it said becomes what it reads. This is called **autoregressive** generation, and it is the whole
# trick. Only the last few words fit into the window; what is further back is forgotten.

# %%
from collections import Counter

import numpy as np

from glassformer.tasks.mary import TEXT

run = train("mary")
a, words = run.architecture, run.task.vocabulary


def chances(text: list[str]) -> np.ndarray:
    """The chance of each word to come next."""
    window = text[-a.context :]  # all that it can see
    return np.asarray(run.trace(" ".join(window))["probabilities"][-1])


after = {word: Counter(TEXT[k + 1] for k in range(len(TEXT) - 1) if TEXT[k] == word) for word in words}
start = next(word for word in words if len(set(after[word].values())) > 1)  # followed by several, not equally often
text, lines = [start], []
for _ in range(10):
    said = chances(text)
    best = int(said.argmax())
    lines.append([" ".join(text[-a.context :]), words[best], f"{said[best]:.1%}"])
    text.append(words[best])  # the likeliest: a *greedy* choice
table(["in view", "likeliest next", "chance"], [[f"`{view}`", f"`{word}`", said] for view, word, said in lines])
expect(" ".join(text) == run.generate(start, 10, temperature=0).text, "our loop writes what the laboratory's does")
longer = int(chance("how long").integers(a.context + 3, a.context + 12))
number(
    f"After {longer} words have been written after the first one, how many words does the model see when it "
    "chooses the next?",
    a.context,
    f"The window holds {a.context}. What is further back is gone, even if the model wrote it itself.",
    mistakes={
        longer + 1: "So many there are. But only those that fit into the window are seen.",
        longer: "So many were written. But only those that fit into the window are seen.",
    },
)
lab(run, "Guess before it does: what comes next? Then the word after that.",
    input=start, mode="predict", panels=("output",))  # fmt: skip

# %% [markdown]
# ## The likeliest, for ever
#
# Let it go on greedily, and watch what becomes of it.

# %%
from glassformer.figures import plot_unrolled

written = run.generate(start, 150, temperature=0).text.split()
first_seen: dict[tuple[str, ...], int] = {}
for place in range(a.context, len(written)):
    view = tuple(written[place - a.context : place])
    if view in first_seen:
        break
    first_seen[view] = place
period = place - first_seen[view]
say(f"> {' '.join(written[: place + period])} …".replace("<END>", "`<END>`"))
expect(view in first_seen, "greedy writing comes back to a window it has seen")
expect(written[place : place + period] == written[place - period : place], "and then repeats itself")
say(f"From there on it goes round in a circle of {period} words.")
choice(
    "It had seen this very window before. Why must everything repeat from there?",
    "the same window always gives the same next word",
    "The choice depends on the window alone, and there is no chance in it. So the next window is the same as then, "
    "too.",
    {
        "the model remembers what it wrote": "It remembers nothing beyond its window.",
        "the rhyme repeats itself": "It does, here and there, but a greedy writer would get caught with any text.",
        "its loss is not yet on the floor": "A perfect model would get caught in the same way.",
    },
)

# %% [markdown]
# ## Drawn by chance
#
# So draw the word instead, each with its chance, as if by a wheel with sectors of that size. Where only one word can
# follow, nothing changes; where several can, the text takes one way today and another tomorrow. The numbers that a
# computer draws follow from a *seed*: the same seed, the same turns of the wheel, the same text.

# %%
said = chances([start])
edges = np.cumsum(said)  # the sectors, laid end to end from 0 to 1
spin = chance("spin").random()  # anything from 0 to 1, all equally likely
hit = int(np.searchsorted(edges, spin))
say(
    f"One turn of the wheel after `{start}`: it stops at {spin:.4f}. The sector of `{words[hit]}` reaches from "
    f"{edges[hit] - said[hit]:.4f} to {edges[hit]:.4f}, so that is the word."
)
expect(edges[hit] - said[hit] <= spin <= edges[hit], "the wheel stops inside the sector of the word")
samples = [run.generate(start, 14, seed=seed() + k).text for k in range(4)]
say("\n".join(f"- {sample}" for sample in samples).replace("<END>", "`<END>`"))
expect(len(set(samples)) > 1, "chance leads to different texts")
same = run.generate(start, 14, seed=seed()).text
expect(same == samples[0], "and the same seed to the same text")
show(plot_unrolled(run, seed=seed()), "unrolled",
     "A text as it grows: left what is in view, right what was likely. Where did chance decide?")  # fmt: skip
say(
    f"`glassformer generate {run.name} mary --seed 5` does the same from the command line. Try it: other seeds, other "
    "first words."
)
lab(run, f"These chances are the sectors of the wheel. Type the word at which it stopped after `{start}`, and so on.",
    input=start, panels=("output",))  # fmt: skip

# %% [markdown]
# ## Temperature
#
# You met temperature with softmax: logits are divided by it before they become chances. Below one, the likely gets
# likelier; above one, everything becomes more even. For chances there is a short way to compute it: raise each to the
# power of one over the temperature, then divide by the sum. Take the counted shares of what follows our first word.

# %%
counted = dict(after[start].most_common())
total = after[start].total()
likelier = next(iter(counted))
cold = 0.5
powers = {word: (many / total) ** (1 / cold) for word, many in counted.items()}
answer = powers[likelier] / sum(powers.values())
number(
    f"After `{start}` comes {', '.join(f'`{word}` {many} times' for word, many in counted.items())}. At temperature "
    f"{cold} each share is raised to the power of one over {cold}. What is the chance of `{likelier}` then?",
    answer,
    "The likelier one gets likelier: squares set small shares further back than large ones.",
    tolerance=0.005,
    mistakes={
        round(counted[likelier] / total, 4): "That is its share at temperature one.",
        round(powers[likelier], 4): "Now divide by the sum of the powers, so that all sum to one.",
    },
)
squares = " + ".join(f"({many} / {total})²" for many in counted.values())
work(f"({counted[likelier]} / {total})² / ({squares})", answer, name=likelier)

# %% [markdown]
# And the model? It wrote at several temperatures; we measure how many of its words may follow what stands before them
# in the rhyme, and how many runs of several words are copied from it word for word.

# %%
LONG = 7
copied_runs = {tuple(TEXT[k : k + LONG]) for k in range(len(TEXT) - LONG + 1)}


def measured(temperature: float, top_k: int | None = None) -> tuple[float, float]:
    """Of eight texts: the share of words that may follow, and of runs of words that occur in the rhyme."""
    fitting, copied = [], []
    for k in range(8):
        text = run.generate(start, 30, temperature, top_k, seed=seed() + k)
        made = text.text.split()
        fitting += [bool(each) for each in text.right]
        copied += [tuple(made[i : i + LONG]) in copied_runs for i in range(len(made) - LONG + 1)]
    return float(np.mean(fitting)), float(np.mean(copied))


temperatures = (0.5, 1.0, 2.0, 4.0)
found = {t: measured(t) for t in temperatures}
table(
    ["temperature", "words that may follow", f"runs of {LONG} words that are copied"],
    [[t, f"{fits:.0%}", f"{copies:.0%}"] for t, (fits, copies) in found.items()],
)
expect(found[1.0][0] > 0.9, "at temperature one nearly every word may follow")
expect(found[4.0][0] < found[2.0][0] < found[1.0][0], "hotter texts make less sense")
hot = run.generate(start, 14, temperature=temperatures[-1], seed=seed()).text
say(f"At temperature {temperatures[-1]}:\n\n> {hot}".replace("<END>", "`<END>`"))
lab(run, f"The chances with the temperature set to {temperatures[-1]:.0f}: the long tail of words that never follow "
    "has grown.",
    input=start, temperature=temperatures[-1], panels=("output",))  # fmt: skip

# %% [markdown]
# ## Top-k: cut the tail
#
# Each of the many impossible words is unlikely, but together they are not, and one of them soon comes. **Top-k**
# keeps only the few likeliest words and shares everything out among them.

# %%
kept = 2
rows = {}
for t in temperatures[2:]:
    rows[t] = (found[t][0], measured(t, top_k=kept)[0])
table(["temperature", "all words: may follow", f"the {kept} likeliest: may follow"],
      [[t, f"{everything:.0%}", f"{few:.0%}"] for t, (everything, few) in rows.items()])  # fmt: skip
expect(all(few > everything for everything, few in rows.values()), "cutting the tail keeps a hot text sensible")
pair = TEXT[1:3]
said = chances(pair)
order = np.argsort(-said)[:4]
nexts = {TEXT[k + 2] for k in range(len(TEXT) - 2) if TEXT[k : k + 2] == pair}
expect(nexts == {words[order[0]]}, "one word follows these two, and the model knows it")
table([f"after `{' '.join(pair)}`", "chance"], [[f"`{words[k]}`", f"{said[k]:.2%}"] for k in order])
choice(
    f"After `{' '.join(pair)}` only one word ever follows. What is the price of keeping {kept} words there?",
    "the second one, which never follows, gets a share",
    "Top-k keeps a fixed number of words, whether one can follow or ten. (*Top-p* keeps as many as have a given "
    "share together.)",
    {
        "none": "The second word is kept although it never follows, and the hotter, the larger its share.",
        "the right word is cut off": "The likeliest word is always kept.",
    },
)

# %% [markdown]
# ## What it cannot say
#
# Some things it does not say. Predict each before you read the answer: a word that is not in the rhyme; *I do not
# know*, which would be an even answer, after nonsense; a sentence that means something new.

# %%
from glassformer.errors import Error

asked = f"{start} crocodile"
try:
    run.ask(asked)
    refused = ""
except Error as problem:
    refused = str(problem)
say(f"A new word, `{asked}`:\n\n> {refused}")
expect("crocodile" in refused, "what is not in the vocabulary cannot even be asked")
nonsense = " ".join(chance("nonsense").permutation([word for word in words if word != "<END>"])[:4])
top = run.ask(nonsense)[0]
expect(nonsense not in " ".join(TEXT), "nonsense does not occur in the rhyme")
say(
    f"Nonsense, `{nonsense}`, which never occurs: it goes on with `{top[0]}` and gives it {top[1]:.0%}, "
    f"{top[1] * len(words):.0f} times as much as in an even answer, which would say that it does not know."
)
expect(top[1] > 2 / len(words), "on nonsense it still has a favourite, far above an even guess")
copies = found[1.0][1]
say(
    f"Something new? At temperature one, {copies:.0%} of all runs of {LONG} words are word for word in the rhyme. S3, "
    "the text about this model (`glassformer claims S3`), says that its model writes in the *style* of the rhyme. "
    "What it has learnt is the rhyme, and where one may cross over from one line to another. New are at most the "
    "crossings."
)
expect(copies > 0.6, "most of what it writes is copied")
ways = {word: sorted(after[word]) for word in (TEXT[0], TEXT[3], TEXT[4])}
columns = sorted({follower for each in ways.values() for follower in each})
sure = {word: run.ask(word)[0] for word in ways}
surest = max(sure, key=lambda word: sure[word][1])
point(
    "Rows: the only word in view. Columns: what comes next. Where is the model surest of what follows?",
    list(ways), columns, (list(ways).index(surest), columns.index(sure[surest][0])),
    f"After `{surest}` it gives {sure[surest][1]:.0%} to `{sure[surest][0]}`. In the rhyme, `{surest}` is followed "
    f"by {' or '.join(f'`{word}`' for word in ways[surest])}.",
    otherwise="Think of the rhyme: after which of these words is there least to choose from?",
)  # fmt: skip

# %% [markdown]
# ## What you have built
#
# Token by token, this is the machine you now know from end to end:
#
# - *token embedding* and *positions*: what stands where;
# - *attention*, with several *heads*: each word gathers from those before it;
# - *feed-forward*: each word works on what it has gathered;
# - *residual stream* and *norm*: everything is added up, and read at a common size;
# - *read-out* and *softmax*: from features to chances;
# - *loss*, *gradient*, *AdamW*: from being wrong to being less wrong;
# - the *loop* of this lesson: from chances to text.
#
# The large models that people talk to are built of the same parts. What would bring ours closer to them? More text
# first of all, then pieces of words in place of whole ones, a larger model and a longer window; and afterwards
# *instruction tuning*, more training on questions with good answers, so that it answers in place of merely going on.
# `glassformer train --text FILE` does the first with a text of yours, and the lesson on Shakespeare shows the next
# steps. One improvement is in place already: the rate of this training falls towards its end.

# %%
discuss(
    "Is learning by heart a failure of this model?",
    "Its loss asks for nothing else: the text it is judged by is the text it has seen, and it has far more "
    "parameters than the text has words. Whether a model has learnt more than that can only be seen on text it has "
    "*not* seen.",
    "Train on a longer text, `glassformer train shakespeare_two_cores`, and compare the loss on seen and on unseen "
    "text.",
)
lab(run, "Train it again, with another seed, and let it write: what stays the same, what does not?",
    input=" ".join(pair), mode="train", panels=("curves", "output"))  # fmt: skip
choice(
    "What can this model never say, at any temperature?",
    "a word that does not occur in the rhyme",
    "It has no number for it: the read-out gives scores for its vocabulary, and for nothing else.",
    {
        "a line that does not occur in the rhyme": "It can, where it leaves one line for another, and when hot.",
        "the same line twice": "It does so all the time; greedily, for ever.",
    },
)
