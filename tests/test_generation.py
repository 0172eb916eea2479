"""Writing: the kept keys and values change nothing, every choice is what it says, and text comes out whole."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glassformer as gf
from architectures import architectures
from command import call
from glassformer import generation, reference, tokenizers
from glassformer.architecture import Architecture, nest
from glassformer.errors import CallError, DivergedError
from glassformer.generation import Choice, Reader
from glassformer.tasks.mary import LINES
from glassformer.words import shown
from small_texts import random_run

causal = architectures().map(lambda found: replace(found, causal=True))
EACH_SWITCH = [
    {},
    {"positions": "sinusoidal"},
    {"positions": "rotary"},
    {"positions": "none"},
    {"norm": "layer", "final_norm": True},
    {"norm": "rms", "norm_place": "post", "final_norm": True},
    {"attention": "mean"},
    {"attention": "off"},
    {"residual": False},
    {"tied_embedding": True},
    {"output_projection": False},
    {"feed_forward": 0},
    {"activation": "gelu", "score_scale": "width"},
    {"biases": ("attention", "projection", "feed_forward", "norm", "read_out")},
]


def weights(architecture: Architecture, seed: int = 0):
    rng = np.random.default_rng(seed)
    return nest({n: rng.normal(0, 0.3, shape).astype(np.float32) for n, shape in architecture.shapes().items()})


def compare(architecture: Architecture, seed: int, first: int) -> None:
    """Read a window at once, and a second time token by token after the first few."""
    params = weights(architecture, seed)
    tokens = np.random.default_rng(seed).integers(0, architecture.vocabulary, architecture.context)
    whole, _ = reference.forward(params, tokens, architecture)
    reader = Reader(params, architecture, tokens[:first].tolist())
    np.testing.assert_allclose(reader.logits, whole[first - 1], atol=1e-5, rtol=1e-5)
    for place in range(first, architecture.context):
        np.testing.assert_allclose(reader.read(int(tokens[place])), whole[place], atol=1e-5, rtol=1e-5)
    with pytest.raises(CallError, match="is full"):
        reader.read(0)


@pytest.mark.parametrize("switch", EACH_SWITCH, ids=str)
def test_kept_keys_and_values_change_nothing_by_switch(switch):
    architecture = Architecture(vocabulary=7, context=9, width=12, blocks=3, heads=3, feed_forward=10)
    compare(replace(architecture, head_width=None, **switch), seed=3, first=2)


@settings(max_examples=60, deadline=None)
@given(causal, st.integers(0, 10_000), st.data())
def test_kept_keys_and_values_change_nothing(architecture, seed, data):
    compare(architecture, seed, data.draw(st.integers(1, architecture.context)))


@settings(max_examples=25, deadline=None)
@given(causal, st.integers(0, 10_000))
def test_the_window_slides_as_if_nothing_were_kept(architecture, seed):
    params, text = weights(architecture, seed), [0]
    for _ in range(2 * architecture.context + 2):
        logits = reference.forward(params, np.array(text[-architecture.context :]), architecture)[0][-1]
        best = np.sort(logits)[-2:]
        if len(best) == 2 and best[1] - best[0] < 1e-4:
            return  # a tie may go either way
        text.append(int(np.argmax(logits)))
    rng = np.random.default_rng(0)
    assert list(generation.go_on(params, architecture, [0], len(text) - 1, Choice(0.0), rng)) == text[1:]


# ---- choosing --------------------------------------------------------------------------------------------------------


def by_hand(logits, temperature, top_k, top_p):
    """The chances by the definition: keep the likeliest, one by one, until there are enough."""
    chances = np.exp(np.array(logits) / temperature)
    ranked = sorted(range(len(logits)), key=lambda token: -chances[token])[:top_k]
    total = sum(chances[token] for token in ranked)
    kept, sum_so_far = [], 0.0
    for token in ranked:
        if top_p is not None and sum_so_far >= top_p:
            break
        kept.append(token)
        sum_so_far += chances[token] / total
    return [chances[t] / sum(chances[k] for k in kept) if t in kept else 0.0 for t in range(len(logits))]


@pytest.mark.parametrize("top_p", [None, 0.05, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("top_k", [None, 1, 3, 50])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_chances_follow_the_definition(temperature, top_k, top_p):
    logits = np.array([0.3, 2.0, -1.0, 1.1, 0.9, -3.0])
    found = Choice(temperature, top_k, top_p).chances(logits)
    np.testing.assert_allclose(found, by_hand(logits, temperature, top_k, top_p), atol=1e-12)


def test_tokens_are_drawn_as_often_as_their_chances_say():
    logits, choice, rng = np.array([0.3, 2.0, -1.0, 1.1]), Choice(0.8, 3, 0.95), np.random.default_rng(1)
    drawn = np.bincount([choice.pick(logits, rng) for _ in range(4000)], minlength=4) / 4000
    chances = choice.chances(logits)
    assert chances[2] == 0
    assert np.all(np.abs(drawn - chances) <= 4 * np.sqrt(chances * (1 - chances) / 4000))


def test_temperature_zero_and_nearly_zero_take_the_likeliest():
    for temperature in (0.0, 1e-300, 1e-3):
        np.testing.assert_array_equal(Choice(temperature).chances(np.array([1.0, 3.0, 2.0])), [0, 1, 0])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"top_p": 0.0}, "top_p = 0.0 is not a probability above 0"),
        ({"top_p": 1.5}, "top_p = 1.5"),
        ({"top_p": float("nan")}, "top_p = nan"),
        ({"top_k": 0}, "top_k = 0"),
        ({"temperature": float("inf")}, "temperature = inf"),
    ],
    ids=str,
)
def test_impossible_choices_are_refused(wrong, said):
    with pytest.raises(CallError, match=said):
        Choice(**wrong)


def test_what_cannot_write_says_why(tmp_path):
    architecture = Architecture(vocabulary=3, context=4, causal=False)
    with pytest.raises(CallError, match="causal = false"):
        generation.go_on(weights(architecture), architecture, [0], 5, Choice(), np.random.default_rng(0))
    run = random_run(tmp_path, "characters", not_a_number=True)
    with pytest.raises(DivergedError, match="not numbers"):
        next(run.generate("mary"))
    assert len(list(run.generate("mary", 12, step=0))) == 12


# ---- spelling --------------------------------------------------------------------------------------------------------

LEARNT = {
    kind: tokenizers.find(kind).learn(
        "mary had a little lamb,\nnaïve € ☃\n" * 3, {"bpe": 60, "byte_bpe": 280}.get(kind)
    )
    for kind in tokenizers.names()
}


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(sorted(LEARNT)), st.lists(st.integers(0, 10_000), max_size=30))
def test_pieces_add_up_to_the_text(kind, ids):
    learnt = LEARNT[kind]
    ids = [token % len(learnt.vocabulary) for token in ids]
    assert "".join(generation.spelled(ids, learnt.decode)) == learnt.decode(np.array(ids, dtype=int))


def test_half_a_character_waits_for_the_rest():
    learnt = tokenizers.find("byte_bpe").learn("plain letters only", 257)
    text = "a€ï☃b"
    ids = learnt.encode(text).tolist()
    assert len(ids) == len(text.encode()), "every byte is a token"
    assert list(generation.spelled(ids, learnt.decode)) == list(text)
    assert list(generation.spelled(ids[:2], learnt.decode)) == ["a", "\ufffd"], "what never becomes whole is shown"


# ---- as a person meets it --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mary(tmp_path_factory):
    return gf.train("mary", out=tmp_path_factory.mktemp("mary") / "run")


@pytest.mark.parametrize("start", ["mary", "the", "it", "little", "lamb"])
def test_mary_writes_lines_of_the_rhyme(mary, start):
    answer = call("generate", mary.path, start, "--tokens", 40, "--temperature", 0, "--json").json
    first, *lines = " ".join(answer["tokens"]).split(" <END>")
    lines = [line.strip() for line in lines[:-1]]
    assert any(line.endswith(first) for line in LINES)
    assert len(lines) >= 2
    for line in lines:
        if line.startswith(LINES[-1]):
            break  # what follows the last line is in no window: nothing was learned about it
        assert line in LINES


def test_an_unknown_word_is_answered_with_the_nearest(mary):
    answer = call("generate", mary.path, "marry")
    assert (answer.code, answer.out) == (2, "")
    assert "did you mean mary" in answer.err


def test_writing_stops_after_its_stop_token(mary):
    words = ("generate", mary.path, "mary", "--tokens", 40, "--temperature", 0)
    whole, stopped = (call(*words, *more, "--json").json["tokens"] for more in ((), ("--stop", "<END>")))
    assert stopped == whole[: whole.index("<END>") + 1]
    assert len(stopped) < len(whole)
    refused = call(*words, "--stop", "<EN>")
    assert refused.code == 2
    assert "did you mean '<END>'?" in refused.err


def test_a_text_is_written_out_as_it_comes_and_without_verdicts(tmp_path):
    run = random_run(tmp_path, "byte_bpe")
    words = ("generate", run.path, "mary", "--tokens", 60, "--top-p", 0.9, "--seed", 4)
    assert call(*words).out == shown(call(*words, "--json").json["text"]) + "\n"
    assert set(call(*words, "--json").json["right"]) == {None}
    line = call("generate", random_run(tmp_path / "letters", "characters").path, "mary", "--tokens", 500, "--stop", "⏎")
    assert line.out.count("\n") == 2, "the stop token is the last one, then the command ends its own line"
    for option, value in (("--top-p", 1.5), ("--top-p", "nan"), ("--samples", 0)):
        assert call(*words, option, value).code == 2


def test_samples_are_the_texts_of_neighbouring_seeds(tmp_path):
    run = random_run(tmp_path, "characters")
    words = ("generate", run.path, "mary", "--tokens", 20, "--json")
    alone = [call(*words, "--seed", seed).json["text"] for seed in (5, 6, 7)]
    together = call(*words, "--seed", 5, "--samples", 3).json["samples"]
    assert [each["text"] for each in together] == alone
    assert len(set(alone)) == 3


def test_ask_shows_spaces_and_says_that_it_counts(tmp_path):
    run = random_run(tmp_path, "characters")
    answer = call("ask", run.path, "mary had", "--top", len(run.task.vocabulary)).out.splitlines()
    assert answer[0].split() == ["token", "model", "counts"]
    rows = {line.split()[0]: float(line.split()[2].rstrip("%")) for line in answer[1:]}
    assert {"␣", "⏎"} <= set(rows)
    assert rows["␣"] == max(rows.values()), "in the training text a space always follows here"
    assert sum(rows.values()) == pytest.approx(100, abs=0.05 * len(rows))
