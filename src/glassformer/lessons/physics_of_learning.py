"""The physics of learning: entropy, temperature, and the path between them."""

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

ORDER = 190
MINUTES = 30
AIMS = (
    "compute an entropy, and say what it has to do with information",
    "read softmax as the law of a physical system with a temperature",
    "follow a learner of one matrix through a step, number by number",
    "draw the path of a training on the plane of entropy and loss, and tell sure from right",
    "say which pictures from physics hold for a model, and which do not",
)
BEFORE = ("softmax", "loss", "training_dynamics")
ANSWERS = (
    "0.V1", "0.V2", "0.V3", "0.V3.1", "0.V3.2", "0.V3.3", "0.V3.4", "0.V3.5", "0.V3.6", "0.K", "0.M", "0.M.1", "0.M.2",
    "0.M.3", "0.M.4", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8",
)  # fmt: skip
MISCONCEPTIONS = (
    (
        "Learning means that entropy goes to zero.",
        "Only where one answer is right. After a number any token may follow, and a model that is sure there is wrong.",
    ),
    (
        "More confident is more correct.",
        "The one-layer model of this lesson grows no surer for many steps while its loss rises; a cold model is sure "
        "of everything, its mistakes included.",
    ),
    (
        "Temperature belongs to the model.",
        "It divides the scores afterwards: the same weights can be read at any temperature.",
    ),
)
PLAN = (
    (10, "Dice and coins: groups order five distributions by entropy, then compute"),
    (15, "The memory by hand, one step each, passed on from group to group; check against the page"),
    (15, "The path of a training on the blackboard, three views of it, one for each third of the class"),
    (5, "Exit question: sure and wrong, where does that lie on the plane?"),
)

# %% [markdown]
# ## A number for being unsure
#
# A vase that falls becomes many shards in any order: from one state that was known to many that might be. **Entropy**
# counts how much is left to know. For probabilities it is the mean surprise: every probability times its negative
# logarithm, added up. Nothing left to know gives zero; all alike gives the most, the logarithm of their number.
# **Information** is what takes entropy away.

# %%
import numpy as np

import glassformer as gf
from glassformer.words import power


def entropy(chances: np.ndarray) -> float:
    return float(-np.sum(chances * np.log(np.where(chances > 0, chances, 1))))


def softmax(scores: np.ndarray) -> np.ndarray:
    grown = np.exp(scores - scores.max())
    return np.asarray(grown / grown.sum())


forecast = np.array([0.7, 0.2, 0.1])
work(" − ".join(["", *(f"{p} × ln({p})" for p in forecast)]).strip(), entropy(forecast), name="entropy of a forecast")
sides = int(chance("a die").integers(3, 13))
number(
    f"A die has {sides} sides, all alike. What is its entropy?",
    np.log(sides),
    f"Each side has probability one in {sides}, so each surprise is ln({sides}), and so is their mean.",
    tolerance=0.01,
    unit="nats",
    mistakes={
        float(sides): "That is how many possibilities there are; entropy is its logarithm.",
        float(np.log2(sides)): "That is in bits. Here logarithms are natural, and the unit is the nat.",
    },
)
told = forecast[1:] / forecast[1:].sum()
work(f"{entropy(forecast):.4f} − {entropy(told):.4f}", entropy(forecast) - entropy(told),
     name="what 'not the first' takes away")  # fmt: skip
say("That was information: a message that rules something out. Blurring a forecast does the reverse and loses some.")

# %% [markdown]
# ## Temperature: the law of Boltzmann
#
# A hundred and fifty years ago Boltzmann wrote down how likely a warm body is in each of its states: the exponential of
# minus its energy over the temperature, divided by the sum of all such. Read a score as minus an energy, and that is
# **softmax with a temperature**, the one you know. Cold means: only the best. Hot means: all alike.

# %%
scores = np.array([2.0, 1.0, 0.5])
temperatures = (0.1, 1.0, 10.0)
warm = {T: softmax(scores / T) for T in temperatures}
table(["temperature", *(f"score {s:g}" for s in scores), "entropy"],
      [[f"{T:g}", *(f"{p:.4f}" for p in each), f"{entropy(each):.4f}"] for T, each in warm.items()])  # fmt: skip
