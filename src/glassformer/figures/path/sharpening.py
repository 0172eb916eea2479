"""How much it bets: the probability of the likeliest token and of the right one, by step."""

from matplotlib.figure import Figure

from glassformer.analyses.path.sharpening import Sharpening
from glassformer.figures import _draw, _uncertain

HEADINGS = {"": "", "constrained": "where the rule restricts what may come", "free": "where it does not"}


def draw(seen: Sharpening, look: _draw.Look) -> Figure:
    """p(max) and p(target), constrained and free places apart, with what the exact predictor gives."""
    kinds = seen.kinds or ("",)
    shows = "Curves of two probabilities over training steps"
    sheet = look.sheet(seen, _caption(seen), shows, height=8 if look.size == "print_narrow" else 5, least=0)
    narrow = sheet.room[0] < _uncertain.NARROW
    names = 9.5
    rows, columns = (len(kinds), 1) if narrow else (1, len(kinds))
    panels = sheet.panels(rows, columns, left=5.5, right=names + 2.2, bottom=5.2, top=2.6, gap=(names + 7, 5)).flat
    for panel, kind in zip(panels, kinds, strict=True):
        _uncertain.life(panel, seen, sheet)
        _uncertain.sharpening(panel, seen, sheet, names, kind)
        panel.set_title(HEADINGS[kind])
    dotted = seen.subject == "run" and seen.known
    told = [f"dotted: {'exact predictor' if seen.exact else 'best count table'}"] if dotted else []
    told += [f"band of what came: {band}"] if (band := _uncertain.band(seen)) else []
    if told:
        sheet.note("; ".join(told))
    return sheet.done()


def _caption(seen: Sharpening) -> str:
    dotted = ""
    if seen.known and seen.subject == "run":
        dotted = (
            "Dotted: what the exact predictor gives them on the same inputs; above it a model is surer than anyone can "
            "be. "
            if seen.exact
            else "Dotted: what the best table of counts gives them. "
        )
    came = "the right one" if seen.exact else "what came"
    end = f"A likeliest token above {came} is confidence that is not earned."
    if seen.subject == "run":  # where several may come, even the exact predictor gives its first choice more
        end = f"The likeliest token never has less than {came}, whoever predicts."
    return (
        f"Probability of the likeliest token and of the token that came{' (the right one)' if seen.exact else ''}, by "
        "training step, at "
        f"{_uncertain.trained_at(seen)}; {_uncertain.means(seen)} "
        f"{'Left: places where the rule restricts what may come; right: all others. ' if seen.kinds else ''}{dotted}"
        f"Where both curves run together, the likeliest token is {came}. {end}"
    )
