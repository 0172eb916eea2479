"""The five operations in training: what the source says of its run, and what a run does.

Where it can be, its own experiment is trained: TEXT has the settings of its text. Epochs are the source's: 312 steps.
"""

from collections import Counter
from itertools import pairwise
from math import isnan, log, log2, prod, sqrt

import numpy as np

from glassformer.analyses._clock import nearest
from glassformer.claims import _five_operations as five
from glassformer.claims import _printed_training as printed
from glassformer.claims._claim import Found, claim, over_seeds, studied, trained
from glassformer.claims._said import fixed, share
from glassformer.experiment import load
from glassformer.run import Run
from glassformer.study import Spread, Study
from glassformer.tasks.five_operations import OPERATIONS, WORDS, FiveOperations, questions
from glassformer.words import power

SOURCE = 1
TITLE = "Training dynamics and convergence of the five operations"

OURS = "five_operations"
TEXT = ("architecture.linear_init=plain_normal", "architecture.dropout=0.1")
START = trained(OURS, seeds=16, steps=1, settings=("architecture.linear_init=plain_normal",))
BEGUN = trained(OURS, seeds=16, steps=1)  # with the weights of its program: Xavier's
SHORT = trained(OURS, seeds=16, steps=1_560, settings=(*TEXT, "train.log_every=26", "train.keep_bytes=200000000"))
LONG = trained(OURS, seeds=8, steps=15_600, settings=(*TEXT, "train.log_every=312"))
TIMED = trained(OURS, steps=936, settings=(*TEXT, "train.log_every=312"))
LONGER = trained(OURS, seeds=2, steps=46_800, settings=(*TEXT, "data.split=multiset", "train.log_every=1560"))
UNBRIDGED = trained(OURS, seeds=8, steps=2_500, settings=("architecture.residual=false",))
PARTS = studied("ablation", OURS, seeds=8, steps=2_500, settings=TEXT)
RATES = studied("rate", OURS, seeds=8, steps=600)
SIZES = studied("training_size", OURS, seeds=8, steps=1_500)
OPTIMISERS = studied("optimiser", OURS, seeds=8, steps=2_500)


@claim("S1-01", "the model has 102,016 parameters, about 400 KB", place="1.P8.1", how="A",
       stated={"parameters": 102_016}, experiment=OURS, figure="parameters")  # fmt: skip
def parameters() -> Found:
    """The tensors that the text names, counted."""
    shapes = load(OURS).architecture.shapes()
    count = {name: prod(shape) for name, shape in shapes.items()}
    block = sum(many for name, many in count.items() if name.startswith("blocks.0."))
    total, bias = sum(count.values()), count["read_out_bias"]
    return Found(
        {"parameters": total, "without_output_bias": total - bias, "kilobytes": 4 * total / 1000},
        idea=total - bias == 102_016,
        truth=f"{total:,}: {count['token']:,} + 2 × {block:,} + {count['read_out']:,} + {bias}. The source leaves out "
        f"the {bias} output biases that its text describes. In 32 bits: {4 * total:,} bytes.",
    )


@claim("S1-02", "training starts at a loss of 3.0 and 5 % right", place="1.P1.2", how="S",
       stated={"loss": 3.0, "accuracy": 0.05}, needs=[START, BEGUN], figure="loss", step=0)  # fmt: skip
def first_loss(run: Run, xavier: Run) -> Found:
    """Before training, over seeds. One answer to everything is right at a tenth of the questions or at none."""
    right, mean = run.metrics["accuracy"][0], float(run.metrics["accuracy"][0].mean())
    loss, other = (over_seeds(each.metrics["validation_loss"][0], False) for each in (run, xavier))
    sure = 1.96 * float(right.std(ddof=1)) / sqrt(len(right))
    return Found(
        {"loss": loss, "accuracy": mean, "accuracy_sure": sure, "least": float(right.min()),
         "most": float(right.max()), "loss_xavier": other, "uniform": log(len(run.task.vocabulary))},
        measured=f"loss {fixed(loss)} (ln 20 = {log(20):.3f}); {100 * mean:.1f} ± {share(sure)} right in the mean of "
        f"{run.members} seeds, each between {100 * right.min():.1f} and {100 * right.max():.1f} %; with Xavier's "
        f"weights the loss starts at {other.median:.2f}",
        holds=bool(np.isclose(loss.median, 3.0, atol=0.05)) and abs(mean - 0.05) <= sure,
        idea=loss.low <= 3.05,
        truth=f"The loss starts at {loss.median:.3f}, and {100 * mean:.1f} ± {100 * sure:.1f} % are right.",
    )  # fmt: skip


@claim("S1-03", "312 steps an epoch and 15,600 updates; elsewhere: 500,000 updates, and 300 billion for GPT-3",
       place="1.T.2", how="A", stated={"updates": 15_600, "elsewhere": 500_000}, experiment=OURS,
       figure="training_data")  # fmt: skip
def updates() -> Found:
    """An update is one batch, not one example."""
    full, rest = divmod(printed.EXAMPLES, printed.BATCH)
    dropped, kept = full * printed.EPOCHS, (full + bool(rest)) * printed.EPOCHS
    shown = printed.EXAMPLES * printed.EPOCHS
    return Found(
        {"steps_per_epoch": printed.EXAMPLES / printed.BATCH, "updates": dropped, "with_the_last_batch": kept,
         "elsewhere": dropped, "examples_shown": shown},
        holds=shown == dropped,
        idea=dropped == 15_600,
        truth=f"{printed.EXAMPLES / printed.BATCH} batches an epoch: {dropped:,} updates if the last {rest} examples "
        f"are dropped, {kept:,} if not. {shown:,} is how many examples are shown; GPT-3's 300 billion are tokens, too.",
    )  # fmt: skip


@claim("S1-04", "tested on 2,000 questions never seen: after 10,000 examples Max(9,5,3) is new, and Min follows from "
       "Max", place="1.P9.1", how="E", experiment="five_operations_as_published", figure="generalisation")  # fmt: skip
def never_seen() -> Found:
    """Of all questions there are, how many a training set of such a size holds; by chance, and drawn."""
    task = FiveOperations(draws=printed.EXAMPLES)
    every = len(task.questions()[0])
    train, test = ({tuple(row) for row in task.examples(8, part, 10**6).windows.tolist()} for part in ("train", "test"))
    seen = len(test & train) / len(test)
    expected, smaller = (five.covered(many, every) for many in (10_000, 8_000))
    return Found(
        {"questions": every, "seen": expected, "seen_of_8000": smaller, "drawn": seen},
        measured=f"{every:,} questions exist; 10,000 draws hold {100 * expected:.1f} % of them (8,000 hold "
        f"{100 * smaller:.1f} %), and of the test questions drawn here {100 * seen:.1f} % were trained on",
        holds=not test & train,
        truth=f"Only {every:,} questions exist, so {100 * expected:.1f} % of the test questions, Max(9,5,3) with that "
        "chance among them, are in the training set; and Min is one of the operations trained. "
        'split = "multiset" keeps every order of three digits apart.',
    )


@claim("S1-05", "a table of loss and accuracy at twelve epochs: 2.87 and 8 % after one, 1.42 and 35 % after ten, 0.05 "
       "and 95 % after fifty", place="1.A", how="S", needs=[LONG], slow=True, figure="loss")  # fmt: skip
def table(run: Run) -> Found:
    """The same epochs of a real run. The table holds if every loss is within a fifth of the seeds' median."""
    at = {row.epoch: row.epoch * printed.EPOCH_STEPS for row in printed.TABLE}
    loss, right = (five.logged(run, name, list(at.values())) for name in ("validation_loss", "accuracy"))
    middle = np.median(loss, axis=1)
    near = [abs(found - row.validation) <= row.validation / 5 for found, row in zip(middle, printed.TABLE, strict=True)]
    shown = {epoch: (over_seeds(loss[k], False), over_seeds(right[k])) for k, epoch in enumerate(at)}
    first = next(epoch for epoch, (_, share) in shown.items() if share.median >= 0.95)
    told = "; ".join(
        f"epoch {e}: {shown[e][0].median:.3g} and {100 * shown[e][1].median:.1f} %" for e in (0, 1, 5, 10, 50)
    )
    return Found(
        {f"loss_{epoch}": each for epoch, (each, _) in shown.items()},
        measured=f"{told} (medians of {run.members} seeds, on new questions)",
        holds=all(near),
        idea=bool(np.all(np.diff(middle[:4]) < 0)) and shown[0][1].median < 0.15 and shown[50][1].median >= 0.95,
        truth=f"{sum(near)} of {len(near)} rows fit. Loss falls and accuracy rises as it says, but the run is over "
        f"soon: 95 % is passed by epoch {first}, and at epoch 10 the loss is {shown[10][0].median:.2g}, not 1.46.",
    )


