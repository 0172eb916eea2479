"""What source S2 says of a small language model on Shakespeare.

What it trained takes hours without a GPU, and the direction of its effects is asked for here. So its model is trained
on fewer windows at a higher rate: STEPS steps of BATCH windows, instead of thousands of 512, bring it nearly as far as
its own training does. The text of each claim says so; the published scale is in docs/language-models.md.
"""

from collections import Counter
from math import ceil, exp, sqrt
from typing import Any

import numpy as np

from glassformer.architecture import Architecture, nest, sinusoids
from glassformer.claims import _printed_shakespeare as printed
from glassformer.claims._claim import Found, claim, over_seeds, trained
from glassformer.claims._heads import NEAR, WINDOWS, halfway, looks
from glassformer.claims._said import fixed, share, steps
from glassformer.experiment import begun, load
from glassformer.reference import forward
from glassformer.run import Run
from glassformer.tasks._counts import Counts, Table

SOURCE = 2
TITLE = "A tiny transformer language model on Shakespeare"

BASE_NAME, LONG_NAME, WIDE_NAME = (each.experiment for each in printed.LOGS)
SHOWN = "shakespeare_two_cores"  # the same text in the same pieces, trained in minutes: whose report shows them
SEEDS, STEPS, BATCH, RATE, LOWER = 8, 1200, 16, 2e-3, 7e-4
SHORT = ("train.judged=400", "train.log_every=100", "train.schedule=constant", "train.stop_after=1000",
         "data.split=tokens")  # fmt: skip # so that the same tokens are judged whatever the context
HIGH, LOW = (f"train.batch={BATCH}", f"train.rate={RATE}"), (f"train.batch={BATCH}", f"train.rate={LOWER}")
HALF = ("architecture.width=64", "architecture.heads=2", "architecture.feed_forward=128")
BASE = trained(BASE_NAME, seeds=SEEDS, steps=STEPS, settings=(*SHORT, *HIGH, "train.keep_bytes=160_000_000"))
UNPLACED = trained(BASE_NAME, seeds=SEEDS, steps=STEPS, settings=(*SHORT, *HIGH, "architecture.positions=none"))
LONG = trained(
    LONG_NAME, seeds=SEEDS, steps=STEPS, settings=(*SHORT, f"train.batch={BATCH // 2}", f"train.rate={RATE}")
)
SLOWER = trained(BASE_NAME, seeds=SEEDS, steps=STEPS, settings=(*SHORT, *LOW))
NARROW = trained(BASE_NAME, seeds=SEEDS, steps=STEPS, settings=(*SHORT, *HIGH, *HALF))
NARROW_SLOWER = trained(BASE_NAME, seeds=SEEDS, steps=STEPS, settings=(*SHORT, *LOW, *HALF))
WEIGHTS = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)  # of shorter histories, to choose from
SHORTENED = f"after {STEPS:,} steps of {BATCH} windows at a rate of {RATE:g}, {SEEDS} seeds"


# ---- the text --------------------------------------------------------------------------------------------------------


@claim("S2-01", "1,115,394 characters, 65 of them different; a vocabulary of exactly 500; 447,717 tokens",
       place="2.§2.1", how="D", experiment=SHOWN, figure="vocabulary",
       stated={"characters": printed.CHARACTERS, "distinct": printed.DISTINCT, "entries": printed.ENTRIES,
               "tokens": printed.TOKENS})  # fmt: skip
def text() -> Found:
    task = _task()
    single = sum(len(token) == 1 for token in task.vocabulary)
    special = len(task.groups["special"])
    used = len(set(task.stream.tolist()))
    merged = len(task.vocabulary) - single - special
    return Found(
        {"characters": len(task.text), "distinct": len(set(task.text)), "entries": len(task.vocabulary),
         "tokens": len(task.stream), "single characters": single, "merges": merged, "entries that occur": used},
        measured=f"{len(task.text):,} characters, {len(set(task.text))} different; {len(task.vocabulary)} entries "
        f"({special} special, {single} characters, {merged} merges), of which {used} occur; {len(task.stream):,} "
        "tokens",
    )  # fmt: skip


@claim("S2-02", "the twenty commonest tokens: the comma almost 20,000 times, the twentieth, 'be', above 3,500; many "
       "are single characters", place="2.F1", how="D", experiment=SHOWN, figure="token_counts")  # fmt: skip
