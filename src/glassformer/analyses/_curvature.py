"""Second derivatives of the training loss, in double precision: the whole matrix, or its action on a vector."""

from collections.abc import Callable
from typing import Any

import numpy as np

from glassformer.analyses._life import tensors
from glassformer.analyses._result import Array
from glassformer.architecture import nest
from glassformer.counted import counted
from glassformer.run import Run

TOGETHER = 16  # columns of the matrix worked on side by side


class Curvature:
    """The loss of a run's model on fixed windows of its training part, and the derivatives of it."""

    def __init__(self, run: Run, most: int) -> None:
        self.run, self.windows = run, run.task.examples(run.architecture.context, "train", most).windows
        self._compiled: dict[str, Any] = {}

    def gradient(self, weights: Array) -> Array:
        """(parameter,)."""
        return self._call("gradient", weights)

    def matrix(self, weights: Array) -> Array:
        """(parameter, parameter): every second derivative, made symmetric."""
        found = self._call("matrix", weights)
        return (found + found.T) / 2

    def times(self, weights: Array, vector: Array) -> Array:
        """(parameter,): the matrix times a vector, without the matrix."""
        return self._call("times", weights, vector)

    def _call(self, name: str, *given: Array) -> Array:
        import jax

        with jax.enable_x64(True):
            if name not in self._compiled:
                self._compiled[name] = jax.jit(self._functions()[name])
            return np.asarray(self._compiled[name](*(np.asarray(each, np.float64) for each in given)))

    def _functions(self) -> dict[str, Callable[..., Any]]:
        import jax
        import jax.numpy as jnp

        from glassformer import model

        a, places = self.run.architecture, tensors(self.run)
        shapes, windows = a.shapes(), jnp.asarray(self.windows)
        came = counted(a, self.run.task.skip).came

        def loss(flat: Any) -> Any:
            params = nest({name: flat[place].reshape(shapes[name]) for name, place in places.items()})
            return model.loss(model.answers(params, windows[:, :-1], a)[:, came], windows[:, 1:][:, came]).mean()

        def times(flat: Any, vector: Any) -> Any:
            return jax.jvp(jax.grad(loss), (flat,), (vector,))[1]

        def matrix(flat: Any) -> Any:
            every = jnp.eye(len(flat), dtype=flat.dtype)
            return jax.lax.map(lambda one: times(flat, one), every, batch_size=TOGETHER)

        return {"gradient": jax.grad(loss), "times": times, "matrix": matrix}


def lanczos(times: Callable[[Array], Array], size: int, rounds: int, seed: int = 0) -> tuple[Array, Array]:
    """Ritz values of a symmetric matrix, in rising order, and the weight of each: an estimate of its spectrum.

    The outermost values are nearly eigenvalues; the weights estimate which share of all eigenvalues lies near each.
    """
    rng = np.random.default_rng(seed)
    basis = np.zeros((min(rounds, size), size))
    basis[0] = rng.normal(size=size)
    basis[0] /= np.linalg.norm(basis[0])
    across, beside = [], []
    for k in range(len(basis)):
        moved = times(basis[k])
        across.append(float(moved @ basis[k]))
        for _ in range(2):  # once is not enough: rounding would bring found directions back
            moved = moved - basis[: k + 1].T @ (basis[: k + 1] @ moved)
        length = float(np.linalg.norm(moved))
        if k + 1 == len(basis) or length < 1e-12:
            break
        beside.append(length)
        basis[k + 1] = moved / length
    table = np.diag(across) + np.diag(beside[: len(across) - 1], 1) + np.diag(beside[: len(across) - 1], -1)
    values, vectors = np.linalg.eigh(table)
    return values, vectors[0] ** 2
