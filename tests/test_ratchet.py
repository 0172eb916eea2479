"""A ratchet: the package's size and the marks of its old writing style may only go down.

The baseline is in `tests/ratchet.toml`. From the repository root:

    python tests/test_ratchet.py            print the current counts
    python tests/test_ratchet.py --list     and every place that is counted
    python tests/test_ratchet.py --lower    write lower counts into the baseline; refuses to raise any
"""

import ast
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
BASELINE = Path(__file__).with_name("ratchet.toml")
COMMAND = "python tests/test_ratchet.py"
LONGEST_LIST = 40  # lines of a failure message that name places
PARTICIPLES = re.compile(
    "told|said|seen|shown|drawn|written|given|asked|found|meant|named|chosen|kept|held|made|lost|sought|spoken|placed|"
    "apart|alike|beside|begun|known|put|left|met|worn|taken|grown|thrown|turned|cut|[a-z]{3,}ed"
)
MARGIN = re.compile(r"\b(?:left|right|top|bottom)=\d[\d.]*")
SHORTEST_TEXT = 25  # characters; shorter string constants are rarely sentences
PHRASES = [
    re.compile(phrase)
    for phrase in (
        r"\b[Oo]f (a|an|the|several|each|those|these) [a-z]+,? (the|a|all|what|how|only|nothing|nobody)\b",
        r"\band (that|this) is said\b",
        r"\bis none of\b",
        r"\bso (many|much) (as|more|times)\b",
        r"\bwhat (it|they) (is|are) worth\b",
        r"\bno longer lives?\b",
        r"\bwas not (foreseen|lived)\b",
        r"\bto who\b",
        r"\bbut for\b",
        r"\bas it stands\b",
        r"\bstands? (in|at|there|beside)\b",
        r"\bgoes? along with\b",
        r"\bthat is no art\b",
        r"\bsays so\b",
        r"\bnone: ",
        r"\belse all\b",
        r"\bwhat [a-z]+ (says|tells|shows) of\b",
        r"\bchances? of\b",
    )
]


Lines = list[tuple[int, str]]  # (line, text)


class Hit(NamedTuple):
    """One counted place; the line is 0 if it is a whole file. `weight` is what it adds to the count."""

    path: Path
    line: int
    text: str
    weight: int = 1


class Measure(NamedTuple):
    """A count that may only go down."""

    title: str
    find: Callable[["Sources"], Iterator[Hit]]
    exact: bool = True  # the baseline must follow when the count falls
    advice: str = ""


# ---- what is counted in one text -------------------------------------------------------------------------------------


class Parts(NamedTuple):
    """The parts of a Python file that are looked at. The whole tree is not kept: there are hundreds of files."""

    functions: Lines  # names
    strings: Lines  # long enough to be a sentence, docstrings included


def parse(source: str) -> Parts:
    parts = Parts([], [])
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts.functions.append((node.lineno, node.name))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) >= SHORTEST_TEXT:
            parts.strings.append((node.lineno, node.value))
    return parts


def is_participle(name: str) -> bool:
    """Whether a function's name, without underscores around it, is a participle or an adverb."""
    return bool(PARTICIPLES.fullmatch(name.strip("_")))