def commonest() -> Found:
    task = _task()
    found = Counter(task.stream.tolist()).most_common(len(printed.TOP))
    same = [many == said for (_, many), (_, said) in zip(found, printed.TOP, strict=True)]
    other = {said: task.vocabulary[token] for (token, _), (said, _) in zip(found, printed.TOP, strict=True)
             if task.vocabulary[token] != said}  # fmt: skip
    single = sum(len(task.vocabulary[token]) == 1 for token in task.stream) / len(task.stream)
    return Found(
        {"counts that agree": sum(same), "comma": found[0][1], "twentieth": found[-1][1], "single characters": single},
        measured=f"{sum(same)} of 20 counts agree, from {found[0][1]:,} to {found[-1][1]:,}; "
        + "".join(f"what is printed as {said} is {is_}; " for said, is_ in other.items())
        + f"{share(single)} of all tokens are single characters",
        holds=all(same) and found[0][1] < 20_000 and found[-1][1] > 3_500,
        truth="" if all(same) else f"{20 - sum(same)} of its counts are not those of the text.",
    )


@claim("S2-03", "97 of the 100 commonest words are single tokens; duke, richard and queen are not",
       place="2.§2.3", how="D", stated={"single tokens": 97}, experiment=SHOWN, figure="coverage")  # fmt: skip
def whole_words() -> Found:
    from glassformer.analyses.what.coverage import WORD

    task = _task()
    common = Counter(WORD.findall(task.text.lower())).most_common(100)
    cut = [word for word, _ in common if word not in task.vocabulary]
    fifteenth = [f"{word!r} {many:,}" for word, many in common[14:16]]
    return Found(
        {"single tokens": len(common) - len(cut)},
        measured=f"{len(common) - len(cut)} are; not {', '.join(cut)}",
        holds=set(cut) == printed.CUT and len(common) - len(cut) == 97,
        truth=f"Its printed list lost an entry: the fifteenth and sixteenth are {' and '.join(fifteenth)}.",
    )


@claim("S2-04", "windows of 64 tokens make 358,122 training and 89,531 validation sequences, of 128 tokens 358,071 and "
       "89,518", place="2.§3.1", how="D", experiment=SHOWN, figure="batch",
       stated={"training": 358_122, "validation": 89_531, "training, long": 358_071,
               "validation, long": 89_518})  # fmt: skip
def windows() -> Found:
    tokens = len(_task().stream)
    many = {context: tokens - context for context in (64, 128)}
    first = {context: int(0.8 * each) for context, each in many.items()}
    stored = 2 * many[64] * 64 * 8  # inputs and targets, in 64 bits
    both = first[64] - 1 + 64 - first[64] + 1  # from where validation begins to where the last training window ends
    return Found(
        {"training": first[64], "validation": many[64] - first[64], "training, long": first[128],
         "validation, long": many[128] - first[128], "megabytes": stored / 1e6},
        measured=f"{first[64]:,} and {many[64] - first[64]:,}; {first[128]:,} and {many[128] - first[128]:,}",
        truth=f"{both} tokens lie on both sides, as training windows run over the border. Stored one by one the "
        f"windows take {stored / 1e6:.0f} MB ({4 * many[128] * 64 * 8 / 1e6:.0f} MB for 128), the tokens themselves "
        f"{8 * tokens / 1e6:.1f} MB.",
    )  # fmt: skip


@claim("S2-05", "391,552 parameters, 1,307,392 for the wider model; a longer context adds none", place="2.§3.4",
       how="A", stated={"base": 391_552, "long": 391_552, "wide": 1_307_392}, experiment=BASE_NAME,
       figure="parameters")  # fmt: skip
def parameters() -> Found:
    names = {"base": BASE_NAME, "long": LONG_NAME, "wide": WIDE_NAME}
    return Found({key: load(name).architecture.parameters for key, name in names.items()})


# ---- training --------------------------------------------------------------------------------------------------------


@claim("S2-06", "best perplexities 60.00, 63.24 (longer context) and 58.35 (wider), at epochs 6, 5 and 10",
       place="2.T1", how="A", experiment=BASE_NAME, figure="perplexity",
       not_checkable="each is one run of one seed, of 4,200 to 7,700 steps of 512 windows, which takes hours without a "
       "GPU; benchmarks/language_models.py trains them again on one, and docs/language-models.md has what came "
       "out")  # fmt: skip
