"""Texts that are not shipped: where each comes from, how it is recognised, and where it lies."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from glassformer.errors import AbsentError, CallError, DamagedError, Error, MissingError, check_name

FOLDER = "GLASSFORMER_DATA"  # the environment variable that names a folder with data sets
MOST_BYTES = 20 << 20  # of a text or a table: what was tried, docs/limits.md


@dataclass(frozen=True)
class Corpus:
    """A text of the world, known by its checksum."""

    file: str
    address: str
    sha256: str


CORPORA = {
    "tinyshakespeare": Corpus(
        "tinyshakespeare.txt",
        "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    )
}


def folders() -> list[Path]:
    """Where texts are looked for: the folder that GLASSFORMER_DATA names, then the one `data fetch` fills."""
    named = os.environ.get(FOLDER)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "glassformer"
    return [Path(named), cache] if named else [cache]


def read(name: str) -> bytes:
    """A corpus that is on this machine, verified."""
    corpus = _known(name)
    for folder in folders():
        path = folder / corpus.file
        if path.is_file():
            data = path.read_bytes()
            if sha256(data).hexdigest() != corpus.sha256:
                raise DamagedError(f"{path} is not the {name} we know (its sha256 differs); fetch it again")
            return data
    raise AbsentError(
        f"{name} is not on this machine; `glassformer data fetch {name}` downloads it, "
        f"or let {FOLDER} name a folder that holds {corpus.file}"
    )


def fetch(name: str) -> Path:
    """Download a corpus into our cache, verified; one that is there already is left alone."""
    import pooch

    corpus = _known(name)
    folder = folders()[-1]
    try:
        return Path(pooch.retrieve(corpus.address, f"sha256:{corpus.sha256}", fname=corpus.file, path=folder))
    except ValueError as problem:  # pooch: the checksum differs; the file is not kept
        raise DamagedError(f"what {corpus.address} gave is not {name}: {problem}") from None
    except Exception as problem:  # whatever the network layer raises
        raise Error(f"{name} could not be fetched from {corpus.address}: {problem}; or put {corpus.file} "
                    f"into a folder that {FOLDER} names") from None  # fmt: skip


def read_file(path: str) -> bytes:
    """The user's own text."""
    try:
        if is_stream(Path(path)):
            raise CallError(f"{path} is a pipe or a device, and a text is read more than once; save it to a file")
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise MissingError(f"there is no file {path}; data.file names the text to learn") from None
    except OSError as problem:
        raise CallError(f"cannot read {path}: {problem.strerror}; name a text file") from None
    if len(data) > MOST_BYTES:
        raise CallError(f"{path} is larger than {MOST_BYTES:,} bytes; cut it down to a part")
    return data


def is_stream(path: Path) -> bool:
    """Whether it is there, but neither a file nor a folder: reading could wait for ever, or never end."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def decoded(data: bytes, where: str) -> str:
    """UTF-8 as text, with plain line ends."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise CallError(f"{where} is not UTF-8 at byte {problem.start:,}; save it as UTF-8") from None
    if "\0" in text:
        raise CallError(f"{where} holds a zero byte at character {text.index(chr(0)):,}, so it is not a text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _known(name: str) -> Corpus:
    return CORPORA[check_name(name, "the data sets", CORPORA)]
