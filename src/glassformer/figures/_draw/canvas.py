"""Matplotlib's canvas for files with less to do: a text is measured and drawn once, however often it is written.

Numbers, tokens and names stand hundreds of times in the figures of a run, and measuring and drawing them is half of the
work of a picture. In a PNG each begins at a whole pixel, so that its image can be used again, and colours are those of
a palette; in an SVG places have two decimals.
"""

import io
import re
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_pdf import PdfFile, RendererPdf
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.font_manager import findfont, get_font
from PIL import Image

from glassformer.analyses._result import Array
from glassformer.figures._draw.glyphs import Legible, visible

MOST_TEXTS = 16_384  # remembered
COLOURS, EXACT = 256, 160  # of a palette; of these, the commonest of the picture as they are
TAG = re.compile("<(?:g|path|use|text) [^>]*>")
IDLE = r' transform="rotate\(-0 [^"]*"| id="\w+_\d+"(?=/?>)'  # a turn by nothing, the number of a line or a text
LONG = re.compile(rf' (?:d|x|y)="[^"]*"|(?P<idle>{IDLE})| style="(?P<style>[^"]*)"')
FRACTION, BLANK = re.compile(r"(?<=\.\d\d)\d+"), re.compile(r"\s+(?=[MLQCz])|(?<=[MLQCz])\s+")

_sizes: dict[Any, tuple[float, float, float] | None] = {}
_images: dict[Any, list[tuple[Array, float, float, float]]] = {}


class Recorder:
    """Stands in for what draws images of texts, and keeps them."""

    def __init__(self) -> None:
        self.kept: list[tuple[Array, float, float, float]] = []

    def draw_text_image(self, image: Any, x: float, y: float, angle: float, _: Any) -> None:
        """Keep an image and where it was to be drawn."""
        self.kept.append((np.array(image), x, y, angle))


class Remembering(Legible):
    """A renderer with a memory for the sizes of texts."""

    dpi = 72.0  # of an SVG

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        """As Matplotlib measures it."""
        asked = super().get_text_width_height_descent
        key = (type(self), self.dpi, s, hash(prop), ismath)  # two properties are equal if their hashes are
        return _known(_sizes, key, lambda: asked(s, prop, ismath))

    def _get_font_height_metrics(self, prop: Any) -> tuple[float, float, float] | tuple[None, None, None]:
        """Ascent, descent and gap between lines of a font, which Matplotlib reads anew for every text otherwise."""
        found = _known(_sizes, hash(prop), lambda: _heights(get_font(findfont(prop))))
        size = prop.get_size_in_points() * self.dpi / 72
        return (found[0] * size, found[1] * size, found[2] * size) if found else (None, None, None)


class Vector(Remembering, RendererSVG):  # type: ignore[misc]
    """SVG with a memory for texts; who shows it has more letters than our font, which only measures here."""

    def draw_text(self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, ismath: Any = False,
                  mtext: Any = None) -> None:  # fmt: skip
        """As it is, but for what would be obeyed."""
        RendererSVG.draw_text(self, gc, x, y, visible(s), prop, angle, ismath, mtext)


class Printed(Legible, RendererPdf):  # type: ignore[misc]
    """PDF."""


class Raster(Remembering, RendererAgg):  # type: ignore[misc]
    """Agg with a memory for texts."""

    _renderer: Any

    def draw_text(self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, ismath: Any = False,
                  mtext: Any = None) -> None:  # fmt: skip
        """As Matplotlib draws it at the nearest whole pixel."""

        def drawn() -> list[tuple[Array, float, float, float]]:
            real, recorder = self._renderer, Recorder()
            self._renderer = recorder
            try:
                super(Raster, self).draw_text(gc, 0, 0, s, prop, angle, ismath, mtext)
                return recorder.kept
            finally:
                self._renderer = real

        if ismath:
            super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)
            return
        key = (s, hash(prop), angle, self.dpi, gc.get_antialiased())
        for image, left, low, turned in _known(_images, key, drawn):
            self._renderer.draw_text_image(image, round(x) + left, round(y) + low, turned, gc)


def _heights(font: Any) -> tuple[float, float, float] | None:
    """The same of a font of one point, from its own tables."""
    table, em = font.get_sfnt_table("OS/2"), font.get_sfnt_table("head")["unitsPerEm"]
    names = ("sTypoAscender", "sTypoDescender", "sTypoLineGap")
    return None if table is None else (table[names[0]] / em, -table[names[1]] / em, table[names[2]] / em)


def _known(memory: dict[Any, Any], key: Any, find: Any) -> Any:
    if key not in memory:
        if len(memory) >= MOST_TEXTS:
            memory.clear()
        memory[key] = find()
    return memory[key]


