"""Attention, heads, neurons and embeddings where a question has one answer, on models wired to ask for known places."""

from pathlib import Path

import numpy as np
import pytest

from glassformer import analyses
from glassformer.analyses._attend import checked
from glassformer.analyses.attend.attention import attention
from glassformer.analyses.attend.attention_by_kind import attention_by_kind
from glassformer.analyses.attend.attention_history import _moving, attention_history
from glassformer.analyses.attend.head_roles import head_roles
from glassformer.analyses.know.neurons import neurons, sample
from glassformer.analyses.know.similarity import similarity
from glassformer.errors import CallError
from glassformer.figures import _draw, plot_attention, plot_attention_by_kind, plot_neurons, plot_similarity
from glassformer.run import Run
from glassformer.tasks.five_operations import ANSWER, FIRST, OPERATIONS, WORDS, ZERO
from hand_wired import write_run
from small_runs import MODULAR, run_of

ASKS = {"task": "five_operations", "causal": False, "read_position": 0}


def wired(folder: Path, keys: dict[str, int], heads: int = 1, sharp: float = 100.0) -> Run:
    """Every operation looks at one position (`keys`), or everywhere alike; a second head always at the last position.

    Features: 8 positions, 5 operations. All other tokens look everywhere alike.
    """
    token, position = np.zeros((len(WORDS), 13)), np.zeros((8, 13))
    token[FIRST : FIRST + 5, 8:] = np.eye(5)
    position[:, :8] = np.eye(8)
    query, key = np.zeros((13, 13 * heads)), np.zeros((13, 13 * heads))
    for name, place in keys.items():
        query[8 + OPERATIONS.index(name), place] = sharp
        key[place, place] = 1
    if heads == 2:
        query[8:, 13], key[7, 13] = 1000, 1
    block = {"query": query, "key": key, "value": np.zeros((13, 13 * heads))}
    if heads == 2:
        block["output"] = np.zeros((26, 13))
    return write_run(folder / "r", token=token, position=position, blocks=[block], heads=heads, head_width=13, **ASKS)


def read(window: np.ndarray) -> tuple[str, list[int], int]:
    """Operation, digits and answer of a question, read off its tokens."""
    name, digits = WORDS[window[0]], [int(WORDS[token]) for token in window[[2, 4, 6]]]
    return name, digits, ANSWER[name](tuple(digits))


def test_the_answer_of_a_question_is_framed_where_it_is_read(tmp_path: Path) -> None:
    run = wired(tmp_path, dict.fromkeys(OPERATIONS, 4))
    seen = attention(run, sequence="Second(5,3,9)")
    assert seen.source == (4, *[-1] * 7)
    assert seen.on_answer.values[0, 0, 0] == pytest.approx(1)
    assert np.isnan(seen.on_answer.values[0, 0, 1:]).all()
    assert "equal tokens" not in _draw.of(plot_attention(seen)).words.caption
    assert seen.title == "Second at position 0 puts 100 % of its attention on 3 at position 4, which holds the answer"
    tied = attention(run, sequence="Max(9,9,5)")
    assert tied.source[0] == 2
    assert tied.on_answer.values[0, 0, 0] == pytest.approx(0, abs=1e-9)
    assert "of equal tokens that would do, the first" in _draw.of(plot_attention(tied)).words.caption


def test_the_head_worth_watching_looks_at_the_answer_not_just_sharply(tmp_path: Path) -> None:
    run = wired(tmp_path, dict.fromkeys(OPERATIONS, 4), heads=2, sharp=10.0)
    weights = attention(run, sequence="Second(5,3,9)").attention.values[0, :, 0]
    assert weights[1].max() > weights[0].max() > 0.5  # the second head is the sharper one
    assert checked(run, 0, None, "Second(5,3,9)") == 0
    history = attention_history(run, sequence="Second(5,3,9)")
    assert (history.head, history.query) == (0, 0)
    assert history.weights.values[0, 4] == pytest.approx(weights[0, 4])
    assert history.uniform == 1 / 8


def test_the_answer_role_counts_every_position_that_holds_the_answer(tmp_path: Path) -> None:
    run = wired(tmp_path, dict.fromkeys(OPERATIONS, 4))
    windows = run.task.examples(8, "validation", 128).windows
    there = [digits[1] == right for _, digits, right in map(read, windows)]
    copies = [digits.count(right) / 8 for _, digits, right in map(read, windows)]
    seen = head_roles(run)
    at = seen.share.axes["role"].labels.index("answer")
    assert seen.windows == len(windows)
    assert seen.share.values[0, 0, at] == pytest.approx(np.mean(there))
    assert seen.uniform.values[at] == pytest.approx(np.mean(copies))