@claim("S1-06", "epoch 50: 95 % right, training loss 0.05, validation loss 0.08; by epoch 150 it would overfit: 0.001 "
       "and 0.35", place="1.P9.3", how="S", stated={"training": 0.05, "validation": 0.08, "accuracy": 0.95},
       tolerance=0.02, needs=[LONG, LONGER], slow=True, figure="generalisation")  # fmt: skip
def end(run: Run, longer: Run) -> Found:
    """Its length, on new questions; and three times that on sets of digits never seen in any order."""
    train, held, right = (
        over_seeds(run.metrics[name][-1], False) for name in ("train_loss", "validation_loss", "accuracy")
    )
    late, gap = (over_seeds(longer.metrics[name][-1], False) for name in ("validation_loss", "accuracy"))
    best = over_seeds(longer.metrics["validation_loss"].min(axis=0), False)
    small = held.median - train.median < 0.05
    return Found(
        {"training": train, "validation": held, "accuracy": right, "validation_150": late, "accuracy_150": gap,
         "best": best},
        measured=f"{100 * right.median:.2f} %, {train.median:.2g} and {held.median:.2g} after 50 epochs ({run.members} "
        f"seeds); validation {late.median:.2g} [{late.low:.2g}, {late.high:.2g}] and {100 * gap.median:.2f} % right "
        f"after 150 ({longer.members} seeds, digits never seen together)",
        idea=small and right.median >= 0.95,
        truth=f"After 50 epochs {100 * right.median:.1f} % are right and the losses are {train.median:.2g} and "
        f"{held.median:.2g}: lower than it says, with a small gap, as it says. "
        f"{'It does' if late.low > 0.1 else 'It does not'} overfit: after 150 the validation loss is "
        f"{late.median:.2g} with {100 * gap.median:.1f} % right.",
    )  # fmt: skip


@claim("S1-07", "epochs 11 to 30 are the steepest; most is learnt between 10 and 35", place="1.P3", how="A",
       experiment=OURS, figure="timeline")  # fmt: skip
def steepest() -> Found:
    """Its own table, per epoch."""
    falls = {(a, b): (printed.AT[a].loss - printed.AT[b].loss) / (b - a) for a, b in ((0, 10), (10, 30), (10, 20))}
    rises = {(a, b): (printed.AT[b].accuracy - printed.AT[a].accuracy) / (b - a) for a, b in falls}
    first, last = printed.TABLE[0], printed.TABLE[-1]
    share_loss = (printed.AT[10].loss - printed.AT[35].loss) / (first.loss - last.loss)
    share_right = (printed.AT[35].accuracy - printed.AT[10].accuracy) / (last.accuracy - first.accuracy)
    return Found(
        {"fall_0_10": falls[0, 10], "fall_10_30": falls[10, 30], "rise_0_10": rises[0, 10],
         "rise_10_30": rises[10, 30], "loss_10_35": share_loss, "accuracy_10_35": share_right},
        holds=falls[10, 30] > falls[0, 10] and rises[10, 30] > rises[0, 10] and min(share_loss, share_right) > 0.5,
        truth=f"By its own table the loss falls {falls[0, 10]:.3f} an epoch in epochs 0 to 10 and {falls[10, 30]:.3f} "
        f"in 10 to 30, accuracy rises {100 * rises[0, 10]:.1f} and {100 * rises[10, 30]:.2f} points an epoch "
        f"({100 * rises[10, 20]:.1f} in 10 to 20 alone); epochs 10 to 35 hold {100 * share_right:.0f} % of the gain in "
        f"accuracy but {100 * share_loss:.0f} % of the fall of the loss.",
    )  # fmt: skip


@claim("S1-08", "the loss has been on a plateau for the last 10 epochs", place="1.P4.4", how="A", experiment=OURS,
       figure="loss")  # fmt: skip
def plateau() -> Found:
    """Its own table again; a plateau would be less than a tenth lost in ten epochs."""
    before, last = printed.AT[40], printed.AT[50]
    train, held_out = 1 - last.loss / before.loss, 1 - last.validation / before.validation
    return Found(
        {"training_fall": train, "validation_fall": held_out},
        holds=max(train, held_out) < 0.1,
        truth=f"By its own table both losses still fall: training {before.loss} → {last.loss} "
        f"(−{100 * train:.0f} %), validation {before.validation} → {last.validation} (−{100 * held_out:.0f} %).",
    )


@claim("S1-09", "99, 98, 98, 92 and 93 % right by operation are 95 % overall", place="1.A", how="A",
       stated={"accuracy": 0.95}, experiment=OURS, figure="by_kind")  # fmt: skip
def parts_and_whole() -> Found:
    """There are as many questions of each operation, so the whole is the mean of the parts."""
    mean = sum(printed.BY_OPERATION.values()) / len(printed.BY_OPERATION)
    way = {epoch: (3 * first + 2 * largest) / 5 for epoch, (first, largest) in printed.ON_THE_WAY.items()}
    told = ", ".join(f"{100 * mean:.1f} against {100 * printed.AT[epoch].accuracy:.0f}" for epoch, mean in way.items())
    return Found(
        {"accuracy": mean, **{f"epoch_{epoch}": each for epoch, each in way.items()}},
        idea=abs(mean - 0.95) <= 0.02,
        truth=f"Their mean is {100 * mean:.1f} %; at epochs 10, 20 and 30 its parts give {told} % in its table.",
    )


@claim("S1-10", "Max is right at 12 % in epoch 10, at a loss of 1.42 overall", place="1.P5", how="E",
       stated={"max": 0.12}, experiment=OURS, figure="by_kind")  # fmt: skip
def worse_than_a_guess() -> Found:
    """What always the same answer is worth, and what a model knows that loses so little."""
    answers = questions()[1].reshape(5, -1)[OPERATIONS.index("Max")]
    said, times = Counter(answers.tolist()).most_common(1)[0]
    guess = times / len(answers)
    alone = next(rung for rung in load(OURS).task.ladder(8) if rung.name == "operation only")
    loss = printed.AT[10].loss
    return Found(
        {"max": guess, "operation_only": alone.nats},
        holds=not (guess > 0.12 and loss < alone.nats),
        truth=f"Always answering {WORDS[said]} is right on {100 * guess:.1f} % of Max. A model that knows nothing but "
        f"the operation loses {alone.nats:.3f} nats and does so; one at {loss} knows more.",
    )


@claim("S1-11", "First is learnt first and Max and Min last", place="1.P5", how="S", needs=[SHORT], slow=True,
       figure="by_kind")  # fmt: skip
def order_learnt(run: Run) -> Found:
    """When each operation passes 50 % and 95 % for the first time."""
    from glassformer.studies import _measure

    shares = {kind: _measure.column(run, f"accuracy_by_kind.{kind}") for kind in run.task.kinds}
    half, most = ({kind: over_seeds(_measure.steps_to(run, share, goal), False) for kind, share in shares.items()}
                  for goal in (0.5, 0.95))  # fmt: skip
    placed, sized = ("First", "Second", "Last"), ("Max", "Min")
    late = all(most[one].median < most[other].median for one in placed for other in sized)
    early = all(half[one].median < half[other].median for one in sized for other in placed)
    told, halves = (", ".join(f"{kind} {each.median:,.0f}" for kind, each in found.items()) for found in (most, half))
    return Found(
        {**{f"{kind}_50": each for kind, each in half.items()}, **{f"{kind}_95": each for kind, each in most.items()}},
        measured=f"median step of 95 % over {run.members} seeds: {told}; of 50 %: {halves}",
        holds=late and most["First"].median == min(each.median for each in most.values()) and not early,
        idea=late or most["Max"].median == max(each.median for each in most.values()),
        truth=f"Half of the questions are right {'soonest of Max and Min' if early else 'in another order'} "
        f"({halves}), which need no positions; the last twentieth takes "
        f"{'these two longest' if late else 'about as long for all'} (95 %: {told}).",
    )