def literal_margins(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of every margin that is given as a number, e.g. `left=0.1`."""
    for number, line in enumerate(source.splitlines(), 1):
        for match in MARGIN.finditer(line):
            yield number, match.group()


def telltale_phrases(text: str) -> Iterator[str]:
    """The first match of each telltale phrase in a text."""
    for phrase in PHRASES:
        if match := phrase.search(text):
            yield match.group()


# ---- what is counted in the repository -------------------------------------------------------------------------------


class Sources:
    """The files of a repository that are counted. Every Python file is read and parsed once."""

    def __init__(self, root: Path, allowed_names: Mapping[str, str]) -> None:
        package = root / "src/glassformer"
        self.root, self.allowed_names = root, allowed_names
        self.texts = {path: path.read_text("utf-8") for path in sorted(package.rglob("*.py"))}
        self.parts = {path: parse(text) for path, text in self.texts.items()}
        self.root_files = sorted(package.glob("*.py"))
        self.pages = [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]
        self.pages += sorted((root / "frontend/src").rglob("en.json"))


def find_lines(sources: Sources) -> Iterator[Hit]:
    for path, text in sources.texts.items():
        number = text.count("\n")
        yield Hit(path, 0, f"{number} lines", number)


def find_root_files(sources: Sources) -> Iterator[Hit]:
    for path in sources.root_files:
        yield Hit(path, 0, "in the package root")


def find_names(sources: Sources) -> Iterator[Hit]:
    for path, parts in sources.parts.items():
        for line, name in parts.functions:
            if is_participle(name) and name not in sources.allowed_names:
                yield Hit(path, line, name)


def find_margins(sources: Sources) -> Iterator[Hit]:
    for path, text in sources.texts.items():
        for line, margin in literal_margins(text):
            yield Hit(path, line, margin)


def find_phrases(sources: Sources) -> Iterator[Hit]:
    for path in sources.pages:
        for line, text in enumerate(path.read_text("utf-8").splitlines(), 1):
            for phrase in telltale_phrases(text):
                yield Hit(path, line, repr(phrase))
    for path, parts in sources.parts.items():
        for line, text in parts.strings:
            for phrase in telltale_phrases(text):
                yield Hit(path, line, repr(phrase))


MEASURES = {
    "lines": Measure("lines of Python in src/glassformer", find_lines, exact=False),
    "root_files": Measure("Python files in the root of the package", find_root_files),
    "names": Measure(
        "functions named by a participle or an adverb",
        find_names,
        advice="Name a function by what it does or returns, or add its name to [allowed_names] with a reason.",
    ),
    "margins": Measure("margins given as numbers", find_margins),
    "phrases": Measure("telltale phrases in pages, strings and the words of the report", find_phrases),
}


def find_all(sources: Sources) -> dict[str, list[Hit]]:
    """The hits of every measure."""
    return {name: list(measure.find(sources)) for name, measure in MEASURES.items()}


def count(hits: list[Hit]) -> int:
    return sum(hit.weight for hit in hits)


# ---- comparison with the baseline ------------------------------------------------------------------------------------


def describe(hits: list[Hit], root: Path) -> list[str]:
    """One line per file, most recently changed files first."""
    by_file: dict[Path, list[str]] = {}
    for hit in hits:
        by_file.setdefault(hit.path, []).append(f"{hit.text} ({hit.line})" if hit.line else hit.text)
    newest_first = sorted(by_file, key=lambda path: (-path.stat().st_mtime, path))
    return [f"{path.relative_to(root).as_posix()}: {', '.join(by_file[path])}" for path in newest_first]


def complaints(found: Mapping[str, list[Hit]], baseline: Mapping[str, int], root: Path) -> list[str]:
    """What is wrong with each count: it rose, or it fell and the baseline did not follow."""
    wrong = []
    for name, measure in MEASURES.items():
        now, before = count(found[name]), baseline[name]
        if now > before:
            places = describe(found[name], root)
            rest = len(places) - LONGEST_LIST
            wrong.append(f"{name}: {now} {measure.title}, and the baseline is {before}.")
            wrong += [measure.advice] if measure.advice else []
            wrong.append("These places are counted, most recently changed files first:")
            wrong += [f"  {place}" for place in places[:LONGEST_LIST]]
            wrong += [f"  and {rest} more files: `{COMMAND} --list` prints all"] if rest > 0 else []
        elif now < before and measure.exact:
            wrong.append(f"{name}: {now} {measure.title}, and the baseline is {before}.")
            wrong.append(f"Lower the baseline in tests/ratchet.toml to {now}: `{COMMAND} --lower` does it.")
    return wrong


def lower_baseline(text: str, counts: Mapping[str, int]) -> str:
    """The text of the baseline with these counts in it. Refuses to raise one."""
    before = tomllib.loads(text)["counts"]
    higher = [f"{name} from {before[name]} to {now}" for name, now in counts.items() if now > before[name]]
    if higher:
        raise ValueError(f"this would raise {', '.join(higher)}")
    for name, now in counts.items():
        text = re.sub(rf"^{name} = \d+$", f"{name} = {now}", text, flags=re.MULTILINE)
    return text


# ---- the tests -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", name="baseline")
def read_baseline():
    return tomllib.loads(BASELINE.read_text("utf-8"))


@pytest.fixture(scope="module", name="sources")
def read_sources(baseline):
    return Sources(ROOT, baseline["allowed_names"])


def test_no_count_rises_and_the_baseline_follows_when_one_falls(sources, baseline):
    wrong = complaints(find_all(sources), baseline["counts"], ROOT)
    assert not wrong, "\n".join(wrong)


def test_every_allowed_name_has_a_reason_and_is_still_in_use(sources, baseline):
    used = {name for parts in sources.parts.values() for _, name in parts.functions if is_participle(name)}
    unused = sorted(baseline["allowed_names"].keys() - used)
    assert not unused, f"remove from tests/ratchet.toml: {', '.join(unused)}"
    assert all(len(reason.split()) >= 3 for reason in baseline["allowed_names"].values())


SNIPPET = '''
"""A label stands at its point, and that is said."""


def told(): ...


class Picture:
    def _drawn(self):
        async def masked(): ...

    def draw_all(self):
        figure.subplots_adjust(left=0.1, right=width, top=1, bottom_edge=2)


def embed():
    return "but for", "a text that is but for one word short"


def red(): ...
def is_masked(): ...
'''


def test_participles_and_adverbs_among_function_names_are_found():
    names = sorted(name for _, name in parse(SNIPPET).functions if is_participle(name))
    assert names == ["_drawn", "embed", "masked", "told"]  # any word in -ed; the allow-list is for verbs such as embed


def test_margins_given_as_numbers_are_found():
    assert list(literal_margins(SNIPPET)) == [(13, "left=0.1"), (13, "top=1")]


def test_telltale_phrases_in_long_strings_are_found():
    texts = [text for _, text in parse(SNIPPET).strings]
    assert len(texts) == 2  # "but for" alone is too short to be a sentence
    found = [phrase for text in texts for phrase in telltale_phrases(text)]
    assert sorted(found) == ["and that is said", "but for", "stands at"]
    assert list(telltale_phrases("Prints a notice, and waits beside the door.")) == []


def test_every_telltale_phrase_matches_what_it_was_written_for():
    samples = [
        "of a run the figures", "and this is said", "is none of its words", "so many as", "what it is worth",
        "no longer lives", "was not foreseen", "to who asks", "but for one", "as it stands", "stands in the table",
        "goes along with it", "that is no art", "says so", "none: the last", "else all", "what it says of itself",
        "the chance of a token",
    ]  # fmt: skip
    for phrase, sample in zip(PHRASES, samples, strict=True):
        assert phrase.search(sample), f"{phrase.pattern} does not match {sample!r}"


@pytest.fixture(name="small_repository")
def write_small_repository(tmp_path):
    """A repository with one file of each kind that is counted, and one of each kind that is not."""
    texts = {
        "src/glassformer/a.py": SNIPPET,
        "src/glassformer/part/b.py": "def told(): ...\n",
        "src/glassformer/part/words.toml": "no Python, but for a comment\n",
        "tests/test_a.py": "def told(): ...\n",
        "README.md": "Every line counts, but for this one.\nIt says so.\n",
        "docs/part/page.md": "That is no art, but that is no art.\n",
        "frontend/src/words/en.json": '{"a": "nothing", "b": "as it stands"}\n',
        "frontend/src/words/de.json": '{"b": "as it stands"}\n',
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_repository_is_counted_file_by_file(small_repository):
    found = find_all(Sources(small_repository, {"embed": "a verb"}))
    lines = SNIPPET.count("\n") + 1
    assert {name: count(hits) for name, hits in found.items()} == {
        "lines": lines, "root_files": 1, "names": 4, "margins": 2, "phrases": 7,
    }  # fmt: skip
    os.utime(small_repository / "src/glassformer/part/b.py", (0, 0))
    assert describe(found["names"], small_repository) == [
        "src/glassformer/a.py: told (5), _drawn (9), masked (10)",
        "src/glassformer/part/b.py: told (1)",
    ]


def test_a_count_that_rises_is_refused_with_its_places(small_repository):
    found = find_all(Sources(small_repository, {}))
    counts = {name: count(hits) for name, hits in found.items()}
    assert complaints(found, counts, small_repository) == []
    for name in MEASURES:
        title, *places = complaints(found, {**counts, name: counts[name] - 1}, small_repository)
        assert title.startswith(f"{name}: {counts[name]} ")
        assert title.endswith(f"the baseline is {counts[name] - 1}.")
        assert any("a.py: " in place for place in places)


def test_a_count_that_falls_must_lower_the_baseline_except_for_lines(small_repository):
    found = find_all(Sources(small_repository, {}))
    counts = {name: count(hits) for name, hits in found.items()}
    for name in MEASURES:
        wrong = complaints(found, {**counts, name: counts[name] + 1}, small_repository)
        assert bool(wrong) is (name != "lines")
        assert not wrong or f"tests/ratchet.toml to {counts[name]}:" in wrong[1]


def test_a_long_list_of_places_is_cut(tmp_path):
    for number in range(LONGEST_LIST + 5):
        path = tmp_path / "src/glassformer" / f"m{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("def told(): ...\n")
    found = find_all(Sources(tmp_path, {}))
    counts = {name: count(hits) for name, hits in found.items()}
    wrong = complaints(found, {**counts, "names": 0}, tmp_path)
    assert sum(": told (1)" in line for line in wrong) == LONGEST_LIST
    assert wrong[-1] == f"  and 5 more files: `{COMMAND} --list` prints all"


def test_the_baseline_is_lowered_but_never_raised():
    text = '# why\n[counts]\nlines = 10\nnames = 5\n\n[allowed_names]\nkept = "names = 5"\n'
    assert lower_baseline(text, {"lines": 9, "names": 5}) == text.replace("lines = 10", "lines = 9")
    with pytest.raises(ValueError, match="would raise names from 5 to 6"):
        lower_baseline(text, {"lines": 9, "names": 6})


# ---- the command -----------------------------------------------------------------------------------------------------


def main() -> None:
    text = BASELINE.read_text("utf-8")
    baseline = tomllib.loads(text)
    found = find_all(Sources(ROOT, baseline["allowed_names"]))
    for name, hits in found.items():
        sys.stdout.write(f"{name}: {count(hits):,} {MEASURES[name].title} (baseline {baseline['counts'][name]:,})\n")
        if "--list" in sys.argv:
            sys.stdout.writelines(f"  {line}\n" for line in describe(hits, ROOT))
    if "--lower" in sys.argv:
        try:
            text = lower_baseline(text, {name: count(hits) for name, hits in found.items()})
        except ValueError as problem:
            sys.exit(f"the baseline stays as it is: {problem}")
        BASELINE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
