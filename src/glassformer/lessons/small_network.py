"""A small network: neurons that listen to neurons."""

from glassformer.teaching import (
    chance,
    choice,
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

ORDER = 40
MINUTES = 15
AIMS = (
    "count the parameters of a network",
    "carry out a forward pass by hand, neuron by neuron, and as two products of matrices",
    "say what a neuron that is off does to the answer, and what a change of its weight would do",
    "find the same network inside a transformer",
)
BEFORE = ("one_neuron",)
ANSWERS = ("3.§3.1.2",)
MISCONCEPTIONS = (
    (
        "Hidden neurons do something secret.",
        "They compute exactly what the others do. They are called hidden as one sees neither what is wanted of them "
        "nor what they say, unless one looks inside.",
    ),
    (
        "Every weight matters for every input.",
        "A weight behind a neuron that is off is multiplied by zero. Change it tenfold: nothing happens, for this "
        "input.",
    ),
    (
        "A transformer is something else than a neural network.",
        "Each of its blocks holds such a network, the feed-forward part; it is most of what there is to learn.",
    ),
)
PLAN = (
    (10, "Five people play the network: two say inputs, two are hidden neurons, one the output; then turn a sign"),
    (20, "The lesson; each pair finds the feed-forward part of the trained model and counts it"),
    (10, "Worksheet, alone: a forward pass with another film"),
    (5, "Exit question: how many parameters has a network of these sizes?"),
)

# %% [markdown]
# ## Neurons that listen to neurons
#
# One neuron can do little. Let two neurons look at the film, each with a taste of its own, and let a third one listen
# to these two and give the answer. People speak of three **layers**: the inputs, the **hidden** neurons in between,
# and the **output**.
#
# Every arrow is a weight, and every neuron has a bias. All of them are **parameters**: numbers that training may
# change.

# %%
run = train("plus_last_even")  # the small model again, for later
text = "10 + 10 6 +"
lab(
    run,
    "Beside this text: such a network inside a trained model. First we build one that is small enough to do by hand.",
    input=text,
    panels=("feed_forward",),
)

# %%
import numpy as np

x = np.array([0.8, 0.2])  # the film: action, romance
hidden_weights = np.array([[0.5, -0.2], [0.3, 0.8]])  # (input, hidden neuron)
hidden_bias = np.array([0.1, -0.1])
output_weights = np.array([0.7, 0.4])  # (hidden neuron,)
output_bias = 0.05

ins, hidden = hidden_weights.shape
parameters = hidden_weights.size + hidden_bias.size + output_weights.size + 1
number(
    f"{ins} inputs, {hidden} hidden neurons, one output. How many parameters has this network?",
    parameters,
    "Each hidden neuron has a weight for each input, and the output a weight for each hidden neuron; and each of the "
    "neurons has its bias.",
    mistakes={
        ins * hidden + hidden: "Those are the arrows. Every neuron has a bias as well.",
        ins * hidden + hidden + 1: "The hidden neurons have a bias each, not only the output.",
        ins * hidden + 2 * hidden: "The output neuron has a bias, too.",
    },
)
work(f"{ins} × {hidden} + {hidden} + {hidden} + 1", parameters, name="parameters")

# %% [markdown]
# ## The forward pass
#
# We go from the left to the right, and each neuron does what you know: multiply, add, bend. A table of weights, with
# a row for each input and a column for each neuron, is called a **matrix**. A product with it, written `@` in Python,
# does the multiplying and adding of all its neurons at once.

# %%
sums = x @ hidden_weights + hidden_bias
active = np.maximum(sums, 0)
work(
    f"max(0, {x[0]} × {hidden_weights[0, 0]} + {x[1]} × {hidden_weights[1, 0]} + {hidden_bias[0]})",
    active[0],
    name="first hidden neuron",
)
number(
    f"The second one has the weights {written(hidden_weights[0, 1], 1)} and {written(hidden_weights[1, 1], 1)} and "
    f"the bias {written(hidden_bias[1], 1)}. What does it pass on?",
    active[1],
    f"Its sum is {written(sums[1])}, below zero, so that ReLU makes zero of it: it is off.",
    tolerance=0.005,
    mistakes={
        round(float(sums[1]), 4): "That is its sum. ReLU comes after it.",
        round(float(sums[1] - 2 * hidden_bias[1]), 4): "Mind the sign of the bias: it is taken away.",
    },
)
work(
    f"max(0, {x[0]} × ({hidden_weights[0, 1]}) + {x[1]} × {hidden_weights[1, 1]} + ({hidden_bias[1]}))",
    active[1],
    name="second hidden neuron",
)
prediction = max(0.0, float(active @ output_weights + output_bias))
work(
    f"max(0, {active[0]:.2f} × {output_weights[0]} + {active[1]:.0f} × {output_weights[1]} + {output_bias})",
    prediction,
    name="output",
)
expect(sums[1] < 0 < prediction, "the second hidden neuron is off, and the output is not")

# %%
from glassformer.figures import plot_network

as_listed = tuple(float(v) for k in range(hidden) for v in (*hidden_weights[:, k], hidden_bias[k]))
show(
    plot_network(inputs=tuple(x.tolist()), hidden=as_listed, output=(*output_weights.tolist(), output_bias)),
    "network",
    "Every weight on its edge, sum and activation in every neuron; beside it all parameters.",
)

# %% [markdown]
# ## A neuron that is off
#
# The second neuron says nothing about this film. The weight behind it stands ready all the same.

# %%
louder = output_weights * [1, 10]  # the weight behind the second neuron, ten times as large
choice(
    f"We make the weight behind the second hidden neuron ten times as large: {output_weights[1]} becomes "
    f"{louder[1]:.0f}. What happens to the answer for this film?",
    "nothing",
    "That weight is multiplied by what the neuron passes on, and that is zero here.",
    {
        "it becomes ten times as large": "Only one of three terms has this weight, and it is multiplied by zero.",
        "it grows a little": "It would, if the neuron were on. For this film it is off.",
    },
)
expect(np.isclose(active @ louder, active @ output_weights), "a weight behind a silent neuron changes nothing")
films = {"thriller": (0.8, 0.2), "comedy": (0.5, 0.4), "war": (0.9, 0.1), "documentary": (0.1, 0.1)}
answers = {}
for name, film in films.items():
    h = np.maximum(np.array(film) @ hidden_weights + hidden_bias, 0)
    answers[name] = (*h, float(h @ output_weights + output_bias))
_on = next(k for k, values in enumerate(answers.values()) if values[1] > 0)
table(["film", "action", "romance"], [[name, *film] for name, film in films.items()])
point(
    "For one of these films the *second* neuron is on. Point at it.",
    ["second neuron"],
    list(films),
    (0, _on),
    f"There its sum is above zero: it passes {list(answers.values())[_on][1]:.2f} on.",
    otherwise="Compute the second neuron's sum: romance pulls it up, action and the bias pull it down.",
)
table(
    ["film", "first neuron", "second neuron", "answer"],
    [[name, *(f"{value:.3f}" for value in values)] for name, values in answers.items()],
)
expect(sum(values[1] > 0 for values in answers.values()) == 1, "the second neuron is on for one film only")

# %% [markdown]
# ## What one neuron could never do
#
# Somebody likes action films and likes love stories, but cannot stand the two mixed. Try to find weights for one
# neuron: action must pull up, romance must pull up, and both together must not. There are none: whatever the weights,
# the sum for both and the sum for neither add up to as much as the sum for action alone and the sum for romance
# alone. If these two are high, so is one of the others.
#
# A network of three finds it easy: its second hidden neuron wakes up only when both are there, and takes back what
# the first one gave.

# %%
cases = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])  # without and with action, without and with romance
wanted = np.array([0, 1, 1, 0])
first, second = np.maximum(cases.sum(axis=1), 0), np.maximum(cases.sum(axis=1) - 1, 0)
by_three = first - 2 * second
with_one = np.column_stack([cases, np.ones(4)])  # a column of ones, for the bias
best = np.linalg.lstsq(with_one, wanted, rcond=None)[0]  # the best straight neuron there is
by_one = with_one @ best
table(
    ["action", "romance", "wanted", "three neurons", "the best single sum"],
    [
        [*case, want, three, f"{one:.2f}"]
        for case, want, three, one in zip(cases, wanted, by_three, by_one, strict=True)
    ],
)
expect((by_three == wanted).all(), "three neurons get all four cases right")
expect(np.ptp(by_one) < 1e-9, "the best single sum says the same to everything")
any_sums = with_one @ np.random.default_rng(seed()).normal(size=3)  # neither, action, romance, both
expect(
    np.isclose(any_sums[0] + any_sums[3], any_sums[1] + any_sums[2]), "neither and both weigh as much as one of each"
)

