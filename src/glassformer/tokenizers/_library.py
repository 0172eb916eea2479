"""What both byte-pair encodings share: the `tokenizers` library trains them, and a run keeps its file.

The file may come from anyone, so the library never reads it. If the file says what ours say, the tokenizer is built
again from its vocabulary and merges.
"""

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from glassformer.tokenizers._tokenizer import IntArray, Tokenizer, check_tokens, stretches


class Trained(Tokenizer):
    """A tokenizer of the library's, with our names around it."""

    alphabet: ClassVar[frozenset[str]] = frozenset()  # of which every token is made, each a token itself; empty: any
    special: ClassVar[tuple[str, ...]] = ()  # the first tokens, which are never merged

    def __init__(self, trained: Any) -> None:
        self._trained = trained

    @staticmethod
    @abstractmethod
    def build(**model: Any) -> Any:
        """The library's tokenizer from a `vocab` and its `merges`, or one that has yet to learn them."""

    @classmethod
    def restore(cls, saved: Mapping[str, Any]) -> Self:
        """From the library's own JSON, as text or read already."""
        from glassformer.folder import parse

        library = saved["library"]
        table = parse(library.encode()) if isinstance(library, str) else library
        if not isinstance(table, dict) or not isinstance(model := table.get("model"), dict):
            raise ValueError("it has no model")
        _compare({**table, "model": {**model, "vocab": {}, "merges": []}}, json.loads(cls.build().to_str()))
        vocab, merges = cls._vocabulary(model.get("vocab")), model.get("merges")
        if not isinstance(merges, list) or len(merges) > len(vocab):
            raise ValueError(f"model.merges is not a list of at most {len(vocab):,} pairs")
        known, pairs = vocab.keys() - set(cls.special), []
        for merge in merges:
            pair = merge.split(" ") if isinstance(merge, str) else merge
            left, right = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
            if not (isinstance(left, str) and left in known and isinstance(right, str) and right in known
                    and left + right in known):  # fmt: skip
                raise ValueError(f"model.merges holds {merge!r:.60}, which does not join two tokens to a third")
            pairs.append((left, right))
        return cls(cls.build(vocab=vocab, merges=pairs))

    @classmethod
    def _vocabulary(cls, vocab: Any) -> dict[str, int]:
        """Token → id, if the ids are 0, 1, 2, …, each once, and the tokens are such as this kind learns."""
        if not isinstance(vocab, dict) or not vocab:
            raise ValueError("model.vocab is not a table of tokens")
        check_tokens(vocab)
        ids = list(vocab.values())
        if {*map(type, ids)} != {int} or {*ids} != {*range(len(ids))}:
            raise ValueError(f"the ids in model.vocab are not 0 to {len(ids) - 1:,}, each once")
        if any(vocab.get(token) != place for place, token in enumerate(cls.special)):
            raise ValueError(f"model.vocab does not begin with {' and '.join(cls.special)}")
        if cls.alphabet and not (cls.alphabet <= vocab.keys() and set().union(*vocab) <= cls.alphabet):
            raise ValueError("model.vocab is not made of the 256 bytes")
        return vocab

    def saved(self) -> dict[str, Any]:
        """The library's own JSON, as text: older runs keep it like this, with our name for the kind beside it."""
        return {"library": self._trained.to_str()}

    def save(self) -> bytes:
        """The library's own file: `tokenizers.Tokenizer.from_file` opens it."""
        return self._trained.to_str().encode()

    def read(self, text: str) -> IntArray:
        """The pieces of a whole text, stretch by stretch."""
        return np.concatenate([self.encode(stretch) for stretch in stretches(text)])


def _compare(found: Any, ours: Any, name: str = "") -> None:
    """Refuse a setting that is not as we write it; what we write as null or false may be absent."""
    if isinstance(found, dict) and isinstance(ours, dict):
        for key in ours | found:
            at = f"{name}.{key}" if name else key
            if key not in ours:
                raise ValueError(f"{at:.60} = {found[key]!r:.60} is not a setting of one")
            _compare(found.get(key), ours[key], at)
    elif found != ours and (ours or found is not None):
        raise ValueError(f"{name} = {found!r:.60} changes how a text is cut")
