"""Batches and windows: how a text becomes questions with known answers."""

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

ORDER = 20
MINUTES = 15
AIMS = (
    "cut a text into windows and write down what each of them asks",
    "say why the targets are the inputs, moved by one position",
    "count windows, guesses, steps and passes over the text",
    "say what a batch is for, and measure how much steadier it is than a single window",
)
BEFORE = ("numbers_for_words",)
ANSWERS = ("3.§4", "1.T.2", "1.Q7", "1.Q41")
MISCONCEPTIONS = (
    (
        "Somebody had to write down the right answers.",
        "The text is its own answer key: what comes next stands in it. That is why so much text can be learnt from.",
    ),
    (
        "A window is one question.",
        "It is one question at every position: each position sees what stands before it and is asked for what comes "
        "next.",
    ),
    (
        "An epoch and a step are the same.",
        "A step is one update, from one batch. An epoch is one pass over all there is, and takes several steps.",
    ),
)
PLAN = (
    (10, "With paper strips of a rhyme: slide a frame over it, one word at a time; write down what each frame asks"),
    (20, "The lesson; each pair draws its own batch and says what it asks"),
    (10, "Worksheet, alone: count windows, guesses, steps, passes"),
    (5, "Exit question: why does every position of a window have its own target?"),
)

# %% [markdown]
# ## The text knows the answers
#
# Our model is to learn to say what comes next. To learn, it needs questions with known answers. Who writes them?
# Nobody: take any stretch of the rhyme, hide the next word, and you have a question *and* its answer.
#
# How much of the text may it look at? A fixed number of tokens, its **window** (also called its *context*). The
# window is part of how a model is built; large models have longer ones, ours a short one.

# %%
import numpy as np

run = train("mary")
context = run.architecture.context
ids = run.task.data(context).train.tokens  # the whole rhyme, as ids
words = np.array(run.task.vocabulary)  # words[ids] reads them back
say(f"The rhyme has {len(ids)} tokens, and the model sees {context} of them at a time.")

begin = int(chance("window").integers(len(ids) - context))  # drawn by chance
window = ids[begin : begin + context + 1]  # one more than it sees: the last one is only asked for
inputs, targets = window[:-1], window[1:]
say(f"Here is one window, from token {begin} on. Above is what the model sees, below what it is asked for:")
table(
    ["position", *range(context)],
    [["input", *(f"`{w}`" for w in words[inputs])], ["target", *(f"`{w}`" for w in words[targets])]],
)
expect((inputs[1:] == targets[:-1]).all(), "the targets are the inputs, moved by one position")
say("The targets are the inputs, moved by one position: at each position, the target is the word that comes next.")

# %% [markdown]
# ## One window, many questions
#
# A window is not one question. Each position is asked for its own next word, and sees only what stands at it and
# before it. (How the model is kept from peeking ahead is a lesson of its own: the causal mask.)

# %%
questions = [(words[inputs[: k + 1]], words[targets[k]]) for k in range(context)]
table(["in view", "what comes?"], [[f"`{' '.join(view)}`", f"`{answer}`"] for view, answer in questions])
_at = int(chance("asked").integers(1, context - 1))
point(
    f"Point at the answer that is wanted when `{' '.join(words[inputs[: _at + 1]])}` is in view.",
    ["input", "target"],
    [f"position {k}" for k in range(context)],
    (1, _at),
    f"The last word in view stands at position {_at}; its target stands below it.",
    otherwise="Find the position of the last word in view; the answer is the target at that position.",
    cells=[words[inputs], words[targets]],
    reasons={
        (0, _at + 1): "That is the right word, but as an input of the next position; the answer is among the targets."
    },
)
_said = run.ask(inputs[: _at + 1])[0][0]
lab(
    run,
    "This window in the trained model. Choose a position of the input: the output shows what it expects next. At "
    f"position {_at} it says `{_said}`.",
    input=" ".join(words[inputs]),
    position=_at,
    panels=("output",),
)

# %% [markdown]
# ## How many windows are there?
#
# Slide the window over the text, one token at a time. Each window needs the tokens it sees and one more, the last
# target.

# %%
starts = sum(k + context < len(ids) for k in range(len(ids)))  # places k whose last target is in the text
number(
    f"{len(ids)} tokens, and a window sees {context} of them and asks for one more. At how many places can it begin?",
    starts,
    "The last window ends with the last token; each step to the left is one more window.",
    mistakes={
        starts + 1: "Then the last window would have no word left to ask for at its last position.",
        starts - 1: "One more fits: the last window may end exactly at the last token.",
        len(ids) // context: "The windows overlap: they begin at every token, not only where the last one ended.",
        len(ids): "Near the end of the text there is not enough left to fill a window.",
    },
)
work(f"{len(ids)} − {context}", starts, name="windows")
used = int(run.task.data(context).train.windows[0])
say(
    f"Ours learns from {used} of these {starts}: the last one is left out, so that the rhyme's very last `<END>` is "
    "never asked for. The source's program does so, by a slip of one in its arithmetic, and we keep it to be "
    "comparable."
)
expect(used == starts - 1, "the training uses all windows but one")

# %%
text = " ".join(words[ids])
shown = "lamb little lamb mary had a"  # a window that the source prints as an example
say(
    f"*A note.* The source prints `{shown}` as an example of a window. Look for it: it is "
    f"{'there' if shown in text else 'nowhere in the rhyme, for it has swallowed an `<END>`'}. A window is always a "
    "stretch of the text as it stands; it may well run across the end of a line."
)
expect(shown not in text, "the source's example is not in the text")

# %% [markdown]
# ## A batch: several windows at once
#
# The model learns in **steps**. In each step it answers the questions of a few windows that were drawn by chance, a
# **batch**; its mistakes are averaged, and all its numbers are changed a little. Drawing a batch takes three lines:

