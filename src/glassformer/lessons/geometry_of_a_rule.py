"""The geometry of a rule: reading every weight of a small model."""

from glassformer.teaching import (
    chance,
    choice,
    discuss,
    expect,
    factor,
    lab,
    number,
    point,
    products,
    say,
    show,
    table,
    train,
    work,
)

ORDER = 200
MINUTES = 30
AIMS = (
    "say where a rule speaks and where it leaves everything open",
    "compute a query, a key, a score and a push from the weights, by hand",
    "explain how a plane of embeddings turns 'the last even number' into directions and distances",
    "write a whole transformer in a dozen lines, and get the trained model's own numbers",
)
BEFORE = ("query_key_value", "the_model", "training_dynamics")
ANSWERS = (
    "4.I", "4.T", "4.M", "4.L", "4.O", "4.01", "4.02", "4.03", "4.04", "4.05", "4.06", "4.07", "4.08", "4.09", "4.10",
    "4.11", "4.12", "4.13", "4.14", "4.15", "4.16", "4.17", "4.18", "4.D1", "4.D2", "4.D3", "4.D4", "4.D5",
)  # fmt: skip
MISCONCEPTIONS = (
    (
        "A query attends to the keys that lie near it.",
        "Only the dot product counts. A far key in the right direction beats a near one; zoom out and see.",
    ),
    (
        "The picture shows where 'even' is: on the left.",
        "Another seed has it elsewhere, turned or mirrored. What stays is what is on one side of what.",
    ),
    (
        "After training every token lies in the region of the next token.",
        "Where the rule is silent there is no right region: the best answer there is a spread of chances.",
    ),
    (
        "A negative score is masked.",
        "It is small, not forbidden. Only places that come later are masked; a place may look at itself.",
    ),
)
PLAN = (
    (10, "On paper: the class plays the rule, then sorts inputs into answerable, out of view and free"),
    (20, "The lesson to the push, each group with a sequence of its own; all numbers checked by a second group"),
    (10, "Turn the plane: two groups with two seeds describe their pictures until they find what is the same"),
    (5, "Exit question: which two things must a key tell, so that the latest even number wins?"),
)

# %% [markdown]
# ## The rule, and where it speaks
#
# The tokens are the numbers up to ten and `+`. After a `+` comes the last even number that was seen. After a number
# anything may come, mostly another number. So the rule **constrains** some places and leaves the others **free**. We do
# not only want to know *that* a model learns it, but *how*: where in its numbers the rule is.

# %%
import numpy as np

import glassformer as gf

run = train("plus_last_even")
names = list(run.task.vocabulary)
draw = chance("a sequence")
older, newer = (int(n) for n in draw.permutation([0, 2, 4, 6, 8, 10])[:2])
odd, odd_too = (int(n) for n in draw.choice([1, 3, 5, 7, 9], 2))
text = f"{older} {odd} {newer} {odd_too} +"
number(
    f"The model reads `{text}`. Which number obeys the rule?",
    newer,
    f"The last even number before the `+` is {newer}; what lies between does not matter.",
    mistakes={
        older: "That one is even, but it is not the last.",
        odd_too: "That is the last number; it is odd.",
    },
)
examples = run.task.examples(run.architecture.context, "validation", 1000)
asked, answerable = int(examples.constrained.sum()), int(examples.answerable.sum())
hidden = 1 - examples.answerable.sum(axis=0) / examples.constrained.sum(axis=0)  # by position in the window
say(
    f"Of {examples.constrained.size:,} places in its test windows the rule speaks at {asked:,}. At "
    f"{1 - answerable / asked:.1%} of those no even number is in view: at {hidden[0]:.0%} with one token in view, at "
    f"{hidden[1]:.0%} with two, at {hidden[-1]:.1%} with all {run.architecture.context}. No model can know the answer "
    "there; we count right and wrong where it can."
)
show(gf.figures.plot_training_data(run), "data", "Sequences it learns from: free places grey, constrained ones judged.")

