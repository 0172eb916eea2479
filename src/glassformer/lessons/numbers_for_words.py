"""Numbers for words: a rhyme becomes a row of numbers, and comes back."""

from glassformer.teaching import chance, choice, expect, lab, number, point, say, seed, show, table, train, work

ORDER = 10
MINUTES = 15
AIMS = (
    "say what a language model is asked to do",
    "turn a text into tokens, tokens into numbers, and numbers back into the text",
    "count the tokens of a text and the size of its vocabulary, and say why they differ",
    "say why a token's number is a name and not an amount",
)
BEFORE = ()
ANSWERS = ("3.§0", "3.§2", "3.§2.1", "3.§2.2")
MISCONCEPTIONS = (
    (
        "The model reads words.",
        "It reads whole numbers from a list. Cover the list, and nobody can say what the numbers mean.",
    ),
    (
        "Words with neighbouring numbers are alike.",
        "The numbers go by first appearance. Number the words in another order: nothing is lost, as long as "
        "everybody uses the same list.",
    ),
    (
        "A model has heard of every word.",
        "It can take in and say what its vocabulary holds, and nothing else. Ask this one about a unicorn.",
    ),
)
PLAN = (
    (10, "On paper, in pairs: number the words of a rhyme you know; swap the numbers, without the list, with others"),
    (20, "The lesson, to the end of the mixed-up lists"),
    (10, "Worksheet, alone; compare the counts that differ"),
    (5, "Exit question: what must two people share, so that one can read the other's numbers?"),
)

# %% [markdown]
# ## A machine that guesses the next word
#
# A **language model** has one job: it is shown the beginning of a text and says how likely each word is to come next.
# The models behind chat programs do just that, one word after the other. The letters *GPT* stand for **generative**
# (it writes), **pre-trained** (it has learnt from much text before you meet it) and **transformer** (how it is built
# inside: that is what this course is about).
#
# Ours is tiny and has read a single nursery rhyme. Learning it takes a few seconds, on your own machine.
#
# The lines of Python in this course are those that compute what you read; you can follow it without them. `train` (it
# trains a model, or opens one that is there), `seed` and `chance` (what is drawn can be drawn again) come with every
# lesson.

# %%
from glassformer.tasks.mary import LINES  # the rhyme

run = train("mary")
*known, hidden = LINES[0].split()  # its first line, without the last word
beginning = " ".join(known)
answers = run.ask(beginning)  # every word with its probability, the likeliest first
likely = dict(answers)
_others = [each for each, _ in answers[5:] if each != "<END>"]
_others = [_others[k] for k in chance("others").permutation(len(_others))[:2]]
choice(
    f"You know the rhyme, perhaps. What does the model say after `{beginning}`?",
    answers[0][0],
    f"It gives `{answers[0][0]}` {answers[0][1]:.1%}, and shares the rest out among all other words.",
    {
        **{each: f"It gives `{each}` {likely[each]:.3%} only: that never comes after these words." for each in _others},
        "unicorn": "It cannot say that at all: the word does not occur in what it has read.",
    },
)
expect(answers[0][0] == hidden, "the trained model goes on as the rhyme does")
lab(
    run,
    f"The model, alive. Its input is `{beginning}`; look at its answer, then type words of your own.",
    input=beginning,
    panels=("output",),
)

# %% [markdown]
# ## All that it has read
#
# What a model learns from is its **corpus**. After each line of ours we put a mark, `<END>`: it is one more word,
# and lets the model learn where a line is over. Without it, a text would have no place to stop.

# %%
text = " ".join(line + " <END>" for line in LINES)
tokens = text.split()
words = sum(len(line.split()) for line in LINES)
say("\n".join(f"> {line} `<END>`  " for line in LINES))
say(
    f"These are {len(text)} characters, counted with a space between any two tokens. Cut at the spaces, each piece is "
    "a **token**: a thing the model sees as a whole."
)
number(
    f"There are {words} words in {len(LINES)} lines, each line with its `<END>`. How many tokens is that?",
    len(tokens),
    "Every word is a token, and so is every `<END>`.",
    mistakes={
        words: "The ends of the lines are tokens, too.",
        words + 1: "There is an `<END>` after every line, not only after the last.",
        len(text): "That is the number of characters. Here a token is a whole word.",
    },
)
work(f"{words} + {len(LINES)}", len(tokens), name="tokens")
expect(len(tokens) == words + len(LINES), "every word and every end is one token")

