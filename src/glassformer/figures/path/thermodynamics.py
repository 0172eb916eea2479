"""One life told three times: in plain words, in formulas, and as physics."""

from collections.abc import Callable
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._uncertain import Uncertainty, small
from glassformer.analyses.path.thermodynamics import Thermodynamics
from glassformer.figures import _draw, _life, _uncertain
from glassformer.words import capital, thousands

PAGE = {"slide": 4, "print_narrow": 4}  # panels on one page; elsewhere all
Draw = Callable[[Axes, Uncertainty, _draw.Sheet], object]
FORMULAS = {
    "entropy": "H = −Σ p ln p at T = 1",
    "entropy_at": "H(T) = −Σ p ln p",
    "loss": "L(T) = −ln p(target)",
    "temperature": "⟨H⟩(T), mean over the life",
    "phase": "path (H, L), line L = H",
    "change": "D = Σ p ln(p / p before), per step",
    "attention": "⟨a⟩ = mean of softmax(q·k / √d)",
    "sharpening": "p(max) and p(target) at T = 1",
}


def draw(seen: Thermodynamics, look: _draw.Look) -> Figure:
    """View 1: six diagnostics with a sentence each; 2: all eight with formulas; 3: what a physicist asks for."""
    size, view = look.size, seen.view
    every = _panels(seen)
    most = PAGE.get(size, len(every))
    if view == 1 and size == "slide":
        most = 3
    shown, pages = _draw.paged(every, most, look.page)
    across = _across(size, len(shown))
    down = -(-len(shown) // across)
    words = 0.0 if view != 1 else 6.6 if size == "slide" else 4.6  # ems for the sentence under a panel
    height = {"print": 3.4, "print_narrow": 4.0}.get(size, 3.1) * down + 0.35 * words * down / 2 + 1.0
    sheet = look.sheet(seen, _caption(seen), "A page of small charts", height=height, least=0)
    right = 7.0 if view == 3 else 2.8
    shaded = [each for _, each, _ in shown if each is _uncertain.heat or each is _mean]
    entries = _uncertain.by_moments(seen, sheet, mean=_mean in shaded) if shaded else []
    wide = sum(_draw.text_width(str(each.get_label()), sheet.size.text) / sheet.em + 3.4 for each in entries)
    room = sheet.room[0] - 8 * (pages > 1)  # the number of the page stands at the left
    lines = int(-(-wide // room)) if entries else int(pages > 1)
    beside = -(-len(entries) // max(lines, 1))  # entries of the key side by side
    foot = 3.9 + words + (0.2 + 1.4 * lines if lines else 0)
    panels = sheet.panels(
        down, across, left=5.2, right=right, bottom=foot, top=2.6, gap=(5.6 + right - 2.8, 6.4 + words)
    )
    for panel, (title, drawing, sentence) in zip(panels.flat, shown, strict=False):
        limit = drawing(panel, seen, sheet)
        if panel.get_yscale() == "linear":
            _life.plain_powers(panel.yaxis)
        _draw.heading(panel, title)
        if isinstance(limit, tuple):
            kind = "probability" if title.startswith("tape") else "entropy"
            bar = _draw.bar(sheet, kind, limit, BARS.get(title.partition(":")[0], ""), beside=panel, gap=0.6, wide=0.8)
            bar.yaxis.set_major_locator(MaxNLocator(4, integer=kind == "probability"))
        if sentence:
            _below(sheet, panel, sentence)
    _draw.remove_spare(panels, len(shown))
    if entries:
        sheet.legend(_uncertain.by_rows(entries, beside), columns=beside)
    sheet.note_page(pages)
    return sheet.done(pages=pages)


def _caption(seen: Thermodynamics) -> str:
    what = {
        1: "Six diagnostics of one life, each with a sentence in plain words.",
        2: "The diagnostics of one life, each with its formula; p(T) = exp(ℓ/T) / Z is the predicted distribution, "
        "ℓ a logit, T the temperature.",
        3: _depth(seen),
    }[seen.view]
    if not seen.as_trained and seen.view != 3:
        at = f" T = {seen.temperature:.4g} is the temperature nearest to {seen.wanted:g}."
    else:
        at = ""
    means = capital(_uncertain.means(seen))
    if seen.swept != seen.predictions:  # a long window is thinned where all temperatures are tried
        means += f" What is drawn against T, and the peak of the specific heat, is of {thousands(seen.swept)} of them."
    floor = "" if seen.view == 3 and not seen.own_lives else f"{_uncertain.floor(seen)} "  # there it is not drawn
    return f"{what} {means}{at} {floor}Each is explained, with all its lines, in the figure of its name."


def _depth(seen: Thermodynamics) -> str:
    if seen.own_lives:
        return (
            "A fading memory that reads its own draws, one learner for each temperature: entropy and loss by step at "
            "some temperatures (T as shade), entropy averaged over the steps against T with its limit ln "
            f"{seen.tokens}, the memory at T = {seen.temperature:.4g} (one row per token), the tape of drawn "
            "tokens (one row per temperature), and the specific heat Var(E)/T² of each learner’s own levels at some "
            "steps. Thin dashes: the limit; dotted: T = 1."
        )
    return (
        "The predicted distribution as a system in heat: a token's energy E is minus its logit, counted from the "
        "likeliest token; U is the mean energy, S the entropy, F = −T ln Z the free energy, and F = U − T S holds here "
        f"to {small(seen.unlike)}. The specific heat C = Var(E)/T² equals dU/dT; dotted: T = 1, where the model was "
        "trained. Path: on the dashes loss equals entropy. Entropy of attention: black dashes, as if each query looked "
        "everywhere alike."
    )


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


def _panels(seen: Thermodynamics) -> list[tuple[str, Draw, str]]:
    """(title, drawing, sentence) in order."""
    if seen.view == 1:
        said = seen.sentences
        return [
            ("entropy: how unsure", _by_step(_uncertain.entropy), said["entropy"]),
            ("entropy and loss together", _path, said["phase"]),
            ("temperature: how stirred", _uncertain.mean_entropy, said["temperature"]),
            ("loss: how wrong", _by_step(_uncertain.loss), said["loss"]),
            ("how fast it changes its mind", _by_step(_uncertain.change), said["change"]),
            ("sharpening: how much it bets", _by_step(_uncertain.sharpening), said["sharpening"]),
        ]
    if seen.view == 2:
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
        (f"entropy H(T) (band: {band})" if (band := _uncertain.band(seen)) else "entropy H(T)", _mean, ""),
    ]
    return [*found, (_of_heads(*seen.attention["entropy"].values.shape[:2]), heads, "")] if seen.attention else found


def _of_heads(blocks: int, heads: int) -> str:
    """What the lines of the panel of attention are."""
    lines = ("solid", "dashed", "dash-dotted", "dotted")
    told = ", ".join(f"{line}: block {block}" for block, line in enumerate(lines[:blocks]))
    if 2 < blocks <= len(lines):
        told = f"blocks 0 to {blocks - 1}: {', '.join(lines[:blocks])}"  # two lines above the panel are all there is
        return f"attention's entropy ({told})"
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
