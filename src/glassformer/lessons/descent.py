"""Descent: small steps downhill, again and again."""

from glassformer.teaching import (
    chance,
    choice,
    expect,
    factor,
    lab,
    number,
    point,
    say,
    show,
    table,
    train,
    work,
    written,
)

ORDER = 70
MINUTES = 20
AIMS = (
    "make one update by hand, and prove that it helped",
    "say why the gradient is subtracted, and what adding it would do",
    "say what a learning rate is, and recognise one that is too small or too large",
    "write the training loop, and find its parts in a transformer's training",
)
BEFORE = ("chain_rule",)
ANSWERS = ("3.§3.1.4.1", "3.§3.1.4.2", "3.§3.1.5", "3.§3.1.6", "1.T.1", "1.P8.2", "1.Q6", "1.Q8")
MISCONCEPTIONS = (
    (
        "Descent jumps to the best weight.",
        "It takes a step of rate times gradient. Near the bottom the slope is small, and so are the steps.",
    ),
    (
        "A larger rate always learns faster.",
        "Up to a point. Beyond it each step lands farther from the bottom than it began, and the loss explodes.",
    ),
    (
        "Every update lowers the loss.",
        "It lowers the loss of its own batch, if the step is small enough. Another batch may pull the other way.",
    ),
)
PLAN = (
    (10, "Blindfolded on an imagined hill: one person feels the slope under both feet, the others say how far to step"),
    (20, "The lesson, to the training loop"),
    (10, "Worksheet, alone: one update, and what went wrong with this rate?"),
    (5, "Exit question: why is the gradient subtracted?"),
)

# %% [markdown]
# ## In the fog, on a slope
#
# You stand on a hillside in thick fog and want to go down into the valley. You cannot see it; but you feel under your
# feet which way the ground rises. So you take a step the other way, and feel again.
#
# That is all. The ground is the loss, your place is a weight, and what you feel is the gradient. It points
# **uphill**; to go down we **subtract** it. We begin with the simplest valley there is, the square of a distance:

# %%
run = train("mary")
lab(
    run,
    "The loss of the rhyme's model, on its way down. Play the clock: this lesson is about how each step is found.",
    step=0,
    panels=("curves",),
)

# %%
best = 3.0  # where the bottom is; in real life we do not know


def loss(w: float) -> float:
    return (w - best) ** 2


def gradient(w: float) -> float:
    return 2 * (w - best)  # the slope of a square, as in the last lesson


w, rate = 1.0, 0.1
work(f"({w:.0f} − {best:.0f})²", loss(w), name=f"loss at {w:.0f}")
work(f"2 × ({w:.0f} − {best:.0f})", gradient(w), name=f"gradient at {w:.0f}")
choice(
    f"The gradient here is {written(gradient(w), 0)}. Which way is downhill?",
    "to larger weights",
    "A negative slope falls to the right. Subtracting a negative number moves the weight up.",
    {
        "to smaller weights": "The ground falls to the right, as the slope is negative. The other way it rises.",
        "one cannot tell": "The sign of the gradient tells: it points uphill, and it points to smaller weights.",
    },
)

# %% [markdown]
# ## Two steps from the same place
#
# How far do we go? The gradient, times a small number that we choose, the **learning rate**. Once we subtract, which
# is **descent**; and once, to see the difference, we add: **ascent**.