work(f"exp({scores[0]:g}) / (" + " + ".join(f"exp({s:g})" for s in scores) + ")", float(warm[1.0][0]),
     name="the first at temperature one")  # fmt: skip
expect(np.all(np.diff([entropy(each) for each in warm.values()]) > 0), "entropy grows with temperature")
show(gf.figures.plot_softmax(), "softmax", "The same scores at several temperatures, and the entropy in between.")

# %% [markdown]
# ## The smallest learner: a memory that fades
#
# A handful of tokens, one matrix. In each step (a) the memory fades by a factor and takes in the token that was read,
# (b) the matrix makes scores of the memory, (c) a temperature makes chances of the scores, (d) entropy and loss are
# written down, (e) the matrix moves: by the rate, times *chances minus truth*, times the memory, (f) the next token is
# drawn by its chance, with a number from a table that is made once, so that everything can be repeated. One token is
# always right. We do the first steps ourselves.

# %%
from glassformer.physics.models.boltzmann_memory import BoltzmannMemory, boltzmann_memory

life = boltzmann_memory(BoltzmannMemory(seed=seed()))
own, T = life.settings, float(life.temperatures[life.nearest_one])
matrix, memory, token = life.first.copy(), np.zeros(own.tokens), own.start
seen = []
for draw in life.table[:3]:
    memory = own.decay * memory + np.eye(own.tokens)[token]
    chances = softmax(matrix @ memory / T)
    seen.append([token, memory.copy(), chances, entropy(chances), -np.log(chances[own.target])])
    matrix = matrix - own.rate * np.outer(chances - np.eye(own.tokens)[own.target], memory)
    token = int((chances.cumsum() <= draw).sum())
table(["step", "token read", "memory", "chance of the right one", "entropy", "loss"],
      [[k, t, " ".join(f"{x:.2f}" for x in m), f"{p[own.target]:.3f}", f"{h:.3f}", f"{loss:.3f}"]
       for k, (t, m, p, h, loss) in enumerate(seen)])  # fmt: skip
expect(np.allclose([each[3] for each in seen], life.entropy[life.nearest_one, :3]), "by hand as by the model")
number(
    f"The memory keeps {own.decay:g} of itself in each step. A token was read at the first step, and never since. "
    "How much of it is in the memory two steps later?",
    own.decay**2,
    f"{own.decay:g} × {own.decay:g}: it fades by the same factor in every step, and never quite to nothing.",
    tolerance=0.005,
    mistakes={
        own.decay: "That is after one step.",
        2 * own.decay: "Factors multiply; they do not add.",
        round(2 * own.decay - 1, 6): "It loses a share of what is left, not the same amount each time.",
    },
)
hot, cold = life.mean_entropy[-1], life.mean_entropy[0]
say(
    f"A learner for each of {len(life.temperatures)} temperatures: averaged over its steps, entropy is {cold:.2f} at "
    f"T = {life.temperatures[0]:g} and {hot:.2f} at T = {life.temperatures[-1]:g}, where ln({own.tokens}) = "
    f"{np.log(own.tokens):.2f} would be the most. From order to chance, in a smooth crossover: no sudden melting. "
    "(In S0, one of the texts that this laboratory checks, the change of the matrix lacks a division by the "
    "temperature: as it stands, it is the gradient only at one.)"
)
expect(cold < hot < np.log(own.tokens), "mean entropy rises with temperature and stays below its limit")

# %% [markdown]
# ## One layer, and what was said about it
#
# S0 shows a whole layer in this way: attention over a window of one-hot tokens (each a row of zeros with a single one,
# at its own id), residuals and norms, a feed-forward part, a read-out. One token is right at every step, and the layer
# reads its own likeliest answer next. We run the same program, with the same random numbers.

# %%
from glassformer.physics.models.one_layer import OneLayer, one_layer

