"""One look: every colour by what it means, every size by where it will be seen. No other file writes a colour."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.colors import Colormap, LinearSegmentedColormap, ListedColormap, to_rgb

from glassformer.errors import check_name, unknown


@dataclass(frozen=True)
class Theme:
    """Colours by meaning."""

    name: str
    query: str
    key: str
    value: str
    feed_forward: str
    right: str
    wrong: str
    unconstrained: str  # also "not in view", which is hatched
    train: str
    validation: str
    ink: str  # text, embedding and residual stream, floor
    paper: str
    rung: str
    faint: str = field(default="")  # grid lines, the other pairs, what is only background
    quiet: str = field(default="")  # text of the second rank, 4.5 : 1 on paper
    masked: str = field(default="")  # hatching of cells that are not allowed

    def __getitem__(self, meaning: str) -> str:
        """A colour by its meaning as text: theme["query"]."""
        name = ALIAS.get(meaning, meaning)
        if name not in MEANINGS:
            raise unknown(meaning, "the colours", MEANINGS)
        return str(getattr(self, name))


ALIAS = {
    "embedded": "ink", "embedding": "ink", "residual": "ink", "middle": "ink", "floor": "ink", "test": "validation",
    "error": "wrong", "not_in_view": "unconstrained", "feed-forward": "feed_forward",
}  # fmt: skip
MEANINGS = tuple(name for name in Theme.__dataclass_fields__ if name != "name")

THEMES = {
    "light": Theme(
        "light", query="#1F4A8C", key="#7F3603", value="#118548", feed_forward="#B04AC6", right="#04A09E",
        wrong="#9F352F", unconstrained="#D5D8DC", train="#2A22B5", validation="#CC7806", ink="#1B1F24",
        paper="#FFFFFF", rung="#8C9198", faint="#C9CDD3", quiet="#5B626B", masked="#A9AEB5",
    ),
    "dark": Theme(
        "dark", query="#2A84F8", key="#B57544", value="#3BDD80", feed_forward="#F09CFE", right="#5FC4A4",
        wrong="#EC4232", unconstrained="#474D55", train="#93BBFA", validation="#D2AE62", ink="#ECEEF1",
        paper="#14171C", rung="#8C9198", faint="#3D434B", quiet="#A3AAB3", masked="#5C636C",
    ),
}  # fmt: skip

MARKER = {"query": "o", "key": "s", "value": "^", "feed_forward": "D"}  # the second sign beside the colour
LINE = {"train": "-", "validation": "--", "test": ":"}
GLYPH = {"right": "✓", "wrong": "✗", "unconstrained": "", "not_in_view": "∅"}
SAID = {
    "right": "right", "wrong": "wrong", "unconstrained": "unconstrained", "not_in_view": "answer not in view",
    "masked": "masked: not allowed to look", "feed_forward": "feed-forward",
}  # fmt: skip
GROUP_MARKERS = ("o", "D", "P", "^", "s", "v", "X", "*")  # by token group, in the task's order
POSITION = "s"  # of a position: an empty square, the shape of no group (theirs are filled)


@dataclass(frozen=True)
class Size:
    """Where a figure will be seen: lengths in inches, text in points."""

    name: str
    width: float
    dpi: int
    text: float  # the least size of any text
    title: float
    line: float
    fixed: float | None = None  # height, where the place dictates it
    tall: float = 1.0  # height as a share of that at screen size
    most: float = 100.0  # height
    wider: str = ""  # the size that a figure takes instead if its panels do not fit side by side


SIZES = {
    "screen": Size("screen", width=12, dpi=100, text=9, title=13, line=1.5),
    "slide": Size("slide", width=40 / 3, dpi=144, text=14, title=20, line=2.2, fixed=7.5),
    "print": Size("print", width=180 / 25.4, dpi=300, text=7, title=9, line=0.9, tall=0.7, most=250 / 25.4),
    "print_narrow": Size(
        "print_narrow",
        width=85 / 25.4,
        dpi=300,
        text=7,
        title=8.5,
        line=0.9,
        tall=0.6,
        most=250 / 25.4,
        wider="print",
    ),
    "film": Size("film", width=1280 / 96, dpi=96, text=11.5, title=16, line=1.8, fixed=720 / 96),
}


def theme(name: str) -> Theme:
    """light or dark."""
    return THEMES[check_name(name, "the themes", THEMES)]


def inches(name: str, ems: float) -> float:
    """The height at screen size of a sheet that is so many ems high at a size."""
    found = size(name)
    return ems * found.text / 72 / found.tall


def widened(name: str) -> str:
    """This size, or that of a whole page in place of a narrow column: for figures that count panels by the size."""
    return size(name).wider or name


def size(name: str) -> Size:
    """screen, slide, print or print_narrow; films have their own."""
    return SIZES[check_name(name, "the sizes", SIZES)]


@cache
def colormap(kind: str, theme_name: str = "light") -> Colormap:
    """signed (0 at the centre), share (attention), probability, entropy, time, error; by meaning, never by taste."""
    check_name(kind, "the maps", RANGES)
    dark = theme_name == "dark"
    if kind == "signed":
        return matplotlib.colormaps["berlin" if dark else "RdBu_r"]
    if kind == "share":
        stops = (
            [theme(theme_name).paper, "#2C5C9E", "#BFDDF9"] if dark else [theme(theme_name).paper, "#7FB2DD", "#0B2F66"]
        )
        return LinearSegmentedColormap.from_list(f"share_{theme_name}", stops)
    if kind == "time":
        full = matplotlib.colormaps["cividis"]
        low, high = (0.25, 1.0) if dark else (0.1, 0.85)
        return ListedColormap([full(low + (high - low) * k / 255) for k in range(256)], name=f"time_{theme_name}")
    return matplotlib.colormaps["cividis" if kind == "entropy" else "viridis"]


RANGES: dict[str, tuple[float, float] | None] = {  # fixed limits; None: from the numbers, said beside the map
    "signed": None, "share": (0, 1), "probability": (0, 1), "error": (0, 1), "entropy": None, "time": None,
}  # fmt: skip


def markers(groups: Any) -> dict[str, str]:
    """Token group → marker shape, by the order of all of the task's groups: the same in every figure and film.

    Tokens that belong to no group ("") have the shape after the last.
    """
    names = [*getattr(groups, "groups", groups), ""]
    return {group: GROUP_MARKERS[k % len(GROUP_MARKERS)] for k, group in enumerate(names)}


def on(colour: Any) -> str:
    """Ink that can be read on a colour: dark on light, light on dark."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour))
    bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return THEMES["light"].ink if bright > 0.2 else THEMES["dark"].ink


