"""To the floor: training on the rhyme, and why the loss does not reach nothing."""

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

ORDER = 160
MINUTES = 25
AIMS = (
    "predict the loss before the first step",
    "say what AdamW does that plain descent does not, and check its first step on real weights",
    "compute the floor: the least loss that any model with this window can reach",
    "tell a model that is finished from one that is stuck",
)
BEFORE = ("the_model", "loss", "descent")
ANSWERS = ("3.§10", "1.P8.3", "1.Q23", "1.P1.2")
MISCONCEPTIONS = (
    (
        "A perfect model has a loss of zero.",
        "Only where one word can follow. After a word that is followed by this and by that, even the best must be "
        "surprised.",
    ),
    (
        "When the loss stops falling, something is wrong.",
        "Compare it with the floor first: perhaps there is nothing left to learn.",
    ),
    (
        "A loss that rises between two lines of the log has got worse.",
        "A batch is a few windows drawn by chance, some harder than others. Look at the loss over all windows.",
    ),
)
PLAN = (
    (10, "The rhyme on paper: in pairs, list what follows each word; where could nobody be sure?"),
    (20, "The lesson; each pair computes the floor of another word"),
    (10, "Worksheet, alone"),
    (5, "Exit question: what would lower the floor, and what would not?"),
)

# %% [markdown]
# ## Before the first step
#
# The model is built, its weights are drawn by chance, and it has seen nothing. What will its first loss be? If it
# gave every word the same chance, you could say so at once.

# %%
import numpy as np

from glassformer.tasks.mary import TEXT

run = train("mary")
a = run.architecture
text = " ".join(TEXT[:4])  # the rhyme begins so
uniform = np.log(a.vocabulary)
number(
    f"There are {a.vocabulary} words, all equally likely. What does the right one cost, in nats?",
    uniform,
    f"The logarithm of {a.vocabulary}: {uniform:.3f}.",
    tolerance=0.01,
    mistakes={
        round(float(np.log2(a.vocabulary)), 3): "That is in bits. Nats use the natural logarithm.",
        round(1 / a.vocabulary, 3): "That is the chance. The cost is minus its logarithm.",
    },
)
work(f"−ln(1 / {a.vocabulary})", uniform, name="a uniform guess")
losses = dict(zip(run.metrics["step"].tolist(), run.metrics["train_loss"].tolist(), strict=True))
say(
    f"The untrained model costs {losses[0]:.3f}. Its answers are not even, as those of the uniform guess are: it has "
    "opinions already, drawn by chance, and chance is seldom right. "
    + ("So it pays a little more." if losses[0] > uniform else "With this seed they happen to help a little.")
)
expect(abs(losses[0] - uniform) < 0.6, "an untrained model pays about as much as a uniform guess")
lab(run, "The untrained model's answers: nearly even, not quite. Press Train to make a model of your own here.",
    step=0, input=text, mode="train", panels=("output", "curves"))  # fmt: skip

# %% [markdown]
# ## The loop
#
# You know it from the small network: draw a batch, go forward, measure the loss, go backward, update; and again. What
# is new is only the size.

# %%
settings = run.experiment.train
tokens = run.task.encode(" ".join(TEXT))
windows = np.array([tokens[begin : begin + a.context + 1] for begin in range(len(tokens) - a.context - 1)])
drawn = settings.steps * settings.batch
work(f"{settings.steps:,} × {settings.batch}", drawn, name="windows drawn")
work(f"{drawn:,} / {len(windows)}", drawn / len(windows), digits=1, name="passes over the text")
printed = 4  # windows in a batch, as S3 prints it
say(
    f"S3, the text about this model (`glassformer claims S3`), calls its {settings.steps:,} steps *epochs*. An epoch "
    f"is a pass over the text, and these steps make {drawn / len(windows):.0f} of them. (It also prints a batch of "
    f"{printed}, where its program takes {settings.batch}.)"
)
steps = [0, 1, *(int(s) for s in np.geomspace(10, settings.steps, 7))]
logged = run.metrics["step"]
shown = sorted({int(logged[np.abs(logged - s).argmin()]) for s in steps})
table(["step", "loss over all windows"], [[s, f"{losses[s]:.4f}"] for s in shown])
expect(losses[shown[-1]] < 0.1 * losses[0], "the loss falls to a small part of what it was")

# %% [markdown]
# ## AdamW: descent with a memory
#
# Plain descent moves each weight by *rate × gradient*. **Adam** keeps two running means for every weight: of its
# gradient (**momentum**: keep going where the last steps went) and of the gradient's square (how large gradients
# usually are here). It moves by *rate × first / root of the second*. Large gradients and small ones then make steps
# of the same size; what counts is whether they agree. The W stands for **weight decay**: each step also shrinks every
# weight a little.