def best_perplexities() -> Found:
    lowest = [min(each.validation) for each in printed.LOGS]
    epochs = [each.validation.index(low) + 1 for each, low in zip(printed.LOGS, lowest, strict=True)]
    agree = [round(exp(low), 2) == each.best and epoch == each.epoch
             for each, low, epoch in zip(printed.LOGS, lowest, epochs, strict=True)]  # fmt: skip
    return Found(
        {f"e to {low}": exp(low) for low in lowest},
        measured=f"in its own log the lowest validation losses are {', '.join(map(str, lowest))}, at epochs "
        f"{', '.join(map(str, epochs))}: {sum(agree)} of the 3 lines of its table follow from it",
    )


@claim("S2-07", "training loss from 4.8 to 3.25, validation 4.45 to 4.07, perplexity 88 to 58.35, falling all the "
       "time; a moderate gap", place="2.§4.1", how="A", experiment=WIDE_NAME, figure="generalisation",
       stated={"first training": 4.8, "last training": 3.25, "first validation": 4.45, "last validation": 4.07},
       tolerance=0.02)  # fmt: skip
def losses() -> Found:
    train, held_out = printed.WIDE.train, printed.WIDE.validation
    falling = list(held_out[: printed.WIDE.epoch])
    down = falling == sorted(falling, reverse=True)
    gap = held_out[printed.WIDE.epoch - 1] - train[printed.WIDE.epoch - 1]
    return Found(
        {"first training": train[0], "last training": train[-1], "first validation": held_out[0],
         "last validation": held_out[-1], "gap": gap},
        measured=f"training {train[0]:.3f} to {train[-1]:.3f}, validation {held_out[0]:.3f} to {held_out[-1]:.3f}; "
        f"gap {gap:.3f}",
        idea=down,
        truth=f"By its own log training goes from {train[0]:.3f} to {train[-1]:.3f} and validation from "
        f"{held_out[0]:.3f} to {held_out[-1]:.3f}, falling up to epoch {printed.WIDE.epoch}. There the gap is "
        f"{gap:.3f} nats: a perplexity of {exp(train[printed.WIDE.epoch - 1]):.1f} on what was trained on, "
        f"{exp(held_out[printed.WIDE.epoch - 1]):.2f} on what was not.",
    )  # fmt: skip


@claim("S2-08", "doubling the context makes perplexity worse", place="2.§5.2", how="S", needs=[BASE, LONG], slow=True,
       figure="context_position")  # fmt: skip
def longer_context(base: Run, long: Run) -> Found:
    from glassformer.studies.context import MOST, measure

    short, double = (over_seeds(measure(run)["loss_same"], higher=False) for run in (base, long))
    return Found(
        {"64 tokens": short, "128 tokens": double},
        measured=f"{SHORTENED} (128 tokens: half as many windows, so as many tokens): {fixed(short)} nats with 64 "
        f"tokens, {fixed(double)} with 128, on the same {MOST:,} tokens, each of them once",
        holds=double.low > short.high,
        idea=double.median > short.median,
        truth=f"At this scale, scored on the same tokens, 128 in view cost {double.median - short.median:+.3f} nats: "
        "that is the direction only. The source has one seed of each, scores each on windows of its own, and its "
        "longer model reads every token twice as often in an epoch.",
    )


@claim("S2-09", "three runs show that width improves perplexity and that the learning rate matters most for "
       "stability", place="2.§5.2", how="A S", needs=[BASE, SLOWER, NARROW, NARROW_SLOWER], slow=True,
       figure="perplexity")  # fmt: skip
def width_and_rate(base: Run, slower: Run, narrow: Run, narrow_slower: Run) -> Found:
    tables = [begun(each.experiment)[0] for each in printed.LOGS]
    differ = [_differing(one, other) for k, one in enumerate(tables) for other in tables[:k]]
    alone = [what for what in differ if what in (["train.rate"], ["architecture.width"])]
    at = [_perplexity(run) for run in (base, slower, narrow, narrow_slower)]
    rose = sum(_rose(run) for run in (base, slower, narrow, narrow_slower))
    wider = at[0].high < at[2].low and at[1].high < at[3].low
    told = [fixed(each, 1) for each in at]
    return Found(
        {f"128, rate {RATE:g}": at[0], f"128, rate {LOWER:g}": at[1], f"64, rate {RATE:g}": at[2],
         f"64, rate {LOWER:g}": at[3], "seeds whose loss ever rose": rose},
        measured=f"width 128 against 64: {told[0]} against {told[2]} at a rate of {RATE:g}, {told[1]} against "
        f"{told[3]} at {LOWER:g}",
        holds=bool(alone),
        idea=wider,
        truth=f"Its base and its wider run differ in {', '.join(_differing(tables[0], tables[2]))} at once, and no "
        f"two of its runs in the rate alone, so they cannot tell. Changed one by one, {STEPS:,} steps of {BATCH} "
        f"windows, {SEEDS} seeds: at a rate of {RATE:g} width 128 has a perplexity of {told[0]} and width 64 of "
        f"{told[2]}; at {LOWER:g} {told[1]} and {told[3]}. The validation loss ever rose in {rose} of "
        f"{4 * base.members} trainings.",
    )  # fmt: skip