def test_the_life_of_a_role_is_the_role_at_each_step() -> None:
    run = run_of("five_operations")
    seen = head_roles(run)
    at = seen.share.axes["role"].labels.index("answer")
    windows = run.task.examples(8, "validation", seen.windows).windows[:, :8]
    assert len(seen.steps) > 2
    for step in (seen.steps[0], seen.steps[len(seen.steps) // 2], seen.steps[-1]):
        found = []
        for window in windows:
            right = ZERO + read(window)[2]
            found.append(run.trace(window, step=step)["attention"][:, :, 0, window == right].sum(axis=-1))
        now = 100 * (np.mean(found, axis=0) - seen.uniform.values[at])
        np.testing.assert_allclose(seen.life.values[seen.steps.index(step), ..., at], now, atol=1e-3)


def test_attention_by_kind_tells_where_each_kind_looks(tmp_path: Path) -> None:
    run = wired(tmp_path, {"First": 2, "Second": 4, "Last": 6})
    seen = attention_by_kind(run)
    places = seen.share.axes["key_position"]
    assert places.values == tuple(range(8))
    assert places.labels == ("operation", "(", "digit", ",", "digit", ",", "digit", ")")
    even = np.full(8, 1 / 8)
    np.testing.assert_allclose(seen.share.values[0, 0], [*np.eye(8)[[2, 4, 6]], even, even], atol=1e-6)
    assert seen.on_answer is not None
    np.testing.assert_allclose(
        seen.on_answer.values[0, 0, :3], 1, atol=1e-6
    )  # where the question says, there it stands
    rows = [read(window) for window in run.task.examples(8, "validation", 500).windows]
    copies = np.mean([digits.count(right) / 8 for name, digits, right in rows if name == "Max"])
    assert seen.on_answer.values[0, 0, 3] == pytest.approx(copies)
    assert seen.questions.values.tolist() == [sum(name == each for name, _, _ in rows) for each in OPERATIONS]
    assert seen.title == (
        "Head 0 looks at digit₂ for First (100 %), at digit₄ for Second (100 %), at digit₆ for Last (100 %) and at no "
        "one place above half for Max and Min"
    )


def test_a_head_that_does_not_care_what_is_asked_is_said_so(tmp_path: Path) -> None:
    seen = attention_by_kind(wired(tmp_path, dict.fromkeys(OPERATIONS, 4)))
    assert seen.title == ("Whatever is asked, operation₀ looks alike: no share changes by more than 0.0 points")
    with pytest.raises(CallError, match="no one position"):
        analyses.attention_by_kind(run_of("plus_last_even"))
    with pytest.raises(CallError, match="says of which kind"):  # whether a mirror image was trained on is not written
        analyses.attention_by_kind(run_of(MODULAR))


def test_maps_stand_where_a_weight_is_a_quarter_half_and_three_quarters_on_its_way() -> None:
    life = [0, 10, 20, 30, 40]
    assert _moving(life, np.array([0.1, 0.2, 0.5, 0.8, 0.9])) == [0, 20, 30, 40]
    assert _moving(life, np.array([0.9, 0.65, 0.5, 0.3, 0.1])) == [0, 10, 20, 30, 40]  # falling is a way as well
    assert _moving(life, np.full(5, 0.3)) == [0, 40]
    assert _moving(life, np.array([0.1, 0.2, 0.5, 0.8, np.nan])) == [0, 40]


@pytest.mark.parametrize(("name", "causal"), [("plus_last_even", True), ("five_operations", False)])
def test_the_steps_of_a_history_follow_the_weight_on_the_answer(name: str, causal: bool) -> None:
    run = run_of(name)
    seen = attention_history(run)
    assert seen.causal is causal
    key = seen.source[seen.query]
    assert key >= 0
    line = [run.trace(None, step=step)["attention"][seen.block, seen.head, seen.query, key] for step in seen.steps]
    np.testing.assert_allclose(seen.weights.values[:, key], line, rtol=1e-6)
    wanted = {seen.steps[0], seen.steps[-1]}
    for share in (0.25, 0.5, 0.75):
        far = share * abs(line[-1] - line[0])
        up = np.sign(line[-1] - line[0])
        wanted.add(next(s for s, value in zip(seen.steps, line, strict=True) if up * (value - line[0]) >= far))
    assert list(seen.maps.axes["step"].values) == sorted(wanted)
    assert seen.uniform == 1 / (seen.query + 1 if causal else len(seen.tokens))


@pytest.fixture
def knowing(tmp_path: Path) -> Run:
    """Every position sees its own token and, through the mean of all, which operation is asked for; 70 neurons.

    Neuron 0 fires where Max or Min is asked, 1 where it is not, 2 where Last is asked, 3 on the digit 9, 4 on 0; the
    others never.
    """
    size = len(WORDS)
    ops = np.zeros((size, size))
    ops[range(FIRST, FIRST + 5), range(FIRST, FIRST + 5)] = 8  # one operation among eight tokens
    expand = np.zeros((size, 70))
    expand[[FIRST + 3, FIRST + 4], 0] = 1
    expand[FIRST : FIRST + 3, 1] = 1
    expand[FIRST + 2, 2] = 1
    expand[ZERO + 9, 3] = expand[ZERO, 4] = 1
    block = {"value": ops, "expand": expand, "expand_bias": np.full(70, -0.5), "contract": np.zeros((70, size)),
             "contract_bias": np.zeros(size)}  # fmt: skip
    return write_run(tmp_path / "r", token=np.eye(size), blocks=[block], context=8, attention="mean",
                     output_projection=False, **ASKS)  # fmt: skip


def test_neurons_that_know_what_is_asked_are_found_at_every_position(knowing: Run) -> None:
    seen = neurons(knowing, sequence="Max(5,3,9)").blocks[0]
    said = {neuron: seen.descriptions[k] for k, neuron in enumerate(seen.order[:5])}
    assert said[0] == "fires on Max or Min questions (100 %, else 0 %)"
    assert said[1] == "fires on First, Second or Last questions (100 %, else 0 %)"
    assert said[2] == "fires on Last questions (100 %, else 0 %)"
    assert said[3] == "fires on 9 (100 %, else 0 %)"
    column = seen.bits.axes["quantity"].labels.index("kind")
    assert seen.bits.values[seen.order.index(0), column] == pytest.approx(
        -0.4 * np.log2(0.4) - 0.6 * np.log2(0.6), abs=0.01
    )  # two of five kinds
    rows = seen.mean["kind"].axes["neuron"].values
    np.testing.assert_allclose(seen.mean["kind"].values[rows.index(2)], [0, 0, 5 / 8, 0, 0], atol=1e-6)  # ½, once 1½


def test_roles_of_numbers_are_counted_among_numbers(knowing: Run) -> None:
    seen = neurons(knowing).blocks[0]
    rows = [read(window) for window in sample(knowing).windows]
    high = [digit == 9 for _, digits, _ in rows for digit in digits if digit == max(digits)]
    low = [digit == 9 for _, digits, _ in rows for digit in digits if digit == min(digits)]
    nines = [digit == 9 for _, digits, right in rows for digit in digits if digit == right]
    at = seen.mean["role"].axes["neuron"].values.index(3)
    assert seen.mean["role"].axes["role"].values == ("largest", "smallest", "answer")
    np.testing.assert_allclose(seen.fires["role"].values[at], [np.mean(high), np.mean(low), np.mean(nines)], rtol=1e-6)
    assert seen.specialists is not None
    assert seen.specialists.axes["role"].values == ("kind", "largest", "smallest", "answer")
    assert "the largest of the numbers" in seen.specialities[1]
    assert "the smallest of the numbers" in seen.specialities[2]
    assert seen.special[1:3] == (3, 4)
    np.testing.assert_allclose(seen.specialists.values[1], [np.mean(high), 0], atol=1e-6)  # a 9 is never less


def test_the_grid_holds_all_hidden_values_of_the_position_that_answers(knowing: Run) -> None:
    every = neurons(knowing, sequence="Max(5,3,9)")
    seen = every.blocks[0]
    assert seen.read == 0
    wanted = [1.5 if neuron == 0 else 0.0 for neuron in seen.order]  # the token Max and the question Max, less ½
    np.testing.assert_allclose(seen.at_read.values, wanted, atol=1e-6)
    (panel,) = (ax for ax in plot_neurons(every).axes if ax.get_title(loc="left") == "all 70 hidden values at Max₀")
    cells = np.ma.filled(panel.images[0].get_array(), np.nan).ravel()
    np.testing.assert_allclose(cells[:70], wanted, atol=1e-6)
    assert np.isnan(cells[70:]).all()
    assert len(cells) == 72


def test_what_never_occurs_is_not_spoken_of(knowing: Run) -> None:
    seen = similarity(knowing)
    assert seen.used == ("operation", "digit", "syntax")
    assert seen.main == ("operation", "digit")
    assert "special tokens do not occur" in _draw.of(plot_similarity(seen)).words.caption
    assert seen.title == (
        "The mean cosine of two operation tokens is 0.00, of two digit tokens 0.00, of one of each 0.00"
    )


def test_pages_show_every_head_and_every_block_once() -> None:
    run = run_of("five_operations")
    seen, drawn = attention_by_kind(run), {}
    for page in (0, 1):
        for ax in plot_attention_by_kind(run, size="slide", page=page).axes:
            if "head" in ax.get_title(loc="left"):
                drawn[ax.get_title(loc="left")] = np.asarray(ax.images[0].get_array())
    assert sorted(drawn) == [f"block {b}, head {h}" for b in range(2) for h in range(4)]
    for name, values in drawn.items():
        at = int(name[6]), int(name[-1])
        np.testing.assert_allclose(values[:, :-1], seen.share.values[at], atol=1e-6)
        assert seen.on_answer is not None
        np.testing.assert_allclose(values[:, -1], seen.on_answer.values[at], atol=1e-6)
    with pytest.raises(CallError, match="page = 2"):
        plot_attention_by_kind(run, size="slide", page=2)
    shown = _draw.of(plot_neurons(run, size="slide", page=1))  # the last block comes first
    assert (list(shown.result.blocks), shown.pages) == ([1, 0], 2)
    assert shown.words.title == shown.result.blocks[0].title
