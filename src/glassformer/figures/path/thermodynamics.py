"""One life told three times: in plain words, in formulas, and as physics."""

from collections.abc import Callable
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._uncertain import Uncertainty
from glassformer.analyses._uncertain_words import FORMULAS, plain, say_thermodynamics
from glassformer.analyses.path.uncertainty import Subject, uncertainty
from glassformer.errors import CallError
from glassformer.figures import _draw, _uncertain

PAGE = {"slide": 4, "print_narrow": 4}  # panels on one page; elsewhere all
Draw = Callable[[Axes, Uncertainty, _draw.Sheet], object]


@_draw.drawing
def plot_thermodynamics(
    run: Subject,
    *,
    view: int = 3,
    temperature: float = 1.0,
    step: int = -1,
    member: int = 0,
    page: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """`view=1`: six diagnostics with a sentence each; 2: all eight with formulas; 3: what a physicist asks for."""
    if view not in (1, 2, 3):
        raise CallError(f"view = {view} is not 1 (plain words), 2 (formulas) or 3 (physics)")
    seen = uncertainty(run, temperature=temperature, step=step, member=member)
    every = _panels(seen, view)
    most = PAGE.get(size, len(every))
    if view == 1 and size == "slide":
        most = 3
    shown, pages = _draw.paged(every, most, page)
    across = _across(size, len(shown))
    down = -(-len(shown) // across)
    words = 0.0 if view != 1 else 6.6 if size == "slide" else 4.6  # ems for the sentence under a panel
    height = {"print": 3.4, "print_narrow": 4.0}.get(size, 3.1) * down + 0.35 * words * down / 2 + 1.0
    sheet = _draw.Sheet(ax, theme, size, say_thermodynamics(seen, view), seen.clock, height=height)
    right = 7.0 if view == 3 else 2.8
    shaded = [draw for _, draw, _ in shown if draw is _uncertain.heat or draw is _mean]
    entries = _uncertain.by_moments(seen, sheet, mean=_mean in shaded) if shaded else []
    wide = sum(_draw.text_width(str(each.get_label()), sheet.size.text) / sheet.em + 3.4 for each in entries)
    room = sheet.room[0] - 8 * (pages > 1)  # the number of the page stands at the left
    lines = int(-(-wide // room)) if entries else int(pages > 1)
    beside = -(-len(entries) // max(lines, 1))  # entries of the key side by side
    foot = 3.9 + words + (0.2 + 1.4 * lines if lines else 0)
    panels = sheet.panels(
        down, across, left=5.2, right=right, bottom=foot, top=2.6, gap=(5.6 + right - 2.8, 6.4 + words)
    )
    for panel, (title, draw, sentence) in zip(panels.flat, shown, strict=False):
        limit = draw(panel, seen, sheet)
        _draw.heading(panel, title)
        if isinstance(limit, tuple):
            kind = "probability" if title.startswith("tape") else "entropy"
            bar = _draw.bar(sheet, kind, limit, BARS.get(title.partition(":")[0], ""), beside=panel, gap=0.6, wide=0.8)
            bar.yaxis.set_major_locator(MaxNLocator(4, integer=kind == "probability"))
        if sentence:
            _below(sheet, panel, sentence)
    for spare in panels.flat[len(shown) :]:
        spare.remove()
    if entries:
        sheet.legend(_uncertain.by_rows(entries, beside), columns=beside)
    if len(shown) < len(every):
        sheet.note(f"page {page + 1} of {pages}")
    return sheet.done(seen, view=view, temperature=temperature, page=page, pages=pages, member=member)


def _across(size: str, many: int) -> int:
    """Panels side by side."""
    if size == "print_narrow":
        return 1
    if many == 4 or (size == "print" and many > 3):
        return 2
    return min(many, 3) if many <= 6 else 4


BARS = {"specific heat over the life": "Var(E)/T²", "memory": "strength", "tape of tokens": "token"}


def _below(sheet: _draw.Sheet, panel: Axes, sentence: str) -> None:
    """A sentence under a panel, as wide as it."""
    left, bottom, width, _ = sheet.rects[panel]
    wide, high = sheet.inches
    lines = _draw.wrap(sentence, sheet.size.text, (width * wide) + 3.6 * sheet.em)
    sheet.note(
        "\n".join(lines),
        x=left - 5.2 * sheet.em / wide,
        y=bottom - 4.1 * sheet.em / high,
        va="top",
        linespacing=1.25,
        color=sheet.theme.ink,
    )


def _panels(seen: Uncertainty, view: int) -> list[tuple[str, Draw, str]]:
    """(title, drawing, sentence) in order."""
    if view == 1:
        said = plain(seen)
        return [
            ("entropy: how unsure", _by_step(_uncertain.entropy), said["entropy"]),
            ("entropy and loss together", _path, said["phase"]),
            ("temperature: how stirred", _uncertain.mean_entropy, said["temperature"]),
            ("loss: how wrong", _by_step(_uncertain.loss), said["loss"]),
            ("how fast it changes its mind", _by_step(_uncertain.change), said["change"]),
            ("sharpening: how much it bets", _by_step(_uncertain.sharpening), said["sharpening"]),
        ]
    if view == 2:
        return _with_formulas(seen)
    return _of_memory() if seen.own_lives else _of_heat(seen)


def _with_formulas(seen: Uncertainty) -> list[tuple[str, Draw, str]]:
    def trained(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
        _uncertain.entropy(ax, seen, sheet, at=False)

    def warm(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
        _uncertain.entropy(ax, seen, sheet, at=True)

    at = f", T = {seen.temperature:.4g}"
    found: list[tuple[str, Draw, str]] = [
        (FORMULAS["entropy"] if not seen.own_lives else f"H = −Σ p ln p{at}", _by_step(trained), ""),
        (FORMULAS["entropy_at"] + at, _by_step(warm), ""),
        (FORMULAS["loss"] + at, _by_step(_uncertain.loss), ""),
        (FORMULAS["temperature"], _uncertain.mean_entropy, ""),
        (FORMULAS["phase"] + at, _path, ""),
        (FORMULAS["change"], _by_step(_uncertain.change), ""),
    ]
    if seen.attention:
        found.append((FORMULAS["attention"], _uncertain.attention, ""))
    return [
        *found,
        (
            FORMULAS["sharpening"] if not seen.own_lives else f"p(max) and p(target){at}",
            _by_step(_uncertain.sharpening),
            "",
        ),
    ]


def _of_memory() -> list[tuple[str, Draw, str]]:
    return [
        ("entropy H(t) at some temperatures", partial(_uncertain.at_temperatures, name="entropy"), ""),
        ("loss L(t) at some temperatures", partial(_uncertain.at_temperatures, name="loss"), ""),
        ("mean entropy ⟨H⟩(T)", _uncertain.mean_entropy, ""),
        ("memory: m ← α m + x", _uncertain.memory, ""),
        ("tape of tokens: drawn from p(T)", _uncertain.tape, ""),
        ("specific heat C = Var(E)/T²", _uncertain.heat, ""),
    ]


def _of_heat(seen: Uncertainty) -> list[tuple[str, Draw, str]]:
    def heads(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
        _uncertain.life(ax, seen, sheet)
        _uncertain.attention_entropy(ax, seen.attention["entropy"], seen.attention["if_even"], sheet)

    found: list[tuple[str, Draw, str]] = [
        ("free energy F = −T ln Z in the end", _uncertain.energies, ""),
        ("specific heat C = Var(E)/T² = dU/dT", _uncertain.heat, ""),
        ("specific heat over the life: C(T, step)", _uncertain.heat_map, ""),
        ("path: entropy H, loss L", _path, ""),
        (f"entropy H(T) ({_uncertain.SPREAD})", _mean, ""),
    ]
    return [*found, (_of_heads(*seen.attention["entropy"].values.shape[:2]), heads, "")] if seen.attention else found


def _of_heads(blocks: int, heads: int) -> str:
    """What the lines of the panel of attention are."""
    lines = ("solid", "dashed", "dash-dotted", "dotted")
    told = ", ".join(f"{line}: block {block}" for block, line in enumerate(lines[:blocks]))
    said = "entropy of attention" if heads == 1 else "entropy of attention, every head"
    return f"{said} ({told})" if 1 < blocks <= len(lines) else said


def _by_step(draw: Callable[..., None]) -> Draw:
    def with_axis(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
        _uncertain.life(ax, seen, sheet)
        draw(ax, seen, sheet)

    return with_axis


def _mean(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
    _uncertain.mean_entropy(ax, seen, sheet, moments=True)


def _path(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
    _uncertain.phase(ax, seen, sheet, rungs=False, arrows=3)
