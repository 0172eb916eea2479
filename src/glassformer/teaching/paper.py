"""Pages to print: a sheet of A4 that needs no network and no script, and is legible on a telephone, too."""

import base64
import hashlib
import html

from glassformer import __version__
from glassformer.words import shown

LOOK = """
:root { color-scheme: light; --ink: #1a1a1a; --quiet: #595959; --faint: #8a8a8a }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem; background: #fff; color: var(--ink);
  font: 1rem/1.5 Georgia, "Noto Serif", "DejaVu Serif", serif; overflow-wrap: break-word }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem } h2 { font-size: 1.15rem; margin: 1.6rem 0 .3rem }
.about { color: var(--quiet); margin: 0 0 1rem } .names { display: flex; gap: 2rem; margin: 1rem 0 }
.names span { flex: 1; border-bottom: 1px solid var(--faint); padding-bottom: .1rem; color: var(--quiet) }
ol.questions { padding-left: 1.6rem } ol.questions > li { margin: 0 0 1.4rem; padding-left: .2rem }
p { margin: .3rem 0 } code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .92em }
.room { border-bottom: 1px dotted var(--faint); height: 1.9rem } .box { list-style: none; padding-left: .2rem }
.box li::before { content: "☐ " } .wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .92rem; margin: .5rem 0 }
th, td { border: 1px solid var(--faint); padding: .25rem .5rem; text-align: center; min-width: 1.8rem }
th { font-weight: 600 } td.right { outline: 3px solid var(--ink); outline-offset: -3px; font-weight: 700 }
.answer { border-left: 4px solid var(--ink); padding-left: .8rem; margin-top: .4rem }
dt { font-weight: 700; margin-top: .7rem } dd { margin: 0 0 .3rem 1.2rem }
footer { margin-top: 2rem; border-top: 1px solid var(--faint); padding-top: .5rem; color: var(--quiet);
  font-size: .85rem }
@page { size: A4; margin: 18mm 16mm }
@media print { body { padding: 0; max-width: none; font-size: 11pt } .wide { overflow: visible }
  li, dt, dd, tr, table, p, .answer { break-inside: avoid } h1, h2, dt { break-after: avoid } }
"""


def sheet(title: str, inside: str, language: str = "en") -> str:
    """A whole page; `inside` is HTML, the title a text."""
    seal = base64.b64encode(hashlib.sha256(LOOK.encode()).digest()).decode()
    name = html.escape(shown(title))
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{seal}'; "
        "img-src data:; base-uri 'none'; form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{LOOK}</style>\n</head>\n<body>\n<main>\n{inside}\n</main>\n"
        f"<footer>Glassformer {__version__}</footer>\n</body>\n</html>\n"
    )
