"""Softmax and temperature: scores become probabilities, sharp or flat."""

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
    seed,
    show,
    table,
    train,
    work,
    written,
)

ORDER = 80
MINUTES = 20
AIMS = (
    "turn scores into probabilities by hand, and say why exponentials are used",
    "predict what a temperature does, and name both its limits",
    "compute an entropy, and tell being unsure from being wrong",
    "say what the gradient of the loss is at the scores: probability minus truth",
)
BEFORE = ("loss", "chain_rule")
ANSWERS = ("1.Q48", "0.V3.2", "0.V3.3", "0.V3.4", "0.V3.5", "0.M.3", "0.K")
MISCONCEPTIONS = (
    (
        "A score of zero means a probability of zero.",
        "Only differences between scores count. Take three scores of zero: each word gets a third.",
    ),
    (
        "A low temperature makes the model better.",
        "It makes it surer. If its favourite is wrong, it is wrong with more conviction.",
    ),
    (
        "Entropy and loss are the same.",
        "Entropy is how unsure the model is, whatever comes; loss is how surprised it is by what came.",
    ),
)
PLAN = (
    (
        10,
        "Three people hold up scores; share a cake among them by the exponentials, then at half and double temperature",
    ),
    (20, "The lesson, with a calculator at hand"),
    (10, "Worksheet, alone"),
    (5, "Exit question: what is left of the scores at a very high temperature?"),
)

# %% [markdown]
# ## From scores to shares
#
# At its end, a model has one number for each word, its **score** (the usual name is *logit*). Scores may be anything,
# negative as well. What we want are probabilities: none below zero, all together one, and the higher score gets more.
#
# Dividing each score by their sum will not do: with negative scores it gives nonsense. **Softmax** takes the
# exponential of each score first (`exp`: the number `e ≈ 2.718` to that power), which is never negative, and shares out
# by these.

# %%
run = train("mary")
text = "lamb"
lab(run, "The model's chances for the next word, as bars. Behind them stand scores.", input=text, panels=("output",))

# %%
import numpy as np

scores = np.array([2.0, 1.0, 0.5])


