"""One neuron: multiply, add, bend."""

from glassformer.teaching import (
    chance,
    choice,
    expect,
    factor,
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

ORDER = 30
MINUTES = 15
AIMS = (
    "compute by hand what a neuron makes of its inputs",
    "say what weights, bias and activation are for, and which of them are learnt",
    "say what a neuron could not do without its activation",
    "find a neuron of a trained model, check its sum, and see what is lost without it",
)
BEFORE = ("numbers_for_words",)
ANSWERS = ("3.§3.1.1",)
MISCONCEPTIONS = (
    (
        "The bias is one more input.",
        "It has no input of its own: it is added whatever comes in. Set all inputs to zero and see what is left.",
    ),
    (
        "A neuron that says nothing is broken.",
        "Below zero, ReLU is silent on purpose: most neurons are off for most inputs.",
    ),
    (
        "Somebody chose the weights so that they make sense.",
        "In a trained model nobody did. They began as chance: look at the same neuron before training.",
    ),
)
PLAN = (
    (10, "By hand, in pairs: one neuron, three films; then with the sign of one weight turned round"),
    (15, "The lesson, to the trained neuron; each pair reads another neuron"),
    (15, "Worksheet, alone; then compare the answers that differ"),
    (5, "Exit question: what can a neuron not do without its activation?"),
)

# %% [markdown]
# ## A film, and whether you would like it
#
# Words are numbers now. What does a model do with numbers? Much of it consists of small calculators that are all
# alike, its **neurons**. A neuron takes several numbers and makes a single one out of them.
#
# Ours is to guess whether somebody likes a film, from how much *action* there is in it and how much *romance*. It
# multiplies each input by a **weight** (how much that counts, and in which direction), adds the products, and adds a
# **bias** (what it thinks before it has seen anything).

# %%
run = train("plus_last_even")  # a small model, for the end of the lesson
text = "10 + 10 6 +"
lab(
    run,
    f"A trained model with {run.architecture.feed_forward} neurons in a row. At the end of this lesson you will read "
    "one.",
    input=text,
    panels=("feed_forward",),
)

# %%
inputs = {"action": 0.8, "romance": 0.2}  # a film with much of one and little of the other
weights = {"action": 0.6, "romance": 0.4}  # somebody who likes both
bias = 0.1
total = sum(inputs[name] * weights[name] for name in inputs) + bias
say(
    f"A film has {inputs['action']} of action and {inputs['romance']} of romance. Somebody who likes both gives action "
    f"the weight {weights['action']} and romance the weight {weights['romance']}; the bias is {bias}."
)
number(
    "Predict first, on paper: what do the products and the bias add up to?",
    total,
    "Each input times its weight, both products added, and then the bias.",
    tolerance=0.005,
    mistakes={
        round(total - bias, 4): "The bias is missing: it is added whatever the inputs are.",
        round(sum(inputs.values()) + bias, 4): "The weights are missing: each input is multiplied by its own.",
    },
)
work(" + ".join(f"{inputs[name]} × {weights[name]}" for name in inputs) + f" + {bias}", total, name="sum")

# %% [markdown]
# ## Bent: what is below zero becomes zero
#
# The last thing a neuron does is to bend its sum with an **activation**. The simplest one is called **ReLU**: a sum
# above zero passes as it is, any other becomes zero. The neuron is **on**, or it is **off**.

# %%
output = max(0.0, total)
work(f"max(0, {total:.2f})", output, name="output")
other_weights = {"action": 0.6, "romance": -0.4}  # somebody who dislikes romance
other = sum(inputs[name] * other_weights[name] for name in inputs) + bias
number(
    f"Somebody else dislikes romance: its weight is −{abs(other_weights['romance'])} now, all the rest is the same. "
    "What does the neuron say?",
    max(0.0, other),
    f"The second product is negative now, so it is taken away. The sum is {other:.2f}, above zero, and "
    "ReLU lets it pass.",
    tolerance=0.005,
    mistakes={
        round(other - bias, 4): "The bias is missing: it is added whatever the inputs are.",
        round(total, 4): "The sign of the second weight has changed: its product is taken away now.",
        0.0: "One negative product does not switch a neuron off: what counts is the sum.",
    },
)
work(
    f"{inputs['action']} × {other_weights['action']} + {inputs['romance']} × ({other_weights['romance']}) + {bias}",
    other,
    name="sum",
)
expect(other < total, "disliking an input lowers the sum")
say(
    f"*A note.* The source has this neuron twice: its drawing gives {total:.2f}, its program {other:.2f}. Both sums "
    "are right; the sign of the second weight differs. A sign is easily lost, and you have just seen what it does."
)

# %%
from glassformer.figures import plot_one_neuron

show(
    plot_one_neuron(inputs=tuple(inputs.values()), weights=tuple(weights.values()), bias=bias),
    "neuron",
    "Each product on its edge; beside it the activation, with the point at which this neuron works.",
)

# %% [markdown]
# ## Three tastes, three films
#
# A neuron is a taste. Other weights and another bias make another one, and each has something to say about every
# film.

# %%
films = {"thriller": (0.8, 0.2), "comedy": (0.3, 0.6), "love story": (0.1, 0.9)}  # action, romance
tastes = {"likes both": (0.6, 0.4, 0.1), "action only": (0.6, -0.4, 0.4), "romance only": (-0.6, 0.4, 0.1)}
sums = {
    taste: [action * w1 + romance * w2 + b for action, romance in films.values()]
    for taste, (w1, w2, b) in tastes.items()
}
table(["film", "action", "romance"], [[name, *values] for name, values in films.items()])
table(["taste", "weight of action", "weight of romance", "bias"], [[name, *v] for name, v in tastes.items()])
_sums = [[written(value) for value in row] for row in sums.values()]
_row, _column = next((r, c) for r, row in enumerate(sums.values()) for c, value in enumerate(row) if value <= 0)
point(
    "One taste is *off* for one film. Point at it. (You need not compute all of them: look at the signs.)",
    list(tastes),
    list(films),
    (_row, _column),
    f"The sum is {_sums[_row][_column]}, and ReLU makes zero of it.",
    otherwise="The sum is above zero there.",
    reasons={
        (r, c): f"The sum is {_sums[r][c]} there: above zero."
        for r in range(3)
        for c in range(3)
        if (r, c) != (_row, _column)
    },
)
table(["output", *films], [[name, *(f"{max(0.0, v):.2f}" for v in row)] for name, row in sums.items()])
expect(sum(value <= 0 for row in sums.values() for value in row) == 1, "exactly one of the sums is silenced")
_draw = chance("another film")
_new = [(i / 10, j / 10) for i in range(1, 10) for j in range(1, 10) if (i / 10, j / 10) not in films.values()]
_action, _romance = _new[int(_draw.integers(len(_new)))]
_taste = str(_draw.choice(list(tastes)))
_w1, _w2, _b = tastes[_taste]
_sum = _action * _w1 + _romance * _w2 + _b
_wrong = {
    round(_sum - _b, 3): "The bias is missing: it is added whatever the inputs are.",
    round(_sum, 3): "That is the sum. It is below zero, and ReLU makes zero of it.",
}
number(
    f"A film with {_action} of action and {_romance} of romance. What does the taste called *{_taste}* say?",
    max(0.0, _sum),
    f"Its sum is {written(_sum)}, and ReLU " + ("lets it pass." if _sum > 0 else "makes zero of it."),
    tolerance=0.005,
    mistakes={value: reason for value, reason in _wrong.items() if abs(value - max(0.0, _sum)) > 0.01},
)

# %% [markdown]
# ## What the bend is for
#
# Without an activation, a neuron stretches and shifts, no more. And if neurons follow each other, stretching what was
# stretched and shifting what was shifted, all of them together could be replaced by a single one. The bend breaks
# that: behind it, something may be true *from here on*, and not before.


# %%
def straight(x: float) -> float:
    return -1.5 * (2 * x - 1) + 0.5  # a neuron behind a neuron, without activations


def bent(x: float) -> float:
    return -1.5 * max(0.0, 2 * x - 1) + 0.5  # the same two, the first one with ReLU


places = (0.0, 0.25, 0.5, 0.75, 1.0)
table(
    ["input", *map(str, places)],
    [
        ["without bend", *(written(straight(x)) for x in places)],
        ["with bend", *(written(bent(x)) for x in places)],
    ],
)
slope, begin = straight(1.0) - straight(0.0), straight(0.0)
expect(all(abs(straight(x) - (slope * x + begin)) < 1e-12 for x in places), "two straight neurons are one")
say(
    f"Without the bend, both neurons together are one: multiply by {written(slope, 0)} and add {begin:.0f}. With it, "
    "nothing happens up to the middle, and then the output falls. ReLU is not the only bend: GPT-2 uses a rounded "
    "one, GELU. The idea is the same."
)

# %% [markdown]
# ## The same in a trained model
#
# The smallest transformer of this laboratory reads numbers and plus signs, and has learnt a rule: after `+` comes the
# last even number that it has seen. Inside there is a row of neurons like ours. Two numbers come in, what the model
# has made of the text up to its last token (how, later lessons say), and every neuron has a weight for each of them.
# We take the neuron that says most about one input, and add up its products.

# %%
import numpy as np

seen = run.trace(text)  # every number inside the model, by name
learnt = run.weights()
before, after = seen["hidden_in"][0, -1], seen["hidden"][0, -1]  # before and after ReLU, at the last token
neuron = int(after.argmax())
entering = seen["middle"][0, -1]  # what comes in
into, own_bias = learnt["blocks.0.expand"][:, neuron], learnt["blocks.0.expand_bias"][neuron]
work(
    f"{products(entering, into, 4)} + {factor(own_bias, 4)}",
    float(before[neuron]),
    name=f"neuron {neuron}",
)
expect(np.isclose(entering @ into + own_bias, before[neuron], atol=1e-4), "the sum by hand is the model's own")
say(f"It lets {after[neuron]:.3f} pass. Of its {len(after)} neurons, {int((after > 0).sum())} are on for `{text}`.")
lab(
    run,
    f"The feed-forward part on this input: neuron {neuron} fires most. In its line, *reads* is the sum and "
    "*fires* what ReLU lets pass.",
    input=text,
    neuron=neuron,
    panels=("feed_forward", "neurons"),
)

# %% [markdown]
# ## Nobody chose these weights
#
# Before the training, the weights were drawn by chance. Each step of the training changed them a little. How that is
# done is the matter of the next lessons; that it was done can be seen at once.

# %%
first = run.weights(0)
names = [f"weight {k}" for k in range(len(into))] + ["bias"]
at_first = [*first["blocks.0.expand"][:, neuron], first["blocks.0.expand_bias"][neuron]]
at_last = [*into, own_bias]
table(
    [f"neuron {neuron}", *names],
    [
        ["before training", *(written(float(value), 3) for value in at_first)],
        ["after", *(written(float(value), 3) for value in at_last)],
    ],
)
expect(not np.allclose(at_first, at_last, atol=0.01), "training has moved the neuron's numbers")
lab(
    run,
    f"The same neuron before any training. Then move the clock (the slider of the steps) forward, "
    f"and see neuron {neuron} change.",
    step=0,
    input=text,
    neuron=neuron,
    panels=("feed_forward", "neurons"),
)
choice(
    "Which of these did training change in the neuron?",
    "the weights and the bias",
    "Both are learnt. What comes in is computed anew for every text, and the activation is a fixed rule.",
    {
        "the inputs alone": "They are no part of the neuron: another text brings others.",
        "the activation": "ReLU is the same rule before, during and after training.",
        "the weights alone": "The bias is learnt as well; compare the last column of the table.",
    },
)

# %% [markdown]
# ## Take it away
#
# To find out what a part is for, remove it and see what changes. Here the neuron is held at zero, and everything
# behind it is computed anew.

# %%
edit = f"zero(hidden, block=0, neuron={neuron})"
answer, chance_whole = run.ask(text)[0]
without = dict(run.ask(text, edits=edit))
say(
    f"The whole model gives its answer, `{answer}`, {chance_whole:.1%}. Without neuron {neuron} it gives it "
    f"{without[answer]:.1%}. "
    + (
        "The others cannot make up for it."
        if without[answer] < chance_whole / 2
        else "The others make up for it, mostly."
    )
)
lab(
    run,
    f"The model without neuron {neuron}: compare its answer with the one before.",
    input=text,
    edits=edit,
    panels=("feed_forward", "output"),
    mode="change",
)
choice(
    "Exit question. What could a row of neurons behind a row of neurons *not* do, if none had an activation?",
    "treat some inputs differently from others: one straight rule would have to do for all",
    "Stretching what was stretched is stretching. Only the bend lets a neuron keep out of what does not concern it.",
    {
        "give negative outputs": "Without the bend that would be easier, not harder.",
        "learn its weights": "They could be learnt, but whatever was learnt would amount to a single row.",
        "take more than one input": "The sum takes any number of inputs, with or without a bend.",
    },
)
say(
    f'**Try it:** take away another neuron, `glassformer ask {run.name} "{text}" --edit "zero(hidden, neuron=…)"` '
    "with its number. Which ones are missed?"
)