@claim("S1-12", "Max is answered as Min would be at 8 %, Min as Max at 7 %; First, Second and Last are never confused",
       place="1.P5", how="E T", stated={"max_as_min": 0.08, "min_as_max": 0.07}, tolerance=0.02, needs=[SHORT],
       slow=True, figure="confusion")  # fmt: skip
def confused(run: Run) -> Found:
    """Answers are digits: one counts for an operation that would give it. Looked at when Max is at its 92 %."""
    from glassformer.analyses.learn.confusion import confusion

    kinds = list(run.task.kinds)
    step, level = five.step_at(run, printed.BY_OPERATION["Max"], "Max")
    seen = [confusion(run, steps=(step,), member=member).answered_as for member in range(run.members)]
    share = np.array([each.values[0] for each in seen if each is not None])
    of = {name: over_seeds(share[:, kinds.index(a), kinds.index(b)])
          for name, (a, b) in {"max_as_min": ("Max", "Min"), "min_as_max": ("Min", "Max")}.items()}  # fmt: skip
    placed = over_seeds(sum(share[:, a, b] for a in range(3) for b in range(3) if a != b) / 3)
    same = {(a, b): float(np.mean(x == y)) for a, x in zip(kinds, questions()[1].reshape(5, -1), strict=True)
            for b, y in zip(kinds, questions()[1].reshape(5, -1), strict=True)}  # fmt: skip
    return Found(
        {**of, "positional": placed, "max_is_min": same["Max", "Min"], "first_is_max": same["First", "Max"]},
        measured=f"at step {step:,}, where Max is right at {100 * level:.0f} %, it is "
        f"answered as Min at {100 * of['max_as_min'].median:.1f} %, Min as Max at {100 * of['min_as_max'].median:.1f} "
        f"%, each of First, Second and Last as another of them at {100 * placed.median:.1f} % (medians of "
        f"{run.members} seeds)",
        truth=f"It is the other way round: Max and Min are told apart from the start "
        f"({100 * of['max_as_min'].median:.1f} and {100 * of['min_as_max'].median:.1f} %), while First, Second and "
        f"Last are taken for one another until their digits are told apart ({100 * placed.median:.1f} %). By chance "
        f"alone Max and Min agree on {100 * same['Max', 'Min']:.0f} % of all triples, First and Max on "
        f"{100 * same['First', 'Max']:.1f} %.",
    )


@claim("S1-13", "the printed attention rows are what softmax gave", place="1.P6", how="A", experiment=OURS,
       figure="attention")  # fmt: skip
def attention_rows() -> Found:
    """A softmax row sums to 1; eight weights rounded to two places may miss it by 0.04 at most."""
    sums = {row: sum(row) for _, row in printed.ROWS}
    impossible = [row for row, total in sums.items() if abs(total - 1) > len(row) * 0.005 + 1e-9]
    places = {row: {where.rsplit(",", 1)[0] for where, each in printed.ROWS if each == row} for row in sums}
    twice = [row for row, where in places.items() if len({each for each in where if "head" in each}) > 1]
    return Found(
        {"rows": len(sums), "impossible": len(impossible), "largest_sum": max(sums.values()), "twice": len(twice)},
        holds=not impossible and not twice,
        truth=f"{len(impossible)} of {len(sums)} different rows sum to "
        f"{' and '.join(f'{sums[row]:.2f}' for row in impossible)}, which no rounding explains; {len(twice)} rows "
        "stand for two different heads and positions each.",
    )


@claim("S1-14", "position 4 holds the first digit, the answer is read there or at the last position, 9 is at 6",
       place="1.P3.2", how="A", stated={"first_digit": 4, "largest": 6}, experiment=OURS, figure="attention",
       input="Max(5,3,9)")  # fmt: skip
def places() -> Found:
    """Where the tokens of Max(5,3,9) stand."""
    task = load(OURS).task
    words = [task.vocabulary[token] for token in task.encode("Max(5,3,9)")]
    first, largest = words.index("5"), words.index("9")
    digits = [place for place, word in enumerate(words) if word.isdecimal()]
    read = load("five_operations_as_published").architecture.read_position
    return Found(
        {"first_digit": first, "largest": largest, "read": read or 0},
        idea=largest == 6,
        truth=f"The digits stand at {', '.join(map(str, digits))}, so position 4 holds the {words[4]}; its program "
        f"reads the answer at position {read}, where the operation is.",
    )


@claim("S1-15", "attention is even at first (0.11 to 0.14) and sharp at epoch 50: 0.65 on the largest digit",
       place="1.P6", how="T", stated={"on_largest": 0.65}, tolerance=0.1, needs=[LONG], slow=True,
       figure="attention_history", input="Max(5,3,9)")  # fmt: skip
def sharper(run: Run) -> Found:
    """Questions for Max with one largest digit, where the answer is read; of each seed the head that sees it most."""
    inputs, place = five.one_largest()
    begun, ends, spent = [], [], []
    for member in range(run.members):
        first, last = (five.attention(run, step, member, inputs)[:, :, :, 0] for step in (0, -1))
        begun.append((first.min(), first.max()))
        on = np.take_along_axis(last, place[:, None, None, None], -1)[..., 0].mean(0)  # (block, head)
        ends.append(on.max())
        spent.append([float(-(each * np.log(np.maximum(each, 1e-30))).sum(-1).mean()) for each in (first, last)])
    least, most = over_seeds([low for low, _ in begun]), over_seeds([high for _, high in begun])
    on, (early, late) = over_seeds(ends), (over_seeds(each) for each in np.array(spent).T)
    own = [-sum(w * log(w) for w in row) for row in (printed.FIRST_ROW, printed.LAST_ROW)]
    even = least.low > 0.105 and most.high < 0.145
    return Found(
        {"least": least, "most": most, "on_largest": on, "entropy_first": early, "entropy_last": late,
         "printed_first": own[0], "printed_last": own[1]},
        holds=even and abs(on.median - 0.65) <= 0.1,
        idea=even and late.median < early.median,
        truth=f"Even at first ({least.low:.3f} to {most.high:.3f}), and sharper at the end: where the answer is read "
        f"the entropy falls from {early.median:.2f} to {late.median:.2f} nats in the mean of all heads (its rows: "
        f"{own[0]:.2f} and {own[1]:.2f}), and the head that looks most at the largest digit gives it {fixed(on, 2)}.",
    )  # fmt: skip


@claim("S1-16", "four heads of block 1 see the operation, the arguments, the syntax and the position; named neurons "
       "answer to Max, to 9, to the largest digit", place="1.P3.2", how="T", needs=[SHORT], slow=True,
       illustrative="The number of a head or a neuron means nothing: it changes with the seed, and no seed is given.",
       figure="head_roles")  # fmt: skip
def roles(run: Run) -> Found:
    """Which class of position each head of block 1 looks at most, per position; and the neuron that best tells Max and
    Min from the rest by firing, where the answer is read.
    """
    inputs, main, best = five.asked(run), [], []
    sized = inputs[:, 0] >= inputs[:, 0].max() - 1
    for member in range(run.members):
        seen = run.trace(inputs, member=member)
        weights = seen["attention"][:, 0].mean(axis=(0, 2))  # (head, key position)
        main.append(np.argmax([weights[:, places].mean(-1) for places in five.CLASSES.values()], axis=0))
        hidden = seen["hidden"][:, :, 0] > 0  # (question, block, neuron)
        apart = abs(hidden[sized].mean(0) - hidden[~sized].mean(0))
        best.append((int(apart[0].argmax()), float(apart[0].max())))
    digits = int((np.array(main) == list(five.CLASSES).index("digits")).sum())
    choosy = over_seeds([share for _, share in best])
    return Found(
        {"heads_for_digits": digits, "heads": 4 * run.members, "best_neuron": choosy,
         "different_neurons": len({neuron for neuron, _ in best})},
        measured=f"{digits} of the {4 * run.members} heads of block 1 in {run.members} seeds look most at the digits; "
        f"its most selective neuron fires {100 * choosy.median:.0f} points [{100 * choosy.low:.0f}, "
        f"{100 * choosy.high:.0f}] more often for Max and Min, or for the others, and is another one in "
        f"{len({n for n, _ in best})} seeds",
    )  # fmt: skip


