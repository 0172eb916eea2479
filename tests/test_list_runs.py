"""`glassformer list runs`: newest first, at a glance, and one that is damaged spoils nothing."""

import json
import shutil

from command import call
from small_runs import POPULATION, run_of


def test_the_newest_comes_first_and_a_damaged_one_says_why(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there are no runs in runs" in call("list", "runs").out
    for day, name in enumerate(("plus_last_even", POPULATION, "lucky7"), start=1):
        shutil.copytree(run_of(name).path, tmp_path / "runs" / f"{name}-1")
        about = json.loads((tmp_path / "runs" / f"{name}-1" / "run.json").read_text("utf-8"))
        about["times"]["created"] = f"2026-01-0{day}T00:00:00+00:00"
        (tmp_path / "runs" / f"{name}-1" / "run.json").write_text(json.dumps(about), encoding="utf-8")
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "run.json").write_text("{", encoding="utf-8")
    *rows, note = call("list", "runs").out.splitlines()
    assert note.startswith("losses are unverified")
    assert [row.split()[0] for row in rows] == ["lucky7-1", f"{POPULATION}-1", "plus_last_even-1", "broken"]
    losses = run_of(POPULATION).metrics["validation_loss"][-1]
    assert f"at step 60, loss {sorted(losses)[1]:.4f} (median of 3), begun 2026-01-02 00:00" in rows[1]
    assert "cannot be read" in rows[3]
    (one,) = call("list", "runs", "plus", "--json").json["runs"]
    assert one["unverified"] == ["metrics.jsonl"]
    assert (one["experiment"], one["kept_steps"], one["status"]) == ("plus_last_even", 301, "finished")
    assert call("list", "runs", "--options").code == 2