# %% [markdown]
# ## The whole model on one page
#
# Every inner state of this model is **two numbers**: a point of a plane. Nothing has to be squeezed or projected to be
# drawn. Here is everything it knows.

# %%
weights = run.weights()
table(["tensor", "shape", "numbers"], [[name, " × ".join(map(str, w.shape)), w.size] for name, w in weights.items()])
work(" + ".join(str(w.size) for w in weights.values()), run.parameters, name="parameters")
show(gf.figures.plot_weights(run), "weights", "All of them, in the order of the computation.")
error = run.metrics["rule_error_answerable"]
say(
    f"Before training it was wrong at {error[0]:.0%} of the places it could answer, now at {error[-1]:.1%}. Its loss "
    f"is {run.metrics['validation_loss'][-1]:.3f}, and {run.task.floor(run.architecture.context):.3f} is the least "
    "that this window allows. Left alone, it writes:"
)
say(f"`{run.generate(text, seed=1)}`")
expect(error[-1] < 0.02, "the rule is learnt where it can be known")
lab(run, "Everything in the order in which data flow. Choose any number to see what it is made of.",
    input=text, panels=("embedding", "query_key", "attention", "residual", "output"))  # fmt: skip

# %% [markdown]
# ## Where tokens begin
#
# A token's row and a position's row are added: that point is where it starts. What must the plane tell apart? Even from
# odd, `+` from the rest, early from late, and each even number from every other, for it must be said in the end.

# %%
token, position = weights["token"], weights["position"]
even, uneven, plus = [0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9], names.index("+")
angles = np.linspace(0, np.pi, 361)
across = np.stack([np.cos(angles), np.sin(angles)])  # (2, angle): directions to look along
seen_along = token[:plus] @ across  # (number, angle)
gaps = np.maximum(
    seen_along[even].min(0) - seen_along[uneven].max(0), seen_along[uneven].min(0) - seen_along[even].max(0)
)
spread = np.linalg.norm(token[:plus] - token[:plus].mean(0), axis=1).mean()
away = np.linalg.norm(token[plus] - token[:plus].mean(0))
show(gf.figures.plot_embeddings(run), "embeddings", "Tokens, positions, and every token at every position.")
say(
    f"A straight line parts even from odd, with a gap of {gaps.max():.2f}. `+` lies {away:.2f} from the middle of the "
    f"numbers, which are {spread:.2f} from it on average. Even numbers lie apart from each other; odd ones need not."
)
expect(gaps.max() > 0, "a line parts the even numbers from the odd ones")
lie_even = np.linalg.norm(token[even][:, None] - token[even], axis=-1)[np.triu_indices(6, 1)].min()
lie_odd = np.linalg.norm(token[uneven][:, None] - token[uneven], axis=-1).max()
choice(
    "Tokens are points of a plane, and after `+` comes the last even number. Why may odd numbers lie in one heap, but "
    "even ones not?",
    "Which odd number it was is never asked for; which even number it was must be said",
    f"Two odd numbers are at most {lie_odd:.2f} apart here, two even ones at least {lie_even:.2f}.",
    {
        "There are fewer odd numbers": "One fewer; that is no reason. Ask what has to be read from a point later on.",
        "Odd numbers come less often": "They come as often as even ones at free places.",
    },
)

# %% [markdown]
# ## What a `+` asks, and who answers
#
# The point of the `+` times the query matrix is what it asks; the points of all tokens times the key matrix are what
# they answer to. The score is the dot product, divided by the root of the width. Guess who wins; then two products
# and a sum, by hand.

