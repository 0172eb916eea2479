"""Training dynamics: what is learnt, when, and by which part."""

from glassformer.teaching import chance, choice, discuss, expect, lab, number, point, say, show, table, train, work

ORDER = 180
MINUTES = 30
AIMS = (
    "read a loss curve as a way down a ladder, and name the phases",
    "say what is learnt first, and see it in the biases of the read-out",
    "compare how fast different kinds of questions are learnt",
    "measure what heads and neurons do, and what is lost without them",
    "tell a healthy training from an ill one",
)
BEFORE = ("the_model", "to_the_floor", "descent")
ANSWERS = (
    "1.O", "1.T", "1.T.1", "1.T.2", "1.P1", "1.P1.1", "1.P1.2", "1.P1.3", "1.P2", "1.P2.1", "1.P2.2", "1.P2.3", "1.P3",
    "1.P3.1", "1.P3.2", "1.P3.3", "1.P3.4", "1.P4", "1.P4.1", "1.P4.2", "1.P4.3", "1.P4.4", "1.P5", "1.P6", "1.P7",
    "1.P8", "1.P8.1", "1.P8.2", "1.P8.3", "1.P9", "1.P9.1", "1.P9.2", "1.P9.3", "1.P11", "1.P13", "1.P13.1", "1.P13.2",
    "1.S", "1.D", "1.D.1", "1.D.2", "1.A",
)  # fmt: skip
MISCONCEPTIONS = (
    (
        "An untrained model guesses all answers alike.",
        "It prefers some by accident, and is surer of them than it should be: its loss is above that of an even guess.",
    ),
    (
        "The loss falls evenly, because learning is even.",
        "It rests on rungs and falls between them: look where the steps of the ladder are passed.",
    ),
    (
        "Neurons and heads have the jobs that their numbers say.",
        "Another seed gives the same jobs to other numbers, or shares them out; only measuring tells.",
    ),
    (
        "A training loss near zero means that it is learnt.",
        "The ill model of this lesson has one, and fails on nearly every question that it has not seen.",
    ),
)
PLAN = (
    (5, "Each group guesses the order in which the five operations are learnt, and writes it down"),
    (20, "The lesson to the attention maps, one beat a group; the clock of the page stands where the beat says"),
    (15, "Each group takes out one head and reports which operation suffers; compare with another seed"),
    (5, "Exit question: what does the doctor look at to find a model that has learnt by heart?"),
)

# %% [markdown]
# ## A model, and many small changes
#
# `Max(5,3,9)` is a question; the answer is the largest digit. There are four more operations: `Min`, and `First`,
# `Second` and `Last` of the three digits. The model of this lesson sees a question, reads its answer out at the place
# of the operation, and knows nothing at all to begin with. Then comes the loop of every training: a **batch** of
# questions goes forward, the loss says how wrong the answers are, the gradient goes backward, every weight moves a
# little; again and again. We have kept the weights along the way. To study **training dynamics** is to look at what
# changes when, rather than only at what came out.

# %%
import numpy as np

import glassformer as gf
from glassformer.analyses.learn.by_kind import PASSED, passed
from glassformer.tasks import five_operations

run = train("five_operations", steps=1000)
settings = run.experiment.train
questions, answers = five_operations.questions()
practised = len(run.task.data(run.architecture.context).train.windows)
say(
    f"There are {len(questions):,} different questions. The model has {run.parameters:,} parameters, practises with "
    f"{practised:,} of the questions, {settings.batch} at a time, and makes {settings.steps:,} updates. The other "
    f"{len(questions) - practised:,} questions are kept from it, to test it with."
)
per_pass = practised / settings.batch
number(
    f"A model practises with {practised:,} questions, {settings.batch} in a batch. One pass over all of them is an "
    "**epoch**. How many updates does it take?",
    per_pass,
    f"{practised:,} questions in batches of {settings.batch}: {per_pass:g} updates; all of its training is "
    f"{settings.steps / per_pass:g} epochs.",
    mistakes={
        practised: "That many questions are seen, but one update is made for a whole batch of them.",
        len(questions) / settings.batch: "The questions that are kept from it are not practised.",
    },
)
lab(run, "The clock stands at the beginning. Let it run, and watch the answers to this question change.",
    step=0, input="Max(5,3,9)", panels=("curves", "output", "attention"))  # fmt: skip

