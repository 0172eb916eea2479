"""A language model on Shakespeare: pieces, perplexity, and what it looks at."""

from glassformer.teaching import chance, choice, discuss, expect, lab, number, point, say, show, table, train, work

ORDER = 210
MINUTES = 30
AIMS = (
    "make the first pieces of a vocabulary by hand, from counts of neighbours",
    "turn a loss into a perplexity, and hold it against tables of counts",
    "measure where heads look: near, far, and at punctuation",
    "say what a longer window and a wider model cost",
)
BEFORE = ("batches_and_windows", "generating", "training_dynamics")
ANSWERS = (
    "2.§1", "2.§2.1", "2.§2.2", "2.§2.3", "2.§3.1", "2.§3.2", "2.§3.3", "2.§3.4", "2.§3.5", "2.§4.1", "2.§4.2",
    "2.§4.3", "2.§5.1", "2.§5.1.1", "2.§5.1.2", "2.§5.1.3", "2.§5.1.4", "2.§5.2", "2.§5.3", "2.§5.4", "2.§5.5",
    "2.§5.5.1", "2.§5.5.2", "2.§6", "2.F1", "2.F2", "2.F3", "2.F4", "2.F5", "2.F6", "2.F7", "2.F8", "2.T1", "2.N",
)  # fmt: skip
MISCONCEPTIONS = (
    (
        "A language model knows words.",
        "It knows the entries of its vocabulary. Rare names come in pieces, and it writes words that do not exist.",
    ),
    (
        "Perplexities can be compared between any two models.",
        "Only over the same tokens of the same text: with larger pieces each single one is harder to guess.",
    ),
    (
        "Beating a table of counts is easy for a neural network.",
        "Counting what followed the last two tokens is hard to beat: one of the published models is behind it.",
    ),
)
PLAN = (
    (10, "By hand: a sentence on the board, the class merges the commonest pair six times"),
    (15, "The lesson; before each result the class bets on it"),
    (15, "Groups: another prompt, another temperature; find a word that does not exist, and its pieces"),
    (5, "Exit question: which of two perplexities may be compared?"),
)

# %% [markdown]
# ## The text, and a small model of it
#
# All lines of a shelf of plays, one after the other. A model is to guess how the text goes on, token by token. Nobody
# has written down what is right here: the text is the only teacher. (The text is not part of this package. If it is
# missing, the next line says how to get it.)

# %%
import re
from collections import Counter

import numpy as np

import glassformer as gf
from glassformer import corpora

small = {
    "architecture.context": 32, "architecture.width": 64, "architecture.blocks": 2, "architecture.feed_forward": 256,
    "train.batch": 16, "train.rate": 6e-3, "train.decay": 0.1, "train.judged": 200, "train.keep_bytes": 16_000_000,
}  # fmt: skip
text = corpora.read("tinyshakespeare").decode()
run = train("shakespeare_two_cores", steps=600, settings=small)
context = run.architecture.context
say(
    f"The text has {len(text):,} characters, {len(set(text))} different ones. The model has {run.parameters:,} "
    f"parameters in {run.architecture.blocks} blocks and sees {context} tokens at once; it was trained for "
    f"{run.last_step:,} steps, which takes seconds. Leave the settings away and some minutes give a far better one: "
    "`glassformer train shakespeare_two_cores`."
)
say(f"It begins: `{text[:60].splitlines()[0]}` `{text[:60].splitlines()[1]}` …")

# %% [markdown]
# ## Pieces: between letters and words
#
# Letters are few, but a window of letters is short. Words make a long window, but there are too many, and new ones
# never end. **Byte-pair encoding** goes between: begin with single characters, look for the commonest pair of
# neighbours inside words, make it one token, and again. What will the first pair be?

# %%
words = Counter(re.findall(r"\w+|[^\w\s]+", text))
cut = {word: list(word) for word in words}


def commonest_pair() -> tuple[str, str]:
    pairs: Counter[tuple[str, str]] = Counter()
    for word, count in words.items():
        for pair in zip(cut[word], cut[word][1:], strict=False):
            pairs[pair] += count
    return pairs.most_common(1)[0][0]


def merge(pair: tuple[str, str]) -> None:
    for word, pieces in cut.items():
        if pair[0] + pair[1] in word:
            joined: list[str] = []
            for piece in pieces:
                joined[-1:] = [joined[-1] + piece] if joined and (joined[-1], piece) == pair else [*joined[-1:], piece]
            cut[word] = joined


