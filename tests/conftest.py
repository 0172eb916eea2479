"""All tests share what XLA compiles: the same small models are trained many times, here and in processes begun here."""

import os
import signal
from pathlib import Path

from hypothesis import settings

COMPILED = Path(__file__).parents[1] / ".pytest_cache" / "compiled"  # gone with `pytest --cache-clear`

os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=1")  # what compiles is small, and runs briefly
os.environ["GLASSFORMER_TRACEBACK"] = "1"  # what a command did not foresee is a test that fails

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # begun in the background, where Ctrl-C is nobody's
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples every time, so that a test that fails fails by its change; `--hypothesis-profile explore` looks on.
settings.register_profile("same", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile("same")
