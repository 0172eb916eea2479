"""A folder from a stranger ends in an answer in words, whatever it holds.

Within seconds and a bounded memory, with nothing changed, nothing of the user's shown, and no number that was neither
verified nor marked. tests/attacks.py has the attacks. Some are always tried, with one command, and of all pairs
of an attack and a command a part is drawn with a seed; GLASSFORMER_FUZZ=3 tries three times as many, 10 all.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import hostile
from attacks import ATTACKS
from forking import AVAILABLE, Server
from hostile import COMMANDS, Attack, attempt, edit_json, nothing, outside, prepare, put, results, with_digests

TIMES = int(os.environ.get("GLASSFORMER_FUZZ", "1"))
SECONDS = 36.0 * TIMES  # of processor time, about
REFUSAL = 0.06  # seconds that making a folder and refusing it take
pytestmark = pytest.mark.skipif(not AVAILABLE, reason="forking.py needs Linux")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as started:
        yield started


def choose_pairs() -> list[tuple[Attack, list[str]]]:
    """What is tried this time: attacks, each with some of its commands."""
    pairs = [(attack, command) for attack in ATTACKS for command in attack.commands]
    first = {attack.name: attack.commands[0] for attack in ATTACKS if attack.always}
    random.Random(f"attacks {TIMES}").shuffle(pairs)
    pairs.sort(key=lambda pair: first.get(pair[0].name) != pair[1])
    found: dict[str, list[str]] = {}
    left = SECONDS
    for attack, command in pairs:
        left -= REFUSAL if command in attack.error else REFUSAL + COMMANDS[command][1]
        if left > 0 or TIMES >= 10 or first.get(attack.name) == command:
            found.setdefault(attack.name, []).append(command)
    return [(attack, found[attack.name]) for attack in ATTACKS if attack.name in found]


def test_an_attack_ends_in_words(server: Server) -> None:
    failed = [
        f"{attack.name}; {command}: {wrong}"
        for attack, commands in choose_pairs()
        for command, _, wrong in results(server, attack, commands)
        if wrong
    ]
    assert not failed, "\n" + "\n".join(failed)


def test_some_are_always_tried() -> None:
    tried = {attack.name for attack, _ in choose_pairs()}
    assert {attack.name for attack in ATTACKS if attack.always} <= tried
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert all(command in COMMANDS for attack in ATTACKS for command in attack.commands)


HARMFUL = {  # a program in place of a command → what is said of it
    "import time; time.sleep(60)": "hangs",
    "while True: pass": "hangs",
    "x = b'x' * (1200 << 20)": "takes 1,",
    "x = bytearray(9 << 40)": "not foreseen (Traceback)",
    "import os; os.abort()": "dies of signal 6",
    "{}['x']": "not foreseen (Traceback): KeyError: 'x'",
    "print('\\x1b[2J')": "control characters",
    "print('x' * 300_000)": "prints 300,001 characters",
    f"print('{hostile.SECRET}')": "shows a secret",
    "open('outside/secret.txt', 'a').write('x')": "changes files outside",
    "open('outside/new', 'w')": "changes files outside",
    "open('runs/victim/new', 'w')": "changes runs/victim",
    "open('new', 'w')": "changes new",
    "print(1.9)": "shows unverified numbers",
    "": "shows unverified numbers",
    "print(1.9, 'unverified')": "",
    "import sys; print('no', file=sys.stderr); sys.exit(1)": "",
    "import sys; sys.exit(1)": "says nothing",
}


@pytest.mark.parametrize("program", HARMFUL)
def test_what_harms_is_noticed(program: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "SECONDS", 1.0)
    monkeypatch.setitem(COMMANDS, "api", (("-c", program), 0.0))
    attack = Attack("a test", "rule", nothing, marked=("api",))
    made = prepare(attack, tmp_path)
    outcome, wrong = attempt(server, attack, "api", tmp_path, made)
    assert HARMFUL[program] in wrong, outcome
    assert bool(wrong) == bool(HARMFUL[program])


def test_what_a_report_holds_is_looked_at(server: Server, tmp_path: Path) -> None:
    """A text of the user's that has become the run's own, tokenizer and digests included, is in its report."""

    def steal(run: Path) -> None:
        text = outside(run, "secret.txt").read_text("utf-8")
        (run / "text.txt").write_text(text, "utf-8")
        words = sorted(set(text.split()), key=text.index)
        filler = [f"x{k}" for k in range(90 - len(words) - 1)]
        edit_json(run / "tokenizer.json", lambda _: {"kind": "words", "words": [*words, "<END>", *filler]})
        edit_json(run / "run.json", put("experiment", "data", "tokenizer", value="words"))
        with_digests(run)

    attack = Attack("a test", "text", steal, fine=("report",))
    outcome, wrong = attempt(server, attack, "report", tmp_path, prepare(attack, tmp_path))
    assert (outcome.code, wrong) == (0, "shows a secret"), outcome