# %% [markdown]
# ## Before the first step
#
# All weights are chance. Whoever has no idea should give every token of the vocabulary the same probability; that costs
# the logarithm of their number. What does the untrained model do?

# %%
kept_from_it = run.task.examples(run.architecture.context, "validation", len(questions)).windows
sample, end = kept_from_it[:, :-1], int(run.steps[-1])  # half of the questions that are kept from it
first = run.trace(sample, step=0)
guesses = first["probabilities"][:, 0]  # the answer is read at position 0
loss = run.metrics["validation_loss"]
names = np.array(run.task.vocabulary)
tokens = len(names)
work(f"ln({tokens})", np.log(tokens), name="an even guess costs")
favourite = names[np.bincount(guesses.argmax(-1), minlength=tokens).argmax()]
say(
    f"It costs {loss[0]:.2f} nats: {'more' if loss[0] > np.log(tokens) else 'no more'} than an even guess. It is no "
    f"even guesser. By the accident of its first weights it says `{favourite}` most often, mostly with a probability "
    f"around {np.median(guesses.max(-1)):.0%}, where even would be {1 / tokens:.0%}. Of the questions kept from it, "
    f"{run.metrics['accuracy'][0]:.0%} come out right."
)
expect(loss[0] > 0.95 * np.log(tokens), "before training the loss is not below that of an even guess")
block_in, block_out = first["embedded"], first["normed_2"][:, 0]
alike = np.mean(
    np.sum(block_in * block_out, -1) / np.linalg.norm(block_in, axis=-1) / np.linalg.norm(block_out, axis=-1)
)
say(
    "People say that a block begins by passing its input on, since the residual path carries it around the parts. Here "
    f"the direction of what leaves the first block and what entered it agree with a cosine of {alike:.2f}: they are "
    "related, not the same. Each part adds about as much as there was; smaller first weights would add less."
)

# %% [markdown]
# ## Down the ladder
#
# A model that understands a part of the task can reach a certain loss and no lower: that is a **rung**. The highest
# rungs need no look at the digits at all. Guess first: will the loss fall evenly?

# %%
steps = run.metrics["step"]
ladder = run.task.ladder(run.architecture.context)
events = gf.analyses.timeline(run)
rungs = zip(events.rungs.axes["rung"].values, events.rungs.values, strict=True)
reached = {name: int(step) for name, step in rungs if step >= 0}  # nothing is in it that is not reached
table(["what a model at this rung knows", "its loss", "reached by step"],
      [[rung.name, f"{rung.nats:.3f}", reached.get(rung.name, "not yet")] for rung in ladder])  # fmt: skip
expect("operation only" in reached and run.metrics["accuracy"][-1] > PASSED, "nearly all new questions come right")
say("A rung counts as reached when the loss is less than a fiftieth of the ladder's height above it.")
show(gf.figures.plot_timeline(run), "timeline", "Rungs, operations and parts on one axis: what happened when.")
early, late = reached["operation only"], int(events.right)
at = [float(loss[list(steps).index(step)]) for step in (0, early, late, int(steps[-1]))]
falls = -np.diff(at) / (at[0] - at[-1])  # in each phase, as a share of the whole
say(
    f"That makes three phases. **Early**, to step {early}: statistics. Some tokens are never an answer, some digits "
    "are likelier for `Max`; a model needs no digit of the question to come so far. "
    f"**Middle**, to step {late}, when nearly all answers are right: structure. It finds out which digits there are, "
    "then that their places count. **Late**: refinement. What is right becomes surer, and the last odd cases, such as "
    f"equal digits, come right. Of everything the loss falls, {falls[0]:.0%} falls early, {falls[1]:.0%} in the "
    f"middle and {falls[2]:.0%} late. (The phases of the picture are others: they end where the curve bends.)"
)
say(
    f"Think of the loss as a landscape with {run.parameters:,} directions, one for each parameter. Nobody sees more of "
    "it than the slope underfoot, and still the walk ends low: with so many directions there is nearly always one that "
    "leads on down. Why it works so well is not fully understood."
)
lab(run, "Stand on the long rung: here it knows what kind of token an answer is, and little about which.",
    step=int(run.steps[np.searchsorted(run.steps, reached["answer frequencies"])]), input="Max(5,3,9)",
    panels=("curves", "output", "updates"))  # fmt: skip

