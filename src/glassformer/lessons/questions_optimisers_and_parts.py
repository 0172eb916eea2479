"""Questions on optimisers and parts: what moves the weights, and what each part is for."""

from glassformer.teaching import choice, discuss, expect, lab, number, say, show, table, train, work

ORDER = 280
MINUTES = 30
AIMS = (
    "say what momentum and adaptive rates do, with numbers",
    "compute what a schedule makes of the rate",
    "say what a model without a part cannot know, before training it",
    "say how many weights a trained model can do without",
)
BEFORE = ("descent", "questions_dynamics")
ANSWERS = (
    "1.Q23",
    "1.Q25",
    "1.Q26",
    "1.Q27",
    "1.Q28",
    "1.Q34",
    "1.Q41",
    "1.Q44",
    "1.Q49",
    "1.Q50",
    "1.Q51",
    "1.Q65",
    "1.Q66",
)
MISCONCEPTIONS = (
    (
        "Adam takes larger steps where gradients are noisy.",
        "It divides by their size, so small gradients count as much as large ones; but noise makes its steps smaller.",
    ),
    (
        "A part that everybody uses must be needed.",
        "For this task some parts can go without any loss. Only leaving one out, and training again, tells.",
    ),
    (
        "Every one of the parameters holds a bit of the knowledge.",
        "A good share of them can be set to zero, and nothing is lost. Cut, and ask again.",
    ),
)
PLAN = (
    (10, "On paper: three gradients with one sign, three that alternate; how far does momentum carry each?"),
    (20, "The questions to the model without positions"),
    (10, "Each group plans an ablation, with its prediction written down first"),
    (5, "Exit question: what can no training make up for?"),
)

# %% [markdown]
# ## Momentum and a rate for each
#
# Momentum is a ball on a slope: pushed the same way again and again it becomes faster, pushed to and fro it stays where
# it is. Adam does that, and divides by how large the gradients of this one weight usually are.

# %%
import numpy as np

from glassformer.analyses.path.ten_gradients import PLAIN, fed

many, rate = 100, 0.001
large = np.full(many, 0.1)  # steady, and large
small = np.full(many, 0.001)  # steady, a hundred times smaller
noisy = small * np.random.default_rng(0).choice([-1.0, 1.0], many)  # as small, its sign drawn by chance
gradients = {"large and steady": large, "small and steady": small, "small and noisy": noisy}
moved = {name: float(abs(fed(given.tolist(), "adam", PLAIN, rate).sum())) for name, given in gradients.items()}
number(
    f"Adam gets the gradient {large[0]} at each of {many} steps; the rate is {rate}. How far does it move the weight?",
    moved["large and steady"],
    "The gradient over its own size is one: each step is the rate.",
    tolerance=0.005,
    mistakes={round(rate * large[0] * many, 4): "That is plain descent. Adam divides by the size of the gradient."},
)
choice(
    "Which of three weights does Adam move least: one with large steady gradients, one with small steady ones, or one "
    "with small ones of changing sign?",
    min(moved, key=moved.__getitem__),
    "Where the sign changes, the mean is small beside the size, and the mean over the size is the step. The source "
    "says that noise gives larger rates; it is the other way round.",
    {
        name: f"It moves {how:.3f}, as far as steps of the rate's size go."
        for name, how in moved.items()
        if how > min(moved.values())
    },
)
table(["gradients", f"moved in {many} steps"], [[name, f"{how:.4f}"] for name, how in moved.items()])
expect(abs(moved["large and steady"] - moved["small and steady"]) < 1e-3, "steady gradients of any size move as far")
expect(moved["small and noisy"] < moved["small and steady"] / 2, "noise makes Adam's way shorter")
run = train("five_operations", steps=1000)
lab(run, "One update of the real model: gradient, momentum, and the step that is made of them.", panels=("updates",),
    step=0, input="Max(5,3,9)")  # fmt: skip