@claim("S1-17", "half of the neurons fire at the start, 35 % (90 of 256) at epoch 10", place="1.P2.2", how="T",
       stated={"start": 0.5, "epoch_10": 0.35}, tolerance=0.03, needs=[LONG], slow=True, figure="sparsity")  # fmt: skip
def firing(run: Run) -> Found:
    """The share of hidden values above zero, over held-out questions, positions and both blocks."""
    steps, inputs = (0, nearest(run, 10 * printed.EPOCH_STEPS), run.last_step), five.asked(run)
    fires = np.array([[np.mean(run.trace(inputs, step=step, member=k)["hidden"] > 0) for k in range(run.members)]
                      for step in steps])  # fmt: skip
    start, tenth, last = (over_seeds(each) for each in fires)
    return Found(
        {"start": start, "epoch_10": tenth, "end": last},
        idea=abs(start.median - 0.5) <= 0.03 and tenth.high < start.low,
        truth=f"{share(start.median, 0)} at the start, {share(tenth, 0)} at epoch 10 and {share(last.median, 0)} at "
        "the end.",
    )


@claim("S1-18", "cosines of embeddings: operations at least 0.95, digits at least 0.90, one of each at most 0.15",
       place="1.P3.1", how="T S", stated={"operations": 0.95, "digits": 0.90, "apart": 0.15}, needs=[SHORT], slow=True,
       figure="similarity")  # fmt: skip
def alike(run: Run) -> Found:
    """The least cosine within a group, the largest between them, after training."""
    within: dict[str, list[float]] = {"operations": [], "digits": [], "apart": [], "max_min": [], "mean_digits": []}
    for member in range(run.members):
        token = run.weights(-1, member)["token"]
        operations, digits = token[five.OPERATIONS], token[five.DIGITS]
        within["operations"].append(float(five.among(operations).min()))
        within["digits"].append(float(five.among(digits).min()))
        within["apart"].append(float(five.among(operations, digits).max()))
        within["max_min"].append(float(five.among(operations[3:])[0]))
        within["mean_digits"].append(float(five.among(digits).mean()))
    found = {name: over_seeds(values) for name, values in within.items()}
    own = float(five.among(np.array([printed.FIRST_EMBEDDING, printed.MAX_EMBEDDING]))[0])
    return Found(
        {**found, "printed_first_max": own},
        holds=found["operations"].median >= 0.95 and found["digits"].median >= 0.9 and found["apart"].median <= 0.15,
        truth=f"Tokens that must be told apart move apart: the cosine of Max and Min is {fixed(found['max_min'], 2)}, "
        f"two digits have {found['mean_digits'].median:.2f} in the mean and {found['digits'].median:.2f} at least. Its "
        f"own vectors for First and Max have {own:.2f} (by the four components it shows).",
    )


@claim("S1-19", "digits come to lie in the order of their values", place="1.D.1", how="T S", needs=[SHORT], slow=True,
       figure="similarity")  # fmt: skip
def in_order(run: Run) -> Found:
    """Rank correlation of the place along their main axis with the value, and whether neighbours are most alike."""
    from glassformer.analyses.know.similarity import similarity

    seen = [similarity(run, member=member) for member in range(run.members)]
    ranked, near = over_seeds([each.agreement for each in seen]), over_seeds([each.neighbours for each in seen])
    chance = seen[0].neighbours_by_chance
    return Found(
        {"rank_correlation": ranked, "nearest_is_neighbour": near, "by_chance": chance},
        holds=ranked.low > 0.9 and near.low > chance,
        idea=ranked.median > 0.8 or near.low > chance,
        truth=f"Along the main axis of the digits' embeddings place and value have a rank correlation of "
        f"{fixed(ranked, 2)}; the most similar digit is the next one for {share(near.median, 0)} (by chance "
        f"{share(chance, 0)}).",
    )


@claim("S1-20", "weights start as N(0, 0.02), so each block starts as the identity", place="1.P1.3", how="T",
       needs=[START, BEGUN], figure="stream_size", step=0)  # fmt: skip
def identity(run: Run, xavier: Run) -> Found:
    """What comes out of a block beside what went in. Identity: cosine above 0.99 and the same size to 5 %."""
    (cosine, ratio, added), (other, *_) = five.passed_on(run), five.passed_on(xavier)
    turned, sized, theirs = ([over_seeds(each[:, block]) for block in (0, 1)] for each in (cosine, ratio, other))
    most = over_seeds(added.max(axis=1))
    return Found(
        {"cosine_1": turned[0], "cosine_2": turned[1], "size_1": sized[0], "size_2": sized[1], "added": most,
         "cosine_1_xavier": theirs[0], "cosine_2_xavier": theirs[1]},
        holds=min(each.low for each in turned) > 0.99 and all(0.95 < each.median < 1.05 for each in sized),
        idea=most.high < 0.05,
        truth=f"Attention and feed-forward add at most {100 * most.median:.1f} % of what passes, but a norm follows "
        f"each sum: what leaves the first block has a cosine of {turned[0].median:.2f} with what entered and "
        f"{sized[0].median:.2f} times its size; only the second passes its input on ({turned[1].median:.3f}). With the "
        f"Xavier weights of its program the cosines are {theirs[0].median:.2f} and {theirs[1].median:.2f}.",
    )  # fmt: skip


@claim("S1-21", "ids: Max 15, '6' 8, '(' 17; biases of digits rise, those of Max (to −3.47) and syntax fall",
       place="1.P2.1", how="E T", stated={"max_bias": -3.47}, tolerance=0.5, needs=[SHORT], slow=True, figure="readout",
       input="Max(5,3,9)")  # fmt: skip
def biases(run: Run) -> Found:
    """Where they stand in the vocabulary, and the output biases after training."""
    ids = [run.task.vocabulary.index(word) for word in ("Max", "6", "(")]
    bias = run.weights(-1)["read_out_bias"]  # (member, token)
    digits, rest = bias[:, five.DIGITS], bias[:, five.DIGITS.stop :]
    top, low, largest = over_seeds(digits.mean(1)), over_seeds(rest.mean(1)), over_seeds(bias[:, ids[0]])
    signs = digits.mean(1).min() > 0 > rest.mean(1).max()
    return Found(
        {"max_id": ids[0], "six_id": ids[1], "bracket_id": ids[2], "digits": top, "others": low, "max_bias": largest},
        holds=ids == [15, 8, 17] and bool(signs) and abs(largest.median + 3.47) <= 0.5,
        idea=ids == [15, 8, 17] and bool(signs),
        truth=f"The ids and the signs are right: in all {run.members} seeds the digits' biases rise "
        f"({top.median:+.2f} in the mean) and the others fall (−{-low.median:.2f}); that of Max is "
        f"−{-largest.median:.2f}. The rest of the work is done by the weights before it.",
    )


@claim("S1-22", "one update: 0.034 − 0.001 × 0.0045 = 0.0339, and 0.0234 − 0.001 × 0.0182 = 0.0232", place="1.P2.3",
       how="A", stated={"embedding": 0.0339, "output": 0.0232}, tolerance=5e-5, experiment=OURS,
       figure="hand_update")  # fmt: skip
def by_hand() -> Found:
    """The sums as they stand."""
    embedding, output = 0.034 - printed.RATE * 0.0045, 0.0234 - printed.RATE * 0.0182
    return Found(
        {"embedding": embedding, "output": output},
        measured=f"{embedding:.7f} and {output:.7f}",
        truth=f"{embedding:.7f} ({embedding:.4f}) and {output:.7f} ({output:.4f}): such a step is too small to see "
        f"in four places. And its run uses Adam, whose first step would be {printed.RATE} whatever the gradient.",
    )


