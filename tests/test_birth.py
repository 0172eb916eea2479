"""When a part became necessary: the removal itself against a full pass, and births at steps known beforehand."""

import sys
from math import log

import numpy as np
import pytest

import hand_wired
from glassformer import reference
from glassformer.analyses import _decide, _removal
from glassformer.analyses.decide.ablation import ablation
from glassformer.analyses.path.birth import birth, for_good
from glassformer.architecture import nest
from glassformer.errors import CallError
from glassformer.experiment import from_tables
from glassformer.figures import _draw, plot_birth
from glassformer.record import Recorder
from glassformer.run import Run
from small_runs import POPULATION, TEXT, run_of

WINDOWS = 24


def full_pass(run, step, part, way):
    """(window,): the loss without a part, the slow way: everything computed again with an edit."""
    given = _decide.examples(run, WINDOWS)

    def edit(value, block):
        if block is not None and block != part.block:
            return value
        if part.kind == "position":
            return value[::-1] if way == "resample" else _removal.replaced(way, value)
        if part.kind == "head":
            value = value.copy()
            value[:, part.index] = _removal.replaced(way, value[:, part.index])
        elif part.kind == "neuron":
            value = value.copy()
            value[..., part.index] = _removal.replaced(way, value[..., part.index])
        else:
            value = _removal.replaced(way, value)
        return value

    point = {"token": "token_embedding", "position": "position_embedding", "head": "mixed", "feed-forward": "fed"}
    name = point.get(part.kind, "hidden")
    params, tokens = nest(run.weights(step, 0)), given.windows[:, :-1]
    logits, _ = reference.forward(params, tokens, run.architecture, {name: edit})
    place = run.architecture.read_position
    logits = (logits if place is None else logits[:, [place]]).astype(np.float64)
    chances = logits - np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1, keepdims=True))
    chances = chances - logits.max(-1, keepdims=True)
    wanted = (given.windows[:, 1:] if place is None else given.windows[:, -1:])[..., None].astype(int)
    return -np.take_along_axis(chances, wanted, -1)[..., 0].mean(-1)


@pytest.mark.parametrize("name", ["plus_last_even", "even_abs_diff", "step_back", "five_operations"])
def test_taking_a_part_out_is_a_full_pass_without_it(name):
    run = run_of(name)
    step = int(run.steps[-1])
    given = _decide.examples(run, WINDOWS)
    parts = _removal.parts(run.architecture)
    neurons = [part for part in parts if part.kind == "neuron"]
    parts = [part for part in parts if part.kind != "neuron"] + neurons[:3] + neurons[-3:]
    found = _removal.Model(run, given, step, precise=True).losses(parts)
    for k, part in enumerate(parts):
        for j, way in enumerate(_removal.WAYS):
            np.testing.assert_allclose(found[k, j], full_pass(run, step, part, way), atol=2e-5, err_msg=part.name + way)


# ---- births at steps known beforehand --------------------------------------------------------------------------------

WIDTH, LAST = 24, 60
READ, NEURON, HEAD = 7, 23, 41  # when the read-out wakes, when '+' moves to a neuron, when the head takes all over


def bigram(task):
    """(token, token): the logarithm of how often each token follows each, counted; a truth to be read out."""
    windows = task.examples(1, "validation", 1000).windows
    counts = np.full((12, 12), 0.5)
    np.add.at(counts, (windows[:, 0], windows[:, 1]), 1)
    return np.log(counts / counts.sum(1, keepdims=True))


def weights_at(step, table):
    """A window of one token. The token is one-hot in the first half of the stream; a head copies it to the second."""
    flat = {"token": np.eye(12, WIDTH), "blocks.0.query": np.eye(WIDTH), "blocks.0.key": np.eye(WIDTH)}
    flat["blocks.0.value"] = np.eye(WIDTH)
    flat["blocks.0.output"] = np.roll(np.eye(WIDTH), 12, axis=1) * (step >= HEAD)  # feature k → k + 12
    flat["blocks.0.expand"] = np.zeros((WIDTH, 2))
    flat["blocks.0.contract"] = np.zeros((2, WIDTH))
    read = np.zeros((WIDTH, 12))
    if step >= READ:
        read[:12] = table
    if step >= NEURON:  # what follows '+' is said by neuron 0 alone, through a feature of its own
        flat["blocks.0.expand"][11, 0] = 1
        flat["blocks.0.contract"][0, 23] = 1
        read[11], read[23] = 0, table[11]
    if step >= HEAD:
        flat["blocks.0.expand"][:, 0], flat["blocks.0.contract"][0, 23] = 0, 0
        read[:12], read[12:] = 0, table
    flat["read_out"] = read
    return flat


