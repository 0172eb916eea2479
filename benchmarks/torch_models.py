"""The same models in PyTorch, written as tutorials write them: eager, one module per head, a Python loop over steps.

Nothing here is slowed down on purpose, and nothing is tuned: this is the code a reader would otherwise start from.
"""

from collections.abc import Callable, Iterator, Mapping
from math import log

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.architecture import Architecture
from glassformer.experiment import Training


class Head(nn.Module):
    """One head of attention, with its own three matrices."""

    def __init__(self, a: Architecture) -> None:
        super().__init__()
        self.query = nn.Linear(a.width, a.per_head, bias=False)
        self.key = nn.Linear(a.width, a.per_head, bias=False)
        self.value = nn.Linear(a.width, a.per_head, bias=False)
        self.causal = a.causal
        self.scale = (a.per_head if a.score_scale == "head" else a.width) ** -0.5
        self.register_buffer("mask", torch.tril(torch.ones(a.context, a.context)))

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        scores = self.query(x) @ self.key(x).transpose(-2, -1) * self.scale
        if self.causal:
            scores = scores.masked_fill(self.mask[:length, :length] == 0, float("-inf"))
        return functional.softmax(scores, dim=-1) @ self.value(x)


class SeparateHeads(nn.Module):
    """The heads one after the other, side by side in the result."""

    def __init__(self, a: Architecture) -> None:
        super().__init__()
        self.heads = nn.ModuleList([Head(a) for _ in range(a.heads)])
        self.output = nn.Linear(a.inner, a.width, bias="projection" in a.biases) if a.output_projection else None

    def forward(self, x: Tensor) -> Tensor:
        mixed = torch.cat([head(x) for head in self.heads], dim=-1)
        return mixed if self.output is None else self.output(mixed)


class JoinedHeads(nn.Module):
    """All heads at once, queries, keys and values from one matrix: how the larger models are written."""

    def __init__(self, a: Architecture) -> None:
        super().__init__()
        self.heads, self.per_head, self.causal = a.heads, a.per_head, a.causal
        self.joined = nn.Linear(a.width, 3 * a.inner, bias=False)
        self.output = nn.Linear(a.inner, a.width, bias="projection" in a.biases)
        self.register_buffer("mask", torch.tril(torch.ones(a.context, a.context)))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        joined = self.joined(x).reshape(batch, length, 3, self.heads, self.per_head)
        query, key, value = joined.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) / self.per_head**0.5
        if self.causal:
            scores = scores.masked_fill(self.mask[:length, :length] == 0, float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ value
        return self.output(mixed.transpose(1, 2).reshape(batch, length, -1))


class FeedForward(nn.Module):
    """Expand, activate, contract."""

    def __init__(self, a: Architecture) -> None:
        super().__init__()
        bias = "feed_forward" in a.biases
        activation = {"relu": nn.ReLU, "gelu": nn.GELU, "tanh": nn.Tanh}[a.activation]()
        expand, contract = nn.Linear(a.width, a.feed_forward, bias), nn.Linear(a.feed_forward, a.width, bias)
        self.net = nn.Sequential(expand, activation, contract)

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


class RootMeanSquare(nn.Module):
    """The norm without centring."""

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight


def norm(a: Architecture) -> nn.Module | None:
    """The norm of an architecture, if it has one."""
    if a.norm == "layer":
        return nn.LayerNorm(a.width, eps=a.norm_epsilon)
    return RootMeanSquare(a.width, a.norm_epsilon) if a.norm == "rms" else None


class Block(nn.Module):
    """Attention, then the feed-forward part, each added to what came in."""

    def __init__(self, a: Architecture, joined: bool) -> None:
        super().__init__()
        self.attention = JoinedHeads(a) if joined else SeparateHeads(a)
        self.feed_forward = FeedForward(a)
        self.norm_1, self.norm_2 = norm(a), norm(a)
        self.post = a.norm_place == "post"

    def forward(self, x: Tensor) -> Tensor:
        if self.norm_1 is None:
            x = x + self.attention(x)
            return x + self.feed_forward(x)
        if self.post:
            x = self.norm_1(x + self.attention(x))
            return self.norm_2(x + self.feed_forward(x))
        x = x + self.attention(self.norm_1(x))
        return x + self.feed_forward(self.norm_2(x))


class Transformer(nn.Module):
    """Logits for every position."""

    def __init__(self, a: Architecture) -> None:
        super().__init__()
        self.joined = a.norm == "rms"  # tutorials that have come as far as this norm also join the heads
        self.token = nn.Embedding(a.vocabulary, a.width)
        self.position = nn.Embedding(a.context, a.width) if a.positions == "learned" else None
        if self.position is None:
            place = torch.arange(a.context, dtype=torch.float64)[:, None]
            angle = place * torch.exp(torch.arange(0, a.width, 2, dtype=torch.float64) * (-log(10_000) / a.width))
            self.register_buffer("waves", torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float())
        self.blocks = nn.Sequential(*[Block(a, self.joined) for _ in range(a.blocks)])
        self.norm = norm(a) if a.final_norm else None
        self.read_out = nn.Linear(a.width, a.answers, bias="read_out" in a.biases)

    def forward(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        places = self.waves[:length] if self.position is None else self.position(torch.arange(length))
        x = self.blocks(self.token(tokens) + places)
        return self.read_out(x if self.norm is None else self.norm(x))


def batch_loss(model: nn.Module, x: Tensor, y: Tensor, read_position: int | None) -> Tensor:
    """Mean nats per predicted token; `y` is what follows every token, or the one answer of each window."""
    logits = model(x)
    if read_position is not None:
        return functional.cross_entropy(logits[:, read_position], y)
    return functional.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1))