# %% [markdown]
# ## The same inside a transformer
#
# Each block of a transformer holds such a network, its **feed-forward part**: some numbers go in, a wide row of
# hidden neurons looks at them, and as many numbers come out as went in. Here it is in the small model of the last
# lesson, computed by the very lines from above.

# %%
seen, w = run.trace(text), run.weights()
entering = seen["middle"][0, -1]
neurons = np.maximum(entering @ w["blocks.0.expand"] + w["blocks.0.expand_bias"], 0)
leaving = neurons @ w["blocks.0.contract"] + w["blocks.0.contract_bias"]
say(
    f"In: {', '.join(f'{v:.3f}' for v in entering)}. Hidden: {len(neurons)} neurons, {int((neurons > 0).sum())} of "
    "them on. "
    f"Out: {', '.join(f'{v:.3f}' for v in leaving)}.".replace("-", "−")
)
expect(np.allclose(leaving, seen["fed"][0, -1], atol=1e-4), "two products by hand are the model's feed-forward part")
width, many = w["blocks.0.expand"].shape
own = sum(w[f"blocks.0.{name}"].size for name in ("expand", "expand_bias", "contract", "contract_bias"))
work(f"{width} × {many} + {many} + {many} × {width} + {width}", own, name="its parameters")
say(f"That is {own / run.parameters:.0%} of all {run.parameters} parameters this model has.")
_tensor = "blocks.0.expand"
lab(
    run,
    "The network between what enters and what leaves: choose a neuron, follow its weights.",
    input=text,
    panels=("feed_forward", "weights"),
    tensor=_tensor,
)