# %% [markdown]
# ## Schedules
#
# The rate need not stay the same. *Warm-up* lets it grow at first, while Adam's averages know little. *Cosine* lets it
# fall smoothly to nothing, so that the end is calm. *Steps* cut it from time to time.

# %%
whole, asked = 1000, 250
cosine = rate * (1 + np.cos(np.pi * asked / whole)) / 2
number(
    f"Cosine from {rate} to zero over {whole} steps. What is the rate at step {asked}?",
    cosine,
    "Half of one plus the cosine of the angle, a quarter of the way to a half-turn: still most of it.",
    tolerance=2e-5,
    mistakes={rate * (1 - asked / whole): "That would be a straight line; the cosine stays high at first."},
)
work(f"{rate} × (1 + {np.cos(np.pi * asked / whole):.4f}) / 2", cosine, digits=6, name="rate")
discuss(
    "When would you use warm-up, cosine, and steps?",
    "Warm-up: large models, large rates, norms after the sums. Cosine: the length of training is known. Steps, or "
    "cutting at plateaus: it is not. For a small task with Adam at a good rate, none is needed.",
    "`glassformer study schedule five_operations`.",
)
discuss(
    "Batches of one, of thirty-two, of a thousand, with as many examples in all. Which converges fastest? Which "
    "generalises best?",
    "Small batches make many noisy updates, large ones few good ones: counted in examples small ones win up to a "
    "point, counted in time large ones do. The best rate changes with the batch, so a comparison at one rate proves "
    "nothing.",
    "`glassformer study batch five_operations`.",
)

# %% [markdown]
# ## Left out
#
# The source ranks the parts of the model by what is lost without them. Some of it can be settled without any training:
# what a model cannot see, it cannot know.

# %%
ladder = {rung.name: rung for rung in run.task.ladder(run.architecture.context)}
blind, unordered = ladder["operation only"].accuracy, ladder["operation and digits without order"].accuracy
assert blind is not None
assert unordered is not None
printed = {"attention": 0.42, "positions": 0.87}  # right without them, as the source has it
number(
    "Without attention nothing is brought to the place of the operation, where the answer is read. What is the best "
    "share of right answers that a model can have which sees the operation only, in per cent?",
    100 * blind,
    f"For `Max` always the largest digit, and so on. No training can beat that; the source prints "
    f"{printed['attention']:.0%}.",
    tolerance=2,
    unit="%",
    mistakes={100 * printed["attention"]: "So the source says; but it cannot be: the digits are not seen.",
              10.0: "One digit in ten, if nothing is known. The operation tells which digits are likely."},
)  # fmt: skip
choice(
    f"Without positions the order of the digits cannot be seen. The source prints {printed['positions']:.0%} right. "
    "Can it be?",
    f"no: at most {unordered:.0%} of all questions",
    "Max and Min are not hurt at all. For First, Second and Last the best guess is a digit of the three.",
    {
        "yes: the digits are still there": "For Max and Min that is enough; three operations of five ask for a place.",
        "no: nothing can be right": "The largest of three digits is the same in any order.",
    },
)
left_out = {"attention": {"architecture.attention": "off"}, "positions": {"architecture.positions": "none"}}
without = {name: train("five_operations", steps=300, settings=settings) for name, settings in left_out.items()}
shares = {name: float(each.metrics["accuracy"][-1]) for name, each in without.items()}
table(["trained without", "right on new questions"], [[name, f"{share:.1%}"] for name, share in shares.items()])
expect(shares["attention"] < 0.3 and shares["positions"] < 0.75, "without attention or positions most is lost")
say(
    "So attention and positions are what this task cannot do without. Of the second block, residuals, norm and "
    "feed-forward none is needed for right answers: `glassformer study ablation five_operations` leaves them out by "
    "turns. That holds for this task and these first weights: with much smaller ones, training without residuals "
    "fails. Deep models need them in any case."
)
lab(without["positions"], "A model that cannot see the order: ask for Max, then for First.", input="First(5,3,9)",
    panels=("output", "attention"))  # fmt: skip
