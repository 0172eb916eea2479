"""Questions on training: what is learnt when, and how one would know."""

from glassformer.teaching import choice, discuss, expect, lab, number, point, say, show, table, train, work

ORDER = 260
MINUTES = 30
AIMS = (
    "read the order of learning off a run, and say what makes it",
    "tell a healthy gap between two losses from overfitting",
    "say why gradients shrink and attention sharpens",
    "design a measurement of when something is learnt",
)
BEFORE = ("training_dynamics", "questions_by_hand")
ANSWERS = ("1.Q1", "1.Q2", "1.Q3", "1.Q4", "1.Q5", "1.Q6", "1.Q13", "1.Q14", "1.Q15", "1.Q16", "1.Q18", "1.Q24",
           "1.Q30", "1.Q42", "1.Q43")  # fmt: skip
MISCONCEPTIONS = (
    (
        "Easy for me is easy for the model.",
        "Taking the first digit looks easier than finding the largest. Ask the log when each is half right.",
    ),
    (
        "A training loss below the validation loss means overfitting.",
        "A small gap is normal. It is overfitting when the validation loss rises while the other falls.",
    ),
)
PLAN = (
    (5, "Everybody writes down the order in which the five operations will be learnt"),
    (20, "The questions, with the page beside them"),
    (15, "Groups design the measurement of the last beat, and present it"),
    (5, "Exit question: what would a rule-learner do that a memory cannot?"),
)

# %% [markdown]
# ## Why look at the way, not only at the end
#
# A finished model tells what came out. The way tells why. Before we look: predict.

# %%
from itertools import pairwise

import numpy as np

import glassformer as gf
from glassformer.analyses.learn.by_kind import PASSED, passed
from glassformer.tasks import five_operations

run = train("five_operations", steps=1000)
steps = run.metrics["step"]
loss, right = run.metrics["validation_loss"], run.metrics["accuracy"]
discuss(
    "What are training dynamics, in your own words, and why study how parameters change rather than only the result?",
    "Two models with the same result may have come to it in different ways, and generalise differently. The way shows "
    "what was learnt first, what depends on what, and where a training went wrong.",
    "Stop two trainings at the same loss, one early and one overfitted, and compare them on new questions.",
)
kinds, curves = run.task.kinds, gf.analyses.by_kind(run).accuracy  # (operation, logged step)
half, done = (passed(curves, share, lasting=True).values for share in (0.5, PASSED))  # (operation,): from which step on
sized, placed = ([half[kinds.index(kind)] for kind in group] for group in (("Max", "Min"), ("First", "Second", "Last")))
expect(max(sized) < min(placed), "Max and Min are half right before the three that need positions")
when = f"`Max` and `Min` are so from step {max(sized):,.0f} on, the others from step {min(placed):,.0f} on or later."
choice(
    "Which operations are the first of which the model gets at least half of the answers right, from then on?",
    "`Max` and `Min`",
    f"{when} For the largest and the smallest digit the order of the digits does not matter; for the other three the "
    "model must first find out how to use positions.",
    {"`First`, `Second` and `Last`": f"It is the other way round. {when}", "all five together": when},
)
table(["operation", "at least half right from step", f"at least {PASSED:.0%} right from step"],
      [[kind, *(f"{step[k]:,.0f}" if step[k] >= 0 else "not yet" for step in (half, done))]
       for k, kind in enumerate(kinds)])  # fmt: skip
say(
    "The source expects the opposite: that the first digit is easiest. It is, for somebody who reads from left to "
    "right. This model sees all tokens at once, and *where* is what it must learn."
)
show(gf.figures.plot_by_kind(run), "by_kind", "One curve for each operation: two come first, three follow together.")
lab(run, "The clock is where two of the curves are high and three are low. Ask.",
    step=run.steps[run.steps >= max(sized)][0].item(), input="First(5,3,9)", panels=("curves", "output"))  # fmt: skip

# %% [markdown]
# ## Three phases?
#
# The source tells of an early, a middle and a late phase. In its telling, the middle is the fastest. Where does the
# loss of our run really fall?