made = []
for _ in range(6):
    pair = commonest_pair()
    merge(pair)
    made.append("".join(pair))
vocabulary = list(run.task.vocabulary)
begin = vocabulary.index(made[0])
entries = vocabulary[begin : begin + len(made)]
say(
    f"The first merges: {', '.join(f'`{each}`' for each in made)}. The model's own vocabulary, from its first piece "
    f"on: {', '.join(f'`{each}`' for each in entries)}."
)
expect(entries == made, "merged by hand as the tokenizer did")
tokens = run.task.encode(text)
counts = Counter(vocabulary[k] for k in tokens)
say(
    f"After {len(vocabulary) - begin} merges the vocabulary has {len(vocabulary)} entries, and the text has "
    f"{len(tokens):,} tokens. Most frequent are "
    + ", ".join(f"`{token}` ({count:,})" for token, count in counts.most_common(6))
    + "."
)
common = [word for word, _ in Counter(each.lower() for each in re.findall(r"\w+|[^\w\s]+", text)).most_common(100)]
missing = [word for word in common if word not in vocabulary]
say(f"Of the {len(common)} commonest words and marks all but {', '.join(missing)} are one token.")
show(gf.figures.plot_token_counts(run), "tokens", "The commonest tokens: punctuation and short pieces.")
name = str(chance("a name").choice(["MENENIUS", "CORIOLANUS", "VOLUMNIA", "SICINIUS"]))
pieces = [vocabulary[k] for k in run.task.encode(name)]
within = [entry for entry in vocabulary[begin:] if entry in name]
number(
    f"Besides single letters the vocabulary has these entries that occur in `{name}`: {', '.join(within)}. Guess: how "
    "many tokens is this name?",
    len(pieces),
    f"{' '.join(pieces)}: merges are made in the order in which they were found. Rare names are made of pieces.",
    mistakes={
        value: reason
        for value, reason in {
            1: "Names are too rare to become one token in so small a vocabulary.",
            len(name): "That many letters; but some of them have been merged.",
        }.items()
        if value != len(pieces)
    },
)

# %% [markdown]
# ## Windows, and what is kept for the test
#
# A window begins at every token; its targets are the same tokens one place further. The last part of the text is never
# trained on.

# %%
held = run.task.data(context).validation
number(
    f"A text of {len(tokens):,} tokens, windows of {context} with a target for each token. How many windows are there?",
    len(tokens) - context,
    "One begins at every token that has as many tokens after it as the window needs, and the last target besides.",
    mistakes={
        len(tokens): "The last ones would run over the end of the text.",
        len(tokens) // context: "They overlap: a window begins at every token, not at every window's end.",
    },
)
say(f"For the test there are {int(held.windows.sum()):,} of them.")

# %% [markdown]
# ## Perplexity: how many tokens it wavers between
#
# The loss of a language model is the mean surprise per token. Its exponential is the **perplexity**: as unsure as
# somebody who chooses among so many tokens alike.

# %%
loss = run.metrics["validation_loss"]
work(f"exp({loss[-1]:.4f})", float(np.exp(loss[-1])), 1, name="perplexity")
ladder = run.task.ladder(context)
rows = [(f"a table of counts: {rung.name}", rung.nats) for rung in ladder]
rows += [("this model, before training", float(loss[0])), ("this model", float(loss[-1]))]
table(["who guesses", "loss", "perplexity"], [[who, f"{each:.3f}", f"{np.exp(each):.1f}"] for who, each in rows])
by_name = {rung.name: rung.nats for rung in ladder}
counted = np.exp(by_name["last two tokens"])
say(
    f"In its short life it has learnt {'more than' if loss[-1] < by_name['last token'] else 'about as much as'} a "
    f"table that knows which token follows which. A table of the last two tokens has "
    f"{counted:.1f}: counting is a serious rival, and every language model should be "
    "held against it."
)
expect(loss[-1] < by_name["token frequencies"] - 0.5, "it has learnt far more than how frequent tokens are")
show(gf.figures.plot_perplexity(run), "perplexity", "Perplexity by step, beside that of tables of counts.")
PRINTED = {"baseline": 60.00, "longer window": 63.24, "wider": 58.35}
say(
    "S2, one of the texts that this laboratory checks (`glassformer claims S2`), trained three models: "
    + ", ".join(f"{each} {value:.2f}" for each, value in PRINTED.items())
    + f". The longer window came out behind the table of counts ({counted:.1f}). Each is one seed; trained again with "
    "three, the baseline alone spreads over more than its distance from the wider model. And width, heads and rate "
    "were changed together, so that nobody can say which of them helped: `docs/language-models.md` has the "
    "measurements, and three traps of that training (what it clips, a rate that never falls, spaces thrown away)."
)
lab(run, "The curve of its perplexity is the clock. Ask it after another name.",
    input="MENENIUS:", panels=("curves", "output", "attention"))  # fmt: skip

