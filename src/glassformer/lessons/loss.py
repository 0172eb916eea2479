"""Loss: one number that says how wrong a model is."""

from glassformer.teaching import chance, choice, expect, lab, number, point, say, seed, show, table, train, work

ORDER = 50
MINUTES = 20
AIMS = (
    "compute a squared error, and say why it is squared",
    "compute the surprise of a word from its probability, and say why it is a logarithm",
    "say what an untrained model costs before you train it",
    "compute the loss of a trained model yourself, word by word, and translate it into perplexity",
)
BEFORE = ("small_network", "batches_and_windows")
ANSWERS = ("3.§3.1.3", "1.P1.2", "1.Q47")
MISCONCEPTIONS = (
    (
        "A loss that is not zero means that something is wrong.",
        "Where the text itself leaves open what comes next, nobody can be sure. The least possible loss is the "
        "floor, and it can be computed.",
    ),
    (
        "The loss counts wrong answers.",
        "It never asks which word was likeliest, only how much the right one was given. A right answer given "
        "half-heartedly costs as well.",
    ),
    (
        "Loss of different models can be compared.",
        "Only on the same questions: guessing among few words is cheap, guessing among many is dear.",
    ),
)
PLAN = (
    (
        10,
        "In pairs: guess the next word of a rhyme, sharing a hundred points among words; pay for what you gave the "
        "right one",
    ),
    (20, "The lesson"),
    (10, "Worksheet, alone; compare your own loss with the model's"),
    (5, "Exit question: what does it cost to give the right word so much?"),
)

# %% [markdown]
# ## How wrong is a number?
#
# The small network of the last lesson has looked at a film and said a number. The person who saw it loved it: the
# answer should have been one. To get better, the network must first be told how wrong it was, in one number, the
# **loss**. The smaller, the better.
#
# The nearest idea is the difference. Its square is better still, and you will see why.

# %%
run = train("mary")
lab(
    run,
    "The curve is the loss of the rhyme's model, as it learns. What is it that falls there? Let us build it up.",
    step=0,
    panels=("curves",),
)

# %%
prediction, wanted = 0.442, 1.0  # what the network said, and what was true
error = wanted - prediction
loss = error**2
work(f"{wanted:.0f} − {prediction}", error, name="error")
number(
    "What is its square, to two digits after the point?",
    loss,
    "The error times itself.",
    tolerance=0.005,
    mistakes={
        round(error, 2): "That is the error itself.",
        round(2 * error, 2): "The square is the error times itself, not twice the error.",
        round(prediction**2, 2): "The difference is squared, not the prediction.",
    },
)
work(f"({wanted:.0f} − {prediction})²", loss, name="squared error")
_printed = (0.5560, 0.1971)
say(
    f"*A note.* At this point the source goes on with a prediction of {_printed[0]:.4f} and a loss of "
    f"{_printed[1]:.4f}; but its own network says {prediction}, as you have computed. We stay with {prediction}."
)

# %% [markdown]
# ## Why squared?
#
# Two reasons. Errors in opposite directions must not cancel out. And a large error should count for more than several
# small ones. Predict: an error that is twice as large costs how many times as much?

# %%
guesses = (1.0, 0.9, 0.8, 0.6, 0.2)
errors = [wanted - guess for guess in guesses]
table(
    ["predicted", "error", "squared error"],
    [[g, f"{e:.1f}", f"{e * e:.2f}"] for g, e in zip(guesses, errors, strict=True)],
)
number(
    f"From a prediction of {guesses[2]} to one of {guesses[3]} the error doubles. By which factor does its square "
    "grow?",
    (errors[3] / errors[2]) ** 2,
    "Twice the error, and that times itself.",
    tolerance=0.01,
    mistakes={2: "That is the factor of the error. Its square grows by the square of it."},
)
over, under = 0.4, -0.4
work(f"({over} + ({under})) / 2", (over + under) / 2, name="mean error of two predictions, one too low, one too high")
work(f"({over}² + ({under})²) / 2", (over**2 + under**2) / 2, name="mean squared error of the same two")
expect((over + under) / 2 == 0 < (over**2 + under**2) / 2, "errors cancel, their squares do not")

