"""Open questions: more operations, nested ones, large models, and what nobody knows."""

from glassformer.teaching import choice, discuss, expect, lab, number, say, show, table, train, work

ORDER = 300
MINUTES = 30
AIMS = (
    "predict what more, fewer or nested operations do to this model, and check it",
    "weigh one model, several models and a program against each other",
    "say what a tiny model does and does not tell about a large one",
    "turn an open question into an experiment that could decide it",
)
BEFORE = ("tiny_and_large", "questions_rule_or_memory", "questions_optimisers_and_parts")
ANSWERS = ("1.Q35", "1.Q39", "1.Q59", "1.Q60", "1.Q61", "1.Q62", "1.Q63", "1.Q64", "1.Q68", "1.Q69", "1.Q70")
MISCONCEPTIONS = (
    (
        "An open question is a matter of opinion.",
        "Mostly it is a question that nobody has cut small enough to measure yet. Say what you would measure.",
    ),
    (
        "What holds for the tiny model holds for the large one.",
        "The arithmetic does. What is learnt, in which order and why need not: that has to be measured there.",
    ),
)
PLAN = (
    (10, "Each group draws two of the questions to discuss, and prepares them"),
    (10, "The three beats with numbers, together"),
    (20, "The groups present: what to look for, and the experiment that would decide"),
    (5, "Exit question: what is a good question?"),
)

# %% [markdown]
# ## Fewer and more operations
#
# Our model learns five operations at once. Would two be learnt sooner? Predict before you train.

# %%
import numpy as np

from glassformer.run import Run

run = train("five_operations", steps=1000)
few = train("five_operations", steps=400, settings={"data.operations": ["First", "Max"]})


def step_of(model: Run, kinds: tuple[str, ...], share: float = 0.9) -> float:
    """The first logged step at which so many answers to these kinds of question are right; infinite: never."""
    right = np.mean([model.metrics[f"accuracy_by_kind.{kind}"] for kind in kinds], axis=0)
    return float(model.metrics["step"][np.argmax(right >= share)]) if (right >= share).any() else float("inf")


alone, among = step_of(few, ("First", "Max")), step_of(run, ("First", "Max"))
choice(
    "Trained on `First` and `Max` alone, with as many examples in each step: when are nine of ten of these right?",
    "sooner than among five" if alone < among else "no sooner than among five",
    f"At step {alone:,.0f} alone, at step {among:,.0f} among five. Each batch holds more of what is to be learnt, and "
    "there is less of it; but what the operations share, values and places of digits, is learnt by all of them "
    "together.",
    {("no sooner than among five" if alone < among else "sooner than among five"): "Look at the log of both runs."},
)
table(["trained on", "nine of ten right at step"], [["two operations", f"{alone:,.0f}"], ["all five", f"{among:,.0f}"]])
expect(alone < float("inf") and among < float("inf"), "both learn First and Max")
lab(few, "The model of two operations: what does it answer to one that it was never taught?", input="Min(5,3,9)",
    panels=("output", "attention"))  # fmt: skip
discuss(
    "And with addition and multiplication as well?",
    "Sums of three digits have two digits, so the answer is no longer one token; products need a table. The task, not "
    "the number of operations, makes it harder.",
    "Write the questions as a table and train on it: `glassformer train own_table --set data.file=…`.",
)

# %% [markdown]
# ## Questions inside questions
#
# `Max(First(1,2,3),4,Min(5,6,7))`: every part is known to the model. Has it learnt to put them together?

# %%
from dataclasses import replace

from glassformer import reference
from glassformer.architecture import nest
from glassformer.studies.arguments import nested

weights = nest(run.weights())


def right_on(kind: str) -> float:
    tokens, answers = (each[:300] for each in nested(kind))
    longer = replace(run.architecture, context=tokens.shape[1])
    return float(np.mean(reference.forward(weights, tokens, longer)[0][:, 0].argmax(-1) == answers))


inside, twice = right_on("nested"), right_on("nested_deep")
own = float(run.metrics["accuracy"][-1])
choice(
    "What becomes of the accuracy when one digit is replaced by a question?",
    "it falls far",
    f"From {own:.0%} to {inside:.0%}, and to {twice:.0%} with a question inside the one inside. Nothing in training "
    "asked for an answer that is used again; the digits of the inner question count like any others.",
    {
        "it stays: all parts are known": "The parts are, putting them together is not: it was never needed.",
        "it falls to nothing": "Many are right by luck: a digit that stands outside is often the answer anyway.",
    },
)
expect(max(inside, twice) < 0.8 * own, "nested questions are answered much worse")
text = "Max(1,Min(2,Last(3,4,5),6),7)"
depth = max(text[:k].count("(") - text[:k].count(")") for k in range(len(text)))
number(
    f"Each level must be answered before the level above can be. How many steps in a row does `{text}` take at least?",
    depth,
    "One for each level. A model has as many steps as it has blocks, so deep questions need deep models, or a model "
    "that writes down what it has so far.",
    mistakes={
        1: "The outer answer needs the inner one first.",
        sum(letter.isdecimal() for letter in text): "Digits of one level can be looked at all at once.",
    },
)
lab(run, "Where does it look? Compare a plain question with what the inner one would give.", input="Max(7,4,5)",
    panels=("attention", "output"))  # fmt: skip

