"""Nothing foreign is obeyed: what a terminal or a browser would act on is shown as text."""

import json
import unicodedata

from glassformer.words import shown

TURNS = ["\u061c", "\u200e", "\u200f", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))]


def test_exactly_what_would_be_obeyed_is_written_out() -> None:
    """Asked of Unicode itself, for every character there is: controls, halves, line ends, and the turns it names."""
    for number in range(0x110000):
        character = chr(number)
        obeyed = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in TURNS
        if character in "\n\t" or not obeyed:
            assert shown(character) == character, hex(number)
        else:
            assert shown(character) == f"\\u{number:04x}", hex(number)


def test_json_keeps_its_meaning() -> None:
    table = {"name": "\x1b]0;owned\x07 \u202edne\u2066 \x7f \x9b \ud800 \u2028", "fine": "ä\n\t漢 👍"}
    line = json.dumps(table, ensure_ascii=False)
    assert json.loads(shown(line)) == table
    assert shown(shown(line)) == shown(line)