# %% [markdown]
# ## First of all: what an answer looks like
#
# The last part of the model is a read-out: one column of weights and one **bias** for each token. A bias is added
# whatever the question is. So it is the quickest way to say "digits yes, brackets no". We follow two biases: that of a
# bracket, and that of the digit which the untrained model thinks of least.

# %%
underrated = np.where([name.isdecimal() for name in names], guesses.mean(0), np.inf)
digit, never = int(underrated.argmin()), list(names).index("(")
followed = [int(s) for s in run.steps[np.searchsorted(run.steps, [0, 1, 10, 100, settings.steps])]]
biases = np.array([run.weights(s)["read_out_bias"][[digit, never]] for s in followed])
table(["step", f"bias of `{names[digit]}`", "bias of `(`"],
      [[s, f"{a:+.4f}", f"{b:+.4f}"] for s, (a, b) in zip(followed, biases, strict=True)])  # fmt: skip
others = [k for k in range(tokens) if not names[k].isdecimal()]
last = run.weights()["read_out_bias"]
gap = float(np.delete(last, others).mean() - last[others].mean())
say(f"In the end digits stand {gap:.2f} above everything else, on average, before a single question is looked at.")
expect(biases[1, 0] > 0 > biases[1, 1], "the first update raises the digit and lowers the bracket")
expect(gap > 0, "biases of digits end above those of tokens that are never an answer")
say(
    f"And see the very first update: one went up by the learning rate, {settings.rate:g}, the other down by as much. "
    "That is **Adam**. It divides the running mean of a weight's gradients by the root of the running mean of their "
    "squares; at the first step that leaves only the sign. Weights with small gradients move as far as those with "
    "large ones, and a weight whose gradients keep their sign moves furthest."
)
ten = gf.analyses.ten_gradients()
plain, adam = ten.moved.values[0, -1], ten.moved.values[2, -1]
claimed = dict(zip(ten.claimed.axes["optimiser"].labels, ten.claimed.values.tolist(), strict=True))
say(
    f"How much that matters: take ten gradients of about {ten.gradients.values.mean():.4f} and the rate {ten.rate:g}. "
    f"Plain descent moves the weight by {plain:+.6f} in all, Adam by {adam:+.6f}, {adam / plain:.0f} times as far. "
    f"(S1, one of the texts that this laboratory checks, gives {claimed['SGD']} and "
    f"{claimed['Adam']}: the first forgot the rate, and both have the wrong sign, since descent goes against the "
    "gradient.)"
)
choice(
    f"A model learns five operations with Adam at a rate of {settings.rate:g}. The same training with a rate a hundred "
    "times as large: what will happen?",
    "It will not learn the rule",
    "Such steps jump across everything worth finding. `glassformer study rate five_operations` tries many rates, each "
    "with several seeds.",
    {
        "It learns a hundred times faster": "Only while a step stays small beside the bends of the loss; these do not.",
        "Nothing changes: Adam corrects it": "Adam evens out the sizes of gradients; the rate it takes as it is given.",
    },
)
lab(run, "Try it: train this model here, once with its own rate, once with a much larger one.",
    step=0, mode="train", panels=("curves", "updates", "output"))  # fmt: skip

# %% [markdown]
# ## Five operations, five speeds
#
# `First` needs one place and no comparing. `Max` needs all three digits. Which is learnt first? Decide before you read
# on.