# %% [markdown]
# ## What can be learnt from it
#
# Before any model: what would *you* guess after a word, if you knew the rhyme by heart and nothing else? You would
# count.

# %%
from collections import Counter
from itertools import pairwise

after: dict[str, Counter[str]] = {word: Counter() for word in tokens}
for word, following in pairwise(tokens):
    after[word][following] += 1

_told = [each for each, _ in Counter(tokens).most_common(5) if each != "<END>"]
table(
    ["after", "comes (how often)"],
    [[f"`{word}`", ", ".join(f"`{each}` ({many})" for each, many in after[word].most_common())] for word in _told],
)
_unsure = [word for word in after if len(after[word]) > 1 and word not in _told and word != "<END>"] or _told
_asked = _unsure[int(chance("after").integers(len(_unsure)))]
number(
    f"Look into the rhyme above. How many *different* tokens come after `{_asked}`?",
    len(after[_asked]),
    f"They are {', '.join(f'`{each}`' for each in after[_asked])}.",
    mistakes={
        sum(
            after[_asked].values()
        ): f"That is how often `{_asked}` occurs; some of what follows it is the same each time."
    }
    if sum(after[_asked].values()) != len(after[_asked])
    else None,
)
lab(
    run,
    "Only one word in view, so that counting is all that can be done. Compare the answer with the table: the model "
    "was never shown the counts, and comes near their shares all the same.",
    input=_told[0],
    panels=("output",),
)

# %% [markdown]
# ## A number for every word
#
# A computer multiplies and adds; it cannot multiply `lamb`. So each *different* token gets a number, its **id**. The
# list of all different tokens, in the order of their ids, is the **vocabulary**. We number by first appearance, so
# that the same text always gives the same list.

# %%
vocabulary = list(dict.fromkeys(tokens))  # each token once, in order of first appearance
id_of = {word: k for k, word in enumerate(vocabulary)}
number(
    f"The rhyme has {len(tokens)} tokens. A guess: how many of them are different? (Anything within five will do.)",
    len(vocabulary),
    f"There are {len(vocabulary)} different ones, `<END>` among them: the rhyme repeats itself a lot.",
    tolerance=5,
    mistakes={len(tokens): "Then no word would ever come twice; but many do."},
)
say("The whole list, each token after its id: " + ", ".join(f"{k} `{each}`" for k, each in enumerate(vocabulary)) + ".")
say(
    f"Counting begins at zero, so that the last id, {len(vocabulary) - 1}, is one less than the size of the "
    f"vocabulary, {len(vocabulary)}."
)
expect(tuple(vocabulary) == run.task.vocabulary, "this is the list the model has learnt with")

# %%
_printed = (25, 27, 35)  # what the source calls the size of this vocabulary, in its table, its drawing and its output
say(
    f"*A note.* The text that this lesson goes back to (the *source*, in notes like this one; you may skip them) "
    f"gives the size of this vocabulary as about {_printed[0]}, "
    f"{_printed[1]} and {_printed[2]} in three places. Counted, it is {len(vocabulary)}. It also takes its list from "
    "an unordered set, so that the ids differ each time its program is started; below you see what comes of that."
)

# %% [markdown]
# ## There and back
#
# **Encoding** looks up the id of every token; **decoding** looks up the token of every id. Nothing is lost on the
# way.


# %%
def encode(text: str) -> list[int]:
    return [id_of[word] for word in text.split()]


def decode(ids: list[int]) -> str:
    return " ".join(vocabulary[k] for k in ids)