@pytest.fixture(scope="module")
def life(tmp_path_factory):
    """Sixty kept steps in which parts wake up at known ones."""
    architecture = {
        "context": 1, "width": WIDTH, "feed_forward": 2, "positions": "none", "output_projection": True, "biases": [],
    }  # fmt: skip
    tables = {"task": "plus_last_even", "architecture": architecture, "train": {"steps": LAST}}
    experiment = from_tables(tables, "births")
    table = bigram(experiment.task)
    steps = list(range(LAST + 1))
    every = [weights_at(step, table) for step in steps]
    stacks = {name: np.stack([at[name] for at in every]).astype(np.float32) for name in every[0]}
    folder = tmp_path_factory.mktemp("births") / "run"
    with Recorder.create(folder, experiment, [0]) as recorder:
        recorder.safe_point(LAST, steps, stacks, [], {})
        recorder.finish("finished")
    return Run(folder)


@pytest.mark.parametrize("checkpoints", [6, 100])
def test_each_part_is_born_at_its_step(life, checkpoints):
    """Six checkpoints ten steps apart: halving must find the very steps; a hundred see them directly."""
    seen = birth(life, checkpoints=checkpoints, windows=1000)
    parts = seen.born.axes["part"].labels
    assert parts == ("token embedding", "attention", "feed-forward", "neuron 0", "neuron 1")
    for way in range(3):
        born = dict(zip(parts, seen.born.values[:, way], strict=True))
        assert born["token embedding"] == READ
        assert born["attention"] == HEAD
        assert np.isnan(born["feed-forward"])  # needed from NEURON to HEAD, but not for good
        assert np.isnan(born["neuron 0"])
        assert np.isnan(born["neuron 1"])
    assert seen.before.values[0].tolist() == [READ - 1] * 3
    at = seen.effect.axes["step"].values
    middle = [k for k, step in enumerate(at) if NEURON <= step < HEAD]
    assert (seen.effect.values[3, :, middle] > 0.01).all()  # the neuron is needed while it speaks
    assert seen.order == ("token embedding", "attention")
    assert seen.title.startswith("First needed is the token embedding, from step 7 on, then attention from step 41")


def test_what_is_needed_only_at_the_very_end_is_not_born(life, monkeypatch):
    """With half of the training asked for, attention, needed for the last 19 of 60 steps, does not count."""
    module = sys.modules[birth.__module__]
    monkeypatch.setattr(module, "STAY", 0.5)
    seen = birth(life, checkpoints=7, windows=1000)
    born = dict(zip(seen.born.axes["part"].labels, seen.born.values[:, 1], strict=True))
    assert born["token embedding"] == READ
    assert np.isnan(born["attention"])


def test_the_effect_is_the_price_of_not_knowing(life):
    """Zeroing the token embedding leaves equal chances, so the loss must be ln 12."""
    seen = birth(life, checkpoints=6, windows=1000)
    given = _decide.examples(life, seen.windows).windows
    bigram_loss = -bigram(life.task)[given[:, 0], given[:, 1]]
    expected = log(12) - bigram_loss.mean()
    assert seen.effect.values[0, 0, -1] == pytest.approx(expected, abs=1e-4)
    error = bigram_loss.std(ddof=1) / np.sqrt(len(given))
    assert seen.sampling_error.values[0, 0, -1] == pytest.approx(error, rel=1e-3)


