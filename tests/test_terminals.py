"""Terminals: every encoding can be printed to, and colours are only written where they are shown."""

import io
import sys

import pytest

from glassformer import streams, terminal


class Console(io.TextIOWrapper):
    """A terminal with an encoding of its own."""

    def __init__(self, encoding: str) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding=encoding, errors="strict")

    def isatty(self) -> bool:
        return True


def use_console(monkeypatch: pytest.MonkeyPatch, encoding: str) -> Console:
    """Print to such a terminal from now on, the way the command does."""
    console = Console(encoding)
    monkeypatch.setattr(sys, "stdout", console)
    monkeypatch.setattr(sys, "stderr", console)
    streams.cover()
    return console


@pytest.mark.parametrize("encoding", ["cp437", "cp1252", "cp932", "ascii", "utf-8", "utf-16"])
def test_a_console_of_any_encoding_prints_without_failing(monkeypatch, encoding):
    console = use_console(monkeypatch, encoding)
    sys.stdout.write("a → b × 👍 \x1b[2J \ud800 ✗\n")
    sys.stdout.flush()
    printed = console.bytes.getvalue().decode(encoding)
    assert printed.startswith("a ")
    assert r"\u001b[2J \ud800" in printed
    assert "\x1b" not in printed
    assert streams.real(sys.stdout) is console


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "\x1b[31m\\u001b[2J\x1b[0m\n"),
        ({"NO_COLOR": "1"}, "\\u001b[2J\n"),
        ({"TERM": "dumb"}, "\\u001b[2J\n"),
    ],
)
def test_colours_are_written_only_where_they_are_shown_and_codes_in_a_text_never(monkeypatch, environment, expected):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    console = use_console(monkeypatch, "utf-8")
    terminal.coloured("\x1b[2J", "red")
    sys.stdout.flush()
    assert console.bytes.getvalue().decode() == expected
