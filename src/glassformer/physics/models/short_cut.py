"""What the short cut costs: one life with the published rule, with true gradients, and with the output alone."""

from dataclasses import dataclass, replace

from glassformer.physics.models.one_layer import Life, OneLayer, one_layer

SHARE = 0.95  # a life has learned when its target keeps this chance to the end


@dataclass(frozen=True, kw_only=True, eq=False)
class ShortCut:
    """Five lives from the same first weights. `equal` lives change every matrix at the output's rate."""

    heuristic: Life
    true: Life
    output_only: Life  # nothing but the output matrix learns
    equal_heuristic: Life
    equal_true: Life

    @property
    def lives(self) -> dict[str, Life]:
        """Name → life."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def steps(self) -> dict[str, int | None]:
        """Name → the step from which the target keeps its share; None: never."""
        return {name: life.reached(SHARE) for name, life in self.lives.items()}

    @property
    def last_loss(self) -> dict[str, float]:
        """Name → the loss at the last step, in nats at T = 1."""
        return {name: float(life.training_loss[-1]) for name, life in self.lives.items()}


def short_cut(settings: OneLayer | None = None) -> ShortCut:
    """The five lives; whatever `gradients` says, both rules are lived."""
    s = replace(settings or OneLayer(), temperatures=1)  # only T = 1 is compared
    equal = replace(s, projection_rate=s.output_rate)
    return ShortCut(
        heuristic=one_layer(replace(s, gradients="heuristic")),
        true=one_layer(replace(s, gradients="true")),
        output_only=one_layer(replace(s, gradients="heuristic", projection_rate=0.0)),
        equal_heuristic=one_layer(replace(equal, gradients="heuristic")),
        equal_true=one_layer(replace(equal, gradients="true")),
    )
