"""The chain rule: which way to turn every knob, found backwards."""

from glassformer.teaching import (
    chance,
    choice,
    discuss,
    expect,
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

ORDER = 60
MINUTES = 20
AIMS = (
    "say what a gradient is, and measure one by nudging",
    "compute a gradient by multiplying along the chain from the loss back to a weight",
    "say what the sign and the size of a gradient tell, and when it is zero",
    "check any gradient by finite differences, in a small network and in a transformer",
)
BEFORE = ("small_network", "loss")
ANSWERS = ("3.§3.1.4", "1.T.1", "1.Q49")
MISCONCEPTIONS = (
    (
        "The gradient says by how much a weight is wrong.",
        "It says how steeply the loss changes where we stand. The best value may be near or far; only walking tells.",
    ),
    (
        "A weight with gradient zero has found its best value.",
        "Or it stands behind a neuron that is off: then, for this input, nothing depends on it.",
    ),
    (
        "Backpropagation is the learning.",
        "It computes the gradients, no more. What is done with them is the next lesson.",
    ),
)
PLAN = (
    (10, "A row of people passes on 'times so much'; the last one says what a change at the front does at the end"),
    (20, "The lesson, to the table of all nine gradients"),
    (10, "Worksheet, alone: one chain by hand, checked by nudging"),
    (5, "Exit question: why is the gradient behind a silent neuron zero?"),
)

# %% [markdown]
# ## Nine knobs, and one needle
#
# The small network has nine parameters: think of nine knobs. The loss is a needle. Which way should each knob be
# turned so that the needle goes down? There is an honest way to find out: **nudge** one knob a little, and look at
# the needle.
#
# How much the loss changes, for each unit that a weight is turned, is the **gradient** of the loss with respect to
# that weight. It is the slope of the loss, seen from where we stand.

# %%
run = train("plus_last_even")
lab(
    run,
    f"A model before its training: {run.parameters} knobs, and the loss is its needle. By the end of this lesson you "
    "know how each knob is told which way to turn.",
    step=0,
    panels=("weights", "curves"),
)

# %%
import numpy as np

x, wanted = np.array([0.8, 0.2]), 1.0  # the film, and what its viewer said
w = np.array([[0.5, -0.2], [0.3, 0.8]])  # (input, hidden neuron)
b = np.array([0.1, -0.1])
v = np.array([0.7, 0.4])  # from the hidden neurons to the output
c = 0.05


def predict(w: np.ndarray, b: np.ndarray, v: np.ndarray, c: float) -> float:
    hidden = np.maximum(x @ w + b, 0)
    return max(0.0, float(hidden @ v + c))


y = predict(w, b, v, c)
loss = (wanted - y) ** 2
say(f"The network says {y:.3f}, wanted is {wanted:.0f}: the loss is {loss:.4f}.")
choice(
    f"The weight from the first hidden neuron to the output is {v[0]}. If we raise it a little, what does the loss do?",
    "it falls",
    "The neuron is on, so a larger weight raises the prediction; and the prediction is too low.",
    {
        "it rises": "It would, if the prediction were too high. It is too low, and a larger weight raises it.",
        "nothing": "It would be so, if the neuron were off. It is on.",
    },
)
nudge = 0.001
turn = np.array([nudge, 0.0])  # this weight alone
up = (wanted - predict(w, b, v + turn, c)) ** 2
down = (wanted - predict(w, b, v - turn, c)) ** 2
measured = (up - down) / (2 * nudge)
work(f"({up:.7f} − {down:.7f}) / {2 * nudge}", measured, digits=3, name="gradient, by nudging")
expect(measured < 0, "raising this weight lowers the loss")

# %% [markdown]
# ## A chain of causes
#
# Nudging works, but it needs the whole network twice for each knob. There is a shorter way. Follow what a change of
# that weight does, link by link: it changes the sum of the output neuron, the sum changes the prediction, the
# prediction changes the loss. For each link alone we can say *times how much*.
#
# (The last link is the slope of a square. Picture one whose sides grow by a hair: it gains two thin strips, each as
# long as a side; so it grows by twice its side, times the hair. Here the side is the error; and the error shrinks as
# the prediction grows, hence the minus.)

# %%
hidden = np.maximum(x @ w + b, 0)
z = float(hidden @ v + c)  # the output neuron's sum
dz_dv = hidden[0]  # the weight is multiplied by this, so the sum changes this many times as fast
dy_dz = 1.0 if z > 0 else 0.0  # ReLU is on: what goes in comes out
dl_dy = -2 * (wanted - y)  # the slope of a square
table(
    ["link", "times how much", "because"],
    [
        ["weight → sum", f"{dz_dv:.2f}", "it is multiplied by what the hidden neuron says"],
        ["sum → prediction", f"{dy_dz:.0f}", "ReLU is on and passes every change as it is"],
        [
            "prediction → loss",
            written(dl_dy, 3),
            "the slope of the squared error: twice the error, downwards",
        ],
    ],
)
work(f"−2 × ({wanted:.0f} − {y:.3f})", dl_dy, name="the last link")
number(
    "The **chain rule** says: multiply the links. What is the gradient of this weight?",
    dl_dy * dy_dz * dz_dv,
    "All three links multiplied, with the minus of the last one.",
    tolerance=0.005,
    mistakes={
        round(abs(dl_dy * dz_dv), 4): "The last link is negative, and so is the product.",
        round(
            dl_dy + dy_dz + dz_dv, 4
        ): "The links are multiplied, not added: each passes on a multiple of what comes in.",
    },
)
gradient = dl_dy * dy_dz * dz_dv
work(f"({dl_dy:.3f}) × {dy_dz:.0f} × {dz_dv:.2f}", gradient, name="gradient, by the chain rule")
expect(abs(gradient - measured) < 1e-6, "the chain rule gives what nudging measures")
_printed = -0.4973
say(
    f"Nudging gave {written(measured, 4)}: the same. *A note.* The source prints {written(_printed, 4)} here, since "
    "it goes on with a prediction that its own network does not make. A check by nudging would have told."
)
_y, _h = (float(k) / 10 for k in chance("another film").choice(range(2, 10), size=2, replace=False))
number(
    f"Another film: the network says {_y}, wanted is {wanted:.0f}, and the first hidden neuron says {_h}. All ReLUs "
    "are on. What is the gradient of the weight between the two?",
    -2 * (wanted - _y) * _h,
    f"Twice the error, downwards: {written(-2 * (wanted - _y), 1)}; times one; times the input of the weight, {_h}.",
    tolerance=0.005,
    mistakes={
        round(
            2 * (wanted - _y) * _h, 3
        ): "The prediction is too low, so raising the weight lowers the loss: the sign is minus.",
        round(-(wanted - _y) * _h, 3): "The slope of a square is twice the error, not the error.",
    },
)

# %% [markdown]
# ## Further back
#
# A weight in front of a hidden neuron lies two links further away: it changes the hidden neuron's sum, which changes
# what that neuron says, which changes the output's sum, and from there on we know the way. Nothing new, only a longer
# product.

# %%
dl_dz = dl_dy * dy_dz
dl_dh = dl_dz * v  # each hidden neuron reaches the output through its weight
on = (x @ w + b > 0).astype(float)  # 1 where ReLU is on, 0 where it is off
dl_dw = np.outer(x, dl_dh * on)  # (input, hidden neuron): and every weight is multiplied by its input
work(
    f"({dl_dy:.3f}) × {dy_dz:.0f} × {v[0]} × {on[0]:.0f} × {x[1]}",
    dl_dw[1, 0],
    name="from romance to the first hidden neuron",
)
choice(
    "And the weights in front of the *second* hidden neuron, which is off for this film?",
    "their gradients are zero",
    "One link of the chain, the neuron's ReLU, passes nothing on; a product with a zero is zero.",
    {
        "they are the same as for the first": "The chain leads through the neuron itself, and that one is off.",
        "they are negative, as the loss must fall": "Nothing changes if they are nudged, so that the slope is zero.",
    },
)
work(
    f"({dl_dy:.3f}) × {dy_dz:.0f} × {v[1]} × {on[1]:.0f} × {x[1]}", abs(dl_dw[1, 1]), name="from romance to the second"
)
expect(dl_dw[1, 1] == 0 == dl_dw[0, 1], "a neuron that is off lets no gradient through")

# %% [markdown]
# ## All of them in one sweep
#
# Look at what we did: the links near the loss were computed once and used for every weight behind them. So one walk
# from the loss back to the inputs gives *all* gradients. That walk is the **backward pass**, and the method is called
# **backpropagation**. We hold it against nudging, knob by knob.

# %%
names = [f"{name} → {neuron}" for name in ("action", "romance") for neuron in ("first", "second")]
names += ["bias of first", "bias of second", "first → output", "second → output", "bias of output"]
by_chain = np.concatenate([dl_dw.ravel(), dl_dh * on, dl_dz * hidden, [dl_dz]])
parameters = np.concatenate([w.ravel(), b, v, [c]])


def loss_of(p: np.ndarray) -> float:
    return (wanted - predict(p[:4].reshape(2, 2), p[4:6], p[6:8], float(p[8]))) ** 2


knobs = np.eye(len(parameters)) * nudge  # row k moves parameter k, and no other
by_nudging = np.array([(loss_of(parameters + knob) - loss_of(parameters - knob)) / (2 * nudge) for knob in knobs])
_steepest = int(np.abs(by_chain).argmax())
point(
    "Predict: which of these has the steepest slope?",
    ["gradient"],
    names,
    (0, _steepest),
    "Its chain is the shortest: whatever is added to the sum arrives in full, with no factor below one on the way.",
    otherwise="Every further link multiplies by a number below one here. Which chain is the shortest?",
)
table(
    ["parameter", "value", "by the chain rule", "by nudging"],
    [
        [
            name,
            written(p),
            *(written(g, 5) for g in pair),
        ]
        for name, p, *pair in zip(names, parameters, by_chain, by_nudging, strict=True)
    ],
)
expect(np.abs(by_chain - by_nudging).max() < 1e-6, "all nine agree")

# %%
from glassformer.figures import plot_chain_rule

weight = "w12"  # from the second input to the first hidden neuron
show(plot_chain_rule(weight=weight), "chain", "One chain, box by box, and below it all gradients with their checks.")
say(
    "Read the signs: **negative** means that raising the parameter lowers the loss; **positive**, that lowering it "
    "does. The size says how steep it is. (Compare a bad cake: was it the sugar, the flour, the heat? The gradient "
    "answers for all of them at once, and says how much each mattered.)"
)

# %% [markdown]
# ## The same in a transformer
#
# A transformer is a longer chain, made of the same links. We take the small model early in its training, when it
# still has much to learn, and ask: how would the loss on one text change with *any* number inside? Forward, then one
# sweep back. Each token enters the model as a few numbers, its **features**; we take one of them.

# %%
from glassformer.analyses import backward

step, text = int(run.steps[np.searchsorted(run.steps, 200)]), "10 + 10 6 + 6"
tokens = run.task.encode(text)
swept = backward(run, sequence=text, step=step)  # gradients of this text's loss, at every point of the model


def cost(edits: str = "") -> float:
    chances = run.trace(tokens, step=step, edits=edits or None)["probabilities"]
    return float(-np.log(chances[np.arange(len(tokens) - 1), tokens[1:]]).mean())


position, feature = 1, 0
found = float(swept.gradients["embedded"].values[position, feature])
edit = "add(embedded, {}, position=" + f"{position}, feature={feature})"
higher, lower = cost(edit.format(nudge)), cost(edit.format(-nudge))
by_hand = (higher - lower) / (2 * nudge)
say(
    f"At step {step}, the text `{text}` costs {cost():.4f} nats. We nudge feature {feature} of its token at position "
    f"{position}, where it enters the model, up and down by {nudge}:"
)
work(f"({higher:.7f} − {lower:.7f}) / {2 * nudge}", by_hand, digits=3, name="by nudging")
say(f"The backward pass says {written(found, 4)}.")
expect(abs(by_hand - found) < 0.02 * max(abs(found), 0.05), "nudging and backpropagation agree inside the transformer")
expect(abs(cost() - swept.loss) < 1e-4, "both speak of the same loss")
lab(
    run,
    "The card of this very number: to the left what it is made of, to the right what it does to the loss. Compare "
    "the gradient; then choose any other number.",
    step=step,
    input=text,
    cell=f"embedded[{position}, {feature}]",
    panels=("embedding", "stream"),
)

# %%
from glassformer.figures import plot_backward

show(
    plot_backward(run, sequence=text, step=step),
    "backward",
    "Above each value, below its gradient, at every point from where the text enters to the answer.",
)
lab(
    run,
    "The same text at the end of the training. A single text may still pull; only the average over all must come to "
    "rest.",
    input=text,
    cell=f"embedded[{position}, {feature}]",
    panels=("embedding", "stream"),
)

# %% [markdown]
# ## Why nobody nudges
#
# Nudging is for checking. For learning it is hopeless: it costs two forward passes for each parameter, at every step.

# %%
passes = 2 * run.parameters
work(f"2 × {run.parameters}", passes, name="forward passes, by nudging")
say(
    "One backward pass costs about as much as two forward ones, however many parameters there are. That is why "
    "networks with billions of them can be trained at all."
)
lab(
    run,
    "What each part of the model is told to do, step by step: the panel of updates.",
    step=step,
    panels=("updates", "curves"),
)
discuss(
    "In a deep chain many links are multiplied. What happens to the gradient at its beginning if most links are "
    "below one? And if most are above?",
    "It shrinks towards zero (vanishes) or grows without bound (explodes); a way around the links keeps it alive. "
    "A transformer has such ways, its residual paths; a later lesson is about them.",
    "Train the same model with and without residual paths: `glassformer study ablation plus_last_even`, and compare "
    "the gradients of its first parts.",
)
choice(
    "Exit question. A parameter's gradient is exactly zero for one film. What follows?",
    "for this film, a small change of it would not change the loss",
    "That is what a slope of zero says: here, now, for this input. Another film may need it badly.",
    {
        "it should be removed": "For another film its neuron may be on, and then it counts.",
        "it is at its best value": "It may be; or it stands behind a neuron that is off and says nothing about it.",
        "the chain rule has failed": "One link of zero makes the product zero, and nudging confirms it.",
    },
)
say("**Try it:** `glassformer figures chain_rule --set weight=w22`, a weight of the silent neuron.")
