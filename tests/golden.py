"""What PyTorch computes for small models that between them use every switch, kept in golden.safetensors.

The weights follow from a formula, so that only PyTorch's logits, losses and gradients are kept. Here the model is
written with PyTorch's own functions where it has them. To make the file anew, where PyTorch is installed
(`pip install 'glassformer[benchmark]'`): `python tests/golden.py`.
"""

from functools import partial
from pathlib import Path

import numpy as np

from glassformer.architecture import Architecture, nest
from glassformer.tensors import pack

FILE = Path(__file__).with_suffix(".safetensors")
TOKENS = np.array([[0, 3, 1, 4], [2, 2, 4, 0], [1, 4, 0, 3]])  # (batch, position)
TARGETS = np.array([[3, 1, 4, 2], [2, 4, 0, 1], [4, 0, 3, 2]])
EVERY_BIAS = ("attention", "projection", "feed_forward", "norm", "read_out")
SWITCHES = {
    "plain": {},
    "layer norm before": {"norm": "layer", "final_norm": True, "blocks": 2, "activation": "gelu"},
    "layer norm after": {"norm": "layer", "norm_place": "post", "positions": "sinusoidal", "width": 3, "head_width": 2,
                         "activation": "tanh", "biases": EVERY_BIAS},
    "root mean square before": {"norm": "rms", "final_norm": True, "positions": "rotary", "head_width": 4,
                                "tied_embedding": True, "activation": "gelu", "biases": ()},
    "root mean square after": {"norm": "rms", "norm_place": "post", "norm_epsilon": 0.01, "positions": "none"},
    "no residual, one answer": {"residual": False, "causal": False, "read_position": 1, "outputs": 3, "blocks": 2,
                                "score_scale": "width", "norm": "layer", "biases": ("attention", "read_out")},
    "heads joined as they are": {"output_projection": False, "causal": False, "positions": "sinusoidal"},
    "even attention": {"attention": "mean"},
    "even attention to all": {"attention": "mean", "causal": False, "heads": 1, "biases": EVERY_BIAS},
    "no attention": {"attention": "off", "norm": "layer", "activation": "tanh"},
    "attention alone": {"feed_forward": 0, "blocks": 2, "tied_embedding": True},
}  # fmt: skip
CASES = {
    name: Architecture(**{"vocabulary": 5, "context": 4, "width": 4, "heads": 2, "feed_forward": 6} | switches)
    for name, switches in SWITCHES.items()
}


def weights(a: Architecture) -> dict[str, np.ndarray]:
    """Numbers between -0.8 and 0.8 without a pattern, to the same bit everywhere: no bias is zero, no scale is one."""
    place = np.arange(1.0, 1 + a.parameters)
    each = iter(1.6 * (place * place * np.sqrt(2.0) % 1) - 0.8)
    return {name: np.array([next(each) for _ in range(int(np.prod(s)))]).reshape(s) for name, s in a.shapes().items()}


def targets(a: Architecture) -> np.ndarray:
    """(batch, place): what should be answered, at every position or at the one that is read."""
    return (TARGETS if a.read_position is None else TARGETS[:, -1:]) % a.answers


def compute(a: Architecture) -> dict[str, np.ndarray]:
    """PyTorch's logits, loss and gradient: the gradients of all parameters end to end."""
    import torch

    given = {name: torch.tensor(value, requires_grad=True) for name, value in weights(a).items()}
    logits = transformer(a, nest(given), torch.tensor(TOKENS))
    read = logits if a.read_position is None else logits[:, [a.read_position]]
    loss = torch.nn.functional.cross_entropy(read.flatten(0, 1), torch.tensor(targets(a)).flatten())
    gradient = torch.cat([each.flatten() for each in torch.autograd.grad(loss, list(given.values()))])
    return {"logits": logits.detach().numpy(), "loss": loss.detach().numpy(), "gradient": gradient.numpy()}


def transformer(a, w, tokens):
    """Logits for every position."""
    import torch
    from torch.nn import functional

    def norm(x, w, name):
        if a.norm == "none":
            return x
        if a.norm == "rms":
            return functional.rms_norm(x, (a.width,), w[name], a.norm_epsilon)
        return functional.layer_norm(x, (a.width,), w[name], w.get(f"{name}_bias"), a.norm_epsilon)

    def linear(x, w, name):
        return functional.linear(x, w[name].T, w.get(f"{name}_bias"))

    def turned(x):  # each pair of features is a complex number, and its place an angle
        pairs = torch.complex(*x.chunk(2, dim=-1))
        speed = 1e4 ** -(torch.arange(pairs.shape[-1]).double() / pairs.shape[-1])
        pairs = pairs * torch.exp(1j * torch.outer(torch.arange(x.shape[-2]).double(), speed))
        return torch.cat([pairs.real, pairs.imag], dim=-1)

    def attention(x, w):
        def heads(name):
            return linear(x, w, name).unflatten(-1, (a.heads, -1)).transpose(1, 2)

        if a.attention == "on":
            query, key = heads("query"), heads("key")
            if a.positions == "rotary":
                query, key = turned(query), turned(key)
            scale = (a.per_head if a.score_scale == "head" else a.width) ** -0.5
            mixed = functional.scaled_dot_product_attention(query, key, heads("value"), is_causal=a.causal, scale=scale)
        elif a.causal:
            mixed = heads("value").cumsum(-2) / torch.arange(1, 1 + x.shape[-2])[:, None]
        else:
            mixed = heads("value").mean(-2, keepdim=True).expand(-1, -1, x.shape[-2], -1)
        mixed = mixed.transpose(1, 2).flatten(2)
        return linear(mixed, w, "output") if a.output_projection else mixed

    def feed_forward(x, w):
        return linear(getattr(functional, a.activation)(linear(x, w, "expand")), w, "contract")

    def branch(x, part, normed):
        y = part(normed(x) if a.norm_place == "pre" else x)
        y = x + y if a.residual else y
        return normed(y) if a.norm_place == "post" else y

    x = functional.embedding(tokens, w["token"])
    if a.positions == "learned":
        x = x + w["position"]
    elif a.positions == "sinusoidal":
        waves = [torch.arange(a.context).double() / 1e4 ** (2 * (i // 2) / a.width) for i in range(a.width)]
        x = x + torch.stack([wave.cos() if i % 2 else wave.sin() for i, wave in enumerate(waves)], dim=-1)
    for block in w["blocks"]:
        if a.attention != "off":
            x = branch(x, partial(attention, w=block), partial(norm, w=block, name="norm_1"))
        if a.feed_forward:
            x = branch(x, partial(feed_forward, w=block), partial(norm, w=block, name="norm_2"))
    x = norm(x, w, "norm") if a.final_norm else x
    return functional.linear(x, w["token"] if a.tied_embedding else w["read_out"].T, w.get("read_out_bias"))


def make() -> bytes:
    """The file: worked out in double precision, kept in single."""
    found = {f"{case}: {part}": value for case, a in CASES.items() for part, value in compute(a).items()}
    return pack({name: value.astype(np.float32) for name, value in found.items()})


if __name__ == "__main__":
    FILE.write_bytes(make())