def optimizer(model: nn.Module, train: Training, **tuning: bool) -> torch.optim.Optimizer:
    """The optimiser that the settings describe."""
    parameters, betas = model.parameters(), (train.beta_1, train.beta_2)
    if train.optimiser == "adamw":
        return torch.optim.AdamW(parameters, train.rate, betas, train.epsilon, train.decay, **tuning)
    if train.optimiser == "adam":
        return torch.optim.Adam(parameters, train.rate, betas, train.epsilon, **tuning)
    return torch.optim.SGD(parameters, train.rate, train.momentum if train.optimiser == "momentum" else 0, **tuning)


def update(model: nn.Module, optimiser: torch.optim.Optimizer, loss: Tensor, clip: float | None) -> None:
    """One step downhill."""
    optimiser.zero_grad()
    loss.backward()
    if clip is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=clip)
    optimiser.step()


def parts(model: Transformer, of: Callable[[nn.Parameter], Tensor]) -> Iterator[tuple[str, list[Tensor]]]:
    """Our name of every parameter, and what holds it here: `of` says whether that means the weight or its gradient.

    In our order. Where there are several tensors they are heads, which lie side by side in ours.
    """

    def linear(name: str, layer: nn.Linear | None) -> Iterator[tuple[str, list[Tensor]]]:
        if layer is not None:
            yield name, [of(layer.weight)]
            if layer.bias is not None:
                yield f"{name}_bias", [of(layer.bias)]

    def norm(name: str, layer: nn.Module | None) -> Iterator[tuple[str, list[Tensor]]]:
        if layer is not None:
            yield name, [of(layer.weight)]
            if isinstance(layer, nn.LayerNorm):
                yield f"{name}_bias", [of(layer.bias)]

    yield "token", [of(model.token.weight)]
    if model.position is not None:
        yield "position", [of(model.position.weight)]
    for i, block in enumerate(model.blocks):
        yield from norm(f"blocks.{i}.norm_1", block.norm_1)
        for k, name in enumerate(("query", "key", "value")):
            if model.joined:
                yield f"blocks.{i}.{name}", [of(block.attention.joined.weight).chunk(3)[k]]
            else:
                yield f"blocks.{i}.{name}", [of(getattr(head, name).weight) for head in block.attention.heads]
        yield from linear(f"blocks.{i}.output", block.attention.output)
        yield from norm(f"blocks.{i}.norm_2", block.norm_2)
        yield from linear(f"blocks.{i}.expand", block.feed_forward.net[0])
        yield from linear(f"blocks.{i}.contract", block.feed_forward.net[2])
    yield from norm("norm", model.norm)
    yield from linear("read_out", model.read_out)


def _turn(name: str, tensor: Tensor) -> Tensor:
    """Our matrices map rows to columns; `nn.Linear` keeps them the other way round, `nn.Embedding` does not."""
    return tensor.T if tensor.ndim == 2 and name not in ("token", "position") else tensor


def copy_in(model: Transformer, params: Mapping[str, np.ndarray]) -> None:
    """Give the model our weights."""
    found = dict(parts(model, lambda parameter: parameter.data))
    if list(found) != list(params):
        raise ValueError(f"the two models have different parameters: {sorted(found.keys() ^ params.keys())}")
    for name, tensors in found.items():
        pieces = np.split(params[name], len(tensors), axis=-1)
        for tensor, piece in zip(tensors, pieces, strict=True):
            tensor.copy_(_turn(name, torch.tensor(piece)))


def read_off(model: Transformer, of: Callable[[nn.Parameter], Tensor]) -> dict[str, np.ndarray]:
    """The model's weights (or gradients), laid out as ours."""
    found = parts(model, of)
    return {name: torch.cat([_turn(name, t.detach()) for t in tensors], dim=-1).numpy() for name, tensors in found}
