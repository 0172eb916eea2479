"""The views as one page that needs no server, no network and no script; every picture is inside it."""

import base64
import hashlib
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from glassformer import __version__
from glassformer.physics._tell import Part, View, formula

LOOK = """
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 66rem; padding: 3rem 2rem 4rem; background: var(--paper); color: var(--ink);
  font: 1.06rem/1.6 Georgia, "Iowan Old Style", "Noto Serif", "DejaVu Serif", serif; overflow-wrap: break-word }
p, ul, aside, .formulas, table, nav ol, details { max-width: 44rem; margin-left: auto; margin-right: auto }
h1, h2, h3, .reader { max-width: 44rem; margin-left: auto; margin-right: auto; line-height: 1.25 }
h1 { font-size: 2.3rem; margin-top: 0; margin-bottom: .6rem } h2 { font-size: 1.9rem; margin-top: .2rem }
h3 { font-size: 1.25rem; margin-top: 3rem; margin-bottom: .6rem }
section { border-top: 3px solid var(--ink); margin-top: 5rem; padding-top: 1.6rem }
section:first-of-type { margin-top: 3rem }
.reader { color: var(--quiet); font-variant: small-caps; letter-spacing: .04em; margin-bottom: 0 }
.lead { font-size: 1.14rem } nav ol { padding-left: 1.4rem } nav { margin-top: 2rem } a { color: var(--train) }
figure { margin: 1.6rem 0 } .sheet { display: block; overflow-x: auto }
.sheet img { display: block; width: 100%; height: auto; border-radius: 4px; background: #fff }
figcaption { max-width: 44rem; margin: .5rem auto 0; font-size: .88rem; line-height: 1.45; color: var(--quiet) }
figcaption summary { cursor: pointer } figcaption p { margin: .3rem 0 0 }
.formulas { list-style: none; padding: .2rem 0; text-align: center; font-size: 1.12rem }
.formulas li { margin: .45rem 0 } .formulas li, var { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math",
  "DejaVu Serif", Georgia, serif } sub, sup { line-height: 0; font-size: .72em }
aside { border-left: 4px solid var(--validation); padding: .1rem 0 .1rem 1.1rem; margin-top: 1.4rem; font-size: .96rem }
aside b { font-weight: 600 } table { border-collapse: collapse; font-size: .95rem; width: 100%; margin-top: 1.2rem }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--faint); vertical-align: top }
th { border-bottom: 2px solid var(--ink) }
td:not(:first-child), th:not(:first-child) { text-align: right; padding: .35rem 0 .35rem 1.2rem }
td:not(:first-child) { font-variant-numeric: tabular-nums } details { margin-top: 1.4rem }
footer { margin-top: 4rem; border-top: 1px solid var(--faint); padding-top: 1rem; color: var(--quiet);
  font-size: .9rem }
@media screen and (max-width: 48rem) { body { padding: 1.4rem 1.1rem; font-size: 1rem }
  h1 { font-size: 1.8rem } h2 { font-size: 1.5rem }
  .sheet img { width: 52rem; max-width: none } .formulas { overflow-x: auto; white-space: nowrap; text-align: left } }
@media print { nav, footer, figcaption, header details { display: none } html { font-size: 10.5pt }
  figure, aside, table { break-inside: avoid } section { break-before: page } h3 { break-after: avoid }
  body { padding: 0; font-size: 1rem } }
"""
SYMBOL = re.compile(r"(?<![\w>])([THCFUZNαη])(?!\w|</var>)")  # one letter alone is a quantity


@dataclass(frozen=True)
class Picture:
    """A figure as the page needs it."""

    svg: bytes
    file: str  # a picture beside the page; empty: only numbers were wished for
    alt: str
    caption: str


def page(
    title: str,
    settings: Any,
    views: Sequence[tuple[int, View]],
    pictures: Mapping[str, Sequence[Picture]],
    theme: str = "light",
) -> str:
    """The whole page; `views` come with their numbers, a figure with all its pages."""
    style = _style_sheet(theme)
    seal = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    lines = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{seal}'; "
        f"img-src data:; base-uri 'none'; form-action 'none'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>",
        f'<header id="top">\n<h1>{html.escape(title)}</h1>',
        *_contents(views),
        _settings(settings),
        "</header>\n<main>",
    ]
    for number, view in views:
        lines += _view(number, view, pictures)
    lines.append(
        f"</main>\n<footer><p>Every number on this page was computed in the run that wrote it. Drawn by Glassformer "
        f'{html.escape(__version__)}. <a href="#top">To the top</a></p></footer>\n</body>\n</html>\n'
    )
    return "\n".join(lines)


