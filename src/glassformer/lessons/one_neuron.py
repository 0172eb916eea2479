"""One neuron: multiply, add, bend."""

from glassformer.teaching import choice, expect, lab, number, say, show, train, work

ORDER = 30
MINUTES = 15
AIMS = (
    "compute by hand what a neuron makes of its inputs",
    "say what weights, bias and activation are for, and which of them are learnt",
    "find a neuron of a trained model and check its sum",
)
BEFORE = ("numbers_for_words",)
ANSWERS = ("3.§3.1.1",)
MISCONCEPTIONS = (
    (
        "The bias is one more input.",
        "It has no input of its own: it is added whatever comes in. Set all inputs to nothing and see what is left.",
    ),
    (
        "A neuron that says nothing is broken.",
        "Below nothing, ReLU is silent on purpose: most neurons are off for most inputs.",
    ),
)
PLAN = (
    (10, "By hand, in pairs: one neuron, two films, one with the weights' signs turned round"),
    (15, "The lesson, to the trained neuron; each pair reads another neuron"),
    (15, "Worksheet, alone; then compare the answers that differ"),
    (5, "Exit question: what can a neuron not do without its activation?"),
)

# %% [markdown]
# ## A film, and whether you would like it
#
# A neuron takes some numbers and makes one of them. Ours shall guess whether somebody likes a film, from how much
# *action* there is in it and how much *romance*. It multiplies each input by a **weight** (how much that counts, and in
# which direction), adds the products and a **bias** (what it thinks before it has seen anything), and bends the sum
# with an **activation**.

# %%
inputs = {"action": 0.8, "romance": 0.2}
weights = {"action": 0.6, "romance": 0.4}
bias = 0.1
total = sum(inputs[name] * weights[name] for name in inputs) + bias
work(" + ".join(f"{inputs[name]} × {weights[name]}" for name in inputs) + f" + {bias}", total, name="sum")

# %% [markdown]
# ## Bent: what is below nothing becomes nothing
#
# The activation here is **ReLU**: a sum above nothing passes as it is, any other becomes nothing. Without it a neuron
# could only stretch and shift, and neurons behind neurons could do no more than a single one.

# %%
output = max(0.0, total)
work(f"max(0, {total:.2f})", output, name="output")
disliked = {name: weight if name == "action" else -weight for name, weight in weights.items()}
other = sum(inputs[name] * disliked[name] for name in inputs) + bias
number(
    f"Somebody dislikes romance: its weight is −{weights['romance']} now. What does the neuron say?",
    max(0.0, other),
    f"{inputs['action']} × {weights['action']} − {inputs['romance']} × {weights['romance']} + {bias} = {other:.2f}, "
    "which ReLU lets pass.",
    tolerance=0.005,
    mistakes={
        round(other - bias, 4): "The bias is missing: it is added whatever the inputs are.",
        round(total, 4): "The sign of the second weight has changed: its product is taken away now.",
    },
)
expect(other < total, "disliking an input lowers the sum")

# %%
from glassformer.figures import plot_one_neuron

show(plot_one_neuron(inputs=tuple(inputs.values()), weights=tuple(weights.values()), bias=bias), "neuron",
     "Each product on its edge; beside it the activation, with the point at which this neuron works.")  # fmt: skip

# %% [markdown]
# ## The same in a trained model
#
# The small transformer of this laboratory has a row of such neurons. Nobody thought out its weights: they began as
# chance and were changed step by step, until the model knew its rule. We take the neuron that says most about one
# input, and add up its products.

# %%
import numpy as np

run = train("plus_last_even")
text = "10 + 10 6 +"
seen = run.trace(text)
learnt = run.weights()
before, after = seen["hidden_in"][0, -1], seen["hidden"][0, -1]  # of block 0, at the last position
neuron = int(after.argmax())
entering = seen["middle"][0, -1]  # what comes in: two features
into, own_bias = learnt["blocks.0.expand"][:, neuron], learnt["blocks.0.expand_bias"][neuron]
work(
    " + ".join(f"{x:.4f} × ({w:.4f})" for x, w in zip(entering, into, strict=True)) + f" + ({own_bias:.4f})",
    float(before[neuron]),
    name=f"neuron {neuron}",
)
expect(np.isclose(entering @ into + own_bias, before[neuron], atol=1e-4), "the sum by hand is the model's own")
say(f"It lets {after[neuron]:.3f} pass. Of its {len(after)} neurons, {int((after > 0).sum())} are on for `{text}`.")
lab(run, f"The feed-forward part on this input: neuron {neuron} is the strongest. Choose it to see its sum.",
    input=text, neuron=neuron, panels=("feed_forward", "neurons"))  # fmt: skip
choice(
    "Which of these numbers did training change?",
    "the weights and the bias",
    "Both are learnt. What comes in depends on the text, and the activation is a fixed rule.",
    {
        "the inputs": "They come from the text in front of the model; another text brings others.",
        "the activation": "ReLU is the same rule before, during and after training.",
    },
)