ids = encode(text)
table(["token", *(f"`{word}`" for word in tokens[:11])], [["id", *ids[:11]]])
expect(decode(ids) == text, "decoding what was encoded gives the text back, to the last letter")
_stretches = [k for k in range(11, len(ids) - 8) if 2 < len(set(ids[k : k + 8])) < 8]
_at = _stretches[int(chance("repeated").integers(len(_stretches)))]
_some = ids[_at : _at + 8]
_again = next(k for k in range(8) if _some[k] in _some[:k])
point(
    "A stretch from further on, as ids alone. Point at the first one that repeats an earlier one.",
    ["id"],
    list("abcdefgh"),
    (0, _again),
    f"Id {_some[_again]} is `{vocabulary[_some[_again]]}`, and "
    f"stood already at `{'abcdefgh'[_some.index(_some[_again])]}`.",
    otherwise="Go from the left: this is not the first id that repeats an earlier one.",
    cells=[[str(k) for k in _some]],
)
_lines = list(dict.fromkeys(LINES))
_secret, *_others = (_lines[k] for k in chance("decode").permutation(len(_lines))[:3])
choice(
    f"Which line is `{encode(_secret)}`? (The list stands above.)",
    _secret,
    "Look up each id in the vocabulary, one after the other.",
    {line: f"That would be `{encode(line)}`." for line in _others},
)

# %%
from glassformer.figures import plot_vocabulary

show(
    plot_vocabulary(run), "vocabulary", "The whole vocabulary with its ids; below it a text becomes ids and comes back."
)

# %% [markdown]
# ## A number is a name, not an amount
#
# Is `lamb` more than `had`, because its id is larger? No: the ids are coat-check tickets. We number the words in
# another order and read the same line with it. As long as encoding and decoding use the *same* list, all is well. Mix
# two lists up, and the text is gone, although every single number is still there.

# %%
import numpy as np

mixed = [vocabulary[k] for k in np.random.default_rng(seed()).permutation(len(vocabulary))]
ticket = {word: k for k, word in enumerate(mixed)}
line = LINES[0]
other_ids = [ticket[word] for word in line.split()]
table(
    ["list", "ids", "read with its own list", "read with the other"],
    [
        ["first appearance", f"`{encode(line)}`", decode(encode(line)), " ".join(mixed[k] for k in encode(line))],
        ["shuffled", f"`{other_ids}`", " ".join(mixed[k] for k in other_ids), decode(other_ids)],
    ],
)
expect(" ".join(mixed[k] for k in other_ids) == line, "any order does, if both sides use it")
expect(decode(other_ids) != line, "the wrong list gives another text")
lab(
    run,
    "What the model does with an id: it fetches a row of numbers, drawn here as a point. A later lesson looks into it.",
    input=line,
    panels=("embedding",),
)

# %% [markdown]
# ## What it cannot say
#
# A word that is not on the list has no number, and so for this model it does not exist. Large models avoid this by
# cutting rare words into pieces, down to single letters; their vocabularies hold tens of thousands of pieces, learnt
# from a good part of the web. The lesson on Shakespeare does that. The rest, you will see, is the same.

# %%
from glassformer.errors import Error

try:
    run.ask("unicorn")
    refused = ""
except Error as problem:
    refused = str(problem)
say(f"> `{refused}`")
expect("unicorn" in refused, "a word that is not in the vocabulary is refused")
choice(
    "Exit question. Two people exchange texts as ids. What must they share?",
    "the vocabulary, in the same order",
    "An id is a place in that list. With the same list every text comes back whole.",
    {
        "the same model": "Encoding and decoding need no model at all, only the list.",
        "the same corpus": "It gives the same list only if both number its words by the same rule. The list "
        "itself is enough.",
        "the size of the vocabulary": "Two lists of the same size may name different words, as the mixed-up one did.",
    },
)
_line = " ".join(LINES[3].split()[:4])
say(f'**Try it:** `glassformer ask {run.name} "{_line}"`, then change a word. Which words make the model unsure?')
