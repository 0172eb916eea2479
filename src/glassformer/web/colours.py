"""The colours of the page: those of the figures, by the same meanings, written into its source.

`python -m glassformer.web.colours > frontend/src/page/colours.json` renews them after a change in figures/_style.py.
"""

import json
import sys
from typing import Any

STOPS = 33  # of a colour map; between them the page goes in straight lines
MAPS = ("signed", "share", "probability", "entropy", "time")


def colours() -> dict[str, Any]:
    """Theme → meaning → colour, and theme → map → its colours from one end to the other."""
    from matplotlib.colors import to_hex

    from glassformer.figures import _style

    themes = {name: {meaning: _style.theme(name)[meaning] for meaning in _style.MEANINGS} for name in _style.THEMES}
    maps = {
        name: {kind: [to_hex(_style.colormap(kind, name)(k / (STOPS - 1))) for k in range(STOPS)] for kind in MAPS}
        for name in _style.THEMES
    }
    return {"themes": themes, "maps": maps}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(colours(), indent=1) + "\n")