# %%
cuts = np.searchsorted(steps, np.linspace(0, steps[-1], 4)).tolist()  # the lines of the log at thirds of the training
thirds = [loss[a] - loss[b] for a, b in pairwise(cuts)]
ends = [steps[k] for k in cuts]
names = [f"steps {a:,} to {b:,}" for a, b in pairwise(ends)]
most = int(np.argmax(thirds))
point(
    "Point at the third of the training in which most of the loss is lost.",
    names,
    ["what the loss loses there"],
    (most, 0),
    f"{thirds[most]:.2f} nats of {loss[0] - loss[-1]:.2f}.",
    otherwise="Less is lost there.",
    cells=[["?"]] * len(names),
)
table(["part", "falls by"], [[name, f"{fall:.2f}"] for name, fall in zip(names, thirds, strict=True)])
known = run.trace(
    run.task.examples(run.architecture.context, "validation", 200).windows[:, :-1],
    step=int(run.steps[len(run.steps) // 4]),
)
digit = [k for k, word in enumerate(run.task.vocabulary) if word.isdecimal()]
mass = float(known["probabilities"][:, 0][:, digit].sum(-1).mean())
say(
    f"What comes first is nothing clever: at step {known.step:,} the model already gives digits {mass:.1%} of the "
    "probability. That only digits are answers is a matter of counting. Then come the values, then the places, and in "
    "the end the last rare mistakes."
)
expect(mass > 0.8, "that answers are digits is known early")
discuss(
    "Accuracy rises fast in the middle and slowly at the end. Why?",
    "What is left at the end are rare cases, each with its own small gradient; and a share cannot rise above one. The "
    "loss goes on falling after accuracy has stopped: the model becomes surer of what it has right.",
    "Plot the loss of the questions that are right already beside that of those that are not.",
)

# %% [markdown]
# ## Attention, sharper
#
# At first every position gets about the same. Later some get nearly all. What drives it?


# %%
def evenness(step: int) -> float:
    """Mean entropy of the rows of attention where the answer is read, as a share of the largest possible."""
    rows = run.trace("Max(5,3,9)", step=step)["attention"][:, :, 0]
    return float(-(rows * np.log(np.maximum(rows, 1e-30))).sum(-1).mean() / np.log(rows.shape[-1]))


first, last = evenness(0), evenness(int(run.steps[-1]))
say(f"From one (even) to zero (one position only), attention on `Max(5,3,9)` goes from {first:.2f} to {last:.2f}.")
expect(last < first, "attention where the answer is read becomes less even")
choice(
    "What makes attention sharp?",
    "attending to the digit that matters lowers the loss, so the gradient pulls scores apart",
    "Scores are products of weights. Whatever difference helps is made larger, and softmax makes differences of scores "
    "into ratios of attention.",
    {
        "softmax becomes steeper during training": "Softmax is a fixed rule; the scores that go in grow apart.",
        "the loss rewards sharp attention": "No term of the loss knows of attention. It is rewarded for right answers "
        "only.",
        "the model is told where to look": "Nobody tells it. It has the answers, and nothing else.",
    },
)
lab(run, "Move the clock from the beginning to the end, and watch the row of the operation.", step=0,
    input="Max(5,3,9)", panels=("attention",))  # fmt: skip
looks = [run.trace("Max(5,3,9)", step=int(s))["attention"][:, :, 0] for s in run.steps]
apart = np.array([np.abs(each - looks[-1]).sum(-1).mean(-1) / 2 for each in looks])  # (step, block)
settled = [
    int(run.steps[np.argmax(np.logical_and.accumulate((apart[:, b] <= apart[0, b] / 2)[::-1])[::-1])]) for b in range(2)
]
say(
    f"On this question, where the answer is read, attention has come at least half of its way for good by step "
    f"{settled[0]:,} in the first block and by step {settled[1]:,} in the second."
)
discuss(
    "Why might a later block settle later?",
    "It works on what the earlier one hands over; as long as that changes, it must follow. It need not be so with "
    "every seed: the blocks learn at the same time.",
    "Freeze the first block after some steps and train on: does the second settle sooner? Repeat over seeds.",
)

# %% [markdown]
# ## Mistakes, gaps and spikes
#
# Which operations are taken for each other? Is a gap between two losses bad? And what about a sudden spike?

# %%
questions, answers = five_operations.questions()
by_kind = answers.reshape(len(run.task.kinds), -1)
same = {
    (a, b): float(np.mean(by_kind[i] == by_kind[j]))
    for i, a in enumerate(run.task.kinds)
    for j, b in enumerate(run.task.kinds)
}
number(
    "Answer every question for `Max` with the *smallest* digit. In how many per cent are you right all the same?",
    100 * same["Max", "Min"],
    "Only if all three digits are equal. So confusing the two is the most expensive mistake there is, and it is "
    "unlearnt first. Digits are often equal to one another, so that First and Max agree far more often: "
    f"{same['First', 'Max']:.1%}.",
    tolerance=0.1,
    unit="%",
    mistakes={100 * same["First", "Max"]: "That is how often the first digit is the largest."},
)
gap = float(loss[-1] - run.metrics["train_loss"][-1])
choice(
    f"At the end the training loss is {run.metrics['train_loss'][-1]:.4f} and the validation loss {loss[-1]:.4f}. Is "
    "that overfitting?",
    "no: both are low, and the validation loss has not risen",
    f"The gap is {gap:.4f} nats. It would be overfitting if the validation loss grew while the other fell.",
    {
        "yes: the training loss is lower": "It nearly always is: those questions have been practised.",
        "it cannot be known without a test set": "The validation questions were never trained on either.",
    },
)
rises = np.diff(loss)
number(
    "Between how many neighbouring lines of the log, about, does the validation loss *rise*?",
    int((rises > 0).sum()),
    f"Out of {len(rises)}. The largest rise is {max(rises.max(), 0):.3f} nats. Batches differ, and a step that helps "
    "one may hurt the rest: a spike that goes away is no illness.",
    tolerance=max(1, len(rises) // 10),
    mistakes={len(rises): "Then nothing would have been learnt."},
)
lab(run, "Look along the curve for such a rise, and at the updates beside it.", panels=("curves", "updates"))

# %% [markdown]
# ## Gradients, neurons, and an experiment
#
# Near the goal there is little left to correct. What does that do to the gradient?

# %%
sizes = run.metrics["gradient.all"]
known_sizes = sizes[np.isfinite(sizes)]
early, late = float(np.median(known_sizes[:5])), float(np.median(known_sizes[-5:]))
work(f"{early:.6g} / {late:.6g}", early / late, digits=1, name="the gradient's length, early over late")
choice(
    "Why do gradients shrink as the model gets better?",
    "at the output the gradient is the probability less the truth, and that difference goes to zero",
    "Everything behind it is multiplied by it. With cross-entropy, a right and sure answer has nothing to correct.",
    {
        "the learning rate is lowered": "It is constant here; and it multiplies the gradient, it does not make it.",
        "the weights become small": "They grow: sure answers need large scores.",
        "the chain rule loses precision": "Rounding is far smaller than this.",
    },
)
expect(late < early, "the gradient is smaller at the end than at the beginning")
new = run.task.examples(run.architecture.context, "validation", len(questions)).windows[:, :-1]
firing = [float(np.mean(run.trace(new, step=int(s))["hidden"] > 0)) for s in (0, run.steps[-1])]
say(
    f"And the neurons: before training {firing[0]:.0%} of them fire at a position, at the end {firing[1]:.0%}. A "
    "neuron that fired for half of all questions by chance has weights like any other: they move wherever firing "
    "lowers the loss, and away from where it does not. That is all it takes to become choosy."
)
discuss(
    "Design an experiment that measures *when* each operation is learnt. Which numbers, how often, drawn how? And "
    "which questions are hardest?",
    "Accuracy and loss per operation on new questions, often enough at the beginning (a line every few steps), over "
    "several seeds; a threshold is a choice, so give the curve as well. The hardest: least probability of the right "
    "answer.",
    "`glassformer figures five_operations by_kind every_question` does both for one run; `glassformer study seeds "
    "five_operations` repeats it.",
)
discuss(
    "Compare a task with one right answer, like this one, with a task where many may follow, like language. How would "
    "the loss curves differ?",
    "Here the loss can reach zero. Where several tokens may follow, there is a floor above zero, the entropy of the "
    "task, however good the model: full convergence means reaching it.",
    "Train `plus_last_even`, whose floor is known exactly, and see where its loss ends.",
)
choice(
    "Exit question. A learning rate a hundred times as large: what happens to this training?",
    "it jumps about and learns next to nothing",
    "Steps overshoot the valley they should descend into. On a mountain in fog, a giant who steps over valleys never "
    "comes down.",
    {
        "it is a hundred times as fast": "Only if the slope stayed the same that far. It does not.",
        "nothing: Adam adapts": "Adam adapts to the size of gradients; its step is still the rate, about.",
    },
)