# %%
def adam(gradients: list[float], rate: float) -> float:
    """How far one weight moves in all."""
    mean = square = moved = 0.0
    for t, g in enumerate(gradients, 1):
        mean = settings.beta_1 * mean + (1 - settings.beta_1) * g
        square = settings.beta_2 * square + (1 - settings.beta_2) * g**2
        fair_mean, fair_square = mean / (1 - settings.beta_1**t), square / (1 - settings.beta_2**t)  # both began at 0
        moved -= rate * fair_mean / (fair_square**0.5 + settings.epsilon)
    return moved


rate = 0.001
cases = {
    "large, steady": [2.0] * 10,
    "small, steady": [0.002] * 10,
    "small, to and fro": [0.002, -0.002] * 5,
}
table(
    ["ten gradients", "plain descent moves by", "Adam moves by"],
    [[name, written(-rate * sum(g), 6), written(adam(g, rate), 6)] for name, g in cases.items()],
)
steady, noisy = adam(cases["small, steady"], rate), adam(cases["small, to and fro"], rate)
expect(np.isclose(steady, adam(cases["large, steady"], rate), rtol=1e-3), "Adam does not see how large gradients are")
expect(abs(noisy) < abs(steady) / 2, "gradients that disagree move a weight less")

# %% [markdown]
# In its very first step there is no memory yet: the mean is the gradient itself, the root of its square is the
# gradient's size. So *every* weight should move by the same amount, up or down: the rate. Check that on the kept
# weights.

# %%
before, after = run.weights(0), run.weights(1)
moves = np.concatenate([np.abs(after[name] - before[name]).ravel() for name in before])
first_rate = float(run.metrics["rate"][1])
close = float((np.abs(moves / first_rate - 1) < 0.01).mean())
number(
    f"The rate of the first step is {first_rate:.7f}: training begins gently, and the rate grows at first. What share "
    f"of the {moves.size:,} weights moved by that, within a hundredth? Guess, in percent.",
    100 * close,
    f"More exactly {close:.1%}. (The others differ by weight decay, or had gradients so small that a tiny safety term "
    "shows.)",
    tolerance=5,
    unit="%",
)
expect(close > 0.9, "in Adam's first step nearly all weights move by the rate")
lab(run, "The first update, weight by weight.", step=1, input=text, panels=("updates", "weights"))

# %% [markdown]
# ## Down the ladder
#
# How low can it go? Let us say exactly what partial knowledge is worth. Somebody who only knows how often each word
# occurs pays so much per word; somebody who also looks at the last word pays less; and so on. Such a level is called
# a **rung**.

# %%
from glassformer import analyses
from glassformer.figures import plot_loss

ladder, life = run.task.ladder(a.context), analyses.loss(run)
reached = life.crossed.values.tolist()  # (rung,): the logged step that the picture marks
rows = zip(life.rungs.axes["rung"].labels, life.rungs.values, reached, strict=True)
table(["who knows", "pays, in nats", "reached by step"], [[name, f"{x:.3f}", f"{step:,.0f}"] for name, x, step in rows])
say(f"A rung counts as reached when the loss is less than a fiftieth of the ladder, {life.slack:.3f} nats, above it.")
show(plot_loss(run), "loss", "The loss, in front of the rungs. Below: what is left above the last one.")
expect(reached == sorted(reached) and len(reached) >= 4, "the rungs are reached one after the other")
lab(run, "The loss curve is the clock of the page: drag along it, from rung to rung, and watch the answer.",
    input=text, panels=("curves", "output"))  # fmt: skip

# %% [markdown]
# ## The floor
#
# The last rung is the **floor**: whoever knows the rhyme by heart, but sees no more of it than the window shows, pays
# that much. Why is it not nothing? Count what follows a word at the beginning of a window.

# %%
from collections import Counter, defaultdict

following: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
for window in windows.tolist():
    for place in range(a.context):
        following[tuple(window[: place + 1])][window[place + 1]] += 1  # what is in view → what came next

