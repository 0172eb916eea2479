"""Every figure of a run that applies, with the numbers behind each, and one page that shows them all."""

import base64
import hashlib
import html
import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from glassformer import __version__, _discover, figures, storage, summary
from glassformer.analyses import _clock
from glassformer.analyses._result import thousands
from glassformer.errors import CallError, Error, unknown
from glassformer.run import Run
from glassformer.run import open as open_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SECTIONS = {
    "primer": "Before the transformer",
    "what": "What is it?",
    "learn": "Did it learn?",
    "know": "What does it know?",
    "attend": "How does it attend?",
    "decide": "How does it decide?",
    "path": "How did it get there?",
    "health": "Is it healthy?",
    "trust": "How sure are we?",
}
LEADS = {
    "primer": "The parts that every network is made of, with numbers small enough to follow by hand.",
    "what": "The parts of the model and the data it sees.",
    "learn": "How wrong it was, how wrong it is, and how much of that no model could avoid.",
    "know": "Every token and every position is a point. Where they stand is what it knows before it looks around.",
    "attend": "Each position asks with a query, those it may see answer with their keys. A query times a key is a "
    "score, and the scores of a position become shares of its attention that add up to 1.",
    "decide": "Attention adds what it found to the point, the feed-forward part adds its own, and the read-out turns "
    "where the point ends into a probability for every token.",
    "path": "The same numbers over the whole of training.",
    "health": "Whether training itself went as it should.",
    "trust": "How far these numbers would move with other data or another seed.",
}
BRIEF = {  # the figures whose titles, read one after the other, tell how the model does it
    "rule_error": "How well it does",
    "every_question": "How well it does",
    "query_focus": "What it looks for",
    "query_key_space": "What it looks for",
    "attention": "Where it looks",
    "head_roles": "Where it looks",
    "mixing": "What it takes from there",
    "residual": "What that changes",
    "readout": "What it answers",
    "ablation": "What it cannot do without",
}
SHARED = ("svg", "png")  # formats of a gallery
SECONDS = {"a": 0.15, "b": 0.5, "c": 1.5, "d": 5.0}
Progress = Callable[[int, int, str], None]  # drawn, in all, which


@dataclass(frozen=True)
class Piece:
    """One figure's file: where it stands in the story, what it needs, how it is drawn."""

    name: str
    section: str
    order: int
    needs: str
    cost: str
    options: tuple[str, ...]

    @property
    def place(self) -> tuple[int, int, str]:
        """Order in the story."""
        return list(SECTIONS).index(self.section), self.order, self.name


@dataclass(frozen=True)
class Wish:
    """How figures are to be drawn."""

    step: int = -1
    member: int = 0
    sequences: tuple[str, ...] = ()
    size: str = "screen"
    theme: str = "light"
    formats: tuple[str, ...] = SHARED
    options: dict[str, Any] = field(default_factory=dict)
    others: tuple[str, ...] = ()  # folders of further runs, for figures that compare


@dataclass(frozen=True)
class Made:
    """What became of one figure: its files and words, or the sentence that says why there are none."""

    name: str
    section: str
    files: tuple[str, ...] = ()
    title: str = ""
    caption: str = ""
    alt: str = ""
    step: int | None = None
    absent: str = ""  # it does not apply
    failed: str = ""  # it should have been drawn
    seconds: float = 0.0