# %%
rng = np.random.default_rng(seed())
batch = run.experiment.train.batch
drawn = rng.integers(used, size=batch)  # where each window begins
x = np.stack([ids[k : k + context] for k in drawn])  # (window, position): what is seen
y = np.stack([ids[k + 1 : k + context + 1] for k in drawn])  # (window, position): what is wanted
table(
    ["window", "begins at", "input", "target"],
    [[k, drawn[k], f"`{' '.join(words[x[k]])}`", f"`{' '.join(words[y[k]])}`"] for k in range(3)],
)
say(f"… and {batch - 3} more. Both tables have the shape {x.shape}: {batch} windows of {context} positions.")
number(
    "How many guesses does the model make in one step?",
    x.size,
    "One at every position of every window. They all count the same.",
    mistakes={
        batch: "That is the number of windows; each of them asks at every position.",
        context: "That is one window; a batch holds several.",
        batch * (context + 1): "The extra token of each window is only asked for; nothing comes after it here.",
    },
)
work(f"{batch} × {context}", x.size, name="guesses in a step")

# %%
from glassformer.figures import plot_batch

show(plot_batch(run, seed=seed()), "batch", "Inputs above targets; to the right, where each window lies in the rhyme.")
lab(
    run,
    "Press Train: each step draws such a batch. Watch the loss fall as the steps go by.",
    mode="train",
    panels=("curves", "output"),
)

# %% [markdown]
# ## Why not one window at a time?
#
# Because one window says little about the whole text: it may happen to be easy or hard. The average over a batch is
# steadier. We take the model early in its training and measure its **loss** (how surprised it was by the right
# answers; its own lesson is not far) on every window, then on many batches.

# %%
early = int(run.steps[np.searchsorted(run.steps, 100)])
every = np.stack([ids[k : k + context + 1] for k in range(used)])
chances = run.trace(every[:, :-1], step=early)["probabilities"]  # (window, position, token)
right = np.take_along_axis(chances, every[:, 1:, None].astype(int), axis=2)[..., 0]
losses = -np.log(right).mean(axis=1)  # of each window
batches = losses[rng.integers(used, size=(4000, batch))].mean(axis=1)
say(
    f"After {early} steps the windows cost between {losses.min():.2f} and {losses.max():.2f}, with a spread (standard "
    f"deviation) of {losses.std():.3f}. The averages of {batch} windows have a spread of {batches.std():.3f}. Theory "
    "says: the spread of one, divided by the root of how many are averaged."
)
work(f"{losses.std():.4f} / √{batch}", losses.std() / np.sqrt(batch), name="spread of a batch", digits=3)
expect(abs(batches.std() / (losses.std() / np.sqrt(batch)) - 1) < 0.1, "averages of a batch are steadier by the root")
choice(
    f"A batch of {4 * batch} windows instead of {batch}: what happens to the spread?",
    "it is half as large",
    "The root of four is two. Four times the work for half the spread: that is why batches stay small.",
    {
        "it is a quarter as large": "It falls with the root of the number of windows, not with the number itself.",
        "it stays the same": "More windows average out more of the luck.",
    },
)

# %% [markdown]
# ## Steps and passes
#
# One **pass** over the text (an **epoch**) is as many windows as there are. How many passes does our training make?

# %%
steps = run.experiment.train.steps
seen = steps * batch
work(f"{steps} × {batch}", seen, name="windows drawn")
work(f"{seen} / {used}", seen / used, digits=1, name="passes")
say(
    f"*A note.* The source calls its {steps:,} steps epochs; they are steps. Its text speaks of a smaller batch than "
    "its program draws."
)
_examples, _batch, _epochs = 10_000, int(chance("schedule").choice([16, 32, 64])), 50
_updates = _examples // _batch * _epochs
number(
    f"Another training: {_examples:,} examples, batches of {_batch}, {_epochs} epochs; in each epoch, what does not "
    "fill a batch is left out. How many steps is that?",
    _updates,
    f"{_examples:,} examples fill {_examples // _batch} batches of {_batch}, and there are {_epochs} epochs.",
    mistakes={
        _examples * _epochs: "That counts examples. One step learns from a whole batch of them.",
        _examples // _batch: "That is one epoch.",
    },
)
curve = run.metrics["validation_loss"]
lab(
    run,
    f"The whole training as a curve: {steps:,} steps, from a loss of {curve[0]:.2f} to {curve[-1]:.2f}. Move the "
    "clock, the slider of the steps: the whole page goes to the model of that step.",
    step=early,
    panels=("curves",),
)
discuss(
    "Batches of one, of a few dozen, of a thousand windows: which learns most per step, and which per second?",
    "A single window pulls in a direction of its own, so that steps must be small; a huge batch gives a steady "
    "direction, but each step costs as many windows. In between lies the most progress for the work. Which of "
    "them does better on new text cannot be seen here, where one text is learnt by heart.",
    "`glassformer train mary --set train.batch=1`, and with `128`, over several seeds; compare the loss by steps, "
    "and by windows drawn.",
)
choice(
    "Exit question. Why does every position of a window have a target of its own?",
    "so that one window gives many questions, each with its own view",
    "Every position is a small exercise: so much in view, what comes next? All of them are learnt from at once.",
    {
        "so that the model sees the next word while it guesses": "It must not see it; the "
        "target is only for comparing.",
        "because the model writes several words at once": "It says one next word for each position; positions do not "
        "add up to a text.",
    },
)
say(
    "**Try it:** `glassformer train mary --set train.batch=1 --steps 300`, then `glassformer figures mary loss`. "
    "What does the curve look like when every step sees a single window?"
)
