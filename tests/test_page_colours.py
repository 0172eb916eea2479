"""The page and the figures have one set of colours."""

import json
from pathlib import Path

from glassformer.web.colours import colours

WRITTEN = Path(__file__).parent.parent / "frontend" / "src" / "page" / "colours.json"


def test_the_page_has_the_colours_of_the_figures():
    told = "`python -m glassformer.web.colours > frontend/src/page/colours.json` renews them"
    assert json.loads(WRITTEN.read_text(encoding="utf-8")) == colours(), told