@claim("S2-10", "the longer context did worse as it leaves fewer updates within a fixed time budget", place="2.§5.2",
       how="A", experiment=LONG_NAME, figure="runtime")  # fmt: skip
def updates() -> Found:
    tokens = printed.TOKENS
    epoch = [ceil(int(0.8 * (tokens - context)) / printed.BATCH) for context in (64, 128, 64)]
    total = [many * len(each.validation) for many, each in zip(epoch, printed.LOGS, strict=True)]
    return Found(
        {"updates an epoch, 64": epoch[0], "updates an epoch, 128": epoch[1], "in all, 64": total[0],
         "in all, 128": total[1], "in all, wide": total[2]},
        measured=f"{epoch[0]} and {epoch[1]} updates an epoch; {total[0]:,}, {total[1]:,} and {total[2]:,} in all",
        holds=epoch[1] < epoch[0],
        truth=f"There is no time budget: an epoch has {epoch[0]} updates with 64 tokens and {epoch[1]} with 128, and "
        f"training ends by the validation loss, after {total[0]:,}, {total[1]:,} and {total[2]:,} updates.",
    )  # fmt: skip


@claim("S2-11", "gradients are clipped at norm 1.0", place="2.§3.3", how="A", stated={"norm": 1.0}, tolerance=0.01,
       experiment="shakespeare_bpe_as_published", figure="gradients")  # fmt: skip
def clipping() -> Found:
    made = load("shakespeare_bpe_as_published")
    true = 1.0 / printed.SCALE
    each = true / sqrt(made.architecture.parameters)
    return Found(
        {"norm": true, "of one weight": each, "epsilon": made.train.epsilon},
        measured=f"true norm at most {true:.1e}",
        idea=true < 1,
        truth=f"The program clips while gradients are still multiplied by the loss scale, {printed.SCALE:,.0f} at "
        f"first: the true norm is cut to {true:.1e}. That leaves {each:.1e} for each of "
        f"{made.architecture.parameters:,} weights, {each / made.train.epsilon:.1f} times the ε of Adam, which so "
        "acts as a lower rate.",
    )


@claim("S2-12", "the rate is halved when the validation loss stalls", place="2.§3.3", how="A", experiment=BASE_NAME,
       figure="learning_rate")  # fmt: skip
def halving() -> Found:
    halved = [_halvings(each.validation) for each in printed.LOGS]
    worst = [9.0, *([10.0] * 20)]  # a loss that never gets better again
    stopped = _stopped(worst)
    return Found(
        {"halvings in its three runs": sum(halved), "epochs until it stops": stopped},
        measured=f"{sum(halved)} halvings in its three runs",
        holds=sum(halved) > 0,
        truth=f"It never is, in any of its {len(halved)} runs: the scheduler waits for {printed.PATIENCE + 1} bad "
        f"epochs, and training stops after {printed.STOP_AFTER}; however bad the loss, {_halvings(worst[:stopped])} "
        "halvings come before that.",
    )


# ---- what it learnt --------------------------------------------------------------------------------------------------


@claim("S2-13", "after a speaker's name most of the chance is on I, O, The, What; each has less than 0.15",
       place="2.§4.3", how="A D", experiment=SHOWN, figure="next_token", input="MENENIUS:")  # fmt: skip
def after_a_name() -> Found:
    named = [sum(each.get(word, 0.0) for word in printed.NAMED) for each in printed.AFTER.values()]
    five = [sum(each.values()) for each in printed.AFTER.values()]
    most = max(max(each.values()) for each in printed.AFTER.values())
    text = _named_in_the_text()
    return Found(
        {"on the five printed, least": min(five), "most": max(five), "largest chance": most, "in the text": text},
        measured=f"the five likeliest hold {min(five):.3f} to {max(five):.3f}, the four named {min(named):.3f} to "
        f"{max(named):.3f}; the largest chance is {most}",
        holds=min(named) > 0.5 and most < 0.15,
        idea=most < 0.15,
        truth=f"By its own numbers these four hold {', '.join(f'{each:.3f}' for each in named)}, and the five "
        f"likeliest together {', '.join(f'{each:.3f}' for each in five)}: most of the chance lies elsewhere. None has "
        f"more than {most}. In the text {share(text)} of the first tokens after these three names are one of the four.",
    )