# %%
kinds = run.task.kinds
curves = gf.analyses.by_kind(run).accuracy  # (operation, logged step): the share of right answers
half, most = (passed(curves, share, lasting=True).values for share in (0.5, PASSED))  # (operation,): from which step on
expect(np.isfinite(half).all(), "every operation comes to be half right")
table(["operation", "at least half right from step", f"at least {PASSED:.0%} right from step", "right at the end"],
      [[kind, *(f"{step[k]:,.0f}" if step[k] >= 0 else "not yet" for step in (half, most)),
        f"{curves.values[k, -1]:.0%}"] for k, kind in enumerate(kinds)])  # fmt: skip
show(gf.figures.plot_by_kind(run), "kinds", "Each operation on its way: which leads, and where they cross.")
best_guess = np.mean([names[answers[k]] == "9" for k in range(len(questions)) if names[questions[k, 0]] == "Max"])
per_line = sum(int(run.metrics[f"judged.{part}"][0]) for part in ("validation", "test")) // len(kinds)
ends = [[f"`{kind}`" for k, kind in enumerate(kinds) if half[k] == step] for step in (half.min(), half.max())]
say(
    f"With this seed half of the answers are right soonest for {', '.join(ends[0])} and latest for "
    f"{', '.join(ends[1])}. A line of the log asks only about {per_line} new questions of each operation, and one "
    f"answer moves a share by {1 / per_line:.0%}: which of two close ones was sooner is a matter of chance. "
    "Beware of easy points: who always answers `9` gets "
    f"{best_guess:.0%} of the `Max` questions right without a look. (S1 reports less than half of that after ten "
    "epochs, which even the laziest guess beats, and calls `Max` and `Min` the hard ones: they are the two that can "
    "do without positions.)"
)
middle = int(run.steps[np.searchsorted(run.steps, half[kinds.index("Max")])])
lab(run, "Half way: try `First`, `Max` and `Min` of these digits, and see which are right already.",
    step=middle, input="Min(7,1,9)", mode="predict", panels=("output", "attention", "curves"))  # fmt: skip

# %% [markdown]
# ## Where it looks
#
# The answer is read at the first place, where the operation stands. The digits stand elsewhere: somebody must bring
# them. We look at where that place looks in the last block, its heads averaged.

# %%
digits = chance("digits").permutation(10)[:3]
asked = {kind: f"{kind}({','.join(map(str, digits))})" for kind in kinds}
looks = {kind: run.trace(text)["attention"][-1].mean(0)[0] for kind, text in asked.items()}
written = [str(names[k]) for k in run.tokens(asked["Max"])]
picked = str(chance("which operation").choice(["First", "Second", "Last"]))
target = int(looks[picked].argmax())
point(
    f"The question is `{asked[picked]}`. At which token will the answering place look most?",
    [asked[picked]],
    ["operation", *written[1:]],
    (0, target),
    f"It puts {looks[picked].max():.0%} of its attention on `{written[target]}`"
    + (": the digit it needs." if written[target] == run.ask(asked[picked])[0][0] else ", as measured."),
    otherwise="That token tells it nothing it could answer with.",
    reasons={(0, k): "That digit is needed by another operation, not by this one." for k in (2, 4, 6) if k != target},
)
table(["", "operation", *written[1:]], [[kind, *(f"{share:.0%}" for share in looks[kind])] for kind in kinds])


def spread(step: int) -> float:
    rows = run.trace(sample, step=step)["attention"][:, -1, :, 0]  # (question, head, place looked at)
    return float(np.mean(-np.sum(rows * np.log(rows + 1e-12), axis=-1)))