# %% [markdown]
# ## One model, five models, or a program
#
# The five operations are a few lines of a program. Why train at all?

# %%
lines = 5  # one for each operation
five = 5 * run.parameters
table(
    ["way", "numbers", "right", "a sixth operation"],
    [
        ["a program", f"{lines} lines", "always", "one more line, if you know it"],
        ["one model for all", f"{run.parameters:,}", f"{own:.1%}", "examples, and training again"],
        ["one model for each", f"{five:,}", "as good", "one more model; the others stay"],
    ],
)
choice(
    "When is a trained model the right way?",
    "when there are examples but nobody can write the rule down",
    "For Max there is a rule of one line: a program is smaller, faster and always right. For *what comes next in this "
    "text* there is none. We train what a program could do in order to be able to check.",
    {
        "whenever there is enough data": "With enough data and a known rule, the rule is still better.",
        "never: a program is always right": "Only where somebody can write it.",
    },
)
minutes, watts = 1, 30  # of a processor at work, about: look at the clock when you train
theirs = 1e9  # watt-hours: the thousand megawatt-hours that the source gives for GPT-3
ours = watts * minutes / 60
work(f"{watts} × {minutes} / 60", ours, name="watt-hours of this training")
say(
    f"By the source's figure, training GPT-3 took about {theirs / ours / 1e6:,.0f} million times as much. That is no "
    "argument by itself: it is a number to weigh with what comes of it, and with how often it is used."
)
from glassformer.figures import plot_parameters

show(plot_parameters(run), "parameters", "This model beside well-known ones.")
discuss(
    "Are the abilities of large models worth the energy of their training? How would one make it less?",
    "Compare with use: one training, many answers. Smaller models for smaller tasks, better data, reuse, cleaner "
    "power. Who pays and who gains need not be the same.",
    "Find the smallest model that solves this task (`glassformer study width five_operations`): how much did the "
    "others waste?",
)

# %% [markdown]
# ## What a toy says about a large model
#
# Same arithmetic, other size, other data. What carries over?

# %%
lab(run, "The whole model once more: every part that a large one has, too.", input="Max(5,3,9)",
    panels=("embedding", "attention", "feed_forward", "output"))  # fmt: skip
discuss(
    "How does this tiny model change what you think of large ones? What is the same, what must be different, what is "
    "not explained by size?",
    "The same: tokens, attention, residual stream, loss, descent. Different: the task has no end and no single "
    "answer. Not explained: which abilities come at which size, and why.",
    "Take one finding of this course (digits in order, a head for one job) and look for it in a larger open model.",
)
discuss(
    "The design is years old and hardly changed, and what such models can do has grown beyond recognition. Why?",
    "The design was made to use many processors at once, and that is where growth was cheap: data, parameters, "
    "arithmetic. Details did change: norms before the parts, other positions, other activations.",
    "Train the same task with old and new details (`architecture.norm_place`, `positions`, `activation`) and compare.",
)
discuss(
    "Our model learns only what it is given. A model of the internet learns biases and falsehoods as well. When does "
    "what was learnt become unpredictable, and what does looking inside help?",
    "Already here something is learnt that nobody asked for: `Last` became *the third*. Finding it took a question "
    "outside the training set. Looking inside finds candidates; only changing them shows causes.",
    "Give the training set a flaw on purpose (leave out all triples with equal digits) and try to find it from the "
    "outside.",
)
discuss(
    "Will transformers stay? How would you recognise a better architecture?",
    "It should need less data, time or memory for the same loss, over several tasks and sizes, with every rate tuned "
    "for both; one benchmark proves nothing.",
    "Compare two switches of this laboratory in that way: `glassformer study` with seeds, and intervals that do not "
    "overlap.",
)

# %% [markdown]
# ## You
#
# Learning has dynamics, too.

# %%
discuss(
    "What was hardest to understand? Which lesson made something clear that came before it?",
    "Name one thing that you believed and no longer do. The misconceptions listed with each lesson may help.",
    "Explain it to somebody who has not taken the course, and see where they stop you.",
)
discuss(
    "If you taught this: in which order, with which exercises, and where would people stumble?",
    "What must be known before (a logarithm, a slope, a sum of products); numbers before names; predict before look.",
    "Give one lesson in two orders to two people, and compare their answers to its exit question.",
)
discuss(
    "Propose three research questions from what you saw: each with its reason, an experiment, and your prediction.",
    "A good one can come out wrong. For instance: do small first weights make a model carry over to longer questions "
    "better? Does weight decay line up the digits sooner? Which head is learnt first, and does it depend on the seed?",
    "`glassformer study` with one setting changed, at least eight seeds, and the prediction written down before.",
)
choice(
    "Exit question. Which of these is the best research question?",
    "Does training with dropout change the accuracy on eight digits, over sixteen seeds?",
    "It names what is changed, what is measured and how chance is dealt with; and either answer would tell something.",
    {
        "Do transformers understand?": "Say first what would count as understanding, and how to measure it.",
        "Why does my model work so well?": "It presupposes the answer, and names no measurement.",
    },
)