words = run.task.vocabulary
start = TEXT[0]
seen = following[(words.index(start),)]
total = seen.total()
table(
    [f"after `{start}` comes", "times", "share", "the model says"],
    [[f"`{words[k]}`", n, f"{n / total:.1%}", f"{dict(run.ask(start))[words[k]]:.1%}"] for k, n in seen.most_common()],
)
choice(
    f"What should a perfect model say after `{start}`, when it sees nothing else?",
    "the shares that were counted",
    "Saying more for one word helps when it comes, and costs more when it does not. The counted shares are the "
    "best bet.",
    {
        "all on one word": "Whenever another one comes, that would cost without limit.",
        "the same for every word": "Most words never follow: one can do far better.",
    },
)
cost = -sum(n / total * np.log(n / total) for n in seen.values())
work("−(" + " + ".join(f"{n} / {total} × ln({n} / {total})" for n in seen.values()) + ")", cost,
     name="what the best bet pays on average")  # fmt: skip
expect(cost > 0.3, "after this word even a perfect model is surprised")

# %% [markdown]
# With more words in view most doubts vanish, but not all, and every window begins with a single word. Now all windows
# and all places: the mean over all of them, with the best bet everywhere, is the floor.


# %%
def pays(window: list[int], place: int) -> float:
    """What the word that came costs whoever bets the counted shares."""
    counted = following[tuple(window[: place + 1])]
    return float(-np.log(counted[window[place + 1]] / counted.total()))


best = [pays(window, place) for window in windows.tolist() for place in range(a.context)]
floor = float(np.mean(best))
last = losses[max(losses)]
work(f"{last:.4f} − {floor:.4f}", last - floor, name="excess: what is left to learn")
expect(np.isclose(floor, ladder[-1].nats), "counted by hand, it is the last rung")
expect(0 < last - floor < 0.05, "the model comes close to the floor and not below")
say(f"The model ends at {last:.4f}, the floor lies at {floor:.4f}. It is finished, not stuck.")
views = [tuple(run.tokens(view).tolist()) for view in (start, f"<END> {start}")]
views.append(next(view for view in following if view[-2:] == views[1] and len(view) == 3))  # one word more
nexts = sorted({k for view in views for k in following[view]})
counts = np.array([[following[view][k] for k in nexts] for view in views])
shares = counts / counts.sum(axis=1, keepdims=True)
dear = np.where(counts > 0, -np.log(np.where(shares > 0, shares, 1)), -1)
row, column = np.unravel_index(dear.argmax(), dear.shape)
point(
    "How often each word came after these beginnings. Which event costs a perfect model most, when it happens?",
    [f"after {' '.join(words[k] for k in view)}" for view in views], [words[k] for k in nexts],
    (int(row), int(column)),
    f"It has the smallest share of its row among those that happen at all; it costs {dear.max():.2f} nats.",
    otherwise="Compare shares of a row, not counts: the rarer within its row, the dearer. What never comes is never "
        "paid.",
    cells=counts.tolist(),
)  # fmt: skip

# %% [markdown]
# ## Noise, or worse?
#
# S3 prints the loss of the current batch now and then, and between two of its lines it *rises*. Should one worry?
# Take our finished model, which no longer changes, and draw a thousand batches.

# %%
said = run.trace(windows[:, :-1])["probabilities"]
per_window = -np.log(np.take_along_axis(said, windows[:, 1:, None], axis=-1)[..., 0]).mean(axis=1)
rng = chance("batches")
batches = np.array([per_window[rng.integers(len(windows), size=settings.batch)].mean() for _ in range(1000)])
low, high = np.quantile(batches, [0.05, 0.95])
say(
    f"Nine batches of ten cost between {low:.3f} and {high:.3f}, with one and the same model. A step up or down of "
    "that size in the log of single batches says nothing. That is why this laboratory logs the loss over all "
    "windows."
)
earlier, later = 0.2343, 0.2704  # two lines of S3's log
expect(high - low > later - earlier, "batches alone scatter by more than the rise in S3's log")
say(f"S3's rise from {earlier} to {later} is less than that.")
lab(run, "The last steps: the gradients are still there, but they point to and fro. Nothing is left to learn.",
    panels=("curves", "updates"))  # fmt: skip
discuss(
    "What would lower the floor?",
    "A longer window, in which fewer beginnings leave a doubt; that takes another model, since this one has no rows "
    "for more positions. Or judging only where many words are in view. No training of this model lowers it.",
    "`glassformer train mary --set architecture.context=12`: compare the floors that the two trainings print.",
)
choice(
    "A training of yours ends at a loss far above zero, and stays there. What do you do first?",
    "compare it with the floor",
    "If it stands on the floor, it is finished. If not, look for the rung it stands on: that tells what it has not "
    "understood.",
    {
        "train longer": "On the floor that changes nothing, and on a rung perhaps neither.",
        "make the model larger": "No model gets below the floor of its window.",
        "raise the learning rate": "That is a cure for one illness. First find out whether anything is wrong.",
    },
)