work(f"ln({run.architecture.context})", np.log(run.architecture.context), name="looking everywhere alike")
say(
    f"The entropy of these rows was {spread(0):.2f} before training and is {spread(end):.2f} now. What drives it? A "
    "place that brings the needed digit lowers the loss, so its score is raised, step by step."
)
of_max = np.array([each for each in sample if names[each[0]] == "Max" and len(set(each[2::2].tolist())) == 3])
at_first = run.trace(of_max)["attention"][:, 0, :, 0]  # first block, answering place: (question, head, place looked at)
largest = 2 + 2 * of_max[:, 2::2].argmax(1)  # the place of the largest digit
most_there = (at_first.argmax(-1) == largest[:, None]).mean(0)  # (head,): in this share of the questions
keenest = int(most_there.argmax())
given = float(at_first[np.arange(len(of_max)), keenest, largest].mean())
say(
    "Can a head look at the largest digit before anything has been compared? Before the first block nothing has. In "
    f"{most_there[keenest]:.0%} of the {len(of_max)} `Max` questions with three different digits that were kept from "
    f"it, head {keenest} of the first block looks at the largest digit more than at anything else; on average it gives "
    f"it {given:.0%} of its attention, where looking everywhere alike would give {1 / len(at_first[0, 0]):.0%}. "
    + ("So it can: each key tells how large its own digit is, the query of `Max` asks for large ones, and softmax "
       "gives most to the highest score." if most_there[keenest] > 0.5 else
       "That is not most of them: with this seed the largest digit is found by a later block.")
)  # fmt: skip
expect(spread(end) < spread(0), "attention at the answering place is sharper after training")
show(gf.figures.plot_attention_history(run), "attention", "A head's attention on one question over its life.")
lab(run, "The attention of the last block on this question. Move the clock back, and see it even out.",
    input=asked[picked], block=run.architecture.blocks - 1, position=0,
    panels=("attention", "scores", "curves"))  # fmt: skip

# %% [markdown]
# ## Neurons and embeddings: choosy, not tidy
#
# The feed-forward parts have neurons that are on or off. Do they become choosy? And do tokens of one kind gather in one
# corner of embedding space, as one often reads?

# %%
on = {s: run.trace(sample, step=s)["hidden"] > 0 for s in (0, end)}
share = {s: float(values.mean()) for s, values in on.items()}
at_answer = on[end][:, -1, 0]  # last block, answering place: (question, neuron)
fires = np.array([at_answer[sample[:, 0] == list(names).index(kind)].mean(0) for kind in kinds])  # (kind, neuron)
choosy = int((fires.max(0) - fires.min(0)).argmax())
say(
    f"Of all neurons {share[0]:.0%} were on at the beginning, {share[end]:.0%} are at the end. The "
    f"choosiest one at the answering place, neuron {choosy} of the last block, is on for "
    + ", ".join(f"{fires[k, choosy]:.0%} of `{kind}`" for k, kind in enumerate(kinds))
    + ". Nobody gave it that job."
)
expect(fires[:, choosy].max() - fires[:, choosy].min() > 0.5, "some neuron tells operations apart")
vectors = run.weights()["token"]
unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
cosine = dict(zip(names, (dict(zip(names, row, strict=True)) for row in unit @ unit.T), strict=True))
pairs = [cosine[str(a)][str(b)] for a in range(10) for b in range(a)]
table(
    ["two tokens", "cosine of their embeddings"],
    [
        ["`Max` and `Min`", f"{cosine['Max']['Min']:+.2f}"],
        ["`First` and `Last`", f"{cosine['First']['Last']:+.2f}"],
        ["two digits, on average", f"{np.mean(pairs):+.2f}"],
    ],
)
say(
    "Tokens that must be told apart are pushed apart, even when they are of one kind: a heap of digits that all look "
    "alike would be of no use to `Max`. (S1 prints cosines near one; its own kind of model has none such.)"
)

# %% [markdown]
# ## Take a part out
#
# Seeing is not proof. So we set what one head brings to zero and ask the questions that were kept from the model.


# %%
def right(edits: str | None = None) -> float:
    said = run.trace(sample, edits=edits)["probabilities"][:, 0].argmax(-1)
    return float(np.mean(said == kept_from_it[:, -1]))


whole = right()
without = {
    (block, head): right(f"zero(mixed, block={block}, head={head})")
    for block in range(run.architecture.blocks)
    for head in range(run.architecture.heads)
}
table(["block", "head", "right without it"], [[b, h, f"{value:.0%}"] for (b, h), value in without.items()])
worst = min(without, key=without.__getitem__)
nothing = right("zero(attended)")
say(
    f"As trained {whole:.0%} are right. The head that is missed most is head {worst[1]} of block {worst[0]}; without "
    f"what all of them bring, {nothing:.0%} are right."
)
spare = [block for block in range(run.architecture.blocks)
         if min(value for (b, _), value in without.items() if b == block) > whole - 0.02]  # fmt: skip