# %%
ids = run.tokens(text)
start = token[ids] + position[: len(ids)]  # (place, 2)
query = start[-1] @ weights["blocks.0.query"]
keys = start @ weights["blocks.0.key"]
values = start @ weights["blocks.0.value"]
scores = keys @ query / np.sqrt(2)
words = text.split()
best = int(scores.argmax())
point(
    f"The model reads `{text}`. Which token gets the highest score from the last `+`?",
    ["score"],
    words,
    (0, best),
    f"{scores[best]:.2f}, above all others: "
    + ("it is even, and later than the other even one." if best == 2 else "as measured."),
    otherwise="Odd numbers and `+` score lower: their keys point the other way.",
    reasons={(0, 0): "Even, but earlier: its key lies on the right side, and less far out."} if best != 0 else None,
)
for place in (0, 2, 3):
    work(f"({products(query, keys[place], 4)}) / √2", float(scores[place]), 2, name=f"{words[place]} at place {place}")
table(["", *words], [["score", *(f"{s:.2f}" for s in scores)]])
grid = token[:, None] + position  # (token, place, 2): every token at every place
every = grid @ weights["blocks.0.key"] @ query / np.sqrt(2)
above = np.mean(every[even][:, None] > every[uneven][None])
step_up = np.mean(np.diff(every[even, : len(ids)], axis=1))
say(
    f"Take all {len(names) * len(position)} tokens at places, not only these: even beats odd at the same "
    f"place in {above:.0%} of all pairs, and with every place to the right the score of an even number grows by "
    f"{step_up:.2f}. So *even* is a direction and *late* is a length along it. That is the whole search."
)
expect(above > 0.9 and step_up > 0 and best == 2, "even keys score above odd ones, later above earlier")
show(
    gf.figures.plot_score_field(run, query=f"+@{len(ids) - 1}"),
    "field",
    "The plane of keys in the colours of one query's score.",
)
lab(run, "Queries and keys on one plane. Choose the `+`, and see which keys lie on its side.",
    input=text, position=len(ids) - 1, panels=("query_key", "scores", "attention"))  # fmt: skip

# %% [markdown]
# ## What it brings, and where that pushes
#
# Softmax turns scores into shares. The values of the tokens, mixed by these shares, are **added** to the point of the
# `+`: a push across the plane.

# %%
shares = np.exp(scores - scores.max())
shares = shares / shares.sum()
push = shares @ values
after = start[-1] + push
number(
    f"The scores are {', '.join(f'{s:.2f}' for s in scores)}. How much of the attention goes to the `{words[best]}` "
    "after softmax?",
    100 * float(shares[best]),
    "Its share after softmax: a difference of scores of some units is enough to leave almost nothing for the others.",
    tolerance=0.5,
    unit="%",
)
table(["", *words], [["share", *(f"{s:.3f}" for s in shares)],
                     ["value", *(f"({v[0]:.2f}, {v[1]:.2f})" for v in values)]])  # fmt: skip
for feature in range(2):
    work(
        f"{factor(start[-1][feature], 3)} + {factor(push[feature], 3)}",
        float(after[feature]),
        2,
        name=f"feature {feature} after",
    )
seen = run.trace(text)
expect(np.allclose(seen["attention"][0, 0, -1], shares, atol=1e-4), "the shares by hand are the model's own")
expect(np.allclose(seen["middle"][0, -1], after, atol=1e-3), "the point by hand is the model's own")
show(
    gf.figures.plot_residual(run, sequence=text),
    "push",
    "Before, the push, and after: arrows over the regions of the answers.",
)

# %% [markdown]
# ## The map of answers
#
# From here on each point stands alone. The feed-forward part and the read-out say, for every point of the plane, how
# likely each token is. So the plane is a map, and every even number owns a region of it. A right answer means that the
# push ends in the right region.