# %%
from glassformer.figures import plot_error_curve

show(
    plot_error_curve(got=prediction),
    "errors",
    "Squared error over the prediction; and the other measure, which comes next.",
)

# %% [markdown]
# ## How wrong is a guess among words?
#
# A language model does not say one number. It shares a probability of one among all words of its vocabulary. Then a
# word comes. What should that cost? Only one thing counts: **how much the right word was given**. If it got
# everything, the model was not surprised at all, and pays nothing. The less it got, the more the model pays, without
# limit.
#
# The price is the **surprise**, the negative natural logarithm of that probability. Its unit is called a *nat*.

# %%
import numpy as np

given = np.array([1.0, 0.5, 0.25, 0.1, 0.01])
surprise = -np.log(given)
table(
    ["given to the right word", "surprise, in nats"],
    [[f"{p:.0%}", f"{s:.3f}"] for p, s in zip(given, np.abs(surprise), strict=True)],
)
work(f"−ln({given[1]})", surprise[1], digits=3, name=f"at {given[1]:.0%}")
choice(
    "Look at the table. What does it cost to halve what the right word is given?",
    "always the same amount more",
    f"Each halving adds the logarithm of two, {np.log(2):.3f} nats, from wherever one begins.",
    {
        "twice as much": "Compare the second row with the third: that happens once, by accident.",
        "more and more each time": "From one to a half, from a half to a quarter: the same step each time.",
    },
)
expect(np.isclose(surprise[2] - surprise[1], surprise[1] - surprise[0]), "each halving costs the same")

# %% [markdown]
# ## Why a logarithm?
#
# The probability of several words in a row is the product of their probabilities. Products of many small numbers are
# unhandy; logarithms turn them into sums. So the surprise of a text is the sum of the surprises of its words. We try
# it on the trained model.

# %%
text = "the lamb was sure to go"
ids = run.task.encode(text)
chances = run.trace(ids)["probabilities"]  # (position, token): what each position expects next
came = chances[np.arange(len(ids) - 1), ids[1:]]  # what it gave the word that came
costs = -np.log(came)
words = text.split()
_worst = int(costs.argmax())
point(
    "Point at the word that surprised the model most. (Where does the rhyme itself leave things open?)",
    ["came"],
    words[1:],
    (0, _worst),
    f"After `{' '.join(words[: _worst + 1])}` the rhyme goes on in several ways, and the right one got "
    f"{came[_worst]:.0%}.",
    otherwise="With so much in view, the rhyme goes on in one way only.",
)
table(
    ["in view", "came", "given", "surprise"],
    [
        [f"`{' '.join(words[: k + 1])}`", f"`{words[k + 1]}`", f"{p:.3f}", f"{c:.3f}"]
        for k, (p, c) in enumerate(zip(came, costs, strict=True))
    ],
)
work(" × ".join(f"{p:.6f}" for p in came), float(np.prod(came)), digits=3, name="probability of all of them")
work(" + ".join(f"{c:.4f}" for c in costs), float(costs.sum()), digits=3, name="surprise of all of them")
expect(
    np.isclose(-np.log(np.prod(came)), costs.sum(), atol=1e-4),
    "the logarithm of the product is the sum of the logarithms",
)
expect(_worst == 0, "the first word alone leaves most open")
lab(
    run,
    "Position by position: choose one in the input, and see what it expects next.",
    input=text,
    position=_worst,
    panels=("output",),
)

# %% [markdown]
# ## What does knowing nothing cost?
#
# The average surprise over many guesses is called the **cross-entropy**; it is *the* loss of language models. Before
# we look at a single trained number, we can say where it begins. A model that knows nothing gives every word of the
# vocabulary the same.

