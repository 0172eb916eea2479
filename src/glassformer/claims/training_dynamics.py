"""The five operations in training: what the source says of its run, and what a run does.

Where it can be, its own experiment is trained: TEXT has the settings of its text. Epochs are the source's: 312 steps.
"""

from collections import Counter
from math import log, prod, sqrt
from typing import TYPE_CHECKING

from glassformer.claims import _printed_training as printed
from glassformer.claims._claim import Found, claim, over_seeds, trained

if TYPE_CHECKING:
    from glassformer.run import Run

SOURCE = 1
TITLE = "Training dynamics and convergence of the five operations"

OURS = "five_operations"
TEXT = ("data.draws=10000", "architecture.linear_init=plain_normal", "architecture.dropout=0.1")
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
    from glassformer.tasks.five_operations import FiveOperations

    task = FiveOperations(draws=printed.EXAMPLES)
    every = len(task.questions()[0])
    train, test = ({tuple(row) for row in task.examples(8, part, 10**6).windows.tolist()} for part in ("train", "test"))
    seen = len(test & train) / len(test)
    expected, smaller = (_covered(many, every) for many in (10_000, 8_000))
    return Found(
        {"questions": every, "seen": expected, "seen_of_8000": smaller, "drawn": seen},
        measured=f"{every:,} questions exist; 10,000 draws hold {100 * expected:.1f} % of them (8,000 hold "
        f"{100 * smaller:.1f} %), and of the test questions drawn here {100 * seen:.1f} % were trained on",
        holds=not test & train,
        truth=f"Only {every:,} questions exist, so {100 * expected:.1f} % of the test questions, Max(9,5,3) with that "
        "chance among them, are in the training set; and Min is one of the operations trained. "
        'split = "multiset" keeps every order of three digits apart.',
    )


def _covered(draws: int, every: int) -> float:
    """The share of questions that so many draws hold, as many for each of five operations."""
    return 1 - (1 - 5 / every) ** (draws / 5)


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
        holds=not (0.12 < guess and loss < alone.nats),
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
        f"{' and '.join(f'{sums[row]:.2f}' for row in impossible)}, which no rounding explains; {len(twice)} rows stand "
        "for two different heads and positions each.",
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
        truth=f"The digits stand at {', '.join(map(str, digits))}, so position 4 holds the {words[4]}; its program reads "
        f"the answer at position {read}, where the operation is.",
    )
