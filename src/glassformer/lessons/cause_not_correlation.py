"""Cause, not correlation: ablate, patch, steer."""

from glassformer.teaching import chance, choice, discuss, expect, lab, number, point, say, show, table, train

ORDER = 220
MINUTES = 30
AIMS = (
    "say why looking at a part does not tell what it is for",
    "ablate a part in more than one way, and read the difference",
    "follow a digit through the model by patching",
    "turn one question into another by adding a single vector",
    "tell 'this model needs it' from 'a model needs it'",
)
BEFORE = ("training_dynamics", "geometry_of_a_rule")
ANSWERS = ("1.P10", "1.D.1")
MISCONCEPTIONS = (
    (
        "A neuron that is on exactly for Min is the neuron that computes Min.",
        "Switch it off and count: the answers stay right. It tells us what the model knows, not what it uses.",
    ),
    (
        "What can be removed without harm does nothing.",
        "Others may do the same. Remove them together.",
    ),
    (
        "If a trained model breaks without a part, the task cannot be learnt without it.",
        "Train one without it. Here it learns everything.",
    ),
)
PLAN = (
    (10, "Everyday cases of correlation without cause; then: what would an experiment on a model be?"),
    (15, "The lesson to patching; each pair predicts each number before Enter"),
    (
        15,
        "Each pair builds a steering vector between two other operations, and reports at which strength it works best",
    ),
    (5, "Exit question: what does each of the three experiments change?"),
)

# %% [markdown]
# ## A picture that looks like an explanation
#
# `10 + 10 6 +`: the model answers with the last even number, and its `+` looks at just that number. It is tempting to
# say: it answers so *because* it looks there. But a rooster that crows at dawn does not make the sun rise. To know a
# cause one must **change something and see what follows**. Inside a model we can change any number.

# %%
import numpy as np

import glassformer as gf

rule = train("plus_last_even")
text = "10 + 10 6 +"
words = text.split()
attention = rule.trace(text)["attention"][0, 0, -1]
table(["", *words], [["the last + looks here", *(f"{share:.0%}" for share in attention)]])
number(
    f"The model reads `{text}`. Move its look by hand: all attention of the last `+` goes to the first token, a `10`. "
    "What will it answer?",
    10,
    "It says what it looks at. Now *because* is earned: we changed the look and nothing else.",
    mistakes={6: "That is what it said before; its look was on the `6` then."},
)
moved = "set(attention, 0, query_position=4); set(attention, 1, query_position=4, key_position=0)"
said = {"as trained": rule.ask(text)[0], "look moved to the first token": rule.ask(text, edits=moved)[0]}
table(["", "answer", "chance"], [[what, f"`{token}`", f"{each:.0%}"] for what, (token, each) in said.items()])
expect([token for token, _ in said.values()] == [words[3], words[0]], "the answer follows the look")
lab(rule, "The same edit in the page. Switch it off and on, and watch the arrow on the plane.",
    input=text, edits=moved, mode="change", panels=("attention", "landscape", "output"))  # fmt: skip

# %% [markdown]
# ## Ablate: take it out
#
# To **ablate** is to remove what a part says. But what stands there instead? Zero, too, is a value, one that the rest
# of the model may never have met. The mean of what is usually there is milder. If two ways of removing disagree, say
# so.

# %%
examples = rule.task.examples(rule.architecture.context, "validation", 1000)
inputs, targets, answerable = examples.windows[:, :-1], examples.windows[:, 1:], examples.answerable


def wrong(edits: str | None = None) -> float:
    said = rule.trace(inputs, edits=edits)["probabilities"].argmax(-1)
    return float(np.mean((said != targets)[answerable]))


removed = {
    "nothing removed": None,
    "attention brings nothing": "zero(mixed)",
    "attention brings its mean": "mean(mixed)",
    "feed-forward adds nothing": "zero(fed)",
    "feed-forward adds its mean": "mean(fed)",
}
errors = {what: wrong(edits) for what, edits in removed.items()}
table(["", "wrong where the answer is in view"], [[what, f"{error:.1%}"] for what, error in errors.items()])
one_by_one = [wrong(f"zero(hidden, neuron={k})") for k in range(rule.architecture.feed_forward)]
say(
    f"Attention and the feed-forward part are both needed. Of its {len(one_by_one)} neurons, taken out one by one, "
    f"{sum(each < 0.01 for each in one_by_one)} are hardly missed; neuron {int(np.argmax(one_by_one))} is missed most: "
    f"without it {max(one_by_one):.0%} are wrong."
)
expect(min(errors["attention brings nothing"], errors["feed-forward adds nothing"]) > 0.3, "both parts are needed")

# %% [markdown]
# ## Known, but not used
#
# Now the model of five operations on three digits. Among the neurons of its last block there is one whose firing tells
# the operations apart best. Guess what happens without it.

