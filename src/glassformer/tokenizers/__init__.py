"""One file per way of cutting a text into tokens; the file's name is the tokenizer's name."""

from glassformer import _discover
from glassformer.errors import DamagedError
from glassformer.tokenizers._tokenizer import Tokenizer

__all__ = ["Tokenizer", "find", "load", "names"]

MOST_BYTES = 16_000_000  # of a tokenizer's file; 65,536 entries of English take 2 million


def names() -> list[str]:
    """Every tokenizer there is."""
    import glassformer.tokenizers as folder

    return _discover.names(folder)


def find(name: str) -> type[Tokenizer]:
    """The class of a tokenizer: tokenizers/byte_bpe.py holds ByteBpe."""
    import glassformer.tokenizers as folder

    return _discover.piece(folder, name, "".join(word.capitalize() for word in name.split("_")))


def load(data: bytes, where: str) -> Tokenizer:
    """The tokenizer that `Tokenizer.save` wrote, and nothing else: the file may come from anyone.

    A file without a kind is one of the `tokenizers` library. `where` names the file in messages.
    """
    from glassformer.folder import parse

    try:
        if len(data) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
        saved = parse(data)
        if "kind" not in saved:
            before = saved.get("pre_tokenizer")
            of_bytes = isinstance(before, dict) and before.get("type") == "ByteLevel"
            saved = {"kind": "byte_bpe" if of_bytes else "bpe", "library": saved}
        kind = saved["kind"]
        if not isinstance(kind, str) or kind not in names():
            raise ValueError(f"kind = {kind!r:.60} is not one of {', '.join(names())}")
        if saved.keys() != {"kind", field := kind if kind in saved else "library"}:
            raise ValueError(f"beside its kind it holds {sorted(saved.keys() - {'kind'})!r:.60}, not {field} alone")
        return find(kind).restore(saved)
    except BaseException as problem:
        if isinstance(problem, ValueError | TypeError | RecursionError) or type(problem).__name__ == "PanicException":
            said = f"{where} is not a tokenizer of ours: {problem}; put back the file as written"
            raise DamagedError(said) from None
        raise