# %%
down = w - rate * gradient(w)
up = w + rate * gradient(w)
number(
    f"Descent from {w:.0f}, with a rate of {rate}: where does the weight land?",
    down,
    "Minus a rate times a negative gradient is plus.",
    tolerance=0.005,
    mistakes={
        round(up, 4): "That is ascent: the gradient was added.",
        round(w - gradient(w), 4): "The gradient is multiplied by the rate first.",
    },
)
work(f"{w:.0f} − {rate} × {factor(gradient(w), 0)}", down, name="descent")
work(f"({down:.1f} − {best:.0f})²", loss(down), name="its loss")
work(f"{w:.0f} + {rate} × {factor(gradient(w), 0)}", up, name="ascent")
work(f"({up:.1f} − {best:.0f})²", loss(up), name="its loss")
expect(loss(down) < loss(w) < loss(up), "descent lowers the loss, ascent raises it")
table(
    ["gradient", "the loss falls", "subtracting it makes the weight"],
    [["negative", "to the right", "larger"], ["positive", "to the left", "smaller"], ["zero", "nowhere", "stay"]],
)
say(
    "So the same subtraction is right on either side of the valley. *A note.* The source draws a mountain here and "
    "calls the place under its peak the lowest; its sums are right, and they describe a bowl."
)

# %% [markdown]
# ## Eight steps
#
# One step is not enough. We start further out, and repeat.

# %%
from itertools import pairwise

w, path = 0.0, []
for step in range(8):
    path.append((step, w, loss(w), gradient(w)))
    w = w - rate * gradient(w)
path.append((len(path), w, loss(w), gradient(w)))

_gains = [a[2] - b[2] for a, b in pairwise(path)]
point(
    "Predict: which of the eight steps gains most?",
    ["gain"],
    [f"step {k}" for k in range(1, len(path))],
    (0, int(max(range(len(_gains)), key=_gains.__getitem__))),
    "The slope is steepest at the beginning, so the first step is the longest and gains most.",
    otherwise="The slope gets flatter on the way down, and with it the steps get shorter.",
)
table(
    ["step", "weight", "loss", "gradient"],
    [[k, *(written(value, 4) for value in values)] for k, *values in path],
)
expect(all(b[2] < a[2] for a, b in pairwise(path)), "every step lowers the loss")
shrink = (path[2][1] - best) / (path[1][1] - best)
work(
    f"({path[2][1]:.2f} − {best:.0f}) / ({path[1][1]:.2f} − {best:.0f})",
    shrink,
    name="distance after a step, over before",
)
work(f"1 − 2 × {rate}", shrink, name="the same, from rate and slope alone")
say("Each step keeps the same share of the distance. We come nearer and nearer, and never quite arrive.")

# %%
from glassformer.figures import plot_descent

show(plot_descent(), "descent", "The way down; the same at other rates; and the loop, which comes soon.")

# %% [markdown]
# ## The learning rate decides
#
# In this valley the share of the distance that is left after a step can be read off the rate. Below zero, we have
# stepped across the bottom to the other side. Below minus one, we land *farther away* than we began.

# %%
rates = (0.001, 0.1, 0.5, 0.9, 1.05)
rows = []
for each in rates:
    left, w = 1 - 2 * each, 0.0
    for _ in range(8):
        w = w - each * gradient(w)
    rows.append((each, left, w, loss(w)))
choice(
    f"What will a rate of {rates[-1]} do here?",
    "step across the valley, each time to a higher place",
    "What is left of the distance is more than all of it, on the other side: the loss grows with every step.",
    {
        "arrive sooner than all others": "It would have to stop at the bottom; it steps far beyond it.",
        "come near very slowly": "That is what a rate does that is too small.",
    },
)
table(
    ["rate", "left of the distance, per step", "weight after eight steps", "loss"],
    [[each, written(left, 3), written(w, 3), written(cost, 3)] for each, left, w, cost in rows],
)
expect(rows[2][3] < 1e-12 and rows[-1][3] > loss(0.0), "a half arrives at once, the largest rate diverges")
say(
    "Too small: you will be on the way for ever. Too large: you jump from slope to slope, or out of the valley. Real "
    "valleys are steep in one direction and flat in another, so that one rate has to do for all; later you will meet "
    "**Adam**, which keeps one for each weight."
)
_g = chance("five").permutation([-0.004, -0.005, -0.003, -0.006, -0.004]).tolist()
_rate, _start = 0.001, 0.1
number(
    f"Five updates by plain descent: the weight begins at {_start}, the rate is {_rate}, the gradients are "
    f"{', '.join(written(each, 3) for each in _g)}. Where does it end? (Six digits after the point.)",
    _start - _rate * sum(_g),
    "Add up the gradients, multiply by the rate, and subtract: with plain descent their order does not matter.",
    tolerance=0.0000005,
    mistakes={
        round(_start + _rate * sum(_g), 6): "That is ascent: the gradients were added.",
        round(_start - sum(_g), 6): "The gradients are multiplied by the rate first.",
    },
)

