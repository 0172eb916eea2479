"""Questions on rule and memory: what a test proves, and what it does not."""

from glassformer.teaching import choice, discuss, expect, lab, number, say, show, table, train, work

ORDER = 270
MINUTES = 25
AIMS = (
    "say how many of the questions of a test were trained on",
    "name a test that only a rule can pass",
    "recognise a model that has learnt by heart by its two losses",
    "say where a rule that was learnt ends: other lengths, other operations",
)
BEFORE = ("questions_dynamics",)
ANSWERS = ("1.Q17", "1.Q19", "1.Q20", "1.Q21", "1.Q22", "1.Q33", "1.Q53", "1.Q54", "1.Q55", "1.Q56", "1.Q58")
MISCONCEPTIONS = (
    (
        "A test set is new because it is another file.",
        "If both are drawn from few possible questions, most of the test has been trained on. Count how many there "
        "are.",
    ),
    (
        "Who is right on new questions has understood.",
        "On new questions of the same kind, perhaps. Ask with two digits, or with eight, and see which operations "
        "hold.",
    ),
    (
        "Low training loss means that it was learnt.",
        "Learning by heart has the lowest training loss of all. Look at what it does with what it has not seen.",
    ),
)
PLAN = (
    (10, "How would you test whether somebody has learnt the tables or understands multiplication? Collect tests"),
    (20, "The questions, up to the model that has learnt by heart"),
    (10, "Groups: each names one more length or form and predicts which operations will hold"),
    (5, "Exit question: is the test set new?"),
)

# %% [markdown]
# ## Is a test new?
#
# The source draws its examples by chance, ten thousand to train with and two thousand to test with, and calls the test
# *never seen*. How many different questions are there at all?

# %%
import numpy as np

from glassformer.tasks import five_operations

questions, answers = five_operations.questions()
possible, draws, fewer = len(questions), 10_000, 5_000
digits, operations = 10, len(five_operations.OPERATIONS)
number(
    f"{operations} operations, three digits from {digits}. How many different questions are there?",
    possible,
    "Every operation with every triple of digits.",
    mistakes={
        digits**3: "So many triples; each can be asked with every operation.",
        digits * 3 * operations: "The choices multiply.",
    },
)
work(f"{operations} × {digits} ^ 3", possible, name="questions")
seen = 1 - (1 - 1 / possible) ** draws
seen_of_fewer = 1 - (1 - 1 / possible) ** fewer
number(
    f"{draws:,} are drawn, each by chance, some more than once. With which chance is a certain question, such as "
    "`Max(0,0,0)`, among them, in per cent?",
    100 * seen,
    f"It is missed {draws:,} times in a row only rarely. So most of what is tested was trained on, and a test like "
    "that proves little.",
    tolerance=1.5,
    unit="%",
    mistakes={100.0: "More draws than questions, but some are drawn several times and others never.",
              100 * (1 - seen): "That is the chance that it is missed."},
)  # fmt: skip
choice(
    f"A hundred epochs of {fewer:,} drawn examples, or fifty of {draws:,}: as many updates. Which teaches more?",
    "fifty epochs of the larger set",
    f"It holds {seen:.0%} of all questions, the smaller one {seen_of_fewer:.0%}. Seeing something new is worth more "
    "than seeing it again.",
    {
        "a hundred epochs of the smaller set": "It sees each example twice as often, and fewer different ones.",
        "no difference: the updates count": "What they are made from counts as well.",
    },
)

# %% [markdown]
# ## A test that a memory cannot pass
#
# Ours is split by question: what is tested is none of what was trained on. Is the model right there?

# %%
run = train("five_operations", steps=1000)
trained_on = {tuple(row) for row in run.task.examples(run.architecture.context, "train", possible).windows.tolist()}
tested = run.task.examples(run.architecture.context, "test", possible).windows
new = run.trace(tested[:, :-1])["probabilities"][:, 0].argmax(-1) == tested[:, -1]
expect(not any(tuple(row) in trained_on for row in tested.tolist()), "no test question was trained on")
say(f"Of {len(tested):,} questions that it has never seen, {new.mean():.1%} are right.")
expect(new.mean() > 0.9, "nearly all new questions are right")
choice(
    "Which of these could still be explained by memory?",
    "right on `Max(9,5,3)`, after training on `Max(5,3,9)`",
    "A memory for *which digits*, without their order, would do for Max. Keep all orders of three digits apart to "
    "exclude it: `data.split=multiset`.",
    {
        "right on three digits that never stood together in training": "Nothing was stored for these; something was "
        "computed.",
        "right on questions with eight digits, after three": "There was nothing of that kind to remember.",
    },
)
discuss(
    "Name three pieces of evidence that a model has learnt the rule and not the examples. Design the test that you "
    "would trust most.",
    "New questions in every order; the same accuracy for frequent and rare digits; other lengths; what happens if "
    "one digit is changed by one (only the answers that should change do); a part whose removal hurts all questions of "
    "one kind alike.",
    "`glassformer study split five_operations` compares both splits over seeds.",
)
lab(run, "Type questions of your own, and try to catch it out.", input="Max(0,0,0)", panels=("output", "attention"))

# %% [markdown]
# ## By heart
#
# A model that is given only a few examples and much time can learn them by heart. You know it by its two losses.

