"""Every setting is told with its value, its default, its limits and its meaning, from one place."""

import json
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from command import call
from glassformer import experiment, listing, tasks
from glassformer.architecture import Architecture
from glassformer.settings import described
from test_own_task import RULE

ROOT = Path(__file__).parent.parent


def parts(kind):
    return {"data": kind, "architecture": Architecture, "train": experiment.Training}


@pytest.mark.parametrize("name", ["plus_last_even", "five_operations", "own_table", "own_text"])
def test_all_tells_every_field(name):
    answer = call("show", name, "--all")
    assert answer.code == 0, answer.err
    given = tomllib.loads(experiment.text(name))
    for table, part in parts(tasks.find(given["task"])).items():
        section = answer.out.partition(f"[{table}]\n")[2].partition("\n\n")[0]
        lines = {line.partition(" = ")[0]: line.partition(" = ")[2] for line in section.splitlines()}
        assert list(lines) == [each.name for each in fields(part)]
        for key, value in given.get(table, {}).items():
            assert lines[key].startswith(listing.written(value)), (key, lines[key])
    assert "rate = " in answer.out
    assert "number above 0" in answer.out


def test_every_setting_has_a_meaning():
    for name in tasks.names():
        for part in parts(tasks.find(name)).values():
            for each in described(part).values():
                assert each.meaning, (name, each.name)
                assert each.allowed


def test_json_is_for_programs():
    told = {(each["table"], each["name"]): each for each in call("show", "plus_last_even", "--json").json["settings"]}
    assert told["train", "rate"] | {"meaning": ""} == {
        "table": "train", "name": "rate", "value": 0.03, "default": 1e-3, "required": False, "type": "number",
        "optional": False, "above": 0.0, "meaning": "",
    }  # fmt: skip
    assert told["architecture", "norm"]["choices"] == ["none", "layer", "rms"]
    assert told["data", "plus"]["most"] == 0.999
    own = {(each["table"], each["name"]): each for each in call("show", "own_table", "--json").json["settings"]}
    assert "value" not in own["data", "file"]
    assert own["data", "file"]["required"]


def test_own_files_are_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(experiment.text("mary") + "\n# mine\n")
    assert call("show", "mine.toml").out == experiment.text("mary") + "\n# mine\n"
    assert "all_windows = false" in call("show", "mine.toml", "--all").out
    (tmp_path / "my_rule.py").write_text(RULE)
    shown = call("show", "my_rule.py")
    (tmp_path / "rule.toml").write_text(shown.out)
    assert tomllib.loads(shown.out)["data"]["three"] == 0.3
    made = experiment.load("rule.toml")
    again = experiment.load("my_rule.py")
    assert (made.task, made.architecture, made.train, made.code) == (
        again.task,
        again.architecture,
        again.train,
        again.code,
    )
    assert "three = 0.3" in call("show", "my_rule.py", "--all").out
    for words, sentence in (
        (("none.toml",), "there is no file none.toml"),
        (("nothing",), "nothing called 'nothing' in experiments"),
        ((), "name an experiment"),
        (("--json",), "name an experiment"),
    ):
        answer = call("show", *words)
        assert (answer.code, answer.out, answer.err.startswith(f"glassformer: {sentence}")) == (2, "", True)
    (tmp_path / "bad.toml").write_text("task = 3")
    assert call("show", "bad.toml", "--all").err == (
        f"glassformer: task = 3 is not the name of a task; there are: {', '.join(tasks.names())}\n"
    )


def test_the_page_of_settings_is_what_the_code_says():
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == listing.page(), (
        "`glassformer show --all > docs/settings.md` writes it anew"
    )


def test_values_are_written_as_toml_reads_them():
    for value in (True, 3, 64_000_000, 0.1234567, 1e-5, 0.0, 'a "b"', ["a", "b"], []):
        assert tomllib.loads(f"x = {listing.written(value)}") == {"x": value}
    assert json.loads(json.dumps(listing.written(None))) == "none"