def piece(name: str) -> Piece:
    """What a figure's file says of itself."""
    plot = _discover.piece(figures, name, f"plot_{name}")
    file = import_module(f"{figures.__name__}.{name}")
    needs = getattr(file, "NEEDS", "run")
    given = [p.name for p in signature(plot).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return Piece(name, file.SECTION, file.ORDER, needs, file.COST, tuple(given))


def names() -> list[str]:
    """Every figure, in the order of the story."""
    return [each.name for each in sorted(map(piece, _discover.names(figures)), key=lambda each: each.place)]


def suits(each: Piece, run: Run) -> str | None:
    """Why a figure cannot be drawn for this run, as half a sentence; None: it can."""
    if each.needs == "population" and run.members == 1:
        return "it needs a population; `glassformer train ... --seeds 8` makes one"
    if each.needs not in ("run", "population", "runs", "nothing"):
        return f"it is drawn from a {each.needs}, not from a run"
    applies = getattr(import_module(f"{figures.__name__}.{each.name}"), "applies", None)
    return applies(run) if applies and each.needs != "nothing" else None


def for_gallery(each: Piece, run: Run) -> bool:
    """Whether a gallery draws it: what a run can show within seconds, and for a population what only that can show."""
    return each.needs == "population" and run.members > 1 if each.needs != "run" else each.cost != "d"


# ---- one figure ------------------------------------------------------------------------------------------------------


def plot(each: Piece, run: Run, wish: Wish, sequence: str | None = None) -> "Figure":
    """Draw one figure, with what its function asks for."""
    wanted: dict[str, Any] = {"step": wish.step, "member": wish.member, "size": wish.size, "theme": wish.theme}
    if sequence is not None:
        wanted["sequence"] = sequence
    for option in wish.options:
        if option not in each.options:
            raise unknown(option, f"the options of {each.name}", set(each.options) - {"ax"})
    chosen = {name: value for name, value in wanted.items() if name in each.options} | wish.options
    draw = getattr(import_module(f"{figures.__name__}.{each.name}"), f"plot_{each.name}")
    if each.needs == "nothing":
        made = draw(**chosen)
    elif each.needs == "runs":
        made = draw([run, *map(open_run, wish.others)], **chosen)
    else:
        made = draw(run, **chosen)
    figure: Figure = made
    return figure


def stem(name: str, detail: str, figure: "Figure", wish: Wish) -> str:
    """NAME[_DETAIL][_stepNNNNNN][_SIZE][_THEME]."""
    from glassformer.figures import _draw

    result = _draw.of(figure).result
    several = getattr(result, "steps", None)
    parts = [name, detail]
    if result.step is not None:
        parts.append(f"step{result.step:06}")
    elif isinstance(several, (tuple, list)) and several:
        parts.append(f"step{min(several):06}-{max(several):06}")
    parts += [wish.size if wish.size != "screen" else "", wish.theme if wish.theme != "light" else ""]
    return "_".join(part for part in parts if part)


def make(each: Piece, run: Run, wish: Wish, out: Path) -> list[Made]:
    """Draw a figure (once per sequence, if it takes any) and write its files; a failure is told, not raised."""
    several = wish.sequences if "sequence" in each.options and wish.sequences else (None,)
    found = []
    for k, sequence in enumerate(several):
        detail = f"seq{k + 1}" if sequence is not None else f"member{wish.member:02}" if wish.member else ""
        began = time.perf_counter()
        try:
            if reason := suits(each, run):
                found.append(Made(each.name, each.section, absent=reason))
                break
            found.append(_written(each, run, wish, out, sequence, detail, began))
        except CallError as problem:
            found.append(Made(each.name, each.section, absent=str(problem)))
        except Exception as problem:  # one figure must not stop the others
            sentence = str(problem) if isinstance(problem, Error) else f"{type(problem).__name__}: {problem}"
            found.append(Made(each.name, each.section, failed=sentence))
    return found


def _written(
    each: Piece, run: Run, wish: Wish, out: Path, sequence: str | None, detail: str, began: float
) -> Made:  # fmt: skip
    from glassformer.figures import _draw

    figure = plot(each, run, wish, sequence)
    name = stem(each.name, detail, figure, wish)
    files = [_draw.save(figure, out / f"{name}.{kind}") for kind in wish.formats]
    files += _draw.save_numbers(figure, out / name, {"figure": each.name, "run": run.name})
    drawn = _draw.of(figure)
    words, seconds = drawn.words, round(time.perf_counter() - began, 3)
    return Made(
        each.name, each.section, tuple(path.name for path in files), words.title, words.caption, words.alt,
        drawn.result.step, seconds=seconds,
    )  # fmt: skip


# ---- many, in two processes ------------------------------------------------------------------------------------------


def draw(
    run: Run, pieces: Sequence[Piece], wish: Wish, out: Path, progress: Progress | None = None, processes: int = 2
) -> list[Made]:
    """Draw these figures, in order; two processes share the work, each taking the next one when it is free."""
    storage.make_folder(out)
    left = deque(sorted(pieces, key=lambda each: -SECONDS.get(each.cost, 1)))  # the long ones first
    many, found, lock = len(left), dict[str, list[Made]](), Lock()

    def take() -> Piece | None:
        with lock:
            return left.popleft() if left else None

    def keep(each: Piece, made: list[Made]) -> None:
        with lock:
            found[each.name] = made
            if progress:
                progress(len(found), many, each.name)

    helper = None
    if processes > 1 and sum(SECONDS.get(each.cost, 1) for each in pieces) > 3:
        helper = Thread(target=_help, args=(run, wish, out, take, keep), daemon=True)
        helper.start()
    while each := take():
        keep(each, make(each, run, wish, out))
    if helper:
        helper.join()
    lost = [each for each in pieces if each.name not in found]  # the other process died with them
    for each in lost:
        keep(each, make(each, run, wish, out))
    return [made for each in pieces for made in found[each.name]]


def _help(
    run: Run,
    wish: Wish,
    out: Path,
    take: Callable[[], Piece | None],
    keep: Callable[[Piece, list[Made]], None],
) -> None:
    """Feed a second process, one figure at a time."""
    order = "from glassformer import gallery; gallery.work()"
    other = subprocess.Popen(
        [sys.executable, "-c", order], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert other.stdin is not None
    assert other.stdout is not None
    try:
        with other.stdin as orders, other.stdout as answers:
            print(json.dumps([str(run.path.resolve()), asdict(wish), str(out.resolve())]), file=orders, flush=True)
            if not answers.readline():  # it says when it is ready, so that nothing waits for its imports
                return
            while each := take():
                print(each.name, file=orders, flush=True)
                if not (answer := answers.readline()):
                    return
                keep(each, [Made(**made) for made in json.loads(answer)])
    except (BrokenPipeError, OSError):
        return
    finally:
        other.wait()


def work() -> None:
    """What the second process does: draw the figures it is told to."""
    from glassformer.figures import _draw  # noqa: F401

    path, given, out = json.loads(sys.stdin.readline())
    run = open_run(path)
    wish = Wish(**{**given, "sequences": tuple(given["sequences"]), "formats": tuple(given["formats"])})
    print("ready", flush=True)
    for line in sys.stdin:
        made = make(piece(line.strip()), run, wish, Path(out))
        print(json.dumps([asdict(each) for each in made]), flush=True)


# ---- the page --------------------------------------------------------------------------------------------------------


def gallery(run: Run, out: Path, wish: Wish | None = None, progress: Progress | None = None) -> list[Made]:
    """Every figure that applies, `gallery.json` and `index.html`."""
    wish = wish or Wish()
    _clock.resolve(run, wish.step)
    pieces = [each for each in map(piece, names()) if for_gallery(each, run)]
    made = draw(run, pieces, wish, out, progress)
    told = [{name: value for name, value in asdict(each).items() if name != "seconds"} for each in made]
    about = {"run": run.name, "version": __version__, "figures": told}  # the same run gives the same file
    storage.replace(out / "gallery.json", json.dumps(about, ensure_ascii=False, indent=1).encode())
    storage.replace(out / "index.html", page(run, made, out, wish.theme).encode())
    return made


LOOK = """
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, "DejaVu Sans", sans-serif; overflow-wrap: break-word }
h1 { font-size: 1.7rem; margin: 0 0 .5rem } p { margin: .3rem 0; max-width: 60rem }
h2 { margin: 3rem 0 .5rem; border-top: 1px solid var(--faint); padding-top: 1rem }
h3 { font-size: 1.1rem; margin: 0 0 .5rem } header h2 { font-size: 1.2rem; margin-top: 1.5rem }
.task { font-size: 1.2rem } a { color: var(--train) } nav ol { margin: .2rem 0 .8rem; padding-left: 1.4rem }
nav summary { cursor: pointer; padding: .2rem 0 } nav li, .brief dd { max-width: 60rem }
figure { margin: 1.5rem 0 3rem; scroll-margin-top: 1rem } .sheet { display: block; overflow-x: auto }
.sheet img { display: block; width: 100%; height: auto; border-radius: 4px }
figcaption { color: var(--quiet); max-width: 60rem; margin-top: .5rem } .name { font-family: ui-monospace, monospace }
.files a { margin-right: .4rem } dd { margin: 0 0 .4rem 1.5rem; color: var(--quiet) }
.brief dt { font-weight: bold } .brief dd { color: inherit } .absent dt { font-family: ui-monospace, monospace }
footer { margin-top: 3rem; border-top: 1px solid var(--faint); padding-top: 1rem; color: var(--quiet) }
@media (max-width: 48rem) { body { padding: 1rem } .sheet img { width: 52rem; max-width: none } }
@media print { nav, footer { display: none } figure { break-inside: avoid } }
"""


def _style_sheet(theme: str) -> str:
    """The page's colours are those of its figures: what was drawn for light paper never stands on a dark page."""
    from glassformer.figures import _style

    colours = " ".join(
        f"--{name}: {_style.theme(theme)[name]};" for name in ("ink", "paper", "quiet", "faint", "train")
    )
    return f":root {{ color-scheme: {theme}; {colours} }}{LOOK}"


def page(run: Run, made: Sequence[Made], out: Path, theme: str = "light") -> str:
    """One file that needs no server, no network and no script; every picture is inside it."""
    shown = [each for each in made if each.files]
    sections = {key: inside for key in SECTIONS if (inside := [each for each in shown if each.section == key])}
    told = {each.name: each.absent or f"could not be drawn: {each.failed}" for each in made if not each.files}
    style = _style_sheet(theme)
    seal = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    size = f"{thousands(run.parameters)} parameters, {thousands(run.last_step)} steps, {len(shown)} figures"
    lines = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{seal}'; "
        "img-src data:; base-uri 'none'; form-action 'none'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(run.name)}: inside the model</title>\n<style>{style}</style>\n</head>\n<body>",
        f'<header id="top">\n<h1>{_text(run.name)}</h1>',
        *_task(run),
        *(f"<p>{_text(_begun(sentence, run))}.</p>" for sentence in _sentences(run)),
        f"<p>{_text(size)}.</p>",
        *_brief(shown),
        '<nav aria-label="Contents">\n<h2>Contents</h2>',
    ]
    for key, inside in sections.items():
        many = "1 figure" if len(inside) == 1 else f"{len(inside)} figures"
        lines.append(f'<details>\n<summary><a href="#{key}">{_text(SECTIONS[key])}</a> {many}</summary>\n<ol>')
        lines += [f'<li><a href="#{_anchor(each)}">{_text(each.title)}</a></li>' for each in inside]
        lines.append("</ol>\n</details>")
    lines.append("</nav>\n</header>\n<main>")
    for key, inside in sections.items():
        lines.append(f'<section id="{key}">\n<h2>{_text(SECTIONS[key])}</h2>\n<p>{_text(LEADS[key])}</p>')
        lines += [_figure(each, out) for each in inside]
        lines.append("</section>")
    if told:
        lines.append('<section id="absent">\n<h2>Not drawn for this run</h2>\n<dl class="absent">')
        lines += [f"<dt>{_text(name)}</dt><dd>{_text(_begun(reason))}.</dd>" for name, reason in told.items()]
        lines.append("</dl>\n</section>")
    lines.append(
        f'</main>\n<footer>Drawn by Glassformer {_text(__version__)}. <a href="#top">To the contents</a></footer>'
    )
    lines.append("</body>\n</html>\n")
    return "\n".join(lines)


def _text(words: str) -> str:
    """Escaped, and a number stays on the line of its percent sign."""
    return html.escape(words).replace(" %", "\u00a0%")


def _begun(sentence: str, run: Run | None = None) -> str:
    """With a capital, unless it begins with a name."""
    named = run is not None and sentence.startswith(run.experiment.name)
    return sentence if named else sentence[:1].upper() + sentence[1:]


def _task(run: Run) -> Iterator[str]:
    """What the model was asked to learn, in the words of the task's own file."""
    said = import_module(type(run.task).__module__).__doc__ or type(run.task).__doc__ or ""
    if first := " ".join(said.strip().partition("\n\n")[0].split()):
        yield f'<p class="task">{_text(first)}</p>'


def _brief(shown: Sequence[Made]) -> Iterator[str]:
    """The titles that tell the story, one to a question, each leading to its figure."""
    first: dict[str, Made] = {}
    by_name = {each.name: each for each in reversed(shown)}  # of several inputs, the first
    for name, question in BRIEF.items():
        if name in by_name:
            first.setdefault(question, by_name[name])
    if first:
        yield '<section id="brief">\n<h2>In brief</h2>\n<dl class="brief">'
        for question, each in first.items():
            yield f'<dt>{question}</dt><dd>{_text(each.title)}. <a href="#{_anchor(each)}">See&nbsp;it</a></dd>'
        yield "</dl>\n</section>"


def _sentences(run: Run) -> Iterator[str]:
    yield from summary.sentences(run) if len(run.metrics["step"]) else ()


def _picture(each: Made) -> str | None:
    return next((name for kind in (".svg", ".png") for name in each.files if name.endswith(kind)), None)


def _anchor(each: Made) -> str:
    return html.escape((_picture(each) or each.files[0]).rpartition(".")[0])


def _figure(each: Made, out: Path) -> str:
    e, image = html.escape, ""
    if picture := _picture(each):
        kind = "svg+xml" if picture.endswith(".svg") else "png"
        content = base64.b64encode((out / picture).read_bytes()).decode()
        image = (
            f'<a class="sheet" href="{e(picture)}"><img alt="{e(each.alt)}" decoding="async" '
            f'src="data:image/{kind};base64,{content}"></a>'
        )
    groups = {"picture": ("svg", "png", "pdf"), "numbers": ("csv", "json", "npz")}
    links = [
        f"{word}: " + " ".join(f'<a href="{e(name)}">{name.rpartition(".")[2]}</a>' for name in found)
        for word, kinds in groups.items()
        if (found := [name for name in each.files if name.rpartition(".")[2] in kinds])
    ]
    return (
        f'<figure id="{_anchor(each)}">\n<h3>{_text(each.title)}</h3>\n{image}\n'
        f'<figcaption>{_text(each.caption)}<br><span class="name">{e(each.name)}</span> · '
        f'<span class="files">{" · ".join(links)}</span></figcaption>\n</figure>'
    )