@claim("S2-14", "all heads have a strong diagonal; those of the first block are narrow, those of the second broad",
       place="2.§5.1.3", how="T S", needs=[BASE], slow=True, figure="attention_profile")  # fmt: skip
def diagonals(run: Run) -> Found:
    seen = [looks(run, member) for member in range(run.members)]
    near = np.array([each.near for each in seen])  # (member, block, head)
    far = [over_seeds([each.distance[block].mean() for each in seen], higher=False) for block in (0, 1)]
    alike = float((NEAR + 1) * np.mean(1 / np.arange(NEAR + 2, run.architecture.context + 1)))
    strong, narrow = near > 2 * alike, [each.distance[0].mean() < each.distance[1].mean() for each in seen]
    first, second = (over_seeds(near[:, block].mean(axis=1)) for block in (0, 1))
    return Found(
        {"heads with a diagonal": float(strong.mean()), "near, first block": first, "near, second block": second,
         "near, looking alike": alike, "distance, first block": far[0], "distance, second block": far[1]},
        measured=f"{SHORTENED}: {int(strong.sum())} of {strong.size} heads give a token and the {NEAR} before it more "
        f"than twice what looking everywhere alike would ({share(alike, 0)}); the first block gives {share(first, 0)} "
        f"and looks {fixed(far[0], 1)} positions back on average, the second {share(second, 0)} and {fixed(far[1], 1)}",
        holds=bool(strong.all() and all(narrow)),
        idea=bool(np.mean(narrow) > 0.5),
        truth=f"The first block looks nearer than the second in {sum(narrow)} of {run.members} seeds. The source "
        "shows 4 of 16 heads on one window.",
    )  # fmt: skip


@claim("S2-15", "stripes on punctuation, heads that specialise in boundaries; attention is uniform first, then "
       "diagonal, then striped", place="2.§5.3", how="T S", needs=[BASE], slow=True, figure="anchors")  # fmt: skip
def stripes(run: Run) -> Found:
    life = [[looks(run, member, int(step)) for step in run.steps] for member in range(run.members)]
    even = over_seeds([each[0].even.mean() for each in life])
    marks = np.array([[at.marks.max() for at in each] for each in life])  # (member, kept step)
    peak, end = over_seeds(marks.max(axis=1)), over_seeds(marks[:, -1])
    near = over_seeds([halfway(run.steps, np.array([at.near.mean() for at in each])) for each in life], higher=False)
    striped = over_seeds(run.steps[marks.argmax(axis=1)], higher=False)
    costs = [_ranks(each[-1].marks, _without_each(run, member)) for member, each in enumerate(life)]
    needed = over_seeds(costs)
    order = "stripes come first" if striped.median < near.median else "the diagonal comes first"
    shows = "shows" if needed.low > 0 else "does not show"
    return Found(
        {"evenness at first": even, "most on punctuation": peak, "at the end": end, "step of the most": striped,
         "step of half the diagonal": near, "stripes and need": needed},
        measured=f"{SHORTENED}: evenness {share(even, 0)} at first; punctuation gets {fixed(end, 1)} times its share "
        f"from the head that looks most at it; stripes strongest at step {steps(striped)}, half the diagonal at "
        f"{steps(near)}",
        holds=even.median > 0.9 and end.median > 1.5 and near.median < striped.median,
        idea=even.median > 0.9 and end.median > 1.5,
        truth=f"{SHORTENED[0].upper() + SHORTENED[1:]}: attention begins even ({share(even, 0)} of the largest "
        f"entropy), and the head that looks most at punctuation gives it {fixed(end, 1)} times its share at the end. "
        f"As to the order, {order}: stripes are strongest, {fixed(peak, 1)} times, at step {steps(striped)}, and the "
        f"diagonal has half its strength at step {steps(near)}. That heads with stripes are needed more than others "
        f"{shows}: the rank correlation of stripes with the loss that a head's absence costs is {fixed(needed, 2)}.",
    )  # fmt: skip


@claim("S2-16", "causal masking alone cannot tell apart prefixes that hold the same tokens in another order",
       place="2.§5.4", how="E", experiment=SHOWN, figure="mask")  # fmt: skip