# %%
five = train("five_operations", steps=1000)
names = list(five.task.vocabulary)
held = five.task.examples(five.architecture.context, "validation", 500).windows
questions, truth = held[:, :-1], held[:, -1]


def right(edits: str | None = None) -> float:
    said = five.trace(questions, edits=edits)["probabilities"][:, 0].argmax(-1)
    return float(np.mean(said == truth))


last = five.architecture.blocks - 1
on = five.trace(questions)["hidden"][:, last, 0] > 0  # (question, neuron), where the answer is read
kinds = five.task.kinds
fires = np.array([on[questions[:, 0] == names.index(kind)].mean(0) for kind in kinds])
neuron = int((fires.max(0) - fires.min(0)).argmax())
high, low = kinds[int(fires[:, neuron].argmax())], kinds[int(fires[:, neuron].argmin())]
whole, silenced = right(), right(f"zero(hidden, block={last}, neuron={neuron})")
say(f"Neuron {neuron} is on for {fires[:, neuron].max():.0%} of `{high}` and {fires[:, neuron].min():.0%} of `{low}`.")
choice(
    f"One neuron of many is on for {fires[:, neuron].max():.0%} of `{high}` and {fires[:, neuron].min():.0%} of "
    f"`{low}`. We switch it off. What happens?",
    "Hardly anything" if silenced > whole - 0.05 else f"`{high}` breaks",
    f"{whole:.1%} were right with it, {silenced:.1%} are without. Its firing goes along with the operation; the "
    "answers do not hang on it alone.",
    {
        f"`{high}` breaks" if silenced > whole - 0.05 else "Hardly anything": "Measured, it is otherwise.",
        "Everything breaks": "One neuron among hundreds; what it knows is known elsewhere as well.",
    },
)
expect(silenced > whole - 0.1, "the choosiest neuron alone is not needed")
several = "zero(mixed, block=1, head=[1, 2, 3])"
alone = min(right(f"zero(mixed, block=1, head={head})") for head in range(five.architecture.heads))
together = right(several)
say(
    f"Heads show the other side. In block {last} the worst single loss leaves {alone:.0%} right; three heads taken out "
    f"together leave {together:.0%}. What one does, others do too: remove one and nothing is proved."
)
expect(together < alone, "together they are missed more than any of them alone")
lab(five, "This neuron is switched off. Ask something, and look for any difference.", input="Min(7,1,9)", mode="change",
    block=last, neuron=neuron, edits=f"zero(hidden, block={last}, neuron={neuron})",
    panels=("neurons", "output"))  # fmt: skip

# %% [markdown]
# ## Patch: where does the digit travel?
#
# Two questions that differ in one digit, with two answers. Let the model work on the first, but at one place put in
# what stands there when it works on the second. If the second answer comes out, that place carries the difference. To
# **patch** is to transplant.

# %%
small, middle, large = sorted(int(n) for n in chance("three digits").permutation(np.arange(1, 10))[:3])
asked, other = f"Max({middle},{small},{large})", f"Max({middle},{small},0)"
places = [str(names[k]) for k in five.tokens(asked)]


def patched(value: str, where: str) -> float:
    return dict(five.ask(asked, edits=f'patch({value}, from="{other}", {where})'))[str(middle)]


begun = [patched("embedded", f"position={place}") for place in range(len(places))]
later = [
    [patched("out", f"block={block}, position={place}") for place in range(len(places))] for block in range(last + 1)
]
moments = ["before the blocks", *(f"after block {block}" for block in range(last + 1))]
carried = np.array([begun, *later])
differ = next(k for k, (a, b) in enumerate(zip(five.tokens(asked), five.tokens(other), strict=True)) if a != b)
point(
    f"Before the blocks: at which place must one patch `{asked}` with `{other}`, so that the answer becomes {middle}?",
    ["before the blocks"],
    places,
    (0, int(carried[0].argmax())),
    "There the digit is still where it was written, and nowhere else.",
    otherwise="What stands there is the same for both questions: nothing is changed by the patch.",
)
table(
    ["", *places], [[moment, *(f"{value:.2f}" for value in row)] for moment, row in zip(moments, carried, strict=True)]
)
say(
    f"The table gives the chance of {middle}, the other question's answer. The difference begins at place {differ}, "
    "where the digit was written, and ends at `Max`, where the answer is read. In between "
    + (
        "it is on its way, in more than one place: none alone is enough."
        if carried[1].max() < 0.5
        else f"nearly all of it is in one place, at `{places[int(carried[1].argmax())]}`."
    )
)
expect(
    carried[0].argmax() == differ and carried[-1].argmax() == 0,
    "the digit begins where it is written, ends where it is read",
)
expect(carried[0].max() > 0.5 and carried[-1].max() > 0.5, "patching these places turns the answer")
show(
    gf.figures.plot_patching(five), "patching", "All values at all places: how much of the answer's lead each carries."
)
lab(five, "Patched at the place where the answer is read, after the last block: the answer is the other question's.",
    input=asked, edits=f'patch(out, from="{other}", block={last}, position=0)', mode="change",
    panels=("stream", "output", "attention"))  # fmt: skip

