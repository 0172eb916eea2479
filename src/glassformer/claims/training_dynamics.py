"""The five operations in training: what the source says of its run, and what a run does.

Where it can be, its own experiment is trained: TEXT has the settings of its text. Epochs are the source's: 312 steps.
"""

from collections import Counter
from math import log, log2, prod, sqrt
from typing import TYPE_CHECKING

from glassformer.claims import _printed_training as printed
from glassformer.claims._claim import Found, claim, over_seeds, trained

if TYPE_CHECKING:
    from glassformer.run import Run

SOURCE = 1
TITLE = "Training dynamics and convergence of the five operations"

OURS = "five_operations"
TEXT = ("architecture.linear_init=plain_normal", "architecture.dropout=0.1")
START = trained(OURS, seeds=16, steps=1, settings=("architecture.linear_init=plain_normal",))
BEGUN = trained(OURS, seeds=16, steps=1)  # with the weights of its program: Xavier's


@claim("S1-01", "the model has 102,016 parameters, about 400 KB", place="1.P8.1", how="A",
       stated={"parameters": 102_016}, experiment=OURS, figure="parameters")  # fmt: skip
def parameters() -> Found:
    """The tensors that the text names, counted."""
    from glassformer.experiment import load

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
def first_loss(run: "Run", xavier: "Run") -> Found:
    """Before training, over seeds. One answer to everything is right at a tenth of the questions or at none."""
    import numpy as np

    right, mean = run.metrics["accuracy"][0], float(run.metrics["accuracy"][0].mean())
    loss, other = (over_seeds(each.metrics["validation_loss"][0], False) for each in (run, xavier))
    sure = 1.96 * float(right.std(ddof=1)) / sqrt(len(right))
    return Found(
        {"loss": loss, "accuracy": mean, "accuracy_sure": sure, "least": float(right.min()),
         "most": float(right.max()), "loss_xavier": other, "uniform": log(len(run.task.vocabulary))},
        measured=f"loss {loss.median:.3f} [{loss.low:.3f}, {loss.high:.3f}] (ln 20 = {log(20):.3f}); {100 * mean:.1f} "
        f"± {100 * sure:.1f} % right in the mean of {run.members} seeds, each between {100 * right.min():.1f} and "
        f"{100 * right.max():.1f} %; with Xavier's weights the loss starts at {other.median:.2f}",
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
    from glassformer.claims import _five_operations as five
    from glassformer.tasks.five_operations import FiveOperations

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
    from glassformer.experiment import load
    from glassformer.tasks.five_operations import OPERATIONS, WORDS, questions

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
    from glassformer.experiment import load

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


@claim("S1-20", "weights start as N(0, 0.02), so each block starts as the identity", place="1.P1.3", how="T",
       needs=[START, BEGUN], figure="stream_size", step=0)  # fmt: skip
def identity(run: "Run", xavier: "Run") -> Found:
    """What comes out of a block beside what went in. Identity: cosine above 0.99 and the same size to 5 %."""
    from glassformer.claims import _five_operations as five

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


@claim("S1-32", "without positional encoding 87 % are right", place="1.P10", how="E", stated={"accuracy": 0.87},
       tolerance=0.005, experiment=OURS, figure="study_parts")  # fmt: skip
def without_positions() -> Found:
    """The most that can be right of all questions when the order of the digits cannot be seen."""
    from glassformer.experiment import load
    from glassformer.studies.ablation import unordered

    kinds = unordered(load(OURS))
    best = sum(kinds.values()) / len(kinds)
    told = ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in kinds.items())
    return Found(
        {"accuracy": best, **kinds},
        truth=f"At most {100 * best:.1f} % of all questions can be right ({told}): without positions First, Second and "
        "Last cannot tell their digits apart.",
    )


# ---- its questions ---------------------------------------------------------------------------------------------------


@claim("S1-Q07", "questions 7 and 8: how many updates in all (15,600 in its text)? W = 0.100 after five plain steps?",
       place="1.Q7", how="A", stated={"updates": 15_600}, experiment=OURS, figure="hand_update")  # fmt: skip
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
       "embedding moved?", place="1.Q10", how="A", stated={"gained_most": 6}, experiment=OURS,
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
       "trained on?", place="1.Q17", how="E", experiment="five_operations_as_published", figure="every_question",
       input="Max(0,0,0)")  # fmt: skip
def question_draws() -> Found:
    """As many updates; what differs is how many questions they show."""
    from glassformer.claims import _five_operations as five
    from glassformer.tasks.five_operations import questions

    few, many = (five.covered(draws, len(questions()[0])) for draws in (5_000, 10_000))
    return Found(
        {"of_5000": few, "of_10000": many},
        measured=f"5,000 draws hold {100 * few:.1f} % of all questions, 10,000 hold {100 * many:.1f} %: the second "
        f"sees more; Max(0,0,0) is among them with a chance of {100 * many:.1f} %",
        holds=many > few,
    )


@claim("S1-Q31", "questions 31 and 57: how much more GPT-3 cost; is a model of 400 KB small?", place="1.Q31", how="A",
       stated={"kilobytes": 400}, tolerance=10, experiment=OURS, figure="parameters")  # fmt: skip
def question_costs() -> Found:
    """Training takes six operations for each parameter and token, whatever the model, so that they cancel out."""
    from glassformer.analyses.what.parameters import GPT
    from glassformer.claims import _five_operations as five
    from glassformer.experiment import load
    from glassformer.words import power

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
       "gradients to a query weight", place="1.Q40", how="A", experiment=OURS, figure="seeds")  # fmt: skip
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
       place="1.Q47", how="A", experiment=OURS, figure="softmax")  # fmt: skip
def question_first_loss() -> Found:
    """The mean of ln Σ eˣ over twenty such logits, by an integral; their own mean is 0."""
    from glassformer.analyses.primer.softmax import softmax
    from glassformer.claims import _five_operations as five

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
    from glassformer.experiment import load
    from glassformer.tasks.five_operations import WORDS, questions

    into, out = 8 * log2(len(WORDS)), log2(len(WORDS))
    asked = log2(len(questions()[0]))
    answers = next(rung.nats for rung in load(OURS).task.ladder(8) if rung.name == "answer frequencies") / log(2)
    return Found(
        {"ratio": asked / answers, "as_asked_in": into, "as_asked_out": out, "bits_in": asked, "bits_out": answers},
        idea=round(into / out) == 8,
        truth=f"{into:.2f} and {out:.2f} bits if any token could stand anywhere; but only {2**asked:,.0f} questions "
        f"exist, {asked:.2f} bits, and the answers carry {answers:.2f}: {asked / answers:.1f} : 1.",
    )