@claim("S1-23", "a gradient of −0.05 at rate 0.001 lowers the weight by 0.00005, 15,600 steps make 0.5 to 1.0; at "
       "rate 0.1, 100 times as much, training may diverge", place="1.P8.2", how="A B", needs=[RATES], slow=True,
       figure="study_rates")  # fmt: skip
def step_size(rates: Study) -> Found:
    """The sums as they stand; and what becomes of trainings at both rates."""
    step, total = -printed.RATE * -0.05, printed.RATE * 0.05 * printed.EPOCH_STEPS * printed.EPOCHS
    usual, large = rates.row("rate 0.001"), rates.row("rate 0.1")
    assert usual is not None
    assert large is not None
    here, there = (rates.spread(row, "accuracy") for row in (usual, large))
    lost = len(large.diverged)
    return Found(
        {"step": step, "total": total, "ratio": 0.1 / printed.RATE, "usual": here, "large": there, "diverged": lost},
        holds=step < 0,
        idea=0.5 <= total <= 1.0 and there.high < here.low,
        truth=f"Descent goes against the gradient, so the weight rises by {step:.5f}; {total:.2f} in all if the "
        f"gradient never changed. At rate 0.1 ({0.1 / printed.RATE:.0f} times as much) Adam's training fails, but "
        f"does not diverge: {100 * there.median:.0f} % right beside {100 * here.median:.0f} %, and {lost} of "
        f"{len(large.seeds)} losses are no number after {large.steps:,} steps.",
    )  # fmt: skip


@claim("S1-24", "at rate 0.000001 a step is 0.000005, and 15,600 of them make 0.078", place="1.P8.2", how="A",
       stated={"step": 5e-6, "total": 0.078}, experiment=OURS, figure="descent")  # fmt: skip
def small_rate() -> Found:
    """A gradient of −0.05, as in the example before."""
    step, total = 1e-6 * 0.05, 1e-6 * 0.05 * printed.EPOCH_STEPS * printed.EPOCHS
    return Found(
        {"step": step, "total": total},
        measured=f"{step:.8f} and {total:.5f}",
        truth=f"{step:.8f} and {total:.5f}: it gives both a hundredfold. Beside the {printed.RATE * 0.05:.5f} of the "
        f"usual rate a step is {printed.RATE * 0.05 / step:,.0f} times smaller.",
    )


@claim("S1-25", "ten gradients: plain descent changes the weight by −0.0045, Adam by −0.0062, 38 % more",
       place="1.P8.3", how="A", stated={"sgd": -0.0045, "adam": -0.0062}, tolerance=5e-5, experiment=OURS,
       figure="ten_gradients")  # fmt: skip
def ten_steps() -> Found:
    """The same gradients through both."""
    from glassformer.analyses.path.ten_gradients import ten_gradients

    moved = ten_gradients().moved
    sgd, adam = (float(moved.values[moved.axes["optimiser"].values.index(name), -1]) for name in ("SGD", "Adam"))
    return Found(
        {"sgd": sgd, "adam": adam, "times": adam / sgd},
        truth=f"{sgd:+.6f} and {adam:+.5f}, {adam / sgd:.0f} times as far: descent moves against the gradients' sign, "
        "and Adam's steps are about as large as the rate, whatever the size of the gradients.",
    )


@claim("S1-26", "after them Adam's momentum is −0.0045 and its mean square 0.000021", place="1.P8.3", how="A",
       stated={"mean": -0.0045, "square": 0.000021}, experiment=OURS, figure="ten_gradients")  # fmt: skip
def two_means() -> Found:
    """Corrected for their start at zero, which the source does not mention."""
    from glassformer.analyses.path.ten_gradients import ten_gradients

    adam = ten_gradients().adam
    last = dict(zip(adam.axes["quantity"].values, adam.values[:, -1].tolist(), strict=True))
    mean, square = last["mean_corrected"], last["square_corrected"]
    return Found(
        {"mean": mean, "square": square, "mean_raw": last["mean"], "square_raw": last["square"]},
        measured=f"−{-mean:.5f} and {square:.7f}, corrected for their start at zero (without that −{-last['mean']:.5f} "
        f"and {last['square']:.8f})",
        holds=abs(mean + 0.0045) <= 5e-5 and abs(square - 2.1e-5) <= 5e-7,
        truth=f"{mean:.5f} and {square:.7f}",
    )


@claim("S1-27", "Adam gives large steady gradients a smaller rate and small noisy ones a larger one, and learns "
       "faster than plain descent", place="1.P8.3", how="A B", needs=[OPTIMISERS], slow=True,
       figure="study_optimisers")  # fmt: skip
def adaptive(study: Study) -> Found:
    """How far a hundred gradients move a weight, per gradient; and both optimisers, each at its best rate."""
    from glassformer.analyses.path.ten_gradients import PLAIN, fed

    signs = np.random.default_rng(0).choice([-1.0, 1.0], 100)
    given = {"large_steady": np.full(100, 0.1), "small_steady": np.full(100, 0.001), "small_noisy": 0.001 * signs}
    moved = {name: float(abs(fed(list(each), "adam", PLAIN).sum())) for name, each in given.items()}
    rate = {name: moved[name] / float(abs(each).sum()) for name, each in given.items()}
    best = {row.cell.name.split(" at ")[0]: row for row in study.rows()}
    quick = {name: study.spread(best[name], "steps_to_95") for name in ("Adam", "SGD")}
    faster = quick["Adam"].high < quick["SGD"].low or (isnan(quick["SGD"].low) and not isnan(quick["Adam"].high))
    at = {name: "never" if isnan(each.median) else f"at step {each.median:,.0f}" for name, each in quick.items()}
    return Found(
        {**{f"moved_{name}": each for name, each in moved.items()}, "adam": quick["Adam"], "sgd": quick["SGD"]},
        holds=rate["small_noisy"] > rate["large_steady"] and moved["small_noisy"] >= moved["small_steady"] and faster,
        idea=rate["small_steady"] > rate["large_steady"] and faster,
        truth=f"Adam divides by the size of gradients, so that large and small steady ones move a weight equally far "
        f"({moved['large_steady']:.3f} and {moved['small_steady']:.3f} in 100 steps), but noise makes its steps "
        f"smaller ({moved['small_noisy']:.3f}). {'It does' if faster else 'Nor does it'} learn faster: 95 % "
        f"{at['Adam']}, plain descent {at['SGD']}, each at its best rate.",
    )  # fmt: skip


@claim("S1-28", "gradients shrink 15-fold from epoch 10 to 50 and changes per epoch 28-fold; the output weights move "
       "most, attention least", place="1.P7", how="T", stated={"gradient_ratio": 15, "change_ratio": 28}, tolerance=5,
       needs=[LONG], slow=True, figure="weight_change")  # fmt: skip
def slowing(run: Run) -> Found:
    """Length of the batch gradient, mean of five epochs; mean change of a weight over five epochs; change by part."""
    epoch = printed.EPOCH_STEPS
    sizes = {
        at: five.logged(run, "gradient.all", [epoch * (at + k) for k in range(-4, 1)]).mean(0) for at in (5, 10, 50)
    }
    ends = {at: [nearest(run, epoch * (at - k)) for k in (5, 0)] for at in (5, 10, 50)}
    moves = {at: five.moved(run, a, b)["all"] / (b - a) for at, (a, b) in ends.items()}
    parts = {part: over_seeds(each) for part, each in five.moved(run, 0, run.last_step).items() if part != "all"}
    gradient, change = (over_seeds(each[10] / each[50]) for each in (sizes, moves))
    order = sorted(parts, key=lambda part: -parts[part].median)
    told = ", ".join(f"{part.replace('_', ' ')} {parts[part].median:.3f}" for part in order)
    shrinks = [bool(np.median(each[5]) > np.median(each[50])) for each in (sizes, moves)]
    most, least = order[0] == "read_out", order[-1].startswith("attention")
    return Found(
        {"gradient_ratio": gradient, "change_ratio": change, **{f"moved_{part}": each for part, each in parts.items()}},
        holds=all(shrinks) and most and least and abs(gradient.median - 15) <= 5 and abs(change.median - 28) <= 5,
        idea=all(shrinks),
        truth=f"From epoch 10 to 50 the gradient shrinks {gradient.median:.1f}-fold [{gradient.low:.1f}, "
        f"{gradient.high:.1f}], but the weights move on: an epoch changes them {1 / change.median:.2f} times as much, "
        f"since Adam divides by the size of the gradients. Mean change by part over the whole run: {told}.",
    )


