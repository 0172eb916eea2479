"""The Python beside every panel of the page gives the numbers that the panel draws.

One process of Node packs out the runs and asks every panel for its table and its lines; the lines are run here.
"""

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import glassformer as gf
from glassformer.report.payload import Wish, payload
from small_runs import POPULATION, TEXT, run_of

PAGE = Path(__file__).parents[1] / "frontend"
RUNS = ("plus_last_even", POPULATION, "five_operations", TEXT)
NEAR = 2e-5  # absolute; relative above 1
LABELS = {"stream": 4, "output": 2, "landscape": 2, "feed_forward": 3, "weights": 1, "updates": 1, "thermodynamics": 2,
          "curves": 1}  # fmt: skip
POINTS = 5  # columns of labels where a panel shows named points
PANELS = {
    "embedding", "query_key", "scores", "attention", "values", "residual", "stream", "output", "landscape",
    "feed_forward", "neurons", "weights", "updates", "thermodynamics", "curves", "analyses",
}  # fmt: skip
BY_COLUMN = ("thermodynamics", "curves")  # whose lines give the columns of the table, one after the other
DEAR = "updates"  # it compiles a gradient: of one case only

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (PAGE / "node_modules" / "vite").exists(),
    reason="the page's panels need Node and its packages: install Node 20.19 or newer, then run npm ci in frontend/",
)


def case(run: str, text: str, step: int, **more) -> dict:
    usual = {"member": 0, "temperature": 1.0, "edits": "", "page": {}, "analysis": ""}
    return usual | {"run": run, "input": text, "step": step} | more


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> list[tuple[dict, list[dict]]]:
    """Every case, and what every panel says of it."""
    folder = tmp_path_factory.mktemp("panels")
    runs = {name: run_of(name) for name in RUNS}
    blocks = {}
    for name, run in runs.items():
        wish = Wish(steps=3, analyses=("loss",) if name == "plus_last_even" else ())
        for each in payload([run], wish, "", 0, lambda *_: None)[1]:
            found = re.fullmatch(r'<script type="text/plain" data-block="(.*?)">(.*)</script>\n', each, re.DOTALL)
            assert found
            blocks[found[1]] = found[2]
    text = runs[TEXT].task.decode(runs[TEXT].tokens(None)[:6])
    cases = [
        case(
            "plus_last_even", "4 9 + 4 10 7 + 10", 300, analysis="loss", page={"tensor": "blocks.0.expand", "answer": 4}
        ),
        case("plus_last_even", "10 + 6", 0, temperature=0.7, edits="zero(mixed, head=0)", page={"position": 1}),
        case("population", "4 1 + 4 6", 60, member=2),
        case("five_operations", "Max(5,3,9)", 12, page={"block": 0, "tensor": "read_out_bias", "answer": 7}),
        case("five_operations", "Max(5,3,9)", 0, page={"block": 1, "head": 2}, temperature=2.5),
        case("text", text, 8, page={"block": 1, "position": 3}),
    ]
    (folder / "cases.json").write_text(json.dumps({"blocks": blocks, "cases": cases}), encoding="utf-8")
    command = ["node", "tests/page_panels.mjs", str(folder)]
    done = subprocess.run(command, cwd=PAGE, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    return list(zip(cases, found, strict=True))


def test_python_gives_what_is_drawn(told):
    checked = set()
    for number, (asked, panels) in enumerate(told):
        run = run_of(asked["run"])
        for each in panels:
            name = each["panel"]
            if name == DEAR and number:
                continue
            where = f"{name} of {asked}: {each['python']}"
            given, drawn = answer(each["python"], run), each["table"]["rows"]
            if name == "analyses" and asked["analysis"]:
                close([row[-1] for row in drawn], given, where)
            elif name == "analyses":
                assert [row[1] for row in drawn] == given, where
            elif name in BY_COLUMN:
                close(numbers(drawn, LABELS[name]), np.stack(given, axis=1), where)
            else:
                close(numbers(drawn, LABELS.get(name, POINTS)), flat(given), where)
            checked.add(name)
    assert checked == PANELS


def test_every_panel_says_something_of_its_own(told):
    """One sentence each, and no two panels the same; those of one panel change with what is looked at."""
    for _, panels in told:
        said = [each["summary"] for each in panels]
        assert len(set(said)) == len(said)
        assert all(re.fullmatch(r"\S.*[.\w%)”]", text, re.DOTALL) and "undefined" not in text for text in said)
    first, second = ({each["panel"]: each["summary"] for each in panels} for _, panels in told[:2])
    for name in ("attention", "scores", "query_key", "values", "output", "feed_forward", "thermodynamics"):
        assert first[name] != second[name]


def answer(lines: str, run) -> object:
    """The value of the last expression."""
    body = ast.parse(lines).body
    names = {"run": run, "gf": gf}
    exec(compile(ast.Module(body[:-1], []), "panel", "exec"), names)  # noqa: S102 - our own lines are what is tested
    return eval(compile(ast.Expression(body[-1].value), "panel", "eval"), names)  # noqa: S307


def numbers(rows: list, labels: int) -> np.ndarray:
    return np.array([np.nan if cell is None else cell for row in rows for cell in row[labels:]], dtype=np.float64)


def flat(given) -> np.ndarray:
    """Several arrays one after the other."""
    if isinstance(given, tuple | list):
        return np.concatenate([flat(each) for each in given])
    return np.asarray(given, dtype=np.float64).ravel()


def close(drawn, given, where: str) -> None:
    drawn, given = np.ravel(np.asarray(drawn, dtype=np.float64)), np.ravel(np.asarray(given, dtype=np.float64))
    assert drawn.shape == given.shape, where
    apart = np.abs(drawn - given) / np.maximum(1, np.abs(given))
    same = (np.isnan(drawn) & ~np.isfinite(given)) | (apart <= NEAR)
    assert same.all(), f"{where}\n{drawn[~same][:5]} is not {given[~same][:5]}"