# %% [markdown]
# ## Steer: one vector for a question
#
# What separates a `Max` question from a `Min` question, inside? We take the mean of the stream at the answering place
# over many of each, and subtract. That is one **direction**. Then we ask `Min` questions, and add it.


# %%
def mean_at_answer(kind: str) -> np.ndarray:
    asked = questions[questions[:, 0] == names.index(kind)]
    return np.asarray(five.trace(asked)["middle"][:, 0, 0].mean(axis=0))  # after the first attention


direction = mean_at_answer("Max") - mean_at_answer("Min")
smallest = questions[questions[:, 0] == names.index("Min")]
digits = smallest[:, 2::2] - names.index("0")


def steered(strength: float) -> tuple[float, float]:
    def push(value: np.ndarray, block: int) -> np.ndarray:
        if block == 0:
            value[:, 0] += strength * direction
        return value

    said = five.trace(smallest, edits={"middle": push})["probabilities"][:, 0].argmax(-1) - names.index("0")
    return float(np.mean(said == digits.min(1))), float(np.mean(said == digits.max(1)))


strengths = (0.0, 0.5, 1.0, 2.0)
turned = {strength: steered(strength) for strength in strengths}
table(["strength", "answers as `Min`", "answers as `Max`"],
      [[f"{s:g}", f"{a:.0%}", f"{b:.0%}"] for s, (a, b) in turned.items()])  # fmt: skip
choice(
    f"A vector, added to the stream, lets {turned[1.0][1]:.0%} of all `Min` questions be answered as `Max`; twice the "
    f"vector only {turned[2.0][1]:.0%}. Why?",
    "It leads out of where the model has ever been",
    "The rest of the model was trained on streams that lie near one mean or the other; beyond them it guesses.",
    {
        "With all of them answered as `Max` there is nothing left to turn": "Then it should stay so; it gets worse.",
        "The direction points the other way then": "Its sign is the same; it is only longer.",
    },
)
expect(turned[0.0][0] > 0.9 and turned[1.0][1] > 0.8, "one vector turns Min into Max")
expect(turned[2.0][1] < turned[1.0][1], "too much of it is worse")

# %% [markdown]
# ## Needed by this model, or by any?
#
# Without what its feed-forward parts add, the trained model makes mistakes. Does a model *need* such parts for this
# task? That is another question, and another experiment: train one that never had them.

# %%
bare = train("five_operations", steps=1000, settings={"architecture.feed_forward": 0})
after, never = right("zero(fed)"), float(bare.metrics["accuracy"][-1])
table(["", "right"], [["as trained", f"{whole:.1%}"], ["feed-forward taken out afterwards", f"{after:.1%}"],
                      ["trained without it", f"{never:.1%}"]])  # fmt: skip
PRINTED = 0.87
unordered = next(rung for rung in five.task.ladder(five.architecture.context) if "without order" in rung.name)
say(
    "A part that was there while the others learnt is built upon; where it never was, the others do without. "
    "`glassformer study ablation five_operations` trains a model without each part, with several seeds. (S1, one of "
    f"the texts that this laboratory checks, prints one number for each part. That without positions, {PRINTED:.0%}, "
    f"cannot be: no such model can be right in more than {unordered.accuracy:.1%}, since order is all that tells "
    "`First` from `Last`.)"
)
expect(never > 0.9 and after < 0.95, "taken out afterwards it is missed, left out from the start it is not")
lab(bare, "The model that never had a feed-forward part. Try to find a question that it gets wrong.",
    input="Max(9,9,5)", mode="predict", panels=("attention", "output", "curves"))  # fmt: skip
discuss(
    "A study of a large model finds a head that attends from pronouns to names, and says it resolves them. What is "
    "missing?",
    "A change and its effect: ablate it in more than one way, patch it between sentences, look for others that do the "
    "same, try other texts and other seeds.",
    "Patch the head's output from a sentence with another name, and see whether the continuation follows.",
)
choice(
    "Exit question. Which experiment shows that a place *carries* what distinguishes two inputs?",
    "Patching it from one input into the other",
    "It changes exactly that, and leaves everything else as it was.",
    {
        "Setting it to zero": "That shows that something there is needed, not what it says.",
        "Looking at it with a reader that can be trained": "That shows that it can be read there, not that it is used.",
        "Adding a mean direction": "That shows what would be enough to turn an answer, not what did it.",
    },
)
