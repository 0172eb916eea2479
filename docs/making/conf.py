"""Sphinx's settings for the site of `make docs`, which fetches nothing from the network, search included."""

import sys
from pathlib import Path

from pygments.lexers.html import HtmlLexer
from sphinx.highlighting import lexers

import glassformer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

project = "Glassformer"
author = "The Glassformer authors"
version = release = glassformer.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "making.signatures"]
exclude_patterns = ["_built"]

html_theme = "furo"
html_title = f"Glassformer {version}"
html_show_sphinx = html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # a page opened from a file may not fetch others
html_permalinks_icon = "#"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f4a8c", "color-brand-content": "#1f4a8c"},
    "dark_css_variables": {"color-brand-primary": "#93bbfa", "color-brand-content": "#93bbfa"},
}

myst_heading_anchors = 4  # links to headings, as on a page of a repository
highlight_language = "none"  # blocks without a language are commands or pictures made of letters
lexers["svelte"] = HtmlLexer()
suppress_warnings = ["misc.highlighting_failure"]  # pieces of files are no whole files

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
default_role = "code"
toc_object_entries = False  # a page of functions is found by its headings