def softmax(scores: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    weights = np.exp(scores / temperature)
    shares: np.ndarray = weights / weights.sum()
    return shares


p = softmax(scores)
_below = " + ".join(f"exp({score:g})" for score in scores)
work(f"exp({scores[0]:g}) / ({_below})", p[0], name="first")
number(
    f"And the second, with a score of {scores[1]:g}? (Its exponential is {np.exp(scores[1]):.3f}, and all three "
    f"together are {np.exp(scores).sum():.3f}.)",
    p[1],
    "Its exponential, divided by the sum of all of them.",
    tolerance=0.005,
    mistakes={
        round(scores[1] / scores.sum(), 3): "That shares out by the scores themselves; the exponentials come first.",
        round(p[0], 3): "That is the first one's share.",
    },
)
work(f"exp({scores[1]:g}) / ({_below})", p[1], name="second")
work(f"exp({scores[2]:g}) / ({_below})", p[2], name="third")
expect(np.isclose(p.sum(), 1) and p[0] > p[1] > p[2], "the shares make one, and the order is kept")

# %% [markdown]
# ## Only differences count
#
# Predict: we add a hundred to every score. What happens to the probabilities?

# %%
raised = scores + 100
choice(
    f"The scores {', '.join(f'{s:g}' for s in scores)} become {', '.join(f'{s:g}' for s in raised)}. And the "
    "probabilities?",
    "they stay exactly the same",
    "Every exponential is multiplied by the same number, and it cancels when we divide by their sum.",
    {
        "the first one gets nearly everything": "It would, if the differences had grown. They are what they were.",
        "they become equal": "Compared with a hundred the differences look small; but exponentials see differences, "
        "not ratios.",
    },
)
table(
    ["scores", "probabilities"],
    [[", ".join(f"{s:g}" for s in each), ", ".join(f"{q:.3f}" for q in softmax(each))] for each in (scores, raised)],
)
expect(np.allclose(softmax(scores), softmax(raised)), "adding the same to all scores changes nothing")
say(
    f"That has a use. The exponential of {raised[0] * 10:.0f} is more than a computer's numbers can hold. So programs "
    "subtract the largest score from all of them before they begin, and lose nothing. And it has a meaning: two "
    "scores that lie one apart always have the same ratio of chances, wherever they lie."
)
work(f"exp({scores[0]:g} − {scores[1]:g})", p[0] / p[1], name="first over second")

# %% [markdown]
# ## Temperature
#
# Divide all scores by a number before softmax, and the differences shrink or grow. That number is called the
# **temperature**. The name comes from physics: in a hot gas the particles take any energy, in a cold one nearly all
# of them take the lowest. The formula is the same, with a low energy in place of a high score (the *Boltzmann law*).

# %%
temperatures = (0.1, 1.0, 10.0)
_asked = float(chance("temperature").choice([temperatures[0], temperatures[2]]))
choice(
    f"Predict: what will a temperature of {_asked:g} do to these three?",
    "nearly everything goes to the first" if _asked < 1 else "all three become nearly equal",
    "The differences are divided by the temperature: a small one blows them up, a large one levels them.",
    {
        (
            "all three become nearly equal" if _asked < 1 else "nearly everything goes to the first"
        ): "It is the other way round: dividing by a small number makes differences large.",
        "the order of the three changes": "All are divided by the same positive number; the highest stays the highest.",
    },
)
table(
    ["temperature", *(f"score {score:g}" for score in scores)],
    [[f"{t:g}", *(f"{q:.4f}" for q in softmax(scores, t))] for t in temperatures],
)
expect(softmax(scores, 0.1)[0] > 0.99 and np.ptp(softmax(scores, 10.0)) < 0.06, "cold is sharp, hot is flat")

# %%
from glassformer.figures import plot_softmax

show(
    plot_softmax(scores=tuple(scores.tolist()), temperatures=temperatures),
    "softmax",
    "The same scores at three temperatures; below, how unsure they are at every temperature between.",
)

# %% [markdown]
# ## How unsure: entropy
#
# The lower curve in the picture is the **entropy**: the surprise one has to expect, on average, if the words really
# come with these probabilities. Each word's surprise, times how often it comes, added up. Sure of one word: zero. All
# alike: the logarithm of how many there are, and no sharing-out has more.


# %%
def entropy(p: np.ndarray) -> float:
    return float(-(p * np.log(p)).sum())


work(" + ".join(f"{q:.5f} × (−ln({q:.5f}))" for q in p), entropy(p), digits=3, name="entropy")
work(f"ln({len(scores)})", np.log(len(scores)), digits=3, name="the most there is")
expect(entropy(p) < np.log(len(scores)), "no entropy is above that of equal chances")
say(
    "What a message tells you is how much entropy it takes away: the more there was, the more you learn. Mind the "
    "difference: **entropy** is how unsure the model is, before anything has come; **loss** is how surprised it is "
    "by what came. A model may be sure and wrong: little entropy, much loss."
)

# %% [markdown]
# ## In the model
#
# After a single word, `lamb`, the rhyme can go on in several ways. Here are the scores of the trained model, and what
# softmax makes of them at three temperatures.

# %%
logits = run.trace(text)["logits"][-1].astype(float)
likely = softmax(logits)
order = np.argsort(-likely)[:5]
words = run.task.vocabulary
kinds = (0.5, 1.0, 2.0)
table(
    ["word", "score", *(f"at {t:g}" for t in kinds)],
    [[f"`{words[k]}`", written(logits[k], 2), *(f"{softmax(logits, t)[k]:.1%}" for t in kinds)] for k in order],
)
expect(np.allclose(likely, run.trace(text)["probabilities"][-1], atol=1e-5), "softmax by hand is the model's own")
say("Their entropies: " + ", ".join(f"{entropy(softmax(logits, t)):.2f} nats at {t:g}" for t in kinds) + ".")
expect(
    entropy(softmax(logits, 0.5)) < entropy(likely) < entropy(softmax(logits, 2.0)), "entropy grows with temperature"
)
lab(
    run,
    f"Cold: the temperature, the slider below the input, at {kinds[0]:g}. The favourite takes most.",
    input=text,
    temperature=kinds[0],
    panels=("output",),
)

# %% [markdown]
# ## Drawing a word
#
# To write, a model draws a word, each as likely as its probability. It is a lottery with unequal tickets. With a
# **seed** the draws can be repeated: the same seed, the same draws.

# %%
rng = np.random.default_rng(seed())
drawn = rng.choice(len(words), size=2000, p=likely)
share = np.bincount(drawn, minlength=len(words)) / len(drawn)
table(
    ["word", "probability", f"share of {len(drawn):,} draws"],
    [[f"`{words[k]}`", f"{likely[k]:.1%}", f"{share[k]:.1%}"] for k in order],
)
expect(np.abs(share - likely).max() < 0.05, "the draws come as often as their probabilities say")
say("Always taking the likeliest instead would be the limit of cold. The lesson on generating plays with both.")
lab(
    run,
    f"Hot: the same slider at {2 * kinds[2]:g}. The chances come much nearer to each other.",
    input=text,
    temperature=2 * kinds[2],
    panels=("output",),
)

# %% [markdown]
# ## The slope at the scores
#
# Training needs the gradient of the loss. For softmax with the surprise as loss it comes out so simple that it is
# worth remembering: **probability minus truth**. The right word's score is pushed up by what it lacks; every other
# one is pushed down by what it was given.

# %%
right = 1  # the second word came
truth = np.eye(len(scores))[right]  # 1 for the right word, 0 for all others
slopes = softmax(scores) - truth
nudge = 0.001


def surprise(scores: np.ndarray) -> float:
    return float(-np.log(softmax(scores)[right]))


measured = [(surprise(scores + row) - surprise(scores - row)) / (2 * nudge) for row in np.eye(len(scores)) * nudge]
_down = int(np.argmax(slopes))
point(
    "The second word came. Which score will descent lower the most? The probabilities are "
    f"{', '.join(f'{q:.3f}' for q in p)}.",
    ["score"],
    ["first", "second", "third"],
    (0, _down),
    "It was given most, and it was not what came.",
    otherwise="Probability minus truth: the right one is raised; of the others, the one that was given most is "
    "lowered most.",
)
table(
    ["", "first", "second", "third"],
    [
        ["probability", *(f"{q:.4f}" for q in p)],
        ["truth", *(f"{q:.0f}" for q in truth)],
        ["probability − truth", *(written(q, 4) for q in slopes)],
        ["by nudging", *(written(q, 4) for q in measured)],
    ],
)
expect(np.allclose(slopes, measured, atol=1e-6), "the slope is probability minus truth")
work(" + ".join(factor(q, 4) for q in slopes), float(slopes.sum()), digits=3, name="all pushes together")
say(
    "What is pushed up is pushed down elsewhere: the sum is zero. When the model gives the right word everything, "
    "nothing is pushed any more, and learning comes to rest. *A note.* At another temperature than one, the slope "
    "has to be divided by the temperature as well; one of the sources leaves that out."
)
lab(
    run,
    "What the model says before training: its chances are nearly flat, and every word is pushed.",
    step=0,
    input=text,
    panels=("output", "curves"),
)

# %% [markdown]
# ## Where you will meet it again
#
# Softmax stands twice in a transformer: at its end, where scores of words become chances, and inside attention, where
# it decides how much each word looks at each other word. There, too, sharp and flat are a matter of how far the
# scores lie apart, and training decides that.

# %%
discuss(
    "If attention were made sharper from the first step on, by a low temperature, would the model learn faster?",
    "A very sharp softmax has almost no slope: what was not chosen gets no gradient, so that an early wrong choice "
    "is hard to mend. Flat attention looks everywhere and learns from everything.",
    "With the `softmax` and the scores of this lesson: nudge one score a little at a temperature of one, and again at "
    "a tenth of it. How far do the shares move each time?",
)
choice(
    "Exit question. At a very high temperature, what is left of the scores?",
    "nothing: all words are equally likely",
    "All differences are divided by a huge number. The entropy is the logarithm of how many words there are.",
    {
        "only the largest": "That is the cold limit, where the highest score takes everything.",
        "their order, and clear differences": "The order is there, but the differences vanish.",
    },
)
say(f'**Try it:** `glassformer generate {run.name} "mary" --temperature 0.2`, and the same with `3`.')
