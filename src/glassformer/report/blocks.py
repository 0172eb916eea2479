"""Blocks of data inside an HTML file: gzip and base64, so that nothing in them means anything to a browser."""

import base64
import gzip
import html
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

GROWS = 4 / 3  # base64: four letters for three bytes


def block(name: str, data: bytes) -> str:
    """The element that carries some bytes under a name; the page finds and unpacks it."""
    text = base64.b64encode(packed(data)).decode("ascii")
    return f'<script type="text/plain" data-block="{html.escape(name)}">{text}</script>\n'


def packed(data: bytes) -> bytes:
    """gzip without a time or a name, so that the same bytes give the same bytes."""
    made = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=made, mtime=0) as file:
        file.write(data)
    return made.getvalue()


def as_json(value: Any) -> bytes:
    """JSON in which a number that is none is null."""
    return json.dumps(known(value), separators=(",", ":"), allow_nan=False).encode("ascii")


def known(value: Any) -> Any:
    """The same value as JSON can hold it; numbers that are none, and infinite ones, become None."""
    if isinstance(value, Mapping):
        return {str(key): known(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
