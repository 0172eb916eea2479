"""The README, top to bottom, in one folder: every line runs as printed, and says what the README says of it."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

from command import call
from glassformer import gallery
from glassformer.gallery.brief import BRIEF

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
FENCED = re.findall(r"^```(\w*)\n(.*?)^```\n", README, re.MULTILINE | re.DOTALL)  # (language, content)
SETTING_UP = {"make lab", ". .venv/bin/activate"}
LINES = [
    line for kind, block in FENCED for line in block.splitlines() if kind == "" and line not in SETTING_UP
]  # fmt: skip
FIRST = r"^plus_last_even-18 at step 20,000"
SAYS = {  # what a line begins with → what it says, on the output or beside it
    "glassformer --version": [r"^glassformer \d+\.\d+\.\d+$"],
    "glassformer list\n": [r"^experiments", r"^  plus_last_even  ", r"^  figures +\d+$", r"^  films ", r"^  studies "],
    "glassformer train plus_last_even\n": [
        r"the floor of the same windows is 1\.83\d\d", r"has reached: the rule$", r"0\.0 % where the answer is in view",
        r"18\.3 % of those the rule speaks about .* a perfect model is wrong at 14\.3 %",
        r"^run: runs/plus_last_even-18 \(20,001 kept steps", r"^  glassformer ask plus_last_even-18 '",
        r"^  glassformer report plus_last_even-18 ", r"^  glassformer figures plus_last_even-18 ",
        r"^  glassformer film plus_last_even-18 embeddings ",
    ],
    'glassformer ask "10 + 10 6 +"\n': [
        FIRST + ", after '10 [+] 10 6 [+]'$", r"model +exact$", r"^ +6 +9\d\.\d% +100\.0%$",
    ],
    'glassformer ask "10 + 10 6 +" --edit': [FIRST, r"^edited: zero\(attended\)$", r"edited +model +exact$"],
    'glassformer generate "4 9 +"': [
        FIRST + "$", r"^4 9 \+ \S+[✓✗] ", r"^the rule spoke about \d+ of these tokens; \d+",
    ],
    "glassformer score": [FIRST + "$", r"^validation part, all windows .* at step 20,000$", r"^ +this model +1\.8"],
    "glassformer check": [
        r"^runs/plus_last_even-18: finished, 20,001 kept", r"^health: ", r"^everything listed verifies",
    ],
    "glassformer report": [
        r"^plus_last_even-18: 2,000 of its 20,001 kept steps$", r"^reports/plus_last_even-18\.html, \d\.\d MB: open it",
    ],
    "glassformer lesson\n": [r"^ +1  numbers_for_words +\d+ min  ", r"^\d\d lessons, \d+ h \d+ min"],
    "glassformer lesson numbers": [
        r"^## There and back$", r"35 different ones", r"^Picture: lessons/numbers_for_words/01-",
        r"Next: `glassformer lesson batches_and_windows`$",
    ],
    "glassformer list figures": [r"^  attention  ", r"^not of plus_last_even-18:$"],
    "glassformer figures plus_last_even\n": [
        r"^\d+ figures of plus_last_even-18: figures/plus_last_even-18/index\.html$",
    ],
    "glassformer figures plus_last_even attention": [r"attention\S*_seq1\S*_step005000_slide_dark\.svg$"],
    "glassformer film": [r"^films/plus_last_even-18/embeddings_film\.(mp4|gif)$"],
    "glassformer train plus_last_even --seeds 16": [
        r"\d+ of 16 seeds learnt", r"^run: runs/plus_last_even-18x16-steps_4000 ",
    ],
    "glassformer train plus_last_even --set": [
        r"^changed settings: train\.rate = 0\.001$", r"^run: runs/plus_last_even-18-rate_0\.001 ",
    ],
    "glassformer list runs": [
        r"plus_last_even-18 ", r"plus_last_even-18x16-steps_4000", r"plus_last_even-18-rate_0\.001",
    ],
    "glassformer ask plus_last_even-18 ": [FIRST],
    "glassformer ask plus_last_even-18-rate ": [r"^plus_last_even-18-rate_0\.001 at step 20,000"],
    "glassformer study": [r"of 4 seeds gets? to", r"^study: studies/seeds-plus_last_even "],
    "glassformer train --text": [r"^run: runs/mine-18 ", r"^  glassformer generate mine-18 "],
    "glassformer generate mine": [r"^mine-18 at step ", r"^Simple"],
    "glassformer train own_table": [r"^accuracy: ", r"^run: runs/own_table-18-file_larger\.csv "],
    "glassformer ask own_table": [r"^own_table-18-file_larger\.csv at step [\d,]+, after '38'$", r"^ +8 +\d"],
    "glassformer show": [],
    "glassformer train mine.toml": [r"^changed settings: train\.steps = 1000$", r"^run: runs/mine-18-steps_1000 "],
    "glassformer physics": [r"one_layer"],
    "python -c": [],
}  # fmt: skip


def test_every_line_runs_as_printed_in_one_folder(tmp_path, monkeypatch):
    """In this process, which has JAX loaded; of the gallery only the figures in brief, as others draw whole ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gallery, "gallery", partial(gallery.gallery, only=tuple(BRIEF)))
    said = set()
    for line in LINES:
        known = [begin for begin in SAYS if f"{line}\n".startswith(begin)]
        assert len(known) == 1, f"what the README says of {line!r} is written nowhere, or twice: {known}"
        said.add(known[0])
        words, out = _redirected(line)
        if words[0] == "python":
            shell = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=True)
            answer, told = shell.stdout, shell.stdout
        else:
            ended = call(*words[1:])
            assert ended.code == 0, f"{line}\n{ended.out}{ended.err}"
            answer, told = ended.out, f"{ended.out}\n{ended.err}"
        if out:
            Path(out).write_text(answer)
        for fact in SAYS[known[0]]:
            assert re.search(fact, told, re.MULTILINE), f"{line}\ndoes not say {fact}:\n{told}"
    assert said == set(SAYS)
    assert Path("figures/plus_last_even-18/index.html").is_file()
    _python_example()


def _redirected(line: str) -> tuple[list[str], str | None]:
    """The words of a line, and the file it is written to."""
    words = shlex.split(line)
    return (words[:-2], words[-1]) if ">" in words else (words, None)


def _python_example() -> None:
    """In the same folder, where the first training is there already, it prints what the README says."""
    (code,) = [block for kind, block in FENCED if kind == "python"]
    (expected,) = [block for kind, block in FENCED if kind == "text"]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    assert printed.getvalue() == expected
    for number in ("250", "2.485", "2.355", "2.175", "1.929", "1.838"):
        assert number in expected


def test_the_commands_of_the_tour_exist():
    from glassformer.app import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert set(re.findall(r"^glassformer (\w+)", README, re.MULTILINE)) <= known
    assert set(re.findall(r"`glassformer (\w+)", README)) <= known


def test_what_the_readme_leads_to_is_there():
    """Pages and pictures; a picture says in words what it shows."""
    there = Path(__file__).parents[1]
    for alt, target in re.findall(r"!?\[([^\]]*)\]\(([^)]+)\)", README):
        assert (there / target).exists(), target
        assert not target.endswith((".png", ".gif")) or len(alt) > 20, target
