"""What the model is and how sure we are: values of the analyses on models and data whose answers are known."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from glassformer.analyses import _logged
from glassformer.analyses.trust.calibration import bins, calibration, expected_error
from glassformer.analyses.trust.comparison import comparison
from glassformer.analyses.what.architecture import architecture
from glassformer.analyses.what.batch import batch
from glassformer.analyses.what.head_split import head_split
from glassformer.analyses.what.mask import mask
from glassformer.analyses.what.parameters import Tensor, parameters
from glassformer.analyses.what.positions import positions
from glassformer.analyses.what.token_counts import token_counts
from glassformer.analyses.what.training_data import judge, training_data
from glassformer.analyses.what.vocabulary import vocabulary
from glassformer.errors import CallError
from glassformer.figures import _draw, plot_parameters
from glassformer.figures.what.vocabulary import listed_ids
from glassformer.run import Run
from glassformer.tasks import find
from hand_wired import previous_token, write_run
from small_runs import run_of


def plain(folder: Path, position: object, **more: object) -> Run:
    """A model of width 2 that answers every token alike."""
    block = {"query": np.eye(2), "key": np.eye(2), "value": np.eye(2)}
    return write_run(folder, token=np.zeros((12, 2)), position=position, blocks=[block], **more)  # type: ignore[arg-type]


def test_architecture_counts_every_parameter_once_and_names_what_is_off(tmp_path: Path) -> None:
    run = previous_token(tmp_path / "run", 8)
    seen = architecture(run)
    assert dict(zip(seen.parts.axes["part"].labels, seen.parts.values, strict=True)) == {
        "embedding": 96, "positions": 64, "attention_0": 192, "read_out": 96}  # fmt: skip
    assert seen.parameters == seen.parts.values.sum() == 448
    assert seen.off == ("norms", "the output projection", "the feed-forward part")
    assert seen.boxes["expand"].off
    assert not seen.boxes["query"].off
    assert seen.boxes["query"].made_of == "8 × 8"
    assert seen.boxes["attention"].leaves == "8 × 8 × 8"
    assert seen.title.startswith("448 parameters in one block of width 8")


def test_a_model_beside_the_gpts_has_its_own_numbers() -> None:
    run = run_of("plus_last_even")
    seen = parameters(run)
    own = dict(zip(seen.compared.axes["quantity"].labels, seen.compared.values[0].tolist(), strict=True))
    tokens = run.last_step * run.experiment.train.batch * 8
    assert list(own.values()) == [1, 2, 1, 12, tokens, 250]
    for blocks, width, _, words, _, size in seen.compared.values[1:]:  # a block has 12 times the square of its width
        assert size == pytest.approx(12 * blocks * width**2 + words * width, rel=0.15)
    assert "table 2.1" in _draw.of(plot_parameters(run)).words.caption


def test_parameters_add_up(tmp_path: Path) -> None:
    seen = parameters(previous_token(tmp_path / "run", 8))
    assert dict(zip(seen.tensors.axes["tensor"].labels, seen.tensors.values, strict=True)) == {
        "token": 96, "position": 64, "query": 64, "key": 64, "value": 64, "read_out": 96}  # fmt: skip
    assert seen.rows[0] == Tensor("token", ("vocabulary", "width"), (12, 8), 1)
    assert seen.total == seen.tensors.values.sum() == seen.parts.values.sum()


def test_vocabulary_counts_the_training_part_and_the_text_comes_back(tmp_path: Path) -> None:
    run = previous_token(tmp_path / "run", 8)
    seen = vocabulary(run, sequence="4 9 + 4")
    assert seen.counted == "the training part"
    told = Counter(run.task.decode(run.task.data(8).train.tokens).split())
    assert dict(zip(seen.counts.axes["token"].labels, seen.counts.values, strict=True)) == told
    often = seen.counts.values[11] / seen.total  # 3/13 in the long run, fewer at the beginnings of sequences
    assert often == pytest.approx(3 / 13, abs=0.01)
    assert seen.ids.values.tolist() == [4, 9, 11, 4]
    assert seen.returns
    assert seen.back == "4 9 + 4"
    assert seen.groups[0] == "even"
    assert seen.groups[11] == "sign"
    assert listed_ids(seen) == list(range(12))
    chances = seen.counts.values / seen.total
    assert token_counts(run).nats == pytest.approx(-(chances * np.log(chances)).sum())


def test_judge_tells_right_wrong_free_and_out_of_view() -> None:
    task = find("plus_last_even")()
    verdicts, source = judge(task, task.encode("4 9 + 4 7 + 2"), 8)
    assert verdicts == ["unconstrained"] * 3 + ["right"] + ["unconstrained"] * 2 + ["wrong"]
    assert source == [-1, -1, -1, 0, -1, -1, 3]
    verdicts, source = judge(task, task.encode("4 1 1 1 + 4"), 3)
    assert verdicts[-1] == "not_in_view"
    assert source[-1] == -1


def test_training_sequences_are_those_of_the_data_and_break_no_rule(tmp_path: Path) -> None:
    run = previous_token(tmp_path / "run", 8)
    seen = training_data(run)
    split = run.task.data(8).train
    assert (
        seen.ids.values[1][: len(seen.tokens[1])].tolist() == split.tokens[split.starts[1] : split.starts[2]].tolist()
    )
    assert all(verdict != "wrong" for row in seen.verdicts for verdict in row)
    assert seen.shares.values.sum() == pytest.approx(1)
    exact = run.task.shares(8)  # type: ignore[attr-defined]
    assert seen.shares.values[0] == pytest.approx(1 - exact.constrained, abs=0.03)


def test_targets_are_the_inputs_shifted_by_one_and_lie_where_it_is_said(tmp_path: Path) -> None:
    run = previous_token(tmp_path / "run", 8)
    seen, split = batch(run), run.task.data(8).train
    assert (seen.targets.values[:, :-1] == seen.inputs.values[:, 1:]).all()
    for begin, row in zip(seen.begins.values, seen.inputs.values, strict=True):
        assert split.tokens[int(begin) : int(begin) + 8].tolist() == row.tolist()
        piece = int(np.searchsorted(split.starts, begin, side="right")) - 1
        assert 0 <= begin - split.starts[piece] < split.windows[piece]
    assert seen.weights.values * seen.batch * 8 == pytest.approx(np.ones(8))


def test_mask_is_the_lower_triangle_or_everything(tmp_path: Path) -> None:
    seen = mask(previous_token(tmp_path / "causal", 4), sequence="4 9 + 4")
    assert seen.allowed.values.tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    assert seen.even.values[2].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    block = {"query": np.eye(2), "key": np.eye(2), "value": np.eye(2)}
    both = mask(write_run(tmp_path / "both", token=np.zeros((20, 2)), position=np.zeros((8, 2)), blocks=[block],
                          task="five_operations", causal=False, read_position=0))  # fmt: skip
    assert (both.allowed.values == 1).all()
    assert (both.even.values == 1 / 8).all()


def test_columns_belong_to_the_heads_in_order(tmp_path: Path) -> None:
    query = np.arange(16.0).reshape(4, 4)
    block = {"query": query, "key": np.eye(4), "value": np.eye(4)}
    run = write_run(
        tmp_path / "run", token=np.zeros((12, 4)), position=np.zeros((8, 4)), blocks=[block], heads=2, head_width=2
    )
    seen = head_split(run)
    assert seen.matrices["query"].values[:, 1, 0].tolist() == query[:, 2].tolist()  # head 1, its first feature
    assert list(seen.matrices["query"].axes) == ["feature", "head", "other_feature"]
    trace = run.trace("4 9", edits={"embedded": lambda x, _: np.eye(4, dtype=x.dtype)[:2]})
    assert trace["query"][0, 1, 0].tolist() == query[0, 2:].tolist()  # head 1 of the first position
    with pytest.raises(CallError, match="block = 3"):
        head_split(run, block=3)


def test_positions_in_order_and_out_of_order(tmp_path: Path) -> None:
    ladder = positions(plain(tmp_path / "ladder", np.stack([np.arange(1, 6.0), np.zeros(5)], axis=1)))
    assert ladder.swapped == 0
    assert ladder.pairs == 10
    assert ladder.main == pytest.approx(1)
    assert ladder.near == pytest.approx(1 / 2)  # mean distance of any two of five steps is 2
    assert ladder.cosine.values == pytest.approx(np.ones((5, 5)))
    assert "stand in order along feature 0, which holds 100 %" in ladder.title
    turned = np.outer(np.arange(1, 6.0), [1, 1]) / np.sqrt(2)  # the same ladder, along no feature
    slope = positions(plain(tmp_path / "slope", turned))
    assert (ladder.feature, slope.feature) == (0, -1)
    assert "stand in order along their main direction, which holds 100 %" in slope.title
    mixed = positions(plain(tmp_path / "mixed", np.stack([np.array([0, 1, 2, 4, 3.0]), np.ones(5)], axis=1)))
    assert mixed.swapped == 1
    assert mixed.misplaced == (4,)
    assert mixed.title.startswith("But for 4, the 5 positions stand in order")
    jumbled = positions(plain(tmp_path / "jumbled", np.stack([np.array([2, 4, 0, 3, 1.0]), np.ones(5)], axis=1)))
    assert "do not stand in order" in jumbled.title
    assert f"{jumbled.swapped} of 10 pairs" in jumbled.title
    same = positions(plain(tmp_path / "same", np.ones((5, 2))))
    assert "same embedding" in same.title


def test_bins_and_calibration_error_by_hand() -> None:
    count, mean, share = bins(np.array([0.25, 0.25, 0.95, 0.85]), np.array([True, False, True, False]))
    assert count[[2, 8, 9]].tolist() == [2, 1, 1]
    assert count.sum() == 4
    assert share[2] == 0.5
    assert mean[9] == 0.95
    assert expected_error(count, mean, share) == pytest.approx((2 * 0.25 + 0.85 + 0.05) / 4)


def test_a_model_that_knows_nothing_is_sure_of_nothing(tmp_path: Path) -> None:
    run = plain(tmp_path / "run", np.zeros((8, 2)))  # every token 1/12
    seen = calibration(run)
    first = (_logged.windows(run, 500).windows[:, 1:] == 0).mean()  # ties go to token 0
    assert seen.reliability["confidence"].values[0] == pytest.approx(1 / 12)
    assert seen.error == pytest.approx(abs(1 / 12 - first))
    assert seen.chances.values[..., 1] == pytest.approx(np.full(seen.chances.values.shape[:2], 1 / 12))
    assert seen.error_by_step.axes["step"].values == (0,)


def test_two_equal_models_cannot_be_told_apart_and_a_better_one_can(tmp_path: Path) -> None:
    lines = [{"step": 0, "validation_loss": 2.5, "excess": 0.5}]
    one = plain(tmp_path / "one", np.zeros((8, 2)), lines=lines)
    two = plain(tmp_path / "two", np.zeros((8, 2)), lines=lines)
    same = comparison([one, two])
    assert same.metric == "perplexity"
    assert same.reached.values[:, 0] == pytest.approx([np.exp(2.5)] * 2)
    assert same.difference.values == pytest.approx(np.zeros((2, 2)), abs=1e-12)
    assert "too close to call" in same.title
    counts = np.bincount(one.task.data(8).train.tokens, minlength=12)
    better = plain(tmp_path / "better", np.zeros((8, 2)), read_out_bias=np.log(counts / counts.sum()),
                   lines=[{"step": 0, "validation_loss": 2.4, "excess": 0.4}])  # fmt: skip
    seen = comparison([one, better])
    targets = one.task.examples(8, "validation", 400).windows[:, 1:]
    gain = np.log(12) - -np.log(counts[targets] / counts.sum()).mean()
    assert seen.best == 1
    assert seen.difference.values[0, 0] == pytest.approx(gain, rel=1e-4)
    assert seen.difference.values[0, 1] < gain


def test_figures_of_what_it_is_need_no_jax() -> None:
    names = ("architecture", "parameters", "vocabulary", "token_counts", "training_data", "batch", "mask", "head_split",
             "positions", "calibration", "comparison")  # fmt: skip
    code = f"import sys; from glassformer import figures; [getattr(figures, 'plot_' + name) for name in {names}]; "
    code += "sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
