"""How good a model is, on windows that a task sets aside for judging."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from glassformer import model
from glassformer.architecture import Architecture
from glassformer.counted import counted
from glassformer.tasks import Examples, Task

Array = jax.Array
AT_ONCE = 1 << 25  # numbers of one layer that may be worked on together, over members


class Judged:
    """The windows behind every logged number, and what is counted on them."""

    def __init__(self, task: Task, architecture: Architecture, most: int) -> None:
        self.task, self.architecture = task, architecture
        has_test = task.data(architecture.context).test is not None
        self.parts: dict[str, Examples] = {
            part: task.examples(architecture.context, part, most)
            for part in (("train", "validation", "test") if has_test else ("train", "validation"))
        }
        a, self.came = architecture, counted(architecture, task.skip).came
        self.floors = {part: float(-seen.truth[:, self.came].mean()) for part, seen in self.parts.items()}
        self.widest = max(a.width, a.inner, a.feed_forward, a.answers, a.heads * a.context)

    def _places(self, examples: Examples) -> int:
        """Predictions of one window that count."""
        return int(examples.kind[:, self.came].shape[1])

    def over_members(self, unravel: Callable[[Array], model.Params], members: int) -> Callable[[Array], Any]:
        """(member, parameter) → counts for every member; as many side by side as memory allows."""
        windows = max(len(examples.windows) for examples in self.parts.values())
        together = max(1, min(members, AT_ONCE // (windows * self.architecture.context * self.widest)))

        def one(flat: Array) -> dict[str, dict[str, Array]]:
            return {part: self._count(unravel(flat), examples) for part, examples in self.parts.items()}

        return jax.vmap(one) if together == members else lambda flat: jax.lax.map(one, flat, batch_size=together)

    def line(self, counts: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """The counts, as shares and losses over members."""
        line: dict[str, Any] = {f"{part}_loss": count["loss"] for part, count in counts.items()}
        line["train_excess"] = counts["train"]["loss"] - self.floors["train"]
        line["excess"] = counts["validation"]["loss"] - self.floors["validation"]
        if self.task.measure == "rule_error":
            seen = self.parts["validation"]
            constrained, answerable = seen.constrained[:, self.came], seen.answerable[:, self.came]
            count, sound = counts["validation"], np.isfinite(counts["validation"]["loss"])
            line["rule_error"] = _share(count["wrong"], constrained.sum(), sound)
            line["rule_error_answerable"] = _share(count["wrong_answerable"], answerable.sum(), sound)
            return line
        unseen = [part for part in self.parts if part != "train"]
        asked = {part: len(seen.windows) * self._places(seen) for part, seen in self.parts.items()}
        line["train_accuracy"] = _share(counts["train"]["right"], asked["train"], np.isfinite(counts["train"]["loss"]))
        sound = np.all([np.isfinite(counts[part]["loss"]) for part in unseen], axis=0)
        right = sum(counts[part]["right"] for part in unseen)
        line["accuracy"] = _share(right, sum(asked[part] for part in unseen), sound)
        for k, kind in enumerate(self.task.kinds):
            asked_kind = sum(int((self.parts[part].kind[:, self.came] == k).sum()) for part in unseen)
            right = sum(counts[part]["by_kind"][..., k] for part in unseen)
            line.setdefault("accuracy_by_kind", {})[kind] = _share(right, asked_kind, sound)
        return line

    def _count(self, params: model.Params, examples: Examples) -> dict[str, Array]:
        """Sums over the windows of a part; as many windows at once as memory allows."""
        a, many = self.architecture, len(examples.windows)
        at_once = max(1, AT_ONCE // (a.context * self.widest))
        known = {"windows": examples.windows.astype(np.int32), "kind": examples.kind}
        if self.task.measure == "rule_error":
            known |= {name: getattr(examples, name) for name in ("constrained", "answerable", "allowed")}
        if many <= at_once:
            sums = self._sums(params, {name: jnp.asarray(value) for name, value in known.items()})
        else:
            rows = np.minimum(np.arange(-(-many // at_once) * at_once), many - 1).reshape(-1, at_once)
            fresh = jnp.asarray(np.arange(rows.size).reshape(rows.shape) < many)  # the last windows fill up, uncounted
            table = {name: jnp.asarray(value) for name, value in known.items()}

            def some(which: tuple[Array, Array]) -> dict[str, Array]:
                return self._sums(params, {name: value[which[0]] for name, value in table.items()}, which[1])

            sums = {name: value.sum(0) for name, value in jax.lax.map(some, (jnp.asarray(rows), fresh)).items()}
        return {**sums, "loss": sums["loss"] / (many * self._places(examples))}

    def _sums(self, params: model.Params, seen: dict[str, Array], fresh: Array | None = None) -> dict[str, Array]:
        """Loss, right and wrong answers of some windows."""
        windows, came = seen["windows"], self.came
        logits = model.answers(params, windows[:, :-1], self.architecture)[:, came]
        targets = windows[:, 1:][:, came]
        guess, loss = logits.argmax(-1), fine_loss(logits, targets)
        counted = jnp.ones(guess.shape, bool) if fresh is None else jnp.broadcast_to(fresh[:, None], guess.shape)
        sums = {"loss": jnp.where(counted, loss, 0).sum()}
        if self.task.measure == "rule_error":
            wrong = ~jnp.take_along_axis(seen["allowed"][:, came], guess[..., None], axis=-1)[..., 0] & counted
            sums["wrong"] = (wrong & seen["constrained"][:, came]).sum()
            sums["wrong_answerable"] = (wrong & seen["answerable"][:, came]).sum()
        else:
            right, kind = (guess == targets) & counted, seen["kind"][:, came]
            sums["right"] = right.sum()
            if self.task.kinds:
                sums["by_kind"] = jnp.stack([(right & (kind == k)).sum() for k in range(len(self.task.kinds))])
        return sums


def fine_loss(logits: Array, targets: Array) -> Array:
    """The loss of `model.loss`, with all its digits even where next to nothing is left of it.

    There it is the difference of two numbers of about 20, which float32 knows to 2e-6; a model that has understood
    modular addition pays less than that.
    """
    own = jnp.take_along_axis(logits, targets[..., None], axis=-1)
    others = jnp.where(jnp.arange(logits.shape[-1]) == targets[..., None], -jnp.inf, logits - own)
    loss = jax.nn.softplus(jax.nn.logsumexp(others, axis=-1))
    return jnp.where(jnp.isfinite(own[..., 0]), loss, jnp.nan)  # an infinite logit is a training that went wrong


def _share(part: Any, whole: int, sound: Any) -> Any:
    """NaN where nothing can be counted, or the loss is no number (the likeliest token is then just the first)."""
    return np.where(sound & (whole > 0), part / max(whole, 1), np.nan)
