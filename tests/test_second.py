"""A second process that shares the work, and what the first one leaves it of the machine."""

from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from glassformer.second import Second


def threads() -> set[int]:
    """With how many threads matrices are multiplied here."""
    assert np.ones((2, 2)).sum() == 4
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def told(_setup):
    """What the second process of the test does: say how many threads it has."""
    return lambda _order: iter([sorted(threads())])


def test_two_processes_have_one_thread_each_and_the_first_gets_its_own_back(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with threadpool_limits(2, "blas"):
        before = threads()
        with Second("test_second:told", None) as other:
            other.ready()
            assert threads() == {1}
            assert list(other.ask("")) == [[1]]
        assert threads() == before == {2}