# %%
ill = train("ill_overfitting")
from glassformer.figures import plot_generalisation

show(plot_generalisation(ill), "by_heart", "Two curves that part: what was practised, and what was not.")
practised, held = ill.metrics["train_loss"], ill.metrics["validation_loss"]
best = int(np.argmin(held))
table(
    ["step", "training loss", "validation loss"],
    [[f"{ill.metrics['step'][k]:,}", f"{practised[k]:.3f}", f"{held[k]:.3f}"] for k in (0, best, len(held) - 1)],
)
expect(held[-1] > held[best] + 0.1 and practised[-1] < practised[best], "the held-out loss rises while the other falls")
choice(
    "The training loss falls to nearly nothing, the validation loss rises. When should one have stopped?",
    "where the validation loss was lowest",
    f"At step {ill.metrics['step'][best]:,}. From there on it learnt what helps with these examples only.",
    {
        "where the training loss was lowest": "That is where most was learnt by heart.",
        "never: it may recover": "Sometimes it does, after a long time (grokking). You would have to wait and see; it "
        "did not here.",
    },
)
number(
    "How much worse did the validation loss become from there to the end, in nats?",
    float(held[-1] - held[best]),
    "It is not merely wrong, it is *sure* where it is wrong: that costs most.",
    tolerance=max(0.05, 0.02 * float(held[-1])),
    mistakes={round(float(held[-1]), 2): "That is its value at the end; take off what it was at its best."},
)
lab(ill, "Train on with more questions: does it recover?", mode="train", panels=("curves",))
discuss(
    "Ten times the parameters, the same ten thousand examples: what happens to the two losses? And with a hundred "
    "times?",
    "More room to learn by heart, so an earlier and wider gap; but not always: very wide models are sometimes better "
    "again (double descent). With a task that has a simple rule and most of its questions in view, neither need "
    "happen.",
    "`glassformer study width five_operations`, and the same with few questions: `--set data.fraction=…`.",
)
discuss(
    "After seeming to have converged, a model suddenly improves: *grokking*. What might have happened?",
    "The training loss was low by memory; weight decay and noise go on favouring solutions with smaller weights, and a "
    "rule is one. It needs a small training set and a long time.",
    "Train `modular_addition` on a part of its table with weight decay, and wait.",
)

# %% [markdown]
# ## Other lengths, other operations
#
# All training questions have three digits. But a model without a fixed length can be asked with two, four, or eight.
# Predict: which operations will hold?

# %%
from dataclasses import replace

from glassformer import reference
from glassformer.architecture import nest

weights = nest(run.weights())


def right_on(operation: str, many: int) -> float:
    """The share right of two hundred questions with so many digits."""
    rng = np.random.default_rng(many)
    texts = [f"{operation}({','.join(map(str, rng.integers(10, size=many)))})" for _ in range(200)]
    tokens = np.array([run.task.encode(text) for text in texts])
    longer = replace(run.architecture, context=tokens.shape[1])
    said = reference.forward(weights, tokens, longer)[0][:, 0].argmax(-1)
    given = [tuple(int(letter) for letter in text if letter.isdecimal()) for text in texts]
    truth = [run.task.vocabulary.index(str(five_operations.ANSWER[operation](digits))) for digits in given]
    return float(np.mean(said == np.array(truth)))


lengths = (2, 3, 4, 8)
shares = {kind: [right_on(kind, many) for many in lengths] for kind in run.task.kinds}
sized, placed = np.mean([shares[k][-1] for k in ("Max", "Min")]), shares["Last"][-1]
choice(
    "Asked with eight digits after training on three: which holds better?",
    "Max and Min" if sized > placed else "Last",
    "The largest is the largest wherever it stands, and attention to large digits works for any number of them, "
    "if less and less well. *Last* was learnt as *the third*.",
    {"Last" if sized > placed else "Max and Min": "See the table: it was bound to three places, or lost among eight."},
)
table(
    ["operation", *(f"{many} digits" for many in lengths)],
    [[kind, *(f"{p:.0%}" for p in row)] for kind, row in shares.items()],
)
expect(shares["Max"][1] > 0.9 and sized > placed, "Max and Min carry over to eight digits better than Last")
choice(
    "An operation that was never trained: `Middle(5,3,9)`, meant to give the second digit. What does the model say?",
    "nothing: it has no token for it",
    "Were a token added, its embedding would be random numbers, and so would the answer. `Second` does what `Middle` "
    "means, but no training has said so.",
    {
        "the second digit: it knows Second": "It knows the token `Second`. The word `Middle` means nothing to it.",
        "a digit by chance": "That is what a new, untrained token would give; here it cannot even be asked.",
    },
)
lab(run, "`Second` does what `Middle` would mean.", input="Second(5,3,9)", panels=("output", "attention"))
choice(
    "Exit question. A user reports that `Max(0,0,0)` came out wrong. What do you look at first?",
    "all questions with equal digits, over several seeds: is it one answer or a kind of answer?",
    "One wrong answer may be chance. A kind of question that is often wrong is a lack in the data or in the model, and "
    "tells what to add.",
    {
        "retrain it, with a larger model": "Before you know what is wrong you cannot know what will mend it.",
        "add this one question to the training set": "Then this one is right, by heart, and its neighbours are not.",
    },
)