def test_needed_is_needed_up_to_the_end():
    needed = np.array([[0, 1, 0, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], dtype=bool)
    assert for_good(needed).tolist() == [3, 5, 0, 5]


@pytest.mark.parametrize("name", ["plus_last_even", "five_operations", TEXT])
def test_what_costs_more_is_not_called_needless_beside_a_trifle_that_is_needed(name):
    """One rule for every part and way: the cost alone decides, so no needless part costs more than a needed one."""
    seen = birth(run_of(name), checkpoints=4)
    last = seen.effect.values[..., -1]
    born = np.isfinite(seen.born.values)
    rungs = run_of(name).task.ladder(run_of(name).architecture.context)
    assert seen.threshold == pytest.approx((rungs[0].nats - min(r.nats for r in rungs if r.reachable)) / 100)
    assert (last[born] >= seen.threshold).all()
    late = (seen.effect.values[..., -2:] >= seen.threshold).all(-1)  # crossed at the last look only: no birth yet
    assert born[late].all()


def test_a_population_has_births_of_every_member():
    seen = birth(run_of(POPULATION), checkpoints=5, neurons=0)
    table = seen.members["born"]
    assert table.axes["member"].labels == ("18", "19", "20")
    assert table.values.shape == (4, 3)
    assert not birth(run_of("plus_last_even"), checkpoints=3, neurons=0).members


def test_the_neurons_that_matter_are_found_in_any_block(tmp_path):
    """Of two blocks with 40 neurons each, one of the first and one of the last speak up, the others whisper."""
    rng = np.random.default_rng(0)
    blocks = [
        {name: np.zeros((12, 12)) for name in ("query", "key", "value")}
        | {"expand": 1e-3 * rng.normal(size=(12, 40)), "contract": 1e-3 * rng.normal(size=(40, 12))}
        for _ in range(2)
    ]
    for block, neuron in ((0, 7), (1, 31)):
        blocks[block]["expand"][:, neuron] = np.arange(12) % 2
        blocks[block]["contract"][neuron] = rng.normal(size=12)
    run = hand_wired.write_run(
        tmp_path / "run", token=np.eye(12), blocks=blocks, read_out=rng.normal(size=(12, 12)), context=8
    )
    every = [part for part in _removal.parts(run.architecture) if part.kind == "neuron"]
    assert len(every) == 80
    model = _removal.Model(run, _removal.held_out(run), 0)
    assert [part.name for part in model.strongest(every, 2)] == ["neuron 0.7", "neuron 1.31"]
    rise = model.losses(every, ("mean",))[:, 0].mean(-1) - model.loss(model.logits).mean()
    assert set(np.argsort(-np.abs(rise))[:2]) == {7, 40 + 31}  # the slow way: every one of them taken out
    seen = birth(run, neurons=2)
    top = sorted(np.argsort(-rise)[:2].tolist())
    assert [name for name in seen.born.axes["part"].labels if "neuron" in name] == [every[k].name for k in top]
    assert (seen.followed, seen.left_out) == (2, 78)
    assert birth(run, neurons=80).left_out == 0


def test_every_kept_step_and_every_neuron_can_be_asked_for(life):
    assert birth(life, checkpoints=10_000, windows=20).checkpoints == len(life.steps) == LAST + 1
    assert birth(life, checkpoints=2, neurons=10_000, windows=20).left_out == 0
    for options in ({"checkpoints": 0}, {"neurons": -1}, {"windows": 1}, {"neurons": "all"}):
        (field,) = options
        with pytest.raises(CallError, match=f"^{field} = .* is not a whole number of at least"):
            birth(life, **options)


@pytest.mark.parametrize("name", ["plus_last_even", "five_operations"])
def test_the_same_edit_costs_the_same_wherever_it_is_told(name):
    at_end, over_life = ablation(run_of(name)), birth(run_of(name), checkpoints=3)
    assert at_end.windows == over_life.windows
    shared = [part for part in over_life.born.axes["part"].labels if part in at_end.loss.axes["part"].labels]
    assert len(shared) > 4
    for part in shared:
        costs = at_end.loss.values[at_end.loss.axes["part"].labels.index(part)]
        last = over_life.effect.values[over_life.born.axes["part"].labels.index(part), :, -1]
        np.testing.assert_allclose(costs, last, atol=2e-5, err_msg=part)


def test_the_births_of_other_seeds_are_looked_for_where_the_loss_falls(life, tmp_path):
    """The read-out wakes at step 7 of 2,400; of 24 evenly spaced looks the second would come after a hundred steps."""
    table = bigram(life.experiment.task)
    steps = sorted({*range(LAST), *range(LAST, 2401, LAST)})
    every = [weights_at(step, table) for step in steps]
    stacks = {name: np.stack([[at[name]] * 2 for at in every]).astype(np.float32) for name in every[0]}
    lines = [{"step": step, "validation_loss": [2.5 - (step >= READ) - 0.2 * (step >= HEAD)] * 2} for step in steps]
    with Recorder.create(tmp_path / "run", life.experiment, [0, 1]) as recorder:
        recorder.safe_point(2400, steps, stacks, lines, {})
        recorder.finish("finished")
    run = Run(tmp_path / "run")
    table = birth(run, checkpoints=3, windows=200, neurons=0).members["born"]
    born = dict(zip(table.axes["part"].labels, table.values.tolist(), strict=True))
    assert born["token embedding"] == [READ, READ]
    assert born["attention"] == [HEAD, HEAD]
    caption = _draw.of(plot_birth(run, checkpoints=3, neurons=0)).words.caption
    assert "the median over the first 2 seeds, at up to 24 kept steps of each" in caption
