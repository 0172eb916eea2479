"""What every analysis, every figure's table and every `--json` answer says about the fixture runs, as fingerprints.

    python tests/snapshot.py            compare everything with tests/snapshot/ (`make snapshot`)
    python tests/snapshot.py --write    write tests/snapshot/ anew, and say which numbers changed

Code may be moved and renamed without changing a number. A commit that changes one on purpose writes the snapshot anew
and says why.
"""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import glassformer as gf
from command import call
from fingerprint import differences, fingerprint, fingerprint_csv, same_numbers
from small_studies import study_of

HERE = Path(__file__).parent
FIXTURES = HERE / "fixtures" / "v0.2.0"
SNAPSHOT = HERE / "snapshot"
RUNS = ("rule", "questions", "text", "population", "diverged")
MODULAR = "modular"  # for what applies to no other run
NO_RUN = "no_run"  # what needs no run, or a study
SUBJECTS = (*RUNS, MODULAR, NO_RUN)
PARTS = (*(f"{kind}_{name}" for kind in ("analyses", "figures") for name in SUBJECTS), "commands")

# Fields of --json answers that differ from one call to the next, or from one machine to the next.
IGNORE = (
    "seconds", "steps_per_second", "bytes", "size", "created", "finished", "digest", "settled", "times", "versions",
    "hardware", "when",
)  # fmt: skip
# Arrays that are rounding errors, or multiples of them: they differ between AVX2 and AVX-512, and nothing else does.
SENSITIVE = {
    "one_update": ("change", "difference", "replayed"),  # differences of weights that are almost equal
    "backward": ("worst",),  # the largest rounding error
    "loss_surface": ("apart", "apart_mean"),  # of a run that diverged, distances of numbers around 1e29
    "qkv": ("circles",),  # which way round a circle is drawn that is almost flat
    "qkv_overview": ("images.circles",),
}

KINDS = ("experiments", "tasks", "analyses", "figures", "films", "studies", "lessons", "claims")
COMMANDS = (
    *(f"list {kind} --json" for kind in KINDS),
    *(f"list {kind} {run} --json" for kind in ("figures", "films") for run in RUNS),
    "list figures study --json",
    "list runs --json",
    *(f"show {name} --json" for name in ("plus_last_even", "five_operations", "mary")),
    *(f"check {run} --json" for run in (*RUNS, "unfinished", "page")),
    "--task after_three.py check own_task --json",
    *(f"score {run} --json" for run in RUNS if run != "diverged"),
    "score rule --json --step 1050",
    "ask rule '10 + 10 6 +' --json",
    "ask rule '10 + 10 6 +' --edit 'zero(attended)' --json",
    "ask rule '10 + 10 6 +' --step 0 --json",
    "ask population '4 9 +' --member 2 --json",
    "ask questions 'Min(3,1,4)' --json",
    "ask text 'mary had a' --json",
    "--task after_three.py ask own_task '0 3' --json",
    "ask page '10 + 10 6 +' --json",
    "ask diverged '4 9 +' --step 0 --json",
    "generate rule '4 9 +' --json",
    "generate text 'mary had' --json",
    "report rule --json --steps 8",
    "report population text --json --steps 3",
    "figures rule loss attention --format csv --json",
    "physics one_layer --steps 10 --format csv --json",
    "physics boltzmann_memory --steps 10 --format csv --json",
    "lesson --json",
    "claims S0-01 S0-04 S0-07 S3-01 --json",
    "train plus_last_even --seed 3 --steps 20 --set train.judged=50 --json",
    "train plus_last_even --seeds 2 --steps 20 --set train.judged=50 --json",
    "study width plus_last_even --seeds 2 --steps 20 --json",
)  # fmt: skip


@cache
def run_of(name: str) -> gf.Run:
    """A fixture run, opened once: analyses of one run share what they compute."""
    return gf.open(FIXTURES / "runs" / name)