layer = one_layer(OneLayer())
uncertain, cost = layer.training_entropy, layer.training_loss
locked = int(np.argmax(uncertain < uncertain[0] / 2))
worst = int(cost.argmax())
choice(
    "A layer is told at every step that one and the same token is right, and reads its own likeliest answer next. What "
    "happens in the first steps?",
    "The loss rises while entropy stays where it is",
    f"Up to step {worst} the loss grows from {cost[0]:.2f} to {cost[worst]:.2f}: each step teaches the answer to the "
    "window of that step, and then the window changes. Once the right token is fed back the window stays, and both "
    f"fall at once, around step {locked}.",
    {
        "Both fall together, step by step": "That is what S0 says of its picture; its own numbers say otherwise.",
        "Entropy falls first, then the loss": "Entropy stays near its limit until the loss falls, too.",
    },
)
work(f"ln({layer.settings.tokens})", np.log(layer.settings.tokens), name="the most entropy there can be")
table(["step", "entropy", "loss", "chance of the right token"],
      [[k, f"{uncertain[k]:.3f}", f"{cost[k]:.3f}", f"{layer.p_target[k]:.3f}"]
       for k in sorted({0, worst // 2, worst, locked, len(cost) - 1})])  # fmt: skip
show(gf.figures.plot_phase(layer), "one_layer", "The path: first up at constant entropy, then down to sure and right.")
expect(cost[worst] > cost[0] and uncertain[worst] > 0.95 * uncertain[0], "loss rises at constant entropy first")
expect(cost[-1] < 0.1 and uncertain[-1] < 0.3, "in the end it is sure and right")
attention = layer.mean_attention
still = dict(zip(layer.matrices, layer.moved.tolist(), strict=True))
fed = int(np.flatnonzero(layer.inputs != layer.target)[-1]) + 1
say(
    f"Feeding the likeliest token back makes an **attractor**: from step {fed} on nothing but the right token is read. "
    f"Now the rest. Attention by position lies between {attention.min():.4f} and {attention.max():.4f}, where looking "
    f"everywhere alike is {1 / len(attention):.4f}: nothing tells positions apart, so recent tokens get no more than "
    f"old ones. The matrices of the feed-forward part moved by {still['feed_in']:g}: they are never changed. The "
    f"read-out moved {still['output'] / still['query']:.0f} times as far as the queries. And the pictures titled "
    f"T = {layer.temperatures[layer.nearest_one]:.2f} are drawn at T = "
    f"{layer.temperatures[layer.farthest_from_one]:g}: the program looks for the temperature farthest from one where "
    "it wants the nearest."
)

# %% [markdown]
# ## A real training as a path
#
# Now a model that learns from data, all its parts by true gradients: after `+` comes the last even number. At every
# kept step we know how unsure it is, on average, and how surprised by what came. Being as sure as one should be means
# that the two are equal.

# %%
run = train("plus_last_even")
path = gf.analyses.phase(run).by_step
steps = [int(s) for s in path["entropy_at"].axes["step"].values]
unsure, surprise = path["entropy_at"].values[0], path["loss_at"].values[0]  # the first row is the mean
floor = run.task.floor(run.architecture.context)
say(
    f"It begins at entropy {unsure[0]:.2f} and loss {surprise[0]:.2f}: "
    f"{'surer' if surprise[0] > unsure[0] else 'less sure'} than it has reason to be. It ends at "
    f"{unsure[-1]:.2f} and {surprise[-1]:.2f}. The floor is {floor:.2f}, not nothing: after most tokens anything may "
    "come, and to know that is all there is to know."
)
show(gf.figures.plot_phase(run), "path", "The path of the training, past the rungs; on the diagonal sure is as right.")
expect(abs(unsure[-1] - surprise[-1]) < 0.1, "in the end it is about as sure as it should be")
expect(
    surprise[-1] > 0.9 * floor and unsure[-1] > 1, "entropy does not go to nothing, for the task has some of its own"
)
lab(run, "Entropy and loss on the clock. Move it, and see the path being walked.",
    step=0, panels=("thermodynamics", "curves", "output"), input="10 + 10 6 +")  # fmt: skip

# %% [markdown]
# ## How fast it changes its mind, how much it bets
#
# Between two looks predictions move. How far is measured by the **divergence** (of Kullback and Leibler): the mean,
# over what is predicted now, of how much likelier it has become. Large while it learns, small when it is done.

# %%
change = gf.analyses.prediction_change(run).change["divergence"]
speed, until = change.values[0], [int(s) for s in change.axes["step"].values]
fastest = int(np.argmax(speed))
bets = gf.analyses.sharpening(run).by_step["p_target constrained"].values[0]
say(
    f"Fastest by step {until[fastest]}: {power(speed[fastest], 2)} nats a step. At the end {power(speed[-1], 2)}. "
    f"Where the rule speaks, the right token had a probability of {bets[0]:.0%} at first and has {bets[-1]:.0%} now."
)
expect(
    speed[-1] < speed[fastest] / 10 and bets[-1] > bets[0], "it changes fast, then slowly, and bets more on the truth"
)
show(
    gf.figures.plot_prediction_change(run),
    "change",
    "How fast the predictions move, by step; both scales are logarithmic.",
)
lab(run, "The same step, seen as an update: which numbers move, and how far.",
    step=int(run.steps[np.searchsorted(run.steps, until[fastest])]),
    panels=("updates", "thermodynamics", "output"))  # fmt: skip

# %% [markdown]
# ## Warm it up
#
# The weights stay; only the scores are divided by a temperature before softmax. Two inputs: one after which the rule
# leaves a single answer, one after which anything may come.

# %%
inputs = {"after `+`": "10 + 10 6 +", "after a number": "10 + 10 6 5"}
warmth = (0.3, 1.0, 3.0)
last = {name: run.trace(text)["logits"][-1] for name, text in inputs.items()}
unsure_at = np.array([[entropy(softmax(row / T)) for row in last.values()] for T in warmth])
top = np.unravel_index(unsure_at.argmax(), unsure_at.shape)
point(
    "A model has learnt that after `+` comes the last even number, and that after a number anything may come. Its "
    "scores are divided by three temperatures. Where is the entropy of the next token largest?",
    [f"T = {T:g}" for T in warmth],
    list(inputs),
    (int(top[0]), int(top[1])),
    f"{unsure_at.max():.2f} nats, and ln({run.architecture.vocabulary}) = {np.log(run.architecture.vocabulary):.2f} "
    "would be the most: warm, and nothing that could settle it.",
    otherwise="A warmer row is more even, and an input that settles nothing stays more even than one that does.",
)
table(["", *inputs], [[f"T = {T:g}", *(f"{h:.2f}" for h in row)] for T, row in zip(warmth, unsure_at, strict=True)])
heat = gf.analyses.temperature(run)
best, turn = (float(heat.marks[name].values[-1]) for name in ("least_loss", "most_heat"))
say(
    f"For all inputs together the loss is least at T ≈ {best:.2g}: trained at one, judged best at one. The **specific "
    "heat**, the variance of the energy over the temperature squared, says where a little warmth changes most; its "
    f"peak, at T ≈ {turn:.2g}, is where order turns into chance."
)
expect(0.8 < best < 1.25, "the temperature of least loss is that of the training")
show(
    gf.figures.plot_thermodynamics(run, view=3),
    "physics",
    "One life told as physics; `view=1` and `view=2` tell the others.",
)
lab(run, "Turn the temperature here, and watch the chances even out.", input="10 + 10 6 +", temperature=3,
    panels=("output", "thermodynamics", "scores"))  # fmt: skip
say(
    "What holds of the picture, then? Softmax is the law of Boltzmann, exactly. Attention is an average weighted by "
    "it, exactly. A norm fixes the length of a state, not its energy. And that training *drives a system to low "
    "entropy* holds where there is one right answer, and not otherwise. `glassformer physics` tells all of it three "
    "times: for school, for college, for a physicist."
)
discuss(
    "Is learning like cooling?",
    "Cooling sharpens what is there and lowers entropy everywhere; learning changes the scores themselves, and raises "
    "entropy where the model was sure without reason.",
    "Lower the temperature of an early model until its entropy is that of the trained one, and compare their losses.",
)
choice(
    "Exit question. A model has a low entropy and a high loss. What is it?",
    "Sure and wrong",
    "Entropy says how unsure it is, whatever comes; loss says how surprised it was by what came.",
    {
        "Unsure and right": "Unsure would be a high entropy.",
        "Not trained yet": "Untrained models are mostly unsure, with a high entropy.",
        "Impossible": "Lower the temperature of a bad model, and you have one.",
    },
)
