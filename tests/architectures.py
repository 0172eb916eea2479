"""Random architectures over every switch of the model, and which values of the switches they put to use."""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from glassformer.architecture import Architecture, Bias

BIASES: tuple[str, ...] = get_args(Bias)
NUMBERS = {  # switches that are numbers: the cases worth telling apart
    "outputs": ("all", "fewer"),
    "context": ("one", "several"),
    "blocks": ("one", "several"),
    "heads": ("one", "several"),
    "head_width": ("heads as wide as the stream", "heads of another width"),
    "feed_forward": ("none", "some"),
    "norm_epsilon": (1e-5, 1e-2),
    "dropout": (0.0, 0.1),
    "read_position": ("every", "one"),
    "embedding_init": (1.0, 0.5),
}
ANY_SIZE = ("vocabulary", "width")  # every value is used alike


@st.composite
def architectures(draw: Any) -> Architecture:
    """A valid architecture from hypothesis, which can simplify it but draws many examples more than once."""
    return _chosen(lambda among: draw(st.sampled_from(among)))


def sampled(rng: Random, tiny: bool = False) -> Architecture:
    """A valid architecture from a generator; a tiny one has few enough parameters to try each of them."""
    return _chosen(rng.choice, tiny)


def _chosen(choose: Callable[[Sequence[Any]], Any], tiny: bool = False) -> Architecture:
    """The choices are made in an order in which none contradicts an earlier one."""
    either = (False, True)
    few, many = ((1, 2), (1, 2, 3)) if tiny else ((1, 2, 3), (1, 2, 3, 4, 5))
    attention = choose(("on", "on", "on", "off", "mean"))
    positions = choose(("learned", "sinusoidal", "none", *(["rotary"] * 2 if attention == "on" else [])))
    heads, head_width = choose(few), choose([size for size in many[:4] if positions != "rotary" or size % 2 == 0])
    projection, tied = choose(either), choose(either)
    vocabulary, context = 1 + choose(many), choose(many)
    feed_forward, norm = choose((0, 1, 3) if tiny else (0, 1, 7)), choose(("none", "layer", "rms"))
    return Architecture(
        vocabulary=vocabulary,
        outputs=vocabulary if tied else choose((vocabulary, vocabulary - 1)),
        context=context,
        width=choose(many) if projection else heads * head_width,
        blocks=choose(few),
        heads=heads,
        head_width=head_width,
        feed_forward=feed_forward,
        activation=choose(("relu", "gelu", "tanh")),
        norm=norm,
        norm_place=choose(("pre", "post")),
        norm_epsilon=choose(NUMBERS["norm_epsilon"]),
        final_norm=norm != "none" and choose(either),
        positions=positions,
        causal=choose(either),
        residual=choose(either) if attention != "off" or feed_forward else True,
        attention=attention,
        output_projection=projection,
        biases=tuple(bias for bias in BIASES if (projection or bias != "projection") and choose(either)),
        tied_embedding=tied,
        score_scale=choose(("head", "width")),
        dropout=choose(NUMBERS["dropout"]),
        read_position=choose((None, *range(context))),
        embedding_init=choose(NUMBERS["embedding_init"]),
        linear_init=choose(("fan_in", "xavier", "normal", "plain_normal")),
    )


def every_value() -> set[tuple[str, Any]]:
    """Every switch of `Architecture` with each of its values; a switch that this file does not know is an error."""
    found: set[tuple[str, Any]] = set()
    for name, kind in get_type_hints(Architecture).items():
        if name == "biases":
            found |= {(name, f"{having} {bias}") for bias in BIASES for having in ("with", "without")}
        elif name not in ANY_SIZE:
            values = get_args(kind) if get_origin(kind) is Literal else (False, True) if kind is bool else NUMBERS[name]
            found |= {(name, value) for value in values}
    return found


def values_in_use(a: Architecture) -> set[tuple[str, Any]]:
    """Those of `every_value` that matter to this architecture: without neurons, for example, no activation does."""
    attends, feeds, several = a.attention != "off", a.feed_forward > 0, a.context > 1
    branches = attends or feeds
    normed = a.norm != "none" and (branches or a.final_norm)
    matters = {
        "heads": attends,
        "head_width": attends,
        "activation": feeds,
        "norm": branches,
        "norm_place": normed and branches,
        "norm_epsilon": normed,
        "positions": several,
        "causal": attends and several,
        "residual": branches,
        "blocks": branches,
        "output_projection": attends,
        "score_scale": a.attention == "on" and a.per_head != a.width,
    }
    cases = {
        "outputs": "all" if a.answers == a.vocabulary else "fewer",
        "context": "several" if several else "one",
        "blocks": "one" if a.blocks == 1 else "several",
        "heads": "one" if a.heads == 1 else "several",
        "head_width": "heads as wide as the stream" if a.inner == a.width else "heads of another width",
        "feed_forward": "some" if feeds else "none",
        "read_position": "every" if a.read_position is None else "one",
    }
    has_place = {
        "attention": attends,
        "projection": attends and a.output_projection,
        "feed_forward": feeds,
        "norm": normed and a.norm == "layer",
        "read_out": True,
    }
    names = {name for name, _ in every_value()} - {"biases"}
    used = {(name, cases.get(name, getattr(a, name))) for name in names if matters.get(name, True)}
    return used | {
        ("biases", f"{'with' if bias in a.biases else 'without'} {bias}") for bias in BIASES if has_place[bias]
    }


@cache
def _quick_options() -> dict[str, Any]:
    """Options of XLA that shorten compiling; one that the installed version does not know is left out."""
    import jax

    wanted = {
        "xla_backend_optimization_level": 0,
        "xla_llvm_disable_expensive_passes": True,
        "xla_cpu_use_fusion_emitters": False,  # by far the most time
        "xla_cpu_parallel_codegen_split_count": 1,
    }
    known = {}
    for name, value in wanted.items():
        try:
            jax.jit(lambda x: x, compiler_options={name: value})(0.0)
        except jax.errors.JaxRuntimeError:
            continue
        known[name] = value
    return known


def quick_jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """`jax.jit` for a function that runs once: it compiles several times as fast, to code that is slower."""
    import jax

    return jax.jit(function, compiler_options=_quick_options())
