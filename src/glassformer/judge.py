"""How good a model is, on windows that a task sets aside for judging."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from glassformer import model
from glassformer.architecture import Architecture
from glassformer.counted import as_hard_as_all, counted
from glassformer.plan import LEAST
from glassformer.tasks import Examples, Task

Array = jax.Array
AT_ONCE = 1 << 25  # numbers of one layer that may be worked on together, over members
NOBODY = -1  # the part of a row that only fills up a table


class Judged:
    """The windows behind the logged numbers, and what is counted on them.

    The last line of a training is measured on all of them, the others on a share: always the same windows, as hard on
    average as all. They are laid out in tables of one size, the share first, so that one compiled program judges both.
    """

    def __init__(self, task: Task, architecture: Architecture, most: int, share: float, members: int) -> None:
        self.task, self.architecture = task, architecture
        self.came = counted(architecture, task.skip).came
        has_test = task.data(architecture.context).test is not None
        self.all: dict[str, Examples] = {
            part: task.examples(architecture.context, part, most)
            for part in (("train", "validation", "test") if has_test else ("train", "validation"))
        }
        every = {part: np.arange(len(seen.windows)) for part, seen in self.all.items()}
        some = {
            part: as_hard_as_all(seen, self.came, max(LEAST, int(share * len(seen.windows))))
            for part, seen in self.all.items()
        }
        rest = {part: np.setdiff1d(every[part], some[part]) for part in every}
        self._behind = (some, every)  # a line between, the last line: part → rows
        a, many = architecture, sum(map(len, some.values()))
        widest = max(a.width, a.inner, a.feed_forward, a.answers, a.heads * a.context)
        size = max(1, min(many, AT_ONCE // (members * a.context * widest)))
        tables = [self._tables(rows, size) for rows in (some, rest)]
        self.tables = [*tables[0], *tables[1]]
        self.between = len(tables[0])  # tables behind every line but the last
        self._facts = (self._told(last=False), self._told(last=True))

    def windows(self, last: bool = True) -> dict[str, int]:
        """How many windows of each part are behind a line."""
        return {part: len(rows) for part, rows in self._behind[last].items()}

    def floors(self, last: bool = True) -> dict[str, float]:
        """What the exact predictor pays on them."""
        return {part: float(-self._known(part, "truth", last).mean()) for part in self.all}

    def _told(self, last: bool) -> dict[str, Any]:
        """What every line needs to know of the windows behind it."""
        unseen = [part for part in self.all if part != "train"]
        kinds = [
            sum(int((self._known(p, "kind", last) == k).sum()) for p in unseen) for k in range(len(self.task.kinds))
        ]
        spoken = [int(self._known("validation", name, last).sum()) for name in ("constrained", "answerable")]
        asked = {part: self._known(part, "truth", last).size for part in self.all}
        return {"floors": self.floors(last), "asked": asked, "kinds": kinds, "spoken": spoken}

    def _known(self, part: str, name: str, last: bool) -> np.ndarray:
        """(window, place): what is known of the predictions that count."""
        return getattr(self.all[part], name)[:, self.came][self._behind[last][part]]

    def _tables(self, rows: Mapping[str, np.ndarray], size: int) -> list[dict[str, np.ndarray]]:
        """What is known of some windows, so many at a time; the last table is filled up."""
        names = ["windows", "kind"]
        if self.task.measure == "rule_error":
            names += ["constrained", "answerable", "allowed"]
        every = {name: np.concatenate([getattr(self.all[p], name)[some] for p, some in rows.items()]) for name in names}
        every["part"] = np.repeat(np.arange(len(rows)), [len(some) for some in rows.values()])
        many = len(every["part"])
        filled = np.minimum(np.arange(-(-many // size) * size), many - 1).reshape(-1, size)
        tables = [{name: _small(value[some]) for name, value in every.items()} for some in filled]
        if many % size:
            tables[-1]["part"][many % size :] = NOBODY
        return tables

    def count(self, params: model.Params, table: Mapping[str, Array]) -> dict[str, Array]:
        """(part,) sums over the windows of a table: loss, right and wrong answers."""
        windows, came = table["windows"], self.came
        logits = model.answers(params, windows[:, :-1], self.architecture)[:, came]
        targets = windows[:, 1:][:, came]
        guess, loss = logits.argmax(-1), fine_loss(logits, targets)
        here = [table["part"][:, None] == part for part in range(len(self.all))]

        def sums(values: Array) -> Array:
            return jnp.stack([jnp.where(mine, values, 0).sum() for mine in here])

        found = {"loss": sums(loss)}
        if self.task.measure == "rule_error":
            wrong = ~jnp.take_along_axis(table["allowed"][:, came], guess[..., None], axis=-1)[..., 0]
            found["wrong"] = sums(wrong & table["constrained"][:, came])
            found["wrong_answerable"] = sums(wrong & table["answerable"][:, came])
        else:
            right, kind = guess == targets, table["kind"][:, came]
            found["right"] = sums(right)
            if self.task.kinds:
                found["by_kind"] = jnp.stack([sums(right & (kind == k)) for k in range(len(self.task.kinds))], axis=-1)
        return found

    def line(self, tables: list[dict[str, np.ndarray]]) -> dict[str, Any]:
        """The counts of the tables behind a line, as shares and losses over members."""
        last = len(tables) == len(self.tables)
        floors, asked, kinds, spoken = self._facts[last].values()
        sums = {name: np.sum([np.asarray(t[name], np.float64) for t in tables], axis=0) for name in tables[0]}
        counts = {part: {name: value[:, k] for name, value in sums.items()} for k, part in enumerate(self.all)}
        losses = {part: count["loss"] / asked[part] for part, count in counts.items()}
        line: dict[str, Any] = {"judged": self.windows(last)} | {f"{part}_loss": loss for part, loss in losses.items()}
        line["train_excess"] = losses["train"] - floors["train"]
        line["excess"] = losses["validation"] - floors["validation"]
        if self.task.measure == "rule_error":
            count, sound = counts["validation"], np.isfinite(losses["validation"])
            line["rule_error"] = _share(count["wrong"], spoken[0], sound)
            line["rule_error_answerable"] = _share(count["wrong_answerable"], spoken[1], sound)
            return line
        unseen = [part for part in self.all if part != "train"]
        line["train_accuracy"] = _share(counts["train"]["right"], asked["train"], np.isfinite(losses["train"]))
        sound = np.all([np.isfinite(losses[part]) for part in unseen], axis=0)
        right = sum(counts[part]["right"] for part in unseen)
        line["accuracy"] = _share(right, sum(asked[part] for part in unseen), sound)
        for k, kind in enumerate(self.task.kinds):
            right = sum(counts[part]["by_kind"][..., k] for part in unseen)
            line.setdefault("accuracy_by_kind", {})[kind] = _share(right, kinds[k], sound)
        return line


def fine_loss(logits: Array, targets: Array) -> Array:
    """The loss of `model.loss`, with all its digits even where next to nothing is left of it.

    There it is the difference of two numbers of about 20, which float32 knows to 2e-6; a model that has understood
    modular addition pays less than that.
    """
    own = jnp.take_along_axis(logits, targets[..., None], axis=-1)
    others = jnp.where(jnp.arange(logits.shape[-1]) == targets[..., None], -jnp.inf, logits - own)
    loss = jax.nn.softplus(jax.nn.logsumexp(others, axis=-1))
    return jnp.where(jnp.isfinite(own[..., 0]), loss, jnp.nan)  # an infinite logit is a training that went wrong


def _small(values: np.ndarray) -> np.ndarray:
    """Whole numbers in 32 bits, which is what JAX computes with."""
    return np.ascontiguousarray(values if values.dtype == bool else values.astype(np.int32))


def _share(part: Any, whole: int, sound: Any) -> Any:
    """NaN where nothing can be counted, or the loss is no number (the likeliest token is then just the first)."""
    return np.where(sound & (whole > 0), part / max(whole, 1), np.nan)