# %%
hidden = np.maximum(0, after @ weights["blocks.0.expand"] + weights["blocks.0.expand_bias"])
final = after + hidden @ weights["blocks.0.contract"] + weights["blocks.0.contract_bias"]
logits = final @ weights["read_out"] + weights["read_out_bias"]
chances = np.exp(logits - logits.max())
chances = chances / chances.sum()
said = names[int(chances.argmax())]
asked_itself = dict(run.ask(text))
say(
    f"Our dozen lines say `{said}` with {chances.max():.1%}; the model itself says {asked_itself[said]:.1%}. Of the "
    f"neurons {int((hidden > 0).sum())} of {len(hidden)} were on."
)
expect(abs(chances.max() - asked_itself[said]) < 1e-3 and said == str(newer), "the lines by hand are the model")
show(
    gf.figures.plot_landscape_winners(run, sequence=text),
    "map",
    "Which token wins where, and the way of this input across it.",
)
lab(run, "The map. Look where the arrow of the last `+` begins and ends; then change one number of the input.",
    input=text, mode="change", position=len(ids) - 1, panels=("landscape", "residual", "output"))  # fmt: skip
longer = f"{text} {newer}"
free = run.ask(longer)
truth = run.task.true_distribution(run.tokens(longer), run.architecture.context)[-1]
say(
    "After a number the rule is silent. No point of the map is right there: the best is to know how often each token "
    f"comes, and `+` comes after a number with probability {truth[plus]:.2f}. After `{longer}` the model gives `+` "
    f"{dict(free)['+']:.3f}; that leaves for all numbers together:"
)
work(f"1 − {dict(free)['+']:.3f}", 1 - dict(free)["+"], 3, name="any number")

# %% [markdown]
# ## How it came about
#
# All of this was chance once. We ask the kept steps since when each of three things has held for good: even scores
# above odd, late above early, and the answers are right.

# %%
looks = [int(s) for s in run.steps[np.unique(np.geomspace(1, len(run.steps) - 1, 120).astype(int))]]


def holds(step: int) -> tuple[bool, bool]:
    w = run.weights(step)
    every = (w["token"][:, None] + w["position"]) @ w["blocks.0.key"]
    own = (w["token"][plus] + w["position"][4]) @ w["blocks.0.query"]
    score = every @ own
    return bool(score[even, :4].min(0).mean() > score[uneven, :4].max(0).mean()), bool(
        np.diff(score[even, :5].mean(0)).min() > 0
    )


def since(true: list[bool], steps: list[int]) -> int | None:
    wrong = [k for k, each in enumerate(true) if not each]
    first = wrong[-1] + 1 if wrong else 0
    return steps[first] if first < len(steps) else None


held = [holds(step) for step in looks]
logged = [int(s) for s in run.metrics["step"]]
rows = [
    ["even keys above odd ones", since([each[0] for each in held], looks)],
    ["later even keys above earlier ones", since([each[1] for each in held], looks)],
    ["fewer than one answer in ten wrong", since([bool(e < 0.1) for e in error], logged)],
]
table(["what", "holds for good from step"], [[what, "never" if step is None else f"{step:,}"] for what, step in rows])
say(
    "To watch it: `glassformer film plus_last_even embeddings`, `qkv`, `query_key_space`, `attention_space` and "
    "`landscape` are films of these planes. Other rules in the same frame: `glassformer list experiments` has "
    "`lucky7`, `step_back`, `copy_modulo` and more, and `docs/rules.md` says how many seeds learn each."
)
lab(run, "Let the training run on this plane, and watch the two sides part.",
    step=0, input=text, panels=("embedding", "query_key", "landscape", "curves"))  # fmt: skip
discuss(
    "Two people train this model with two seeds. One finds even numbers at the left, one at the top. Have they found "
    "the same thing?",
    "What may be turned or mirrored without any effect (the plane, with all matrices turned along), and what may not: "
    "who lies on which side of whom, who scores above whom.",
    "Turn one plane onto the other as well as it goes and measure what is left: the figure `seeds_aligned`.",
)
choice(
    "Exit question. What two things must a key tell, so that the last even number wins?",
    "whether its token is even, and how late it stands",
    "Parity decides the side, the position the distance; the dot product with the query of `+` adds the two.",
    {
        "which number it is, and whether it is even": "Which number it is travels in the value, not in the key.",
        "how late it stands, and how often it came": "Nothing is counted here; a look at one place is enough.",
        "whether it is even, and how near it lies to the query": "Nearness is no part of a score: only the product is.",
    },
)