say(
    f"In block {spare[0]} no head is missed alone: others do the same. One that can go is not one that does nothing."
    if spare
    else "In every block some head is missed, and yet none alone holds an operation: they share the work."
)
expect(nothing < min(without.values()) + 0.02 and nothing < 0.4, "without attention the model is lost")
lab(run, "The same here: this head is switched off. Switch it on again in the list of edits.",
    input="Max(5,3,9)", edits=f"zero(mixed, block={worst[0]}, head={worst[1]})", mode="change",
    block=worst[0], head=worst[1], panels=("attention", "output", "stream"))  # fmt: skip

# %% [markdown]
# ## The doctor
#
# Did it learn the rule, or did it learn its questions by heart? The gap between the loss on what it practised and the
# loss on what it never saw tells. We train a second model on purpose with very few questions.

# %%
ill = train("ill_overfitting")
doctor = {"ours": gf.analyses.health(run), "the other": gf.analyses.health(ill)}
table(
    ["model", "loss on what it practised", "loss on what it never saw"],
    [[name, f"{each.metrics['train_loss'][-1]:.3f}", f"{each.metrics['validation_loss'][-1]:.3f}"]
     for name, each in (("ours", run), ("the other", ill))],
)  # fmt: skip
finding = next(each for each in doctor["the other"].findings if each is not None and each.serious)
choice(
    f"A model ends with a loss of {ill.metrics['train_loss'][-1]:.3f} on what it practised and of "
    f"{ill.metrics['validation_loss'][-1]:.3f} on what it never saw. What ails it?",
    "It has learnt its questions by heart",
    f"The doctor says: {finding.illness}; {finding.evidence}. What to try: {finding.remedy}. More examples help most: "
    "`glassformer study training_size five_operations`.",
    {
        "Its learning rate is too large": "Then the loss on what it practised would be high; it is near zero.",
        "It has not trained long enough": "More steps would widen the gap: the best step lies behind it.",
        "Nothing: its loss is lower": "On what it practised; on everything else it is far higher.",
    },
)
expect(doctor["ours"].healthy and not doctor["the other"].healthy, "the doctor finds ours healthy and the other ill")
show(
    gf.figures.plot_health(run),
    "health",
    "Every check with its curve, its limit and its verdict, and the signs to stop.",
)
sizes = {part: run.metrics[f"gradient.{part}"] for part in ("embedding", "attention_0", "feed_forward_0", "read_out")}
table(["size of the gradient in", "at the first update", "at the last"],
      [[part.replace("_", " "), f"{size[1]:.2g}", f"{size[-1]:.2g}"] for part, size in sizes.items()])  # fmt: skip
say(
    f"`glassformer check` prints the same. Of ours it says: {doctor['ours'].title}. Gradients have shrunk in all parts "
    "and vanish in none: where the loss is flat there is little to follow. A loss that does not fall, that becomes no "
    "number, or neurons that never fire would be found as well, each with a remedy. Signs that it is time to stop are "
    "no more progress, a held-out loss that rises, a growing gap, or enough right answers."
)
discuss(
    "Nobody wrote a line that compares digits. Where does the comparing come from, and in which number is it stored?",
    "Architecture, data, loss and descent together; no single number holds it: most heads and neurons can be missed a "
    "little, none contains the rule; another seed stores it otherwise.",
    "Set the smallest weights to zero, more and more of them, and see when answers break: "
    "`glassformer study pruning five_operations`.",
)
number(
    f"Exit question. A model pays {ill.metrics['train_loss'][-1]:.3f} nats on questions it practised and "
    f"{ill.metrics['validation_loss'][-1]:.3f} on others. How large is the gap that tells it has learnt by heart?",
    float(ill.metrics["validation_loss"][-1] - ill.metrics["train_loss"][-1]),
    "Held-out loss minus training loss: the gap is what by heart looks like. (The doctor takes the middle one of the "
    "last few gaps, so that its number differs a little.)",
    tolerance=0.01,
    unit="nats",
)