@claim("S1-29", "trained without block 2 85 % are right, without feed-forward 68 %, without norm 67 %", place="1.P10",
       how="B", stated={"block 2": 0.85, "feed-forward": 0.68, "norm": 0.67}, tolerance=0.02, needs=[PARTS], slow=True,
       figure="study_parts")  # fmt: skip
def not_needed(study: Study) -> Found:
    """Its settings, on new questions."""
    found = {part: _without(study, part) for part in ("block 2", "feed-forward", "norm")}
    full = _spread(study, "full model")
    told = ", ".join(f"without {part} {100 * each.median:.1f} %" for part, each in found.items())
    return Found(
        {"full": full, **found},
        idea=all(each.high < full.low for each in found.values()),
        truth=f"The full model has {100 * full.median:.1f} %, {told} (medians of {study.seeds} seeds after "
        f"{study.experiment.train.steps:,} steps): the task needs none of the three.",
    )


@claim("S1-30", "without attention, with average pooling or with feed-forward alone, 42 % are right", place="1.P10",
       how="B E", stated={"off": 0.42}, tolerance=0.02, needs=[PARTS], slow=True, figure="study_parts")  # fmt: skip
def without_attention(study: Study) -> Found:
    """Both readings: nothing is brought to where the answer is read, or the mean of all positions is."""
    off, mean = _without(study, "attention"), _spread(study, "mean in place of attention")
    row = study.row("without attention")
    assert row is not None
    best = row.cell.bound or 0.0
    return Found(
        {"off": off, "mean": mean, "bound": best},
        holds=any(abs(each.median - 0.42) <= 0.02 for each in (off, mean)),
        truth=f"Without mixing, as its drawing has it, at most {share(best)} of all questions can be right "
        f"({share(off)} are); with the mean of all positions in its place, {share(mean)}: attention is what tells "
        "places apart.",
    )


@claim("S1-31", "without residuals training fails: the loss stays above 2.5 and accuracy below 15 %", place="1.P10",
       how="B", needs=[PARTS, UNBRIDGED], slow=True, figure="study_parts")  # fmt: skip
def without_residuals(study: Study, xavier: Run) -> Found:
    """With its small first weights, and with Xavier's; the loss that output biases alone reach is known."""
    right, excess = _without(study, "residuals"), _spread(study, "without residuals", "excess")
    other = over_seeds(xavier.metrics["accuracy"][-1])
    biases = next(rung.nats for rung in study.experiment.task.ladder(8) if rung.name == "answer frequencies")
    return Found(
        {"accuracy": right, "loss": excess, "accuracy_xavier": other, "biases_alone": biases},
        holds=right.high < printed.RESIDUALS_BELOW and excess.low > printed.RESIDUALS_LOSS,
        idea=right.high < printed.RESIDUALS_BELOW,
        truth=f"With first weights of 0.02 {share(right)} are right after {study.experiment.train.steps:,} steps, but "
        f"the loss comes down to {excess.median:.3g}: the output biases alone reach {biases:.3f}. It is a matter of "
        f"the first weights: with Xavier's, which its program has, {share(other.median)} are right without residuals.",
    )


@claim("S1-32", "without positional encoding 87 % are right", place="1.P10", how="E", stated={"accuracy": 0.87},
       tolerance=0.005, experiment=OURS, figure="study_parts")  # fmt: skip
def without_positions() -> Found:
    """The most that can be right of all questions when the order of the digits cannot be seen."""
    from glassformer.studies.ablation import unordered

    kinds = unordered(load(OURS))
    best = sum(kinds.values()) / len(kinds)
    told = ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in kinds.items())
    return Found(
        {"accuracy": best, **kinds},
        truth=f"At most {100 * best:.1f} % of all questions can be right ({told}): without positions First, Second and "
        "Last cannot tell their digits apart.",
    )


@claim("S1-33", "by importance: attention, residuals, feed-forward, norm, block 2, positions", place="1.P10", how="A B",
       needs=[PARTS], slow=True, figure="study_parts")  # fmt: skip
def ranking(study: Study) -> Found:
    """By its own numbers, and by what is lost when each is left out."""
    own = {part: printed.FULL - share for part, share in printed.WITHOUT.items()}
    own["residuals"] = printed.FULL - printed.RESIDUALS_BELOW  # or more
    full = _spread(study, "full model").median
    lost = {part: full - _without(study, part).median for part in printed.RANKED}
    by_own, by_loss = (sorted(each, key=lambda part: -each[part]) for each in (own, lost))
    told = ", ".join(f"{part} {100 * lost[part]:.1f}" for part in by_loss)
    return Found(
        {f"lost_{part}": each for part, each in lost.items()},
        measured=f"points lost: {told}",
        holds=by_loss == list(printed.RANKED),
        idea=set(by_loss[:2]) == set(printed.RANKED[:2]),
        truth=f"Its own numbers give {', '.join(by_own)}. Measured (points lost): {told}. Positions, which it has "
        "last, are needed by three operations of five.",
    )


@claim("S1-34", "1,000, 5,000, 10,000 and 50,000 examples give 78, 89, 95 and 96 %", place="1.P9.2", how="S E",
       needs=[SIZES], slow=True, figure="study_sizes")  # fmt: skip
def data_needed(study: Study) -> Found:
    """So many draws hold so many different questions; what these are worth was trained."""
    every = 5_000
    held = {draws: every * five.covered(draws, every) for draws in printed.BY_SIZE}
    rows = sorted(study.rows(), key=lambda row: row.cell.x or 0)
    right = {int(row.cell.x or 0): study.spread(row, "accuracy") for row in rows}
    below = {draws: max(size for size in right if size <= many) for draws, many in held.items()}
    low = all(right[below[draws]].low > share for draws, share in printed.BY_SIZE.items())
    medians = [each.median for each in right.values()]
    told = ", ".join(f"{size:,}: {100 * each.median:.1f} %" for size, each in right.items())
    return Found(
        {f"right_{size}": each for size, each in right.items()},
        measured=f"accuracy on new questions by number of different training questions, medians of {study.seeds} "
        f"seeds: {told}",
        holds=all(abs(right[below[d]].median - share) <= 0.02 for d, share in printed.BY_SIZE.items()),
        idea=all(b >= a - 0.01 for a, b in pairwise(medians)),
        truth=f"Such draws hold {', '.join(f'{many:,.0f}' for many in held.values())} of the {every:,} questions. "
        f"{'Already the first is worth more than it says' if low else 'Fewer are needed'}: different questions → "
        f"right on new ones, {told}. That more helps ever less is true.",
    )


@claim("S1-35", "at epoch 30 Max(9,9,5) and Min(1,0,3) are still wrong and the answer to Max(5,3,9) has 0.73, at "
       "epoch 50 0.94", place="1.P4.1", how="T", needs=[SHORT, LONG], slow=True, figure="calibration",
       input="Max(9,9,5)")  # fmt: skip
def edge_cases(run: Run, long: Run) -> Found:
    """These questions at its epochs; and while learning, triples with a repeated digit beside those without."""
    texts = {"Max(9,9,5)": "9", "Min(1,0,3)": "0", "Max(5,3,9)": "9"}
    tokens = np.array([long.task.encode(text) for text in texts])
    truth = [long.task.vocabulary.index(word) for word in texts.values()]
    third, last = (five.answers(long, tokens, step) for step in (nearest(long, 30 * printed.EPOCH_STEPS), -1))
    solved = int((third.argmax(-1) == truth).all(-1).sum())
    sure = [over_seeds(each[:, 2, truth[2]]) for each in (third, last)]
    step, (twice, once) = five.repeated(run)
    gap = over_seeds(twice - once)
    return Found(
        {"solved_at_30": solved, "sure_at_30": sure[0], "sure_at_50": sure[1], "repeated_minus_distinct": gap},
        holds=solved == 0 and abs(sure[0].median - 0.73) < 0.05 and abs(sure[1].median - 0.94) < 0.05,
        idea=gap.high < 0,
        truth=f"By epoch 30 {solved} of {long.members} seeds answer all three, Max(5,3,9) with {sure[0].median:.4f}. "
        f"Early on equal digits are {'harder' if gap.high < 0 else 'no harder'}: at step {step:,} the share right of "
        f"Max and Min is {100 * abs(gap.median):.1f} points {'lower' if gap.median < 0 else 'higher'} on triples with "
        f"a repeated digit than on the others.",
    )


