"""All tests share what XLA compiles: the same small models are trained many times, here and in processes begun here."""

import os
from pathlib import Path

COMPILED = Path(__file__).parents[1] / ".pytest_cache" / "compiled"  # gone with `pytest --cache-clear`

os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