def permutations() -> Found:
    change = {blocks: _shuffled(blocks) for blocks in (1, 2)}
    return Found(
        {"change with one block": change[1], "with two blocks": change[2]},
        measured=f"logits change by {change[1]:.0e} with one block, by {change[2]:.1f} with two",
        holds=max(change.values()) < 1e-9,
        idea=change[1] < 1e-9,
        truth=f"True of one block: shuffling all tokens but the last changes its logits by {change[1]:.0e}. With two "
        f"it changes them by {change[2]:.2f}, in a random model without positions: the second block looks at states "
        "of which each has seen another part of the text. The source's model has two.",
    )


@claim("S2-17", "without positions perplexity would suffer severely: little more than a bag of words", place="2.§5.4",
       how="B", needs=[BASE, UNPLACED], slow=True, figure="ablation")  # fmt: skip
def without_positions(base: Run, without: Run) -> Found:
    placed, bare = _perplexity(base), _perplexity(without)
    task: Any = base.task
    last = float(np.exp(task.prices(base.architecture.context)[1]))
    lost = (bare.median - placed.median) / (last - placed.median)  # of what it has over counting one token
    order = [over_seeds([_order(run, member) for member in range(run.members)]) for run in (base, without)]
    return Found(
        {"with positions": placed, "without": bare, "counting the last token": last, "order, with": order[0],
         "order, without": order[1]},
        measured=f"{SHORTENED}: perplexity {fixed(placed, 1)} with positions, {fixed(bare, 1)} without: "
        f"{share(lost, 0)} of what it has over a table of what follows one token ({last:.1f}) is lost",
        holds=bare.low > placed.high and lost > 0.5 and order[1].median < order[0].median / 2,
        idea=bare.low > placed.high,
        truth="Which token came last a model knows without positions, for that one asks; the order of the others it "
        f"can see only through two blocks. Shuffling them costs {fixed(order[1], 2)} nats without positions and "
        f"{fixed(order[0], 2)} with them.",
    )  # fmt: skip


@claim("S2-18", "sinusoids let linear maps recover how far apart two positions are", place="2.§5.4", how="A",
       stated={"error": 0.0}, tolerance=1e-9, experiment=BASE_NAME, figure="positions")  # fmt: skip
def shifts() -> Found:
    table, errors, turned = sinusoids(64, 128), [], []
    for far in (1, 2, 7, 31):
        moved, *_ = np.linalg.lstsq(table[:-far], table[far:], rcond=None)
        errors.append(np.abs(table[:-far] @ moved - table[far:]).max())
        angle = far * 10_000.0 ** (-np.arange(0, 128, 2) / 128)
        sine, cosine = table[:, 0::2], table[:, 1::2]
        turn = sine[:-far] * np.cos(angle) + cosine[:-far] * np.sin(angle)
        turned.append(np.abs(turn - sine[far:]).max())
    return Found(
        {"error": float(max(errors)), "error of the rotation": float(max(turned))},
        measured="one matrix for each of the distances 1, 2, 7 and 31 takes all positions there, to "
        f"{max(errors):.0e}; it can be one that turns each pair of sine and cosine, to {max(turned):.0e}",
    )


@claim("S2-19", "twice the context quadruples the cost of attention, and costs more than twice the width",
       place="2.§5.5.1", how="A", experiment=BASE_NAME, figure="runtime")  # fmt: skip
def cost_of_length() -> Found:
    from glassformer.analyses.health.runtime import costs

    sizes = [load(name).architecture for name in (BASE_NAME, LONG_NAME, WIDE_NAME)]
    held, done = zip(*(costs(each, printed.BATCH) for each in sizes), strict=True)
    whole, memory = ([sum(each.values()) for each in counted] for counted in (done, held))
    attention, part = done[1]["attention"] / done[0]["attention"], done[0]["attention"] / whole[0]
    longer, wider, long_memory, wide_memory = (of[k] / of[0] for of in (whole, memory) for k in (1, 2))
    megabytes = [f"{each / 1e6:,.0f}" for each in memory]
    return Found(
        {"attention, longer": attention, "whole, longer": longer, "whole, wider": wider, "attention's share": part,
         "memory, longer": long_memory, "memory, wider": wide_memory},
        measured=f"operations: attention {attention:.0f} times, the whole {longer:.2f} times when longer and "
        f"{wider:.2f} times when wider; memory: {long_memory:.2f} times when longer, {wide_memory:.2f} times when "
        "wider",
        holds=attention == 4 and longer > wider,
        idea=attention == 4 and long_memory > wide_memory,
        truth=f"In memory yes, in operations no. A step with {printed.BATCH} windows holds {megabytes[0]} MB, "
        f"{megabytes[1]} MB with twice the context ({long_memory:.2f} times) and {megabytes[2]} MB with twice the "
        f"width ({wide_memory:.2f} times). The products of queries with keys and of attention with values do take "
        f"{attention:.0f} times as many operations, but they are {share(part, 0)} of all operations at "
        f"{sizes[0].context} tokens: together a step takes {longer:.2f} times as many with twice the context and "
        f"{wider:.2f} times as many with twice the width.",
    )  # fmt: skip


