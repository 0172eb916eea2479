"""A text of your own: the next token of whatever you bring."""

from dataclasses import dataclass

from glassformer import corpora
from glassformer.settings import setting
from glassformer.tasks._text import Text


@dataclass(frozen=True, kw_only=True)
class OwnText(Text):
    """A UTF-8 file. The run keeps a copy, so that it can be opened where the file is not."""

    file: str = setting("a UTF-8 text")

    def original(self) -> bytes:
        """The file as it lies there now."""
        return corpora.read_file(self.file)

    @property
    def source(self) -> str:
        """The file's name."""
        return self.file