def rc(theme_name: str, size_name: str) -> Any:
    """What Matplotlib should take for granted while a figure is made."""
    t, s = theme(theme_name), size(size_name)
    return {
        "font.family": ["DejaVu Sans"], "font.size": s.text, "text.color": t.ink, "text.parse_math": False,
        "text.usetex": False, "axes.facecolor": t.paper, "axes.edgecolor": t.quiet, "axes.labelcolor": t.ink,
        "axes.titlecolor": t.ink, "axes.titlesize": s.text * 1.1, "axes.labelsize": s.text,
        "axes.linewidth": s.line * 0.5, "axes.titlelocation": "left", "axes.titlepad": s.text * 0.5,
        "axes.titley": 1.0,  # a place of its own: measuring all ticks to find one costs 6 % of a gallery
        "axes.labelpad": s.text * 0.35, "axes.grid": False, "axes.spines.top": False, "axes.spines.right": False,
        "axes.unicode_minus": True, "axes.axisbelow": True, "axes.formatter.use_mathtext": False,
        "axes.formatter.useoffset": False, "axes.autolimit_mode": "data", "axes.xmargin": 0.02, "axes.ymargin": 0.05,
        "figure.facecolor": t.paper, "figure.edgecolor": t.paper, "figure.dpi": s.dpi, "figure.autolayout": False,
        "figure.constrained_layout.use": False, "savefig.facecolor": "auto", "xtick.color": t.quiet,
        "ytick.color": t.quiet, "xtick.labelcolor": t.ink, "ytick.labelcolor": t.ink, "xtick.labelsize": s.text,
        "ytick.labelsize": s.text, "xtick.major.size": s.text * 0.3, "ytick.major.size": s.text * 0.3,
        "xtick.major.width": s.line * 0.5, "ytick.major.width": s.line * 0.5, "xtick.major.pad": s.text * 0.3,
        "ytick.major.pad": s.text * 0.3, "xtick.minor.width": s.line * 0.4, "ytick.minor.width": s.line * 0.4,
        "lines.linewidth": s.line, "lines.markersize": s.text * 0.6, "lines.markeredgewidth": s.line * 0.5,
        "patch.linewidth": s.line * 0.5, "patch.edgecolor": t.ink, "hatch.linewidth": s.line * 0.4,
        "hatch.color": t.masked, "grid.color": t.faint, "grid.linewidth": s.line * 0.35, "legend.frameon": False,
        "legend.fontsize": s.text, "legend.handlelength": 1.6, "legend.borderaxespad": 0.2,
        "legend.labelcolor": t.ink, "image.interpolation": "none", "image.cmap": "viridis",
        "axes.prop_cycle": cycler(color=[t.ink]), "path.simplify": True,
    }  # fmt: skip