# %%
size = run.architecture.vocabulary
nothing = np.log(size)
number(
    f"There are {size} words. What does it cost, in nats, to give each of them the same? (Take a calculator.)",
    nothing,
    f"Each word gets one part in {size}, and the surprise of that is the logarithm of {size}.",
    tolerance=0.05,
    mistakes={size: "That many words share the probability; the price is the logarithm."},
)
work(f"ln({size})", nothing, name="uniform guess")
at_start = float(run.metrics["validation_loss"][0])
say(
    f"And the untrained model, measured on all windows of the rhyme: {at_start:.3f} nats. It is near, and "
    f"{'a little above' if at_start > nothing else 'a little below'}: it knows nothing, but its random weights prefer "
    "some words to others, without reason. Having unfounded opinions costs more than having none. It is right "
    f"{run.metrics['accuracy'][0]:.0%} of the time, about as often as blind guessing ({1 / size:.0%})."
)
expect(abs(at_start - nothing) < 0.5, "an untrained model costs about as much as guessing")
lab(
    run,
    "Before any training: the model spreads its bets over all words.",
    step=0,
    input=text,
    panels=("output", "curves"),
)

# %%
rng = np.random.default_rng(seed())
weights = np.exp(rng.uniform(-1, 1, size=(20_000, size)))  # of random scores, one row for each guess
of_first = weights[:, 0] / weights.sum(axis=1)  # how scores become probabilities is a lesson of its own
opinionated = float(-np.log(of_first).mean())
say(
    f"The same without any model: scores drawn by chance between minus one and one, {len(weights):,} times. On "
    f"average they cost {opinionated:.3f} nats, against {nothing:.3f} for equal scores."
)
expect(opinionated > nothing, "random opinions cost more than none")

# %% [markdown]
# ## The loss of the trained model, by your own hand
#
# All windows, all positions: look up what the right word was given, take the logarithm, average.

# %%
context = run.architecture.context
part = run.task.data(context).train
windows = np.stack([part.tokens[k : k + context + 1] for k in range(int(part.windows[0]))])
chances = run.trace(windows[:, :-1])["probabilities"]
right = np.take_along_axis(chances, windows[:, 1:, None].astype(int), axis=2)
own = float(-np.log(right).mean())
logged = float(run.metrics["validation_loss"][-1])
say(f"By hand: {own:.4f} nats. In the log of the training: {logged:.4f}.")
expect(abs(own - logged) < 1e-3, "the loss by hand is the one that was logged")
work(f"exp({own:.4f})", float(np.exp(own)), digits=2, name="perplexity")
say(
    "The **perplexity** says it in words: at its end the model is as unsure as if it had to choose among "
    f"{np.exp(own):.2f} words each time; at its start among {np.exp(at_start):.0f}."
)

# %%
from glassformer.figures import plot_loss

_ladder = run.task.ladder(context)
table(["who guesses so", "pays, in nats"], [[rung.name, f"{rung.nats:.3f}"] for rung in _ladder])
show(plot_loss(run), "loss", "The loss as training goes on, in front of what partial understandings cost.")
say(
    "The table is the **ladder**: what it costs to know only so much, from nothing at all, over how often each word "
    "occurs, and which words follow the last one, the last two, the last three, up to all that the text can tell. "
    f"Its last line, {_ladder[-1].nats:.3f} nats, is "
    f"the **floor**: nobody who sees {context} words at a time can do better, as the rhyme itself goes on in several "
    "ways after some of them. A later lesson trains down to it."
)
expect(own >= _ladder[-1].nats - 1e-3, "no model gets below the floor")
lab(
    run,
    "Move the clock along the curve, and watch the answers grow surer.",
    step=int(run.steps[len(run.steps) // 4]),
    input=text,
    panels=("curves", "output"),
)
_p = float(chance("exit").choice([0.2, 0.05, 0.8, 0.4]))
number(
    f"Exit question. A model gives the right word {_p:.0%}. What does that cost, in nats?",
    -np.log(_p),
    "The negative natural logarithm of what the right word was given.",
    tolerance=0.02,
    mistakes={
        round(1 - _p, 2): "That is what was missing. The price is the negative logarithm of what was given.",
        round((1 - _p) ** 2, 2): "That is a squared error. For a guess among words the price is the surprise.",
        round(
            -float(np.log2(_p)), 2
        ): "That is in bits, with the logarithm to the base of two. A nat uses the natural one.",
    },
)
say(f"**Try it:** `glassformer score {run.name}` puts the model's price beside that of simpler ways to guess.")