# %% [markdown]
# ## Where heads look
#
# We take windows of the held-out text and average: how much attention goes to the token itself, to the one before, and
# to punctuation? Looking everywhere alike is the yardstick.

# %%
begins = held.starts[0] + np.linspace(0, held.windows[0] - 1, 24).astype(int)
windows = held.tokens[begins[:, None] + np.arange(context)]
marks = np.isin(windows, [k for k, each in enumerate(vocabulary) if re.fullmatch(r"[^\w\s]+", each)])


def habits(step: int) -> np.ndarray:
    seen = run.trace(windows, step=step)["attention"]  # (window, block, head, query, key)
    at = np.arange(8, context)  # queries that have some past
    own, before = seen[..., at, at].mean((0, -1)), seen[..., at, at - 1].mean((0, -1))
    distance = (seen * np.maximum(0, np.arange(context)[:, None] - np.arange(context))).sum(-1)[..., at].mean((0, -1))
    stops = (seen * marks[:, None, None, None, :]).sum(-1)[..., at].mean((0, -1))
    return np.stack([own, before, distance, stops])


now, early = habits(int(run.steps[-1])), habits(0)
alike = float(np.mean([1 / (t + 1) for t in range(8, context)]))
even_stops = float(np.mean([marks[:, : t + 1].mean() for t in range(8, context)]))
heads = [(block, head) for block in range(run.architecture.blocks) for head in range(run.architecture.heads)]
table(
    ["block", "head", "on itself", "on the token before", "mean distance", "on punctuation"],
    [
        [b, h, f"{now[0, b, h]:.0%}", f"{now[1, b, h]:.0%}", f"{now[2, b, h]:.1f}", f"{now[3, b, h]:.0%}"]
        for b, h in heads
    ]
    + [
        [
            "alike",
            "",
            f"{alike:.0%}",
            f"{alike:.0%}",
            f"{float(np.mean(np.arange(8, context))) / 2:.1f}",
            f"{even_stops:.0%}",
        ]
    ],
)
narrow = now[2].mean(1)
near = max(heads, key=lambda each: now[1][each])
stop = max(heads, key=lambda each: now[3][each])
say(
    f"Head {near[1]} of block {near[0]} looks most at the token before. At punctuation, which is {even_stops:.0%} of "
    f"what can be seen, head {stop[1]} of block {stop[0]} looks with {now[3][stop]:.0%} of its attention"
    + (
        ": stripes in its map, boundaries as anchors. "
        if now[3][stop] > 1.5 * even_stops
        else "; no anchor to speak of. "
    )
    + f"Mean distances by block are {' and '.join(f'{each:.1f}' for each in narrow)}: the first block is "
    f"{'the narrower one' if narrow[0] < narrow[-1] else 'not the narrower one'} here. Heads differ, and some do "
    f"nearly the same. Before training all of them looked {early[2].mean():.1f} tokens back on average, "
    "everywhere alike."
)
expect(np.allclose(early[:2], alike, atol=0.03), "before training every head looks everywhere alike")
expect(now[1].max() > 1.5 * alike, "some head looks at the token before more than chance would")
show(gf.figures.plot_attention(run), "attention", "Every head on one input: near the diagonal, and stripes.")
point(
    "How many tokens back each head looks, on average. Which is most like a table of what followed the last token?",
    [f"block {b}" for b in range(run.architecture.blocks)],
    [f"head {h}" for h in range(run.architecture.heads)],
    (int(now[2].argmin()) // run.architecture.heads, int(now[2].argmin()) % run.architecture.heads),
    f"{now[2].min():.1f} tokens back on average: an adaptive table of what followed the last tokens begins like this.",
    otherwise="Such a table needs the last token alone: look for the head that stays nearest.",
    cells=[[f"{value:.1f}" for value in row] for row in now[2]],
)
lab(run, "The heads of both blocks on a speaker's name. Go back to the beginning: nothing stands out there.",
    input="CORIOLANUS:", panels=("attention", "scores", "curves"), block=near[0], head=near[1])  # fmt: skip

# %% [markdown]
# ## How it goes on
#
# After a speaker's name and a colon, what comes? There are many ways to begin a line, and a good model knows that.

# %%
prompts = ["MENENIUS:", "BRUTUS:", "CORIOLANUS:"]
top = {prompt: run.ask(prompt)[:5] for prompt in prompts}
most = max(each[0][1] for each in top.values())
choice(
    f"After `{prompts[0]}` the five likeliest tokens have {', '.join(f'{c:.3f}' for _, c in top[prompts[0]])}. Do they "
    "hold most of the probability?",
    "No" if max(sum(c for _, c in each) for each in top.values()) < 0.5 else "Yes",
    f"Together {sum(c for _, c in top[prompts[0]]):.3f}: the rest is spread over hundreds of tokens. (S2 says that "
    "most of it is on five tokens; those it prints come to about a quarter or a third.)",
    {"Yes" if max(sum(c for _, c in each) for each in top.values()) < 0.5 else "No": "Add them up."},
)
table(["after", "the five likeliest", "together"],
      [[f"`{p}`", ", ".join(f"`{t}` {chance_:.3f}" for t, chance_ in each), f"{sum(c for _, c in each):.3f}"]
       for p, each in top.items()])  # fmt: skip
say("And left alone, at two temperatures:")
for temperature in (0.5, 1.0):
    say(
        f"T = {temperature}: {' / '.join(str(run.generate('MENENIUS:', temperature=temperature, seed=3)).splitlines())}"
    )
say(
    "Spaces are guessed when it is written out: the tokenizer throws them away, so the text cannot be restored exactly."
)

# %% [markdown]
# ## What it costs
#
# Attention compares every token with every earlier one: twice the window, four times the comparing. Does that make a
# long window dearer than a wide model? Count the multiplications of the baseline of S2 for one token.


# %%
def multiplications(context: int, width: int, blocks: int = 2, hidden: int = 2, tokens: int = 500) -> dict[str, int]:
    return {
        "projections": blocks * 4 * width * width,
        "attention": blocks * 2 * context * width,
        "feed-forward": blocks * 2 * hidden * width * width,
        "read-out": width * tokens,
    }


plain, longer, wider = multiplications(64, 128), multiplications(128, 128), multiplications(64, 256)
table(["", "baseline", "window doubled", "width doubled"],
      [[part, f"{plain[part]:,}", f"{longer[part]:,}", f"{wider[part]:,}"] for part in plain]
      + [["all, for one token", *(f"{sum(each.values()):,}" for each in (plain, longer, wider))]])  # fmt: skip
work(f"2 × {sum(longer.values()):,} / {sum(plain.values()):,}", 2 * sum(longer.values()) / sum(plain.values()), 2,
     name="a window of twice the length costs, times")  # fmt: skip
work(f"{sum(wider.values()):,} / {sum(plain.values()):,}", sum(wider.values()) / sum(plain.values()), 2,
     name="a model of twice the width costs, times")  # fmt: skip
say(
    f"Attention is {plain['attention'] / sum(plain.values()):.0%} of the work here, so its square hardly shows: width "
    "is the dearer of the two, though S2 says the reverse. In memory, what is kept for the backward pass (a number for "
    "every token, feature and pair of places in the batch) is far more than the parameters."
)
expect(sum(wider.values()) > 2 * sum(longer.values()), "doubling the width costs more than doubling the window")
lab(run, "Go on training here, and watch the curve: how soon does it stop getting better?",
    mode="train", panels=("curves", "output", "updates"))  # fmt: skip
discuss(
    "Take the positions away. Is the model left with a bag of words?",
    "One block alone cannot tell an order; with two the causal mask helps, since every earlier place has seen another "
    "past. What is lost is how far back something stood.",
    "Train once with `--set architecture.positions=none`, with several seeds, and compare the perplexities.",
)
choice(
    "Exit question. Which two perplexities may be compared?",
    "Two models over the same tokens of the same held-out text",
    "Perplexity is per token. Bits per character would be fair between vocabularies that restore the text.",
    {
        "A model over pieces and one over letters": "A letter is easier to guess than a piece; the units differ.",
        "The same model on its training text and on new text": "That difference is the gap, and worth knowing; it says "
        "nothing about which model is better.",
    },
)