@claim("S1-36", "dropout 0.1; 15,600 updates take about two hours on a CPU", place="1.P12", how="R",
       stated={"hours": 2}, tolerance=1, needs=[TIMED], slow=True, figure="runtime")  # fmt: skip
def duration(run: Run) -> Found:
    """Seconds between two logged steps, after everything was compiled, for as many steps as it has."""
    later = run.times["step"] >= run.experiment.train.log_every  # before that it compiles, and logs often
    seconds, steps = (run.times[name][later][[0, -1]] for name in ("seconds", "step"))
    minutes = float(seconds[1] - seconds[0]) / float(steps[1] - steps[0]) * printed.EPOCHS * printed.EPOCH_STEPS / 60
    return Found(
        {"hours": minutes / 60, "minutes": minutes, "dropout": run.architecture.dropout},
        measured=f"{minutes:.1f} minutes for one model, dropout included, by {steps[1] - steps[0]:,.0f} steps timed on "
        f"{run.about['hardware']['device']}",
        idea=minutes < 2 * 60,
        truth=f"It takes {minutes:.1f} minutes with dropout, and 95 % right are reached in the first few per cent of "
        "them.",
    )


@claim("S1-37", "first statistics, then composition, then fine-tuning; block 1 settles before block 2", place="1.P11",
       how="T", needs=[SHORT], slow=True, figure="timeline")  # fmt: skip
def phases(run: Run) -> Found:
    """When it is known that answers are digits, when 95 and 99 % are right; and when each block's attention settles."""
    from glassformer.studies import _measure

    digits = over_seeds(five.digits_known(run), False)
    right = _measure.column(run, "accuracy")
    good, all_right = (over_seeds(_measure.steps_to(run, right, goal), False) for goal in (0.95, 0.99))
    settled = five.settled(run)  # (member, block)
    first = int((settled[:, 0] < settled[:, 1]).sum())
    blocks = [over_seeds(settled[:, block], False) for block in (0, 1)]
    ordered = digits.high < good.low and good.median < all_right.median
    return Found(
        {"digits_known": digits, "right_95": good, "right_99": all_right, "block_1": blocks[0], "block_2": blocks[1],
         "block_1_first": first},
        holds=ordered and blocks[0].high < blocks[1].low,
        idea=ordered,
        truth=f"That answers are digits is known by step {digits.median:,.0f}, 95 % are right at {good.median:,.0f} "
        f"and 99 % at {all_right.median:,.0f}; where the answer is read, the attention of block 1 has settled by step "
        f"{blocks[0].median:,.0f} and that of block 2 by {blocks[1].median:,.0f}, later in {first} of {run.members} "
        "seeds.",
    )  # fmt: skip


@claim("S1-38", "there are many equally good minima, most critical points are saddles, and knowledge is spread over "
       "all parameters", place="1.P8.1", how="S T", needs=[SHORT, trained("plus_last_even", steps=4000)], slow=True,
       experiment="plus_last_even", figure="hessian")  # fmt: skip
def minima(run: Run, rule: Run) -> Found:
    """Seeds: equally good, and unlike. Curvature: exactly, of a model with 250 numbers. Cut: the smallest weights."""
    loss = over_seeds(run.metrics["validation_loss"][-1], False)
    cosine, between = five.unlike(run)
    negative, size = five.downhill(rule)
    cut = {share: over_seeds(five.pruned(run, share)) for share in (0.25, 0.5)}
    return Found(
        {"loss": loss, "cosine": cosine, "halfway": between, "negative": negative, "parameters": size,
         **{f"cut_{share}": each for share, each in cut.items()}},
        holds=loss.high < 0.1 and abs(cosine.median) < 0.1 and negative > 0 and cut[0.25].median < 0.9,
        idea=loss.high < 0.1 and abs(cosine.median) < 0.1 and negative > 0,
        truth=f"Equally good and unlike: {run.members} seeds end at {loss.median:.3g} [{loss.low:.2g}, "
        f"{loss.high:.2g}] with cosines of {cosine.median:.3f} between what they learnt, and half-way between two the "
        f"loss is {between.median:.2g}. Where training of a rule with {size} numbers ends, {negative} directions "
        f"still lead downhill. But not all parameters matter: without the smallest quarter "
        f"{100 * cut[0.25].median:.1f} % are right, without half {100 * cut[0.5].median:.1f} %.",
    )  # fmt: skip


@claim("S1-39", "sizes, costs and learning stages of GPT-2, GPT-3, BERT and GPT-4", place="1.P12", how="A",
       illustrative="They are reports on models that no run of ours can train; only the sizes can be counted.",
       experiment=OURS, figure="parameters")  # fmt: skip
def large_models() -> Found:
    """A block has about 12 width² parameters; the vocabulary of GPT-2 has 50,257 tokens."""
    small, large = 12 * 12 * 768**2 + 50_257 * 768, 96 * 12 * 12_288**2 + 50_257 * 12_288
    return Found(
        {"gpt_2_millions": small / 1e6, "gpt_3_billions": large / 1e9, "ours": load(OURS).architecture.parameters},
        measured=f"12 blocks of width 768 with GPT-2's vocabulary make {small / 1e6:.0f} million parameters (it says "
        f"117), 96 of width 12,288 make {large / 1e9:.0f} billion (it says 175)",
    )


# ---- its questions ---------------------------------------------------------------------------------------------------


@claim("S1-Q07", "questions 7 and 8: how many updates in all (15,600 in its text)? W = 0.100 after five plain steps?",
       place="1.Q7 1.Q8", how="A", stated={"updates": 15_600}, experiment=OURS, figure="hand_update")  # fmt: skip
def question_updates() -> Found:
    """Counted and added up."""
    full, rest = divmod(printed.EXAMPLES, printed.BATCH)
    weight = 0.100 - printed.RATE * sum((-0.004, -0.005, -0.003, -0.006, -0.004))
    return Found(
        {"updates": full * printed.EPOCHS, "with_the_last_batch": (full + bool(rest)) * printed.EPOCHS,
         "weight": weight},
        measured=f"{full} × {printed.EPOCHS} = {full * printed.EPOCHS:,}, or {full + 1} × {printed.EPOCHS} = "
        f"{(full + 1) * printed.EPOCHS:,} if the last {rest} examples of an epoch make a batch; W = {weight:.6f}",
    )  # fmt: skip


@claim("S1-Q09", "question 9: in which interval is learning fastest, by the percentage that the loss falls?",
       place="1.Q9", how="A", experiment=OURS, figure="loss")  # fmt: skip
def question_falls() -> Found:
    """Per interval, and per epoch, since the last interval is twice as long."""
    ends = ((0, 10), (10, 20), (20, 30), (30, 50))
    whole = {(a, b): 1 - printed.AT[b].loss / printed.AT[a].loss for a, b in ends}
    each = {(a, b): 1 - (1 - fall) ** (1 / (b - a)) for (a, b), fall in whole.items()}
    lost = {(a, b): printed.AT[a].loss - printed.AT[b].loss for a, b in ends}
    top, fastest, largest = (max(found, key=lambda ends: found[ends]) for found in (whole, each, lost))
    told = [f"{a}–{b}: {100 * fall:.1f} % ({100 * each[a, b]:.1f} % an epoch)" for (a, b), fall in whole.items()]
    return Found(
        {f"fall_{a}_{b}": fall for (a, b), fall in whole.items()},
        measured=", ".join(told),
        holds=top == fastest,
        idea=True,
        truth=f"{top[0]}–{top[1]} has the largest percentage, but is twice as long; per epoch it is "
        f"{fastest[0]}–{fastest[1]}, and most nats are lost in {largest[0]}–{largest[1]}.",
    )