def applying(kind: str, name: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every piece of a kind (analyses, figures) that the snapshot holds for this run, with what it takes."""
    for each in gf.catalogue.entries(kind):
        if name == NO_RUN:
            if each.needs == "nothing":
                yield each.name, ()
            elif each.needs == "study":
                yield each.name, (study_of(each.name),)
        elif each.needs not in ("run", "runs", "population") or (name == MODULAR and each.name != "fourier"):
            continue
        elif not gf.catalogue.why_not(each, run := run_of(name)):
            yield each.name, ([run, run_of("rule")],) if each.needs == "runs" else (run,)


def analyses(name: str, only: Callable[[str], bool] = lambda _: True) -> dict[str, Any]:
    """Fingerprints of the results of all analyses of one run that apply to it."""
    found: dict[str, Any] = {}
    for analysis, given in applying("analyses", name):
        if only(analysis):
            plain = getattr(gf.analyses, analysis)(*given).plain()
            found[analysis] = {"title": plain["title"]} | fingerprint(plain, SENSITIVE.get(analysis, ()))
    return found


def figures(name: str, only: Callable[[str], bool] = lambda _: True) -> dict[str, Any]:
    """Fingerprints of the CSV files of all figures of one run, as the command writes them."""
    needs = {each.name: each.needs for each in gf.catalogue.entries("figures")}
    groups: dict[tuple[str, str], list[str]] = {}  # (the run or study, the run it is compared with): figures
    for figure, given in applying("figures", name):
        path = str(FIXTURES / "runs" / name) if name != NO_RUN else str(given[0].path) if given else ""
        other = str(FIXTURES / "runs/rule") if needs[figure] == "runs" else ""
        if only(figure):
            groups.setdefault((path, other), []).append(figure)
    found = {}
    with TemporaryDirectory() as folder:
        for (path, other), names in groups.items():
            words = [*filter(None, [path]), *names, *(["--with", other] if other else [])]
            answer = call("figures", *words, "--format", "csv", "--out", folder, "--json")
            assert answer.code == 0, answer.err
            for each in answer.json["figures"]:
                (file,) = (file for file in each["files"] if file.endswith(".csv"))
                page = f" page {each['page']}" if each["pages"] > 1 else ""
                text = Path(folder, file).read_text(encoding="utf-8")
                found[each["name"] + page] = fingerprint_csv(text, SENSITIVE.get(each["name"], ()))
    return found


def commands(only: Callable[[str], bool] = lambda _: True) -> dict[str, Any]:
    """Fingerprints of what commands print with --json, each in the same folder of runs."""
    found, before = {}, Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for run in (FIXTURES / "runs").iterdir():
                shutil.copytree(run, Path("runs") / run.name)
            with ZipFile(FIXTURES / "page.zip") as packed:
                packed.extractall("runs")
                Path("runs", packed.namelist()[0].partition("/")[0]).rename("runs/page")
            shutil.copytree(FIXTURES / "study", "study")
            shutil.copy(FIXTURES / "after_three.py", ".")
            for line in COMMANDS:
                if only(line):
                    answer = call(*shlex.split(line))
                    told = json.loads(answer.out) if answer.out else answer.err
                    found[line] = fingerprint({"exit": answer.code, "answer": told}, IGNORE)
        finally:
            os.chdir(before)
    return found


def make(part: str) -> dict[str, Any]:
    """One part of the snapshot as the code of today gives it."""
    kind, _, name = part.partition("_")
    return {"analyses": analyses, "figures": figures}[kind](name) if name else commands()


def read(part: str) -> dict[str, Any]:
    """One part of the snapshot as it was committed."""
    path = SNAPSHOT / f"{part}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def write(part: str, found: dict[str, Any]) -> None:
    """One line for each entry, so that a change of one is a change of one line."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}" for name, each in found.items())
    (SNAPSHOT / f"{part}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def compare(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A sentence for each entry that changed; `new` may hold a sample, so what is only in `old` is not compared."""
    found = []
    for name, each in new.items():
        if name not in old:
            found.append(f"{name} is new")
        elif changed := differences(old[name], each):
            only = "renamed or reworded" if same_numbers(old[name], each) else "CHANGED"
            found.append(f"{name} {only}: " + "; ".join(changed))
    return found


def main(parts: Iterable[str], *, rewrite: bool) -> int:
    """Make all parts in two processes, then compare them with what was committed, or write them."""
    changed = 0
    SNAPSHOT.mkdir(exist_ok=True)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for part, found in zip(parts, pool.map(make, parts), strict=True):
            old = read(part)
            said = compare(old, found) + [f"{name} is gone" for name in old if name not in found]
            print(f"{part}: {len(found)} entries, {len(said)} of them changed", flush=True)
            for sentence in said:
                print(f"  {sentence[:1000]}")
            changed += len(said)
            if rewrite:
                write(part, found)
    return 0 if rewrite or not changed else 1


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(main([word for word in words if not word.startswith("-")] or PARTS, rewrite="--write" in words))