def _style_sheet(theme: str) -> str:
    """The page's colours are those of the figures; where these are dark, so is the page."""
    from glassformer.figures import _style

    def colours(theme: str) -> str:
        names = ("ink", "paper", "quiet", "faint", "train", "validation")
        return " ".join(f"--{name}: {_style.theme(theme)[name]};" for name in names)

    if theme == "dark":
        return f":root {{ color-scheme: dark; {colours('dark')} }}{LOOK}"
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {colours('dark')} }} }}"
    return f":root {{ color-scheme: light dark; {colours('light')} }}\n{dark}{LOOK}"


def _contents(views: Sequence[tuple[int, View]]) -> Iterator[str]:
    if len(views) > 1:
        yield "<p>The same result, told in more than one way. Each telling stands alone.</p>"
        yield '<nav aria-label="Contents">\n<ol>'
        for number, view in views:
            yield f'<li><a href="#view{number}">{html.escape(view.title)}</a>, {html.escape(view.reader)}</li>'
        yield "</ol>\n</nav>"


def _settings(settings: Any) -> str:
    rows = "".join(
        f"<tr><td>{each.name.replace('_', ' ')}</td><td>{_value(settings, each.name)}</td></tr>"
        for each in fields(settings)
    )
    return f"<details>\n<summary>All settings of this run</summary>\n<table>{rows}</table>\n</details>"


def _value(settings: Any, name: str) -> str:
    value = getattr(settings, name)
    if value is None:
        return f"{settings.neurons} (twice the tokens)"
    return f"{value:g}" if isinstance(value, float) else html.escape(str(value))


def _view(number: int, view: View, pictures: Mapping[str, Sequence[Picture]]) -> Iterator[str]:
    yield f'<section id="view{number}">\n<p class="reader">View {number}, {html.escape(view.reader)}</p>'
    yield f"<h2>{html.escape(view.title)}</h2>"
    for paragraph in view.lead:
        yield f'<p class="lead">{_kept(paragraph)}</p>'
    for part in view.parts:
        yield from _part(part, pictures)
    yield "</section>"


def _part(part: Part, pictures: Mapping[str, Sequence[Picture]]) -> Iterator[str]:
    yield f"<h3>{html.escape(part.heading)}</h3>"
    if part.formulas:
        wide = (formula(each).replace("   ", "\u2003") for each in part.formulas)
        yield '<ul class="formulas">' + "".join(f"<li>{each}</li>" for each in wide) + "</ul>"
    yield from (f"<p>{_kept(each)}</p>" for each in part.paragraphs if each)
    if part.points:
        yield "<ul>" + "".join(f"<li>{_kept(each)}</li>" for each in part.points) + "</ul>"
    if part.table:
        head, *rows = part.table
        cells = "".join(f"<th>{html.escape(each)}</th>" for each in head)
        lines = "".join(
            "<tr>" + "".join(f"<td>{_kept(html.escape(each))}</td>" for each in row) + "</tr>" for row in rows
        )
        yield f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"
    yield from map(_figure, pictures.get(part.figure, ()))
    if remarks := [each for each in part.remarks if each]:
        first, *more = map(_kept, remarks)
        rest = "".join(f"<p>{each}</p>" for each in more)
        yield f"<aside><p><b>What the source gets wrong.</b> {first}</p>{rest}</aside>"


def _figure(picture: Picture) -> str:
    content = base64.b64encode(picture.svg).decode()
    image = f'<img alt="{html.escape(picture.alt)}" decoding="async" src="data:image/svg+xml;base64,{content}">'
    link = f'<a class="sheet" href="{html.escape(picture.file)}">{image}</a>' if picture.file else image
    return (
        f"<figure>\n{link}\n"
        f"<figcaption><details><summary>How to read this "
        f"figure</summary><p>{_kept(html.escape(picture.caption))}</p></details></figcaption>\n</figure>"
    )


def _kept(text: str) -> str:
    """Quantities are slanted; a number stays on the line of its percent sign and its power of ten."""
    text = SYMBOL.sub(r"<var>\1</var>", text).replace("</var> = ", "</var>\u00a0=\u00a0")
    return text.replace(" %", "\u00a0%").replace(" × 10", "\u00a0×\u00a010")
