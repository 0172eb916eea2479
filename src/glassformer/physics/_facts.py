"""What happened in one life, as numbers with names: the views and the command's JSON take them from here."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer import canonical
from glassformer.canonical import Array
from glassformer.physics._ensemble import holds_from
from glassformer.physics.models.boltzmann_memory import Memory
from glassformer.physics.models.one_layer import ATTENDING, MATRICES, MEASURES, Life, first_weights, forward
from glassformer.physics.models.short_cut import ShortCut

HIGH = 0.9  # of ln N: above, hardly anything is known
FLAT = 0.01  # attention this near to even, relative to it, is even for all purposes


@dataclass(frozen=True, eq=False)
class Facts:
    """One life, what its short cut costs, and the memory model beside it."""

    life: Life
    cost: ShortCut
    memory: Memory

    @property
    def most(self) -> float:
        """ln N: the entropy of knowing nothing."""
        return float(np.log(self.life.settings.tokens))

    @property
    def parameters(self) -> int:
        """How many numbers the layer is made of."""
        s = self.life.settings
        return 4 * s.tokens**2 + 2 * s.tokens * s.neurons

    @property
    def chance(self) -> float:
        """The share that blind guessing gives the target."""
        return 1 / self.life.settings.tokens

    @property
    def held(self) -> int:
        """How many steps the entropy stays near its most, counted from the first."""
        below = np.flatnonzero(self.life.training_entropy < HIGH * self.most)
        return int(below[0]) if len(below) else len(self.life.steps)

    @property
    def fell(self) -> bool:
        """Whether the entropy ends below half of its start."""
        return bool(self.life.training_entropy[-1] < 0.5 * self.life.training_entropy[0])

    @property
    def steepest(self) -> int:
        """The step after which the entropy falls most."""
        return int(np.diff(self.life.training_entropy).argmin())

    @property
    def worst(self) -> int:
        """The step of the largest loss."""
        return int(self.life.training_loss.argmax())

    @property
    def rises_first(self) -> bool:
        """Whether the loss climbs clearly above its start before anything else."""
        loss = self.life.training_loss
        return bool(loss[self.worst] > 1.05 * loss[0])

    @property
    def climbs_alone(self) -> bool:
        """Whether it climbs while the entropy stays where it was."""
        h = self.life.training_entropy
        return self.rises_first and bool(np.ptp(h[: self.worst + 1]) < 0.1 * h[0])

    @property
    def sudden(self) -> bool:
        """Whether one step takes a good part of the entropy away."""
        h = self.life.training_entropy
        return bool(h[self.steepest] - h[self.steepest + 1] > 0.15 * h[0])

    @property
    def learned(self) -> bool:
        """Whether the target is likelier at the end than all other tokens together."""
        return bool(self.life.p_target[-1] > 0.5)

    @property
    def locked(self) -> int | None:
        """The step from which the target alone is fed back; None: something else is, at the end."""
        return holds_from(self.life.tokens == self.life.target)

    @property
    def unread(self) -> int:
        """Of the steps before the target locks, how many read a token that was never read before."""
        read = self.life.inputs[: self.locked if self.locked is not None else None].tolist()
        return len(set(read))

    @property
    def again(self) -> int | None:
        """The first step that reads a token for the second time; None: there is none."""
        read = self.life.inputs.tolist()
        return next((t for t, token in enumerate(read) if token in read[:t]), None)

    @property
    def recalled(self) -> bool:
        """Whether the target is then at least twice as likely as at the step before, and likelier than by chance.

        Also asks for what makes it worth telling: that most of what is read before the target locks in is new.
        """
        t, p = self.again, self.life.p_target
        new = bool(self.locked) and self.unread > 0.5 * (self.locked or 0)
        return new and t is not None and bool(p[t] > max(2 * p[t - 1], self.chance))

    @property
    def peak(self) -> int:
        """The step after which the output changes most."""
        return int(self.life.kl.argmax())

    @property
    def quiet(self) -> float:
        """Mean divergence over the last third of the life."""
        kl = self.life.kl
        return float(kl[-max(1, len(kl) // 3) :].mean())

    @property
    def even(self) -> float:
        """The share of attention that every position would get if none were preferred."""
        return 1 / self.life.settings.context

    @property
    def uneven(self) -> float:
        """The largest distance of any attention weight, at any step, from even."""
        return float(np.abs(self.life.attention - self.even).max())

    @property
    def moved(self) -> dict[str, float]:
        """Matrix → length of its whole change in a life, relative to its first weights."""
        return dict(zip(MATRICES, self.life.moved.tolist(), strict=True))

    def heat_peak(self, step: int) -> tuple[float, float]:
        """Temperature and height of the largest specific heat at a step."""
        return canonical.heat_peak(self.life.logits[step])

    @property
    def visited(self) -> int:
        """How many different windows were looked at."""
        read, context = self.life.inputs.tolist(), self.life.settings.context
        return len({tuple(read[max(0, t + 1 - context) : t + 1]) for t in range(len(read))})

    @property
    def windows(self) -> float:
        """The logarithm of the number of windows there could be."""
        return self.life.settings.context * self.most

    @property
    def on_nothing(self) -> float:
        """The share of attention that the empty places get at the first step."""
        return float(self.life.attention[0, :-1].sum())

    @property
    def shuffled(self) -> float:
        """The largest change of a logit when all earlier tokens change places, before anything is learned."""
        s = self.life.settings
        window = np.zeros((s.tokens, s.context))
        for place, token in enumerate(self.life.inputs[: s.context]):
            window[token, place] = 1
        weights = first_weights(s, np.random.default_rng(s.seed))
        other = np.concatenate([window[:, -2::-1], window[:, -1:]], axis=1)
        return float(np.abs(forward(weights, other).logits - forward(weights, window).logits).max())

    def anatomy(self, name: str) -> Array:
        """(step,): one of the `measures` of a life."""
        return self.life.anatomy[:, MEASURES.index(name)]

    @property
    def identity(self) -> float:
        """How far the loss is from the height of the target's level above the free energy, at T = 1."""
        free = canonical.free_energy(self.life.logits, np.ones(1))[0]
        return float(np.abs(-self.life.logits[:, self.life.target] - free - self.life.training_loss).max())

    def cosines(self, name: str) -> Array:
        """Cosines between the published change of a matrix and its true one, where there is a true one."""
        found: Array = self.cost.heuristic.cosines[:, MATRICES.index(name)]
        return found[np.isfinite(found)]

    def oversize(self, name: str) -> Array:
        """How many times longer the published change is than the true one, where there is a true one."""
        k, life = MATRICES.index(name), self.cost.heuristic
        real = np.isfinite(life.cosines[:, k])
        return life.change_sizes[real, k] / life.gradient_sizes[real, k]

    def table(self) -> dict[str, Any]:
        """The key numbers by name, for a script."""
        life, near, far = self.life, self.life.nearest_one, self.life.farthest_from_one
        return {
            "steps": len(life.steps), "tokens": life.settings.tokens, "target": life.target, "most_entropy": self.most,
            "training_entropy": ends(life.training_entropy), "training_loss": ends(life.training_loss),
            "p_target": ends(life.p_target), "p_max": ends(life.p_max),
            "worst_step": self.worst, "worst_loss": life.training_loss[self.worst],
            "reached_step": life.reached(), "locked_step": self.locked,
            "temperature_nearest_one": life.temperatures[near], "temperature_farthest_from_one": life.temperatures[far],
            "mean_entropy": {"coldest": life.mean_entropy[0], "nearest_one": life.mean_entropy[near],
                             "hottest": life.mean_entropy[-1]},
            "loss_nearest_one": ends(life.loss[near]), "kl_peak": life.kl[self.peak], "kl_peak_step": self.peak + 1,
            "attention": {"least": life.attention.min(), "most": life.attention.max(), "even": self.even},
            "cosines": {name: span(self.cosines(name)) for name in ("output", *ATTENDING)},
            "anatomy": {name: span(self.anatomy(name)) for name in MEASURES},
            "windows": {"visited": self.visited, "log_of_all": self.windows}, "shuffled": self.shuffled,
            "heat_peak": {"first": self.heat_peak(0)[0], "last": self.heat_peak(-1)[0]},
            "moved": self.moved,
            "short_cut": {"steps": self.cost.steps, "last_loss": self.cost.last_loss},
        }  # fmt: skip


def ends(values: Array) -> dict[str, float]:
    """First and last of a series."""
    return {"first": float(values[0]), "last": float(values[-1])}


def span(values: Array) -> dict[str, float | None]:
    """Least and most, and of how many; nothing where there are no values."""
    least, most = (float(values.min()), float(values.max())) if len(values) else (None, None)
    return {"least": least, "most": most, "values": len(values)}