# %% [markdown]
# ## One update of the network, proved
#
# Back to the network with nine parameters. We turn one knob, the weight from the first hidden neuron to the output,
# by one step of descent. Then we compute the prediction and the loss again, to see whether it helped.

# %%
hidden, v, c, wanted = 0.56, 0.7, 0.05, 1.0  # what the first hidden neuron says, its weight, the bias, the truth
before = hidden * v + c
slope = -2 * (wanted - before) * hidden  # the chain rule, as in the last lesson
new_v = v - rate * slope
after = hidden * new_v + c
work(f"{v} − {rate} × ({slope:.4f})", new_v, name="new weight")
work(f"{hidden} × {new_v:.6f} + {c}", after, name="new prediction")
work(
    f"({wanted:.0f} − {before:.3f})² − ({wanted:.0f} − {after:.6f})²",
    (wanted - before) ** 2 - (wanted - after) ** 2,
    name="gain",
)
say(f"The loss has fallen from {(wanted - before) ** 2:.4f} to {(wanted - after) ** 2:.4f}: the step helped.")
promised, gained = rate * slope**2, (wanted - before) ** 2 - (wanted - after) ** 2
work(f"{rate} × {factor(slope, 4)}²", promised, name="what the slope promised")
say(
    "It promised a little more than we got, as the ground gets flatter on the way. The smaller the step, the better "
    "the promise is kept."
)
expect(0 < gained < promised, "the update helps, by a little less than the slope promised")
_printed = (0.7497, 0.2811)
say(
    f"*A note.* The source arrives at a weight of {_printed[0]} and a loss of {_printed[1]}: the right rule, applied "
    "to the gradient of a prediction that its network does not make."
)

# %% [markdown]
# ## The loop
#
# Now all nine knobs at once, and again and again. One turn of the loop always has the same parts: **forward**
# (predict), **loss** (how wrong?), **backward** (all gradients), **update** (a step downhill), and around again. You
# have seen each of them; here they stand together. (With a single example, each turn is a whole pass over all there is,
# an epoch.)

# %%
import numpy as np

x = np.array([0.8, 0.2])
w1, b1 = np.array([[0.5, -0.2], [0.3, 0.8]]), np.array([0.1, -0.1])
w2, b2 = np.array([0.7, 0.4]), 0.05
log = []
for epoch in range(10):
    sums = x @ w1 + b1  # forward
    h = np.maximum(sums, 0)
    y = float(h @ w2 + b2)
    log.append((epoch, y, (wanted - y) ** 2))  # loss
    dy = -2 * (wanted - y)  # backward
    dh = dy * w2 * (sums > 0)
    w1 = w1 - rate * np.outer(x, dh)  # update: every parameter, against its gradient
    b1 = b1 - rate * dh
    w2, b2 = w2 - rate * dy * h, b2 - rate * dy
table(["epoch", "prediction", "loss"], [[k, f"{y:.4f}", f"{cost:.6f}"] for k, y, cost in log])
expect(log[-1][2] < log[0][2] / 1000, "ten rounds bring the loss down a thousandfold")
say(
    "With all knobs turned together it goes much faster than with one. *A note.* The source's table of ten epochs "
    "begins at another prediction, since its library draws other weights by chance; it goes the same way."
)
say(
    "One example, learnt by heart: that is no art. A real training draws a new batch for every turn, and its knobs "
    "must serve all of them."
)