@claim("S2-20", "activations, not parameters, dominate the memory of training", place="2.§5.5.2", how="A",
       experiment=BASE_NAME, figure="runtime")  # fmt: skip
def memory() -> Found:
    from glassformer.analyses.health.runtime import costs

    a = load(BASE_NAME).architecture
    held, _ = costs(a, printed.BATCH)
    weights = held["parameters"] + held["optimiser"]
    rest = sum(held.values()) - weights
    maps, logits = a.blocks * printed.BATCH * a.heads * a.context**2, printed.BATCH * a.context * a.answers
    return Found(
        {"activations over parameters": rest / weights, "attention": maps / 1e6, "logits": logits / 1e6,
         "parameters": a.parameters / 1e6},
        measured=f"in millions of numbers, for 512 windows of 64: attention maps {maps / 1e6:.1f}, logits "
        f"{logits / 1e6:.1f}, parameters {a.parameters / 1e6:.2f}; all that is held for the backward pass is "
        f"{rest / weights:.0f} times parameters, gradients and optimiser together",
        holds=rest > weights,
        truth=f"Activations hold {rest / weights:.1f} times what parameters and optimiser hold.",
    )  # fmt: skip


@claim("S2-21", "like an n-gram model that adapts; it writes plausible continuations", place="2.§5.1.1", how="D",
       experiment=SHOWN, figure="perplexity")  # fmt: skip
def like_counting() -> Found:
    from glassformer.analyses.what.coverage import WORD

    task = _task()
    plain, (tuned, weight) = float(np.exp(task.prices(64)).min()), _tuned_counts(task, 64)
    best, published = min(each.best for each in printed.LOGS), ", ".join(f"{each.best:.2f}" for each in printed.LOGS)
    above = sum(each.best > tuned for each in printed.LOGS)
    words = Counter(word for word in WORD.findall(task.text) if word[0].isalnum())
    cut = 1 - sum(many for word, many in words.items() if word in task.vocabulary) / words.total()
    return Found(
        {"counting the last two tokens": plain, "with a chosen weight": tuned, "weight": weight,
         "best of its models": best, "words in pieces": cut},
        measured=f"perplexity {tuned:.1f} by counting two tokens ({plain:.1f} without a chosen weight), {best} by its "
        f"best model; {share(cut, 0)} of the words in pieces",
        holds=abs(tuned / best - 1) < 0.1 and cut < 0.01,
        idea=abs(tuned / best - 1) < 0.1,
        truth=f"A table that counts what followed the last two tokens has a perplexity of {plain:.1f}, and of "
        f"{tuned:.1f} if the weight of shorter histories is chosen on the last tenth of the training tokens; "
        f"{above} of the {len(printed.LOGS)} published models ({published}) are worse than that. What it writes has "
        f"spaces inside words, since the tokenizer forgets where words end: {share(cut, 0)} of the words of the text "
        "are in pieces.",
    )  # fmt: skip


# ---- what several of them ask for ------------------------------------------------------------------------------------


def _task() -> Any:
    return load(BASE_NAME).task


def _tuned_counts(task: Any, context: int) -> tuple[float, float]:
    """The validation perplexity of a table of two tokens, and the weight of shorter histories that it rests on.

    Witten–Bell gives them as many counts as different tokens followed. Here these are multiplied by a weight, the best
    one for the last tenth of the training tokens after counting the others.
    """

    class Weighted(Counts):
        weight = 1.0

        def _sizes(self, table: Table, number: Any) -> tuple[Any, Any]:
            total, kinds = super()._sizes(table, number)
            return total, self.weight * kinds

    (begin, end), (first, last) = (task.bounds(context)[part] for part in ("train", "validation"))
    text, new = task.stream[begin : end + context], task.stream[first : last + context]
    most, size, losses = len(text) * 9 // 10, len(task.vocabulary), {}
    table = Weighted(text[:most], size, 2)
    for table.weight in WEIGHTS:
        losses[table.weight] = float(table.cost(text[most:], 2).mean())
    table = Weighted(text, size, 2)
    table.weight = min(losses, key=losses.__getitem__)
    place = np.arange(len(new) - 1)  # tokens near an end lie in fewer windows
    often = np.minimum(np.minimum(place, place[::-1]) + 1, context)
    return float(np.exp(np.average(table.cost(new, 2)[1:], weights=often))), table.weight


