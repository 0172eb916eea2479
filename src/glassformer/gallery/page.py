"""The page of a gallery: it shows every figure of its folder, with its words and links to its files."""

import base64
import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from glassformer import __version__, report, summary, words
from glassformer.analyses._result import thousands
from glassformer.catalogue import sections as story
from glassformer.changed import told
from glassformer.gallery.brief import BRIEF
from glassformer.gallery.films import films, link, way
from glassformer.gallery.making import Made
from glassformer.gallery.shape import shape
from glassformer.run import Run

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
.film { max-width: 30rem; margin: .4rem 0 } .files a { margin-right: .4rem }
dd { margin: 0 0 .4rem 1.5rem; color: var(--quiet) }
.brief dt { font-weight: bold } .brief dd { color: inherit } .absent dt, code { font-family: ui-monospace, monospace }
footer { margin-top: 3rem; border-top: 1px solid var(--faint); padding-top: 1rem; color: var(--quiet) }
@media screen and (max-width: 48rem) { body { padding: 1rem } .sheet img { width: 52rem; max-width: none } }
@media print { :root { font-size: 10pt } body { padding: 0 } nav, footer { display: none } h2 { margin-top: 1.5rem }
  figure { break-inside: avoid; margin: 1rem 0 1.5rem } h2, h2 + p { break-after: avoid } }
"""


def _style_sheet(theme: str) -> str:
    """The page's colours are those of its figures: what was drawn for light paper never stands on a dark page."""
    from glassformer.figures import _style

    colours = " ".join(
        f"--{name}: {_style.theme(theme)[name]};" for name in ("ink", "paper", "quiet", "faint", "train")
    )
    return f":root {{ color-scheme: {theme}; {colours} }}{LOOK}"


def page(run: Run, made: Sequence[Made], out: Path, theme: str = "light") -> str:
    """It needs no server, no network and no script; the pictures lie beside it."""
    shown = [each for each in made if each.files]
    sections = {key: inside for key in story() if (inside := [each for each in shown if each.section == key])}
    bare = [key for key in story() if key not in sections and any(each.section == key for each in made)]
    style = _style_sheet(theme)
    seal = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    size = f"{thousands(run.parameters)} parameters, {thousands(run.last_step)} steps, {_counted(shown)}"
    lines = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{seal}'; "
        "img-src 'self' file:; base-uri 'none'; form-action 'none'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(run.name)}: inside the model</title>\n<style>{style}</style>\n</head>\n<body>",
        f'<header id="top">\n<h1>{_text(run.name)}</h1>',
        *_task(run),
        *(f"<p>{_text(_begun(sentence, run))}.</p>" for sentence in _sentences(run)),
        f"<p>{_text(size)}.</p>",
        *(f"<p>{_text(_begun(changes))}.</p>" for changes in [told(run.experiment)] if changes),
        _report(run, out),
        *_brief(shown),
        '<nav aria-label="Contents">\n<h2>Contents</h2>',
    ]
    for key, inside in sections.items():
        many = _counted(inside)
        lines.append(f'<details>\n<summary><a href="#{key}">{_text(story()[key].title)}</a> {many}</summary>\n<ol>')
        lines += [f'<li><a href="#{_anchor(each)}">{_text(each.title)}</a></li>' for each in inside if not each.page]
        lines.append("</ol>\n</details>")
    lines.append("</nav>\n</header>\n<main>")
    for key in [*sections, *bare]:
        lines.append(f'<section id="{key}">\n<h2>{_text(story()[key].title)}</h2>\n<p>{_text(story()[key].lead)}</p>')
        lines += [_figure(each, out) for each in sections.get(key, ())]
        lines += _not_drawn([each for each in made if each.section == key and not each.files])
        lines += films(run, key, out)
        lines.append("</section>")
    lines.append(
        f'</main>\n<footer>Drawn by Glassformer {_text(__version__)}. <a href="#top">To the contents</a></footer>'
    )
    lines.append("</body>\n</html>\n")
    return words.shown("\n".join(lines))


def _text(words: str) -> str:
    """Escaped, and a number stays on the line of its percent sign."""
    return html.escape(words).replace(" %", "\u00a0%")


def _counted(shown: Sequence[Made]) -> str:
    """How many figures; the further pages of one are no others."""
    many = sum(not each.page for each in shown)
    return "1 figure" if many == 1 else f"{many} figures"


def _begun(sentence: str, run: Run | None = None) -> str:
    """With a capital, unless it begins with a name."""
    named = run is not None and sentence.startswith(run.experiment.name)
    return sentence if named else sentence[:1].upper() + sentence[1:]


def _task(run: Run) -> Iterator[str]:
    """What the model was asked to learn, in the words of the task's own file."""
    said = import_module(type(run.task).__module__).__doc__ or type(run.task).__doc__ or ""
    if first := " ".join(said.strip().partition("\n\n")[0].split()):
        yield f'<p class="task">{_text(first)}</p>'


def _report(run: Run, out: Path) -> str:
    """The way to the page on which this run can be tried, or the command that makes it."""
    what = "to scrub through its training, ask it, change it and train it again"
    path = report.FOLDER / f"{run.name}{report.ENDING}"
    if path.is_file():
        return f'<p><a href="{way(path, out)}">The report</a> is the page {what}.</p>'
    command = html.escape(words.pasted(["glassformer", "report", run.name]))
    return f"<p><code>{command}</code> makes a page {what}.</p>"


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


def _not_drawn(left: Sequence[Made]) -> Iterator[str]:
    """The figures of a section that are not on the page, each with its reason and the command that draws it."""
    if left:
        yield '<h3>Not drawn here</h3>\n<dl class="absent">'
        for each in left:
            yield f"<dt>{_text(each.name)}</dt><dd>{_told(each.absent or f'could not be drawn: {each.failed}')}</dd>"
        yield "</dl>"


def _told(reason: str) -> str:
    """A sentence; what stands between backticks is a command."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", _text(_begun(reason))) + "."


def _picture(each: Made) -> str | None:
    return next((name for kind in (".svg", ".png") for name in each.files if name.endswith(kind)), None)


def _anchor(each: Made) -> str:
    return html.escape((_picture(each) or each.files[0]).rpartition(".")[0])


def _figure(each: Made, out: Path) -> str:
    e, image = html.escape, ""
    if picture := _picture(each):
        there = link(picture)
        image = f'<img alt="{e(each.alt)}"{shape(out / picture)} loading="lazy" decoding="async" src="{there}">'
        image = f'<a class="sheet" href="{there}">{image}</a>'
    groups = {"picture": ("svg", "png", "pdf"), "numbers": ("json", "csv")}
    links = [
        f"{word}: " + " ".join(f'<a href="{link(name)}">{name.rpartition(".")[2]}</a>' for name in found)
        for word, kinds in groups.items()
        if (found := [name for name in each.files if name.rpartition(".")[2] in kinds])
    ]
    further = f" (page {each.page + 1} of {each.pages})" if each.page else ""
    return (
        f'<figure id="{_anchor(each)}">\n<h3>{_text(each.title + further)}</h3>\n{image}\n'
        f'<figcaption>{_text(each.caption)}<br><span class="name">{e(each.name)}</span> · '
        f'<span class="files">{" · ".join(links)}</span></figcaption>\n</figure>'
    )
