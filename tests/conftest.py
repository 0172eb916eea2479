"""All tests share what XLA compiles: the same small models are trained many times, here and in processes begun here."""

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

from hypothesis import settings

QUICK_FLAGS = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true --xla_cpu_use_fusion_emitters=false"
)
COMPILED = Path(__file__).parents[1] / ".pytest_cache" / "compiled"  # gone with `pytest --cache-clear`


def _quick_flags() -> str:
    """Options that halve the time of compiling; XLA ends a process that gives one it does not know."""
    known = subprocess.run(
        [sys.executable, "-c", "import jax; jax.devices()"],
        env={**os.environ, "XLA_FLAGS": QUICK_FLAGS, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
    )
    return QUICK_FLAGS if known.returncode == 0 else "--xla_backend_optimization_level=1"


os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
if "XLA_FLAGS" not in os.environ:  # processes begun here inherit them
    os.environ["XLA_FLAGS"] = _quick_flags()
os.environ["GLASSFORMER_TRACEBACK"] = "1"  # what a command did not foresee is a test that fails

gc.set_threshold(200_000, 20, 100)  # with the usual 700, a fifth of the time goes into looking for garbage

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # begun in the background, where Ctrl-C is nobody's
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples every time, so that a test that fails fails by its change; `--hypothesis-profile explore` looks on.
settings.register_profile("same", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile("same")