discuss(
    "What goes wrong during backpropagation without residual paths? And why did it not go wrong here?",
    "Each part multiplies the gradient by its own derivative; many small factors make nothing. With two blocks, norms "
    "and well-chosen first weights there are few factors, and none is small. Count the ways from the output to one "
    "embedding: each of the parts can be taken or gone around, so two per part, multiplied.",
    "`glassformer study ablation five_operations --without architecture.residual=false`, with more blocks.",
)
parts = 2 * run.architecture.blocks
number(
    f"{run.architecture.blocks} blocks with attention and feed-forward each; every part can be passed through or gone "
    "around by the residual path. How many ways does a gradient have from the output back to an embedding?",
    2**parts,
    "Each part doubles the number of ways. One of them goes around everything: it is never small.",
    mistakes={parts: "So many parts; at each there are two ways on.", 2 * parts: "The choices multiply."},
)

# %% [markdown]
# ## Cut
#
# After training, how many weights can be set to zero? Of all numbers in matrices, the smallest go first.

# %%
from glassformer.studies.pruning import judged, mask

learnt = run.weights()
cut = (0.0, 0.25, 0.5, 0.9)
kept_right = [
    judged(run, {name: learnt[name] * stays for name, stays in mask(learnt, share).items()})[0] for share in cut
]
choice(
    "A quarter of all weights, the smallest ones, is set to zero. What happens?",
    "next to nothing",
    f"{kept_right[1]:.1%} of the answers are right; before it were {kept_right[0]:.1%}.",
    {
        "a quarter of the answers become wrong": "Knowledge is not spread evenly over the numbers: small ones say "
        "little.",
        "all answers become wrong": "That happens when nearly all weights go.",
    },
)
table(["cut", "right"], [[f"{share:.0%}", f"{right:.1%}"] for share, right in zip(cut, kept_right, strict=True)])
expect(kept_right[1] > 0.9 and kept_right[-1] < kept_right[0], "a quarter can go, most cannot")
from glassformer.figures import plot_weights

show(plot_weights(run), "weights", "Every matrix of the model: many numbers are near zero.")
lab(run, "The same in the page: find a matrix that is nearly empty.", panels=("weights",), input="Max(5,3,9)")
discuss(
    "Is there a small network inside, a *lottery ticket*, that could have been trained alone?",
    "Cut, then put what is left back to its first values, and train again: if that learns as well, and chance cuts of "
    "the same size do not, it was one. What is left must keep its own first weights, or it is only a smaller model.",
    "`glassformer study pruning five_operations` trains again from where it stands; begin it from step zero instead.",
)
discuss(
    "Propose changes that halve the parameters, or the time, without loss. And a task that needs three or four blocks.",
    "Half the width or one block: both do here. A larger rate with warm-up, larger batches. More blocks are needed "
    "where one result is the input of the next: nested questions such as `Max(First(…),Min(…))`, one block for each "
    "level.",
    "`glassformer study width five_operations`, `study blocks`, and `study arguments`, which asks nested questions.",
)
discuss(
    "“Block one learns features, block two reasons.” How would you test that? And when would such a model behave like "
    "an infinitely wide one, which only fits and learns no features?",
    "Read the answer out after each block (logit lens); train a simple reader on what each block holds (probes); "
    "exchange a block's values between two questions and see whether the answer follows. In a very wide model weights "
    "hardly move; here embeddings change by more than their own size, so features are learnt.",
    "`glassformer figures five_operations logit_lens probes patching`.",
)
choice(
    "Exit question. Which loss can no training make up for?",
    "that of what the model cannot see",
    "It sets a bound that holds for every set of weights. All else is a matter of finding them.",
    {
        "that of a quarter of the weights": "You saw it: hardly anything is lost.",
        "that of the second block": "For this task, the first one learns to do it alone.",
    },
)
