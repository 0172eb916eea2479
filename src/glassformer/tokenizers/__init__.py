"""One file per way of cutting a text into tokens; the file's name is the tokenizer's name."""

import json

from glassformer import _discover
from glassformer.errors import DamagedError
from glassformer.tokenizers._tokenizer import Tokenizer

__all__ = ["Tokenizer", "find", "load", "names"]

LIBRARY = {"Whitespace": "bpe", "ByteLevel": "byte_bpe"}  # the library's name of cutting beforehand → ours


def names() -> list[str]:
    """Every tokenizer there is."""
    import glassformer.tokenizers as folder

    return _discover.names(folder)


def find(name: str) -> type[Tokenizer]:
    """The class of a tokenizer: tokenizers/byte_bpe.py holds ByteBpe."""
    import glassformer.tokenizers as folder

    found: type[Tokenizer] = _discover.piece(folder, name, "".join(word.capitalize() for word in name.split("_")))
    return found


def load(data: bytes, where: str) -> Tokenizer:
    """The tokenizer that `Tokenizer.save` wrote; `where` names the file in what is said about it.

    A file without a kind is one of the `tokenizers` library: how it cuts a text beforehand tells which of ours it is.
    """
    try:
        saved = json.loads(data)
        if "kind" not in saved:
            saved = {"kind": LIBRARY[saved["pre_tokenizer"]["type"]], "library": data.decode()}
        return find(saved["kind"]).restore(saved)
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise DamagedError(f"{where} is not a tokenizer of ours ({problem}); put back the file as written") from None