# %% [markdown]
# ## Without it
#
# Is the network needed, in that model? We hold what it adds at zero, and ask again.

# %%
answer, sure = run.ask(text)[0]
without = run.ask(text, edits="zero(fed)")
say(
    f"With its network the model answers `{answer}` and gives it {sure:.1%}. Without it the same answer gets "
    f"{dict(without)[answer]:.1%}"
    + (", and is still the likeliest." if without[0][0] == answer else f"; the likeliest is `{without[0][0]}` now.")
)
lab(
    run,
    "The model without its feed-forward part. Move the clock: from which step on does it miss it?",
    input=text,
    edits="zero(fed)",
    panels=("output", "residual"),
    mode="change",
)
lab(run, "And with it again: the answers come back.", input=text, panels=("output", "feed_forward"))
_in, _hid, _out = (int(k) for k in chance("sizes").integers([3, 4, 2], [6, 9, 4]))
_all = _in * _hid + _hid + _hid * _out + _out
number(
    f"Exit question. {_in} inputs, {_hid} hidden neurons, {_out} outputs, biases everywhere. How many parameters?",
    _all,
    f"{_in} × {_hid} weights and {_hid} biases, then {_hid} × {_out} weights and {_out} biases.",
    mistakes={
        _in * _hid + _hid * _out: "Those are the weights; every neuron has a bias as well.",
        _all - _out: "The output neurons have biases, too.",
    },
)
say(f"**Try it:** `glassformer figures {run.name} parameters` counts all parts of the model in the same way.")
