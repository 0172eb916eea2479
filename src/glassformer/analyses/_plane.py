"""From many features to a plane: without loss where there are two, honestly with loss where there are more."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses._result import Array, percent
from glassformer.errors import CallError

DIRECTIONS = ("horizontal", "vertical")  # of every plane
CLEAR = 0.6  # under this share of the variance, the title must say "projection"


@dataclass(frozen=True)
class Plane:
    """A fixed linear map to two coordinates. Points are moved by `origin` first, directions are not."""

    origin: Array  # (feature,)
    basis: Array  # (feature, 2)
    labels: tuple[str, str]
    shares: tuple[float, ...]  # of the variance of the points it was fitted to, one per axis

    @property
    def width(self) -> int:
        """Features it maps from."""
        return len(self.basis)

    @property
    def lossless(self) -> bool:
        """Whether the features themselves are drawn."""
        return self.width <= 2

    @property
    def kept(self) -> float:
        """Share of the variance that is drawn."""
        return float(min(1.0, sum(self.shares)))

    @property
    def is_projection(self) -> bool:
        """Whether so much is lost that the title must say so."""
        return self.kept < CLEAR

    @property
    def zero(self) -> Array:
        """(2,): where the point with all features 0 is drawn."""
        return -self.origin @ self.basis

    def points(self, values: Array, spread: Array | None = None) -> Array:
        """(..., feature) → (..., 2). One feature is a line; `spread` (0 to 1 per point) then fans the points out."""
        with np.errstate(invalid="ignore"):  # what is not a number has no place
            drawn: Array = (np.asarray(values, dtype=np.float64) - self.origin) @ self.basis
        if self.width == 1 and spread is not None:
            drawn[..., 1] = spread
        return drawn

    def directions(self, values: Array) -> Array:
        """(..., feature) → (..., 2): differences and arrows, which have no place of their own."""
        return np.asarray(values, dtype=np.float64) @ self.basis


def plane(points: Array, features: tuple[int, int] | Array | None = None) -> Plane:
    """The plane of these points (..., feature): raw for one or two features, principal components for more.

    `features`: two feature numbers, or two directions (2, feature), made orthogonal, in place of the components.
    A film fits it once, on the last step.
    """
    flat = np.asarray(points, dtype=np.float64).reshape(-1, np.shape(points)[-1])
    width = flat.shape[1]
    flat = flat[np.isfinite(flat).all(axis=1)]
    if width == 1:
        return Plane(np.zeros(1), np.array([[1.0, 0.0]]), ("feature 0", ""), (1.0, 0.0))
    if features is not None:
        return _asked(flat, width, np.asarray(features))
    if width == 2 or not len(flat):
        return Plane(
            np.zeros(width), np.eye(width, 2), ("feature 0", "feature 1"), (1.0, 0.0) if width == 2 else (0, 0)
        )
    centre = flat.mean(axis=0)
    _, sizes, rows = np.linalg.svd(flat - centre, full_matrices=False)
    power = sizes**2 / max(float((sizes**2).sum()), 1e-300)
    rows, power = np.vstack([rows, np.zeros((2, width))])[:2], np.append(power, [0, 0])[:2]
    signs = np.sign(rows[np.arange(2), np.abs(rows).argmax(axis=1)])  # the largest loading points up or right
    basis = (rows * np.where(signs == 0, 1, signs)[:, None]).T
    beside = centre - basis @ (basis.T @ centre)  # through the points' mean, but counted from where all features are 0
    return Plane(beside, basis, _component_labels(power), tuple(map(float, power)))


def _component_labels(power: Array) -> tuple[str, str]:
    first, second = (f"component {k + 1} · {percent(float(share))}" for k, share in enumerate(power))
    return first, second


def _asked(flat: Array, width: int, asked: Array) -> Plane:
    total = max(float(flat.var(axis=0).sum()), 1e-300) if len(flat) else 1.0
    if asked.shape == (2,):
        if not (asked.min() >= 0 and asked.max() < width) or asked[0] == asked[1]:
            raise CallError(f"plane = {tuple(asked.tolist())} must be two different features from 0 to {width - 1}")
        basis = np.eye(width)[:, asked.astype(int)]
        shares = tuple(float(flat[:, k].var() / total) for k in asked.astype(int)) if len(flat) else (0.0, 0.0)
        names = tuple(f"feature {k} · {percent(share)}" for k, share in zip(asked, shares, strict=True))
        return Plane(np.zeros(width), basis, (names[0], names[1]), shares)
    basis, _ = np.linalg.qr(asked.reshape(2, width).T.astype(np.float64))
    basis = basis * np.sign(np.sum(basis * asked.T, axis=0))
    shares = tuple(float(v) for v in (flat @ basis).var(axis=0) / total) if len(flat) else (0.0, 0.0)
    return Plane(np.zeros(width), basis, ("direction 1", "direction 2, made perpendicular"), shares)


@dataclass(frozen=True)
class PairPlane:
    """One plane for queries and keys: the drawn dot products come as close to the real ones as a plane allows."""

    query: Array  # (feature, 2) from a query to the plane
    key: Array  # (feature, 2) from a key to the plane
    kept: float  # share of the variance of the scores that the drawn dot products explain
    labels: tuple[str, str]

    @property
    def lossless(self) -> bool:
        """Whether queries and keys are drawn as they are."""
        return len(self.query) <= 2

    def queries(self, values: Array) -> Array:
        """(..., feature) → (..., 2)."""
        return np.asarray(values, dtype=np.float64) @ self.query

    def keys(self, values: Array) -> Array:
        """(..., feature) → (..., 2)."""
        return np.asarray(values, dtype=np.float64) @ self.key


def pair_plane(queries: Array, keys: Array) -> PairPlane:
    """The plane of one head's queries and keys, (..., feature) each: raw up to two features, else the best rank two."""
    q, k = (np.asarray(each, dtype=np.float64).reshape(-1, np.shape(each)[-1]) for each in (queries, keys))
    q, k = (each[np.isfinite(each).all(axis=1)] for each in (q, k))
    width = q.shape[1]
    if width <= 2:
        labels = ("feature 0", "feature 1" if width == 2 else "")
        return PairPlane(np.eye(width, 2), np.eye(width, 2), 1.0, labels)
    if not len(q) or not len(k):
        return PairPlane(np.eye(width, 2), np.eye(width, 2), 0.0, ("factor 1", "factor 2"))
    left_q, right_q = np.linalg.qr(q)
    left_k, right_k = np.linalg.qr(k)
    left, sizes, right = np.linalg.svd(right_q @ right_k.T)
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])[:2]
    root = np.sqrt(sizes[:2]) * np.where(signs == 0, 1, signs)
    drawn_q, drawn_k = left_q @ left[:, :2] * root, left_k @ right.T[:, :2] * root
    scores = q @ k.T
    lost = float(((scores - drawn_q @ drawn_k.T) ** 2).sum())
    spread = float(((scores - scores.mean()) ** 2).sum())
    kept = max(0.0, 1 - lost / spread) if spread > 0 else 1.0
    return PairPlane(np.linalg.pinv(q) @ drawn_q, np.linalg.pinv(k) @ drawn_k, kept, ("factor 1", "factor 2"))