def _perplexity(run: Run) -> Any:
    """Over seeds, at the last step, on the judged validation windows."""
    return over_seeds(np.exp(run.metrics["validation_loss"][-1]), higher=False)


def _differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The settings in which two experiments differ; how often and on what they are judged is none."""
    return [
        f"{table}.{name}"
        for table in ("data", "architecture", "train")
        for name, value in one[table].items()
        if value != other[table].get(name) and name not in ("judged", "keep_bytes", "head_width")
    ]


def _rose(run: Run) -> int:
    """How many seeds had a validation loss that rose between two looks by more than the judged windows can tell."""
    return int((np.diff(run.metrics["validation_loss"], axis=0) > 0.05).any(axis=0).sum())


def _stopped(validation: Any) -> int:
    """The epoch after which the program stops."""
    best, bad = float("inf"), 0
    for epoch, loss in enumerate(validation, 1):
        best, bad = (loss, 0) if loss < best else (best, bad + 1)
        if bad >= printed.STOP_AFTER:
            return epoch
    return len(validation)


def _halvings(validation: Any) -> int:
    """How often the program's scheduler would have halved the rate by then: after more bad epochs than its patience."""
    best, bad, halved = float("inf"), 0, 0
    for loss in validation:
        best, bad = (loss, 0) if loss < best * (1 - 1e-4) else (best, bad + 1)
        if bad > printed.PATIENCE:
            halved, bad = halved + 1, 0
    return halved


def _named_in_the_text() -> float:
    """How often one of the four words stands first after the three names, in the text itself."""
    task = _task()
    stream, hits, many = task.stream, 0, 0
    named = [task.vocabulary.index(word) for word in printed.NAMED]
    for name in printed.AFTER:
        ids = task.encode(name)
        views = np.lib.stride_tricks.sliding_window_view(stream, len(ids) + 1)
        after = views[(views[:, :-1] == ids).all(axis=1), -1]
        hits, many = hits + int(np.isin(after, named).sum()), many + len(after)
    return hits / many


def _shuffled(blocks: int) -> float:
    """How much the last logits of a random model without positions change when the tokens before are shuffled."""
    made = Architecture(vocabulary=20, context=12, width=16, blocks=blocks, heads=2, norm="rms", positions="none")
    rng = np.random.default_rng(0)
    params = nest({name: rng.normal(size=shape) for name, shape in made.shapes().items()})
    tokens = rng.permutation(20)[:12]
    other = np.append(rng.permutation(tokens[:-1]), tokens[-1])
    one, two = (forward(params, each, made)[0][-1] for each in (tokens, other))
    return float(np.abs(one - two).max())


def _order(run: Run, member: int) -> float:
    """Nats that the last token of a window costs more when all tokens but the one before it are shuffled."""
    seen = run.task.examples(run.architecture.context, "validation", 200).windows
    mixed = np.concatenate([np.random.default_rng(0).permuted(seen[:, :-2], axis=1), seen[:, -2:]], axis=1)
    last = [run.trace(each[:, :-1], member=member)["probabilities"][:, -1] for each in (seen, mixed)]
    usual, then = (-np.log(np.take_along_axis(each, seen[:, -1:], axis=1)).mean() for each in last)
    return float(then - usual)


def _without_each(run: Run, member: int) -> Any:
    """(block, head): how much more a token costs when a head gives nothing."""
    seen = run.task.examples(run.architecture.context, "validation", WINDOWS).windows

    def loss(edits: str | None = None) -> float:
        chances = run.trace(seen[:, :-1], member=member, edits=edits)["probabilities"]
        return float(-np.log(np.take_along_axis(chances, seen[:, 1:, None], axis=-1)).mean())

    whole = loss()
    a = run.architecture
    return [[loss(f"zero(mixed, block={b}, head={h})") - whole for h in range(a.heads)] for b in range(a.blocks)]


def _ranks(one: Any, other: Any) -> float:
    """The rank correlation of two lists."""
    first, second = (np.argsort(np.argsort(np.ravel(each))) for each in (one, other))
    return float(np.corrcoef(first, second)[0, 1])