@claim("S1-Q10", "questions 10 to 12: which position gained most attention (6)? the ratio of two changes? how far an "
       "embedding moved?", place="1.Q10 1.Q11 1.Q12", how="A", stated={"gained_most": 6}, experiment=OURS,
       figure="attention_history")  # fmt: skip
def question_changes() -> Found:
    """Differences, a quotient, a distance."""
    gained = [after - before for before, after in zip(printed.FIRST_ROW, printed.LAST_ROW, strict=True)]
    ratio = printed.MOVES[1] / printed.MOVES[50]
    dx, dy = 0.567 - 0.023, -0.523 + 0.145
    far = sqrt(dx**2 + dy**2)
    return Found(
        {"gained_most": max(range(8), key=lambda place: gained[place]), "gained_0": gained[0], "gained_2": gained[2],
         "gained_6": gained[6], "ratio": ratio, "moved": far, "per_epoch": far / printed.EPOCHS},
        measured=f"−{-gained[0]:.2f}, {gained[2]:+.2f} and {gained[6]:+.2f} at positions 0, 2 and 6; ratio {ratio:.0f}"
        f"; ({dx:+.3f}, −{-dy:.3f}), distance {far:.4f}, {far / printed.EPOCHS:.5f} an epoch if it went straight",
    )  # fmt: skip


@claim("S1-Q17", "questions 17 and 58: 50 epochs of 10,000 examples teach more than 100 of 5,000; was Max(0,0,0) "
       "trained on?", place="1.Q17 1.Q58", how="E", experiment="five_operations_as_published", figure="every_question",
       input="Max(0,0,0)")  # fmt: skip
def question_draws() -> Found:
    """As many updates; what differs is how many questions they show."""
    few, many = (five.covered(draws, len(questions()[0])) for draws in (5_000, 10_000))
    return Found(
        {"of_5000": few, "of_10000": many},
        measured=f"5,000 draws hold {100 * few:.1f} % of all questions, 10,000 hold {100 * many:.1f} %: the second "
        f"sees more; Max(0,0,0) is among them with a chance of {100 * many:.1f} %",
        holds=many > few,
    )


@claim("S1-Q31", "questions 31 and 57: how much more GPT-3 cost; is a model of 400 KB small?", place="1.Q31 1.Q57",
       how="A", stated={"kilobytes": 400}, tolerance=10, experiment=OURS, figure="parameters")  # fmt: skip
def question_costs() -> Found:
    """Training takes six operations for each parameter and token, whatever the model, so that they cancel out."""
    from glassformer.analyses.what.parameters import GPT

    a = load(OURS).architecture
    tokens = printed.EPOCH_STEPS * printed.EPOCHS * printed.BATCH * a.context
    size, compute = GPT["GPT-3"][3] / a.parameters, GPT["GPT-3"][3] * 300e9 / (a.parameters * tokens)
    work = five.multiply_adds(a)
    return Found(
        {"kilobytes": 4 * a.parameters / 1000, "parameters": size, "compute": compute, "multiply_adds": work},
        measured=f"GPT-3 has {size / 1e6:.2f} million times the parameters and took {power(compute, 2)} times the "
        f"arithmetic; this model has {4 * a.parameters / 1024:.1f} KiB and needs {work:,} multiply-adds for an answer",
    )


@claim("S1-Q40", "questions 40 and 46: 95 % and 94 % on 2,000 questions differ by chance; a batch adds 32 × 8 "
       "gradients to a query weight", place="1.Q40 1.Q46", how="A", experiment=OURS, figure="seeds")  # fmt: skip
def question_difference() -> Found:
    """The difference over its standard error, for two independent sets of 2,000 answers; and positions in a batch."""
    both = (0.95 + 0.94) / 2
    z = (0.95 - 0.94) / sqrt(2 * both * (1 - both) / 2_000)
    positions = printed.BATCH * 8
    return Found(
        {"z": z, "positions": positions},
        measured=f"z = {z:.2f}, below the 1.96 of chance at 95 %; {positions} positions a batch, but Adam divides by "
        f"their size, so that a step stays near the rate, {printed.RATE}",
        holds=z < 1.96,
        truth=f"z = {z:.2f} is more than chance gives",
    )


@claim("S1-Q47", "questions 47 and 48: logits spread over [−1, 1] start above ln 20; what temperature does to softmax",
       place="1.Q47 1.Q48", how="A", experiment=OURS, figure="softmax")  # fmt: skip
def question_first_loss() -> Found:
    """The mean of ln Σ eˣ over twenty such logits, by an integral; their own mean is 0."""
    from glassformer.analyses.primer.softmax import softmax

    loss, rows = five.mean_log_sum(20), softmax().probabilities
    shares = [" ".join(f"{share:.4f}" if share > 1e-3 else f"{share:.7f}" for share in row) for row in rows.values]
    told = "; ".join(f"T = {t:g}: {row}" for t, row in zip(rows.axes["temperature"].values, shares, strict=True))
    return Found(
        {"loss": loss, "uniform": log(20)},
        measured=f"{loss:.3f} nats against ln 20 = {log(20):.3f}: unequal logits cost more than equal ones; softmax of "
        f"2, 1, 0.5 at {told}",
        holds=loss > log(20),
    )


@claim("S1-Q52", "question 52: input and answer are 8 : 1 in bits", place="1.Q52", how="A E", stated={"ratio": 8},
       experiment=OURS, figure="token_counts")  # fmt: skip
def question_bits() -> Found:
    """As it counts, every token of 20; as it is, one question of all there are, and the entropy of the answers."""
    into, out = 8 * log2(len(WORDS)), log2(len(WORDS))
    asked = log2(len(questions()[0]))
    answers = next(rung.nats for rung in load(OURS).task.ladder(8) if rung.name == "answer frequencies") / log(2)
    return Found(
        {"ratio": asked / answers, "as_asked_in": into, "as_asked_out": out, "bits_in": asked, "bits_out": answers},
        idea=round(into / out) == 8,
        truth=f"{into:.2f} and {out:.2f} bits if any token could stand anywhere; but only {2**asked:,.0f} questions "
        f"exist, {asked:.2f} bits, and the answers carry {answers:.2f}: {asked / answers:.1f} : 1.",
    )


@claim("S1-Q54", "questions 54 and 56: an operation never trained, Middle; two, four or eight arguments after "
       "training on three", place="1.Q54 1.Q56", how="S", needs=[SHORT], slow=True, figure="study_cells")  # fmt: skip
def question_beyond(run: Run) -> Found:
    """Middle has no token. Other lengths can be asked, since positions go on: 500 questions of each, 100 for Max."""
    every, largest = {}, {}
    for many in (2, 3, 4, 8):
        asked, truth = five.drawn(many)
        every[many] = over_seeds(five.right(run, asked, truth))
        largest[many] = over_seeds(five.right(run, asked[3::5], truth[3::5]))
    told, of_max = (", ".join(f"{many}: {100 * each.median:.0f} %" for many, each in found.items())
                    for found in (every, largest))  # fmt: skip
    return Found(
        {"middle_token": int("Middle" in run.task.vocabulary),
         **{f"right_{many}": each for many, each in every.items()},
         **{f"max_{many}": each for many, each in largest.items()}},
        measured=f"no token for Middle; right by number of arguments, medians of {run.members} seeds: {told}; of Max "
        f"alone {of_max}",
        holds=all(largest[many].median >= 0.95 for many in (2, 4, 8)),
        idea=largest[2].median >= 0.95 or largest[4].median >= 0.95,
        truth=f"Middle cannot even be asked: it is no token, and a new one would be a random vector. Other lengths "
        f"were never trained; Max by number of arguments: {of_max}; all operations: {told}.",
    )  # fmt: skip


def _spread(study: Study, cell: str, metric: str = "accuracy") -> Spread:
    """Median and interval of a cell."""
    row = study.row(cell)
    if row is None:
        raise ValueError(f"the study {study.path} has no cell {cell!r}")
    return study.spread(row, metric)


def _without(study: Study, part: str) -> Spread:
    return _spread(study, f"without {part}")