# %% [markdown]
# ## The same loop, in the transformer
#
# The model of the rhyme was trained by just this loop. We replay it to a step in which its loss falls fast, take the
# one weight with the steepest slope, and do the sum.

# %%
from glassformer.analyses import hand_update

made = hand_update(run)
say(
    f"In the step to {made.step}, the steepest weight is `{made.weight}`: {made.called}. (The read-out is the last "
    "set of weights, one column for each word that can be said.) The rate of this step is "
    f"{made.rate:.6f}: the training changes it from step to step, and it is never above "
    f"{run.experiment.train.rate:g}."
)
work(
    f"{factor(made.before, 6)} − {made.rate:.6f} × {factor(made.gradient, 6)}",
    made.by_descent,
    digits=5,
    name="plain descent",
)
table(
    ["", "loss of this batch"],
    [
        ["before", f"{made.loss_before:.6f}"],
        ["after moving this one weight", f"{made.loss_by_descent:.6f}"],
        [f"after moving all {run.parameters:,}, as the training did", f"{made.loss_trained:.6f}"],
    ],
)
expect(made.loss_by_descent < made.loss_before and made.loss_trained < made.loss_before, "the update lowers the loss")
say(
    f"One weight among {run.parameters:,} does next to nothing; all of them together do. (The training itself moved "
    f"this weight to {written(made.trained, 6)}: it used AdamW, a kind of Adam, whose steps "
    "depend on earlier gradients, too.)"
)
lab(
    run,
    "The panel of updates at that step: what moves each weight, and by how much.",
    step=made.step,
    panels=("updates", "curves"),
)

# %%
from glassformer.figures import plot_hand_update

show(
    plot_hand_update(run),
    "update",
    "The numbers of this update, and the loss over this one weight: a valley, cut through.",
)
_fast = 30 * run.experiment.train.rate
lab(
    run,
    f"Train in the page, with {_fast:.2g} in the field *rate* instead of {run.experiment.train.rate:g}. What does the "
    "loss do?",
    mode="train",
    train=f"rate:{_fast:.2g},of:{run.name}",
    panels=("curves",),
)

# %% [markdown]
# ## All the words so far
#
# You have met everything that learning is made of. Each word comes back in the transformer, with more numbers behind
# it.

# %%
table(
    ["word", "what it is", "in the model of the rhyme"],
    [
        [
            "neuron",
            "multiply, add, bend",
            f"{run.architecture.blocks * run.architecture.feed_forward} in its feed-forward parts",
        ],
        ["parameters", "weights and biases, all that is learnt", f"{run.parameters:,}"],
        [
            "forward pass",
            "from the input to the prediction",
            f"from {run.architecture.context} words to the chances of the next ones",
        ],
        ["loss", "how wrong, in one number", "surprise at the words that came"],
        ["gradient", "the slope of the loss along one parameter", "one for each parameter, in every step"],
        ["backpropagation", "all gradients in one sweep back", "through every block, down to the embeddings"],
        [
            "descent",
            "a step against the gradient",
            f"{run.experiment.train.steps:,} of them, with a rate up to {run.experiment.train.rate:g}",
        ],
    ],
)
lab(
    run,
    "The whole way down: move the clock from the first step to the last.",
    step=0,
    panels=("curves", "output"),
    input="mary had a little",
)
choice(
    "Exit question. Why is the gradient *subtracted*?",
    "because it points to where the loss grows",
    "It points uphill. Whatever its sign, going against it goes down, if the step is small enough.",
    {
        "because gradients are negative": "They may be positive or negative; subtracting is right for both.",
        "because weights should become small": "They become larger or smaller, whatever lowers the loss.",
        "because the loss is negative": "It never is; a square or a surprise is zero at the least.",
    },
)
say(
    "**Try it:** `glassformer train mary --set train.rate=0.3 --steps 300`, and the same with `0.00003`. Then "
    "`glassformer list runs`."
)
