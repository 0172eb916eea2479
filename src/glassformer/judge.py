"""How good a model is, on windows that a task sets aside for judging."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from glassformer import model
from glassformer.architecture import Architecture
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
        self.floors = {part: float(-examples.truth.mean()) for part, examples in self.parts.items()}

    def over_members(self, unravel: Callable[[Array], model.Params], members: int) -> Callable[[Array], Any]:
        """(member, parameter) → counts for every member; as many side by side as memory allows."""
        a = self.architecture
        widest = max(a.width, a.inner, a.feed_forward, a.answers, a.heads * a.context)
        windows = max(len(examples.windows) for examples in self.parts.values())
        together = max(1, min(members, AT_ONCE // (windows * a.context * widest)))

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
            line["rule_error"] = _share(counts["validation"]["wrong"], seen.constrained.sum())
            line["rule_error_answerable"] = _share(counts["validation"]["wrong_answerable"], seen.answerable.sum())
            return line
        unseen = [part for part in self.parts if part != "train"]
        line["train_accuracy"] = _share(counts["train"]["right"], self.parts["train"].kind.size)
        right = sum(counts[part]["right"] for part in unseen)
        line["accuracy"] = _share(right, sum(self.parts[part].kind.size for part in unseen))
        for k, kind in enumerate(self.task.kinds):
            asked = sum(int((self.parts[part].kind == k).sum()) for part in unseen)
            right = sum(counts[part]["by_kind"][..., k] for part in unseen)
            line.setdefault("accuracy_by_kind", {})[kind] = _share(right, asked)
        return line

    def _count(self, params: model.Params, examples: Examples) -> dict[str, Array]:
        a, windows = self.architecture, jnp.asarray(examples.windows.astype(np.int32))
        logits = model.answers(params, windows[:, :-1], a)
        targets = windows[:, 1:] if a.read_position is None else windows[:, -1:]
        guess = logits.argmax(-1)
        count = {"loss": model.loss(logits, targets).mean()}
        if self.task.measure == "rule_error":
            wrong = ~jnp.take_along_axis(jnp.asarray(examples.allowed), guess[..., None], axis=-1)[..., 0]
            count["wrong"] = (wrong & examples.constrained).sum()
            count["wrong_answerable"] = (wrong & examples.answerable).sum()
        else:
            right = guess == targets
            kinds = range(len(self.task.kinds))
            count["right"] = right.sum()
            count["by_kind"] = jnp.array([(right & (examples.kind == k)).sum() for k in kinds], jnp.int32)
        return count


def _share(part: Any, whole: int) -> Any:
    """NaN where there is nothing to count: not known is not zero."""
    return part / whole if whole else np.full(np.shape(part), np.nan)