class FigureCanvas(FigureCanvasAgg):  # type: ignore[misc]
    """What `savefig` draws on when it is told this file's name as its backend."""

    def get_renderer(self) -> Raster:
        """One with a memory."""
        if not isinstance(getattr(self, "renderer", None), Raster):
            self.renderer = Raster(*self.get_width_height(physical=True), self.figure.dpi)
        return self.renderer

    def print_svg(self, filename_or_obj: Any, *, metadata: Any = None, **_: Any) -> None:
        """Draw as Matplotlib does, and write it in fewer bytes."""
        (width, height), dpi, text = self.figure.get_size_inches(), self.figure.dpi, io.StringIO()
        self.figure.dpi = 72
        pen = Vector(width * 72, height * 72, text, image_dpi=dpi, metadata=metadata)
        renderer = MixedModeRenderer(self.figure, width, height, dpi, pen)
        self.figure.draw(renderer)
        renderer.finalize()
        filename_or_obj.write(_short(text.getvalue()).encode())

    def print_pdf(self, filename_or_obj: Any, *, metadata: Any = None, **_: Any) -> None:
        """Draw as Matplotlib does."""
        (width, height), dpi = self.figure.get_size_inches(), self.figure.dpi
        self.figure.dpi = 72
        file = PdfFile(filename_or_obj, metadata=metadata)
        try:
            file.newPage(width, height)
            renderer = MixedModeRenderer(self.figure, width, height, dpi, Printed(file, dpi, height, width))
            self.figure.draw(renderer)
            renderer.finalize()
            file.finalize()
        finally:
            file.close()

    def print_png(self, filename_or_obj: Any, **_: Any) -> None:
        """Draw, and write with a palette: a third of the bytes, in half of the time."""
        self.draw()
        pixels = np.asarray(self.buffer_rgba()).view("<u4")[..., 0]  # red in the lowest byte, then green, then blue
        palette = _palette(pixels[::3, ::3])
        found = Image.fromarray(_nearest(pixels, palette))
        found.putpalette(_parts(palette).tobytes())
        found.save(filename_or_obj, format="png", dpi=(self.figure.dpi,) * 2, compress_level=4)


def _short(svg: str) -> str:
    """The same picture: places to a hundredth of a point, a style once, no indentation; texts as they are."""
    styles: dict[str, str] = {}

    def shorter(found: re.Match[str]) -> str:
        if found["idle"]:
            return ""
        if found["style"]:
            return f' class="{styles.setdefault(found["style"], f"s{len(styles)}")}"'
        return BLANK.sub("", FRACTION.sub("", found[0]))

    svg = re.sub(r"\n +<", "\n<", TAG.sub(lambda tag: LONG.sub(shorter, tag[0]), svg))
    rules = "".join(f"\n.{name} {{{style}}}" for style, name in styles.items())
    return svg.replace("</style>", f"{rules}</style>", 1)


def _palette(pixels: Array) -> Array:
    """(colour,): those that most pixels have, as they are, and between the others the best there is room for."""
    colours, counts = np.unique(pixels, return_counts=True)
    found = colours[np.argsort(-counts, kind="stable")]
    if len(found) <= COLOURS:
        return found
    rest = Image.fromarray(_parts(found)[None, EXACT:]).quantize(COLOURS - EXACT, method=Image.Quantize.MEDIANCUT)
    between = np.array(rest.getpalette(), dtype=np.uint32).reshape(-1, 3)[: COLOURS - EXACT]
    return np.concatenate([found[:EXACT], between[:, 0] | between[:, 1] << 8 | between[:, 2] << 16])


def _nearest(pixels: Array, palette: Array) -> Array:
    """Which colour of a palette each pixel gets: the nearest of its cube of 4 × 4 × 4; a palette's own is exact."""
    cubes = _cube(pixels)
    used = np.flatnonzero(np.bincount(cubes.ravel(), minlength=1 << 18))
    middle = 4 * np.stack([used & 63, used >> 6 & 63, used >> 12], -1).astype(np.float32) + 1.5
    colours = _parts(palette).astype(np.float32)
    chosen = np.zeros(1 << 18, dtype=np.uint8)
    chosen[used] = ((colours**2).sum(-1) - 2 * middle @ colours.T).argmin(-1)
    chosen[_cube(palette)[::-1]] = np.arange(len(palette))[::-1]  # of two in a cube, the commoner
    return chosen[cubes]


def _cube(colours: Array) -> Array:
    return colours >> 2 & 63 | colours >> 4 & 63 << 6 | colours >> 6 & 63 << 12


def _parts(colours: Array) -> Array:
    """(..., 3): red, green and blue."""
    return np.stack([colours & 255, colours >> 8 & 255, colours >> 16 & 255], -1).astype(np.uint8)
