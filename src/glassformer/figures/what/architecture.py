"""What the model is made of: boxes in the order of the computation, with the shapes of this very run."""

from string import ascii_uppercase

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from glassformer.analyses._result import thousands
from glassformer.analyses.what.architecture import Box, Built
from glassformer.figures import _draw, _table

MOST_BLOCKS = 3  # in the chain; more are folded
HIGH = 2.9  # ems of a box
ADD = 0.75  # radius of a sum
WIDE, GAP = 66, 1.1  # ems of a diagram that has room for all shapes, and between two of its boxes


def draw(seen: Built, look: _draw.Look) -> Figure:
    """The whole model as a diagram, its settings beside it."""
    chain = ", ".join(box.name for box in seen.boxes.values() if not box.off)
    sheet = look.sheet(seen, _caption(seen), f"A diagram of the model. In order: {chain}", height=6.6)
    beside = 19.5 if sheet.room[0] > 80 else 17.0  # ems of the table
    share = max(0.5, 1 - beside / sheet.room[0])
    diagram = sheet.panels(1, 1, left=1, right=1.2, bottom=0.6, top=0.6, within=(0, 0, share, 1))[0, 0]
    aside = sheet.panels(1, 1, left=0.8, right=0.8, bottom=0.6, top=0.8, within=(share, 0, 1, 1))[0, 0]
    _table.table(aside, sheet.em, ("setting", "this model"), _folded(seen.settings), theme=sheet.theme, align="ll")
    _Diagram(diagram, sheet, seen).draw()
    return sheet.done()


def _caption(seen: Built) -> str:
    opens = "; ".join(f"{letter} {', '.join(seen.boxes[name].opened)}" for name, letter in _letters(seen).items())
    struck = "A struck-through box is a part of the usual transformer that this model does not have. "
    struck = struck if seen.off else ""
    return (
        "The model's parts in the order of the computation, read from left to right, upper row first. In a box: its "
        "name and, where it has weights, the shape of its matrix; under it the shape of what leaves it, the "
        "sides as the line above the diagram names them. The thick line is the residual stream, from which each "
        "branch reads and to which it adds. In italics: the names of values that other figures speak of (`embedded`, "
        "`attended`, `middle`, `hidden`, `fed`, `out`, `final`). Query, key, value and feed-forward have their own "
        f"colours. {struck}The letters "
        f"name the figures that open a box: {opens}. All shapes follow from the run's own settings and are exact."
        + (f" The {seen.blocks} blocks are built alike; the strip below shows the chain." if seen.blocks > 1 else "")
    )


def _letters(seen: Built) -> dict[str, str]:
    """A letter for each part that another figure opens."""
    return dict(zip((name for name, box in seen.boxes.items() if box.opened), ascii_uppercase, strict=False))


def _folded(settings: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Long values go on in the next row."""
    rows: list[tuple[str, str]] = []
    for name, value in settings:
        for k, line in enumerate(_draw.wrap(value, 72, 8.2)):
            rows.append((name if k == 0 else "", line))
    return rows


class _Diagram:
    """Two rows of boxes above the stream, a chain of blocks and the key of the letters below."""

    def __init__(self, ax: Axes, sheet: _draw.Sheet, seen: Built) -> None:
        self.ax, self.theme, self.seen, self.line = ax, sheet.theme, seen, sheet.size.line
        self.letters = _letters(seen)
        self.width, self.height = _table.page(ax, sheet.em)
        for self.compact, self.air in (
            (False, 1.2),
            (False, 0.7),
            (True, 0.7),
        ):  # compact: shapes without batch and head
            gaps = [self._columns(columns)[2] for columns in (self._first(), self._second())]
            if self.compact or (self.width >= WIDE and min(gaps) >= GAP):
                break

    def draw(self) -> None:
        rest = max(self.height - 31, 0)
        first, second = 11.6 + 0.3 * rest, 22.6 + 0.6 * rest
        end = self._attention(first)
        self._feed_forward(second, end, first)
        self._chain(second + 3.6 + 0.2 * rest)
        self._letters(second + 7.4 + 0.3 * rest)

    def _first(self) -> list[str]:
        norm = self.seen.norm_place
        before, after = (["norm_1"] if norm == place else [] for place in ("pre", "post"))
        parts = ["query", "scores", "attention", "mixed", "output", "add_1"]
        return ["tokens", "token", "+", *before, *parts, *after]

    def _second(self) -> list[str]:
        norm = self.seen.norm_place
        before, after = (["norm_2"] if norm == place else [] for place in ("pre", "post"))
        final = ["norm"] if self.seen.final_norm else []
        parts = ["expand", "activation", "contract", "add_2"]
        return ["start", *before, *parts, *after, *final, "read_out", "softmax", "answer"]

    # ---- the two rows ------------------------------------------------------------------------------------------------

    def _attention(self, y: float) -> tuple[float, float]:
        """Tokens, embeddings and the attention branch; where the stream leaves the row."""
        boxes, post = self.seen.boxes, self.seen.norm_place == "post"
        x, wide, _ = self._columns(self._first())
        top, middle, bottom = y - 9.9, y - 6.7, y - 3.5
        self._box("tokens", x["tokens"], y, wide)
        self._box("token", x["token"], y, wide)
        self._box("position", x["token"], y - 7.4, wide | {"position": wide["token"]})
        at = x["+"]
        self._to((x["tokens"] + wide["tokens"] / 2, y), (x["token"] - wide["token"] / 2, y), self.theme.ink)
        self._to((x["token"] + wide["token"] / 2, y), (at - ADD, y), self.theme.ink)
        turned, ink = boxes["position"].made_of == "rotary", self._ink(boxes["position"])
        if turned:  # nothing is added to the token: queries and keys are turned before they meet
            over, meet = top - HIGH / 2 - 1.9, (top + middle) / 2 - HIGH / 2
            begin, end = x["token"], x["scores"]
            self._path([(begin, y - 7.4 - HIGH / 2), (begin, over), (end, over), (end, meet)], ink)
        else:
            self._path([(x["token"] + wide["token"] / 2, y - 7.4), (at, y - 7.4), (at, y - ADD)], ink)
            self._sum(at, y)
        self._name("embedded", at - 0.6, y + 1.75)
        leave = at + ADD + 0.45
        begin = x["query"] - wide["query"] / 2
        add = x["add_1"]
        self._stream(at - ADD if turned else at + ADD, add - ADD, y, boxes["add_1"].off)
        ink = self._ink(boxes["value"])
        if self.seen.norm_place == "pre":
            self._path([(leave, y), (leave, middle), (x["norm_1"] - wide["norm_1"] / 2, middle)], ink)
            self._box("norm_1", x["norm_1"], middle, wide)
            leave = x["norm_1"] + wide["norm_1"] / 2
            for end, name in ((top, "query"), (middle, "key"), (bottom, "value")):
                half = (leave + begin) / 2
                self._path([(leave, middle), (half, middle), (half, end), (begin, end)], self._ink(boxes[name]))
        else:
            for end, name in ((top, "query"), (middle, "key"), (bottom, "value")):
                self._path([(leave, y), (leave, end), (begin, end)], self._ink(boxes[name]))
        right = x["query"] + wide["query"] / 2
        between = (top + middle) / 2
        for end, name in ((top, "query"), (middle, "key"), (bottom, "value")):
            self._box(name, x["query"], end, wide | {name: wide["query"]})
        for end, name in ((top, "query"), (middle, "key")):
            self._to((right, end), (x["scores"] - wide["scores"] / 2, between), self._ink(boxes[name]))
        self._box("scores", x["scores"], between, wide)
        self._to(
            (x["scores"] + wide["scores"] / 2, between),
            (x["attention"] - wide["attention"] / 2, between),
            self._ink(boxes["scores"]),
        )
        self._box("attention", x["attention"], between, wide)
        low = (middle + bottom) / 2
        self._path(
            [(x["attention"] + wide["attention"] / 2, between), (x["mixed"], between), (x["mixed"], low - HIGH / 2)],
            ink,
        )
        self._path(
            [
                (right, bottom),
                (x["attention"], bottom),
                (x["attention"], low + 0.3),
                (x["mixed"] - wide["mixed"] / 2, low + 0.3),
            ],
            ink,
        )
        self._box("mixed", x["mixed"], low, wide)
        self._to((x["mixed"] + wide["mixed"] / 2, low), (x["output"] - wide["output"] / 2, low), ink)
        self._box("output", x["output"], low, wide)
        self._path([(x["output"] + wide["output"] / 2, low), (add, low), (add, y - ADD)], ink)
        self._sum(add, y, "add_1")
        out = add + ADD
        self._name("middle", add + 0.6 if post else self.width - 0.8, y + 1.75, ha="right")
        if post:
            self._to((add + ADD, y), (x["norm_1"] - wide["norm_1"] / 2, y), self.theme.ink, thick=True)
            self._box("norm_1", x["norm_1"], y, wide)
            out = x["norm_1"] + wide["norm_1"] / 2
        self._reading(x["attention"] + wide["attention"] / 2 + 1)
        return out, y

    def _reading(self, x: float) -> None:
        """In the upper right corner: what the words and numbers of a box are."""
        several = "heads × " if self.seen.boxes["value"].leaves.count("×") > 2 else ""
        shape = f"{'' if self.compact else 'windows × '}{several}positions × features"
        words = f"in a box: its weights; under it: what leaves it ({shape}), in italics its name"
        for k, line in enumerate(_draw.wrap(words, 72, self.width - x)):
            self.ax.text(x, 0.2 + 1.25 * k, line.strip(), va="center", color=self.theme.quiet)

    def _feed_forward(self, y: float, end: tuple[float, float], above: float) -> None:
        """The feed-forward branch, the read-out and the answer."""
        boxes, pre, post = self.seen.boxes, self.seen.norm_place == "pre", self.seen.norm_place == "post"
        columns = self._second()
        x, wide, _ = self._columns(columns)
        turn = above + 3.1
        self._path(
            [end, (self.width - 0.3, end[1]), (self.width - 0.3, turn), (0.5, turn), (0.5, y), (x["start"] + 0.2, y)],
            self.theme.ink,
            thick=True,
            head=False,
        )
        if self.seen.blocks > 1:
            words = f"from embedded to out: one block; {self.seen.blocks} of them follow one another"
            self.ax.text(self.width - 0.4, turn + 1, words, ha="right", va="center", color=self.theme.quiet)
        high = y - 3.9
        leave, add = x["start"] + 0.3, x["add_2"]
        self._stream(x["start"] + 0.2, add - ADD, y, boxes["add_2"].off)
        ink = self._ink(boxes["expand"])
        chain = [*(["norm_2"] if pre else []), "expand", "activation", "contract"]
        self._path([(leave, y), (leave, high), (x[chain[0]] - wide[chain[0]] / 2, high)], ink)
        for k, name in enumerate(chain):
            self._box(name, x[name], high, wide)
            if k + 1 < len(chain):
                after = chain[k + 1]
                self._to((x[name] + wide[name] / 2, high), (x[after] - wide[after] / 2, high), ink)
        self._path([(x["contract"] + wide["contract"] / 2, high), (add, high), (add, y - ADD)], ink)
        self._sum(add, y, "add_2")
        last = "norm" if self.seen.final_norm else "norm_2" if post else ""  # from which `final` comes
        self._name("out" if last else "out = final", add + 0.6, y + 1.75, ha="right")
        if last:
            self._name("final", x[last] + wide[last] / 2, y - HIGH / 2 - 0.55, ha="right")
        if self.seen.read >= 0:
            where = x["read_out"] - wide["read_out"] / 2 + 1.3
            self.ax.text(
                where, y - HIGH / 2 - 0.55, f"at position {self.seen.read}", va="center", color=self.theme.quiet
            )
        before = add + ADD
        for name in columns[columns.index("add_2") + 1 :]:
            self._to((before, y), (x[name] - wide[name] / 2, y), self.theme.ink, thick=True)
            self._box(name, x[name], y, wide)
            before = x[name] + wide[name] / 2

    # ---- below -------------------------------------------------------------------------------------------------------

    def _chain(self, y: float) -> None:
        """Embedding, blocks, read-out, with the parameters of each."""
        blocks = self.seen.each_block
        drawn = [f"block {k} · {thousands(n)}" for k, n in enumerate(blocks[:MOST_BLOCKS])]
        if self.seen.blocks > MOST_BLOCKS:
            drawn[-1:] = [f"… {self.seen.blocks - 2} more …", f"block {self.seen.blocks - 1} · {thousands(blocks[-1])}"]
        words = [
            f"embeddings · {thousands(self.seen.embeddings)}",
            *drawn,
            f"read-out · {thousands(self.seen.read_out)}",
        ]
        x = 0.4
        self.ax.text(x, y, "parameters:", va="center", color=self.theme.quiet)
        x += _draw.text_width("parameters:", 72) + 1
        for k, word in enumerate(words):
            if k:
                self._to((x, y), (x + 1.4, y), self.theme.ink)
                x += 1.6
            self.ax.text(x, y, word, va="center", color=self.theme.ink)
            x += _draw.text_width(word, 72) + 0.3

    def _letters(self, y: float) -> None:
        here = {letter: box for name, letter in self.letters.items() if not (box := self.seen.boxes[name]).off}
        words = "opened by the figures " + " ".join(
            f"  {letter}  {', '.join(box.opened)}".replace(" ", "\u00a0") for letter, box in here.items()
        )
        for k, line in enumerate(_draw.wrap(words, 72, self.width - 0.8)):
            self.ax.text(0.4, y - 1.6 + 1.35 * k, line.strip(), va="center", color=self.theme.quiet)

    # ---- pieces ------------------------------------------------------------------------------------------------------

    def _columns(self, names: list[str]) -> tuple[dict[str, float], dict[str, float], float]:
        """Centre and width of each column; what is left over goes between them: the gap."""
        stacked = {"query": ("query", "key", "value"), "token": ("token", "position")}
        wide = {name: max(self._wide(each) for each in stacked.get(name, (name,))) for name in names}
        gap = (self.width - 1.4 - sum(wide.values())) / max(len(names) - 1, 1)
        centres, x = {}, 0.3
        for name in names:
            centres[name] = x + wide[name] / 2
            x += wide[name] + gap
        return centres, wide, gap

    def _wide(self, name: str) -> float:
        if name in ("+", "add_1", "add_2"):
            return 2 * ADD
        if name == "start":
            return 1.4
        box = self.seen.boxes[name]
        lines = self._lines(box) if self.compact else [*self._lines(box), box.leaves]
        return max(_draw.text_width(line, 72) for line in lines) + self.air

    def _lines(self, box: Box) -> list[str]:
        """The words in a box: at most two lines."""
        name, made_of = box.name, box.made_of
        if self.compact:
            made_of = made_of.replace(" / ", "/").replace(" · ", "·") if "√" in made_of else made_of  # Q·K/√2
            made_of = " × ".join(made_of.split(" × ")[-2:])  # of one head
            if made_of in ("shares · V", "rows sum to 1") or not made_of:
                return name.replace(", ", " ").split(" ")[:2]
            made_of = {"fixed waves": "waves"}.get(made_of, made_of.removesuffix(" neurons"))
        if not made_of:
            return name.split(" ")
        return [name.split(" ")[0] if name.endswith(("embedding", "projection")) else name, made_of]

    def _leaves(self, box: Box) -> str:
        return box.leaves.partition(" × ")[2] if self.compact and box.name != "position embedding" else box.leaves

    def _ink(self, box: Box) -> str:
        return self.theme.faint if box.off else self.theme[box.belongs or "ink"]

    def _box(self, name: str, x: float, y: float, wide: dict[str, float]) -> None:
        box, width = self.seen.boxes[name], wide[name]
        colour = self.theme.masked if box.off else self._ink(box)
        self.ax.add_patch(
            FancyBboxPatch(
                (x - width / 2 + 0.2, y - HIGH / 2 + 0.2),
                width - 0.4,
                HIGH - 0.4,
                zorder=3,
                boxstyle="round,pad=0.2,rounding_size=0.4",
                facecolor=self.theme.paper,
                edgecolor=colour,
                linewidth=self.line,
                linestyle=":" if box.off else "-",
            )
        )
        lines = self._lines(box)
        ink = self.theme.quiet if box.off else colour
        for k, line in enumerate(lines):
            self.ax.text(x, y + (k - (len(lines) - 1) / 2) * 1.18, line, ha="center", va="center", color=ink, zorder=4)
        if box.off:
            self.ax.plot(
                [x - width / 2, x + width / 2],
                [y + HIGH / 2, y - HIGH / 2],
                color=self.theme.masked,
                linewidth=self.line,
                zorder=5,
            )
        elif box.leaves and name not in (("query", "key", "scores", "softmax") if self.compact else ("query", "key")):
            self.ax.text(
                x, y + HIGH / 2 + 0.75, self._leaves(box), ha="center", va="center", color=self.theme.quiet, zorder=4
            )
        if box.point:
            self._name(box.point, x + width / 2, y - HIGH / 2 - 0.55, ha="right")
        if name in self.letters and not box.off:
            self.ax.text(
                x - width / 2 + 0.1,
                y - HIGH / 2 - 0.55,
                self.letters[name],
                ha="left",
                va="center",
                color=self.theme.quiet,
                fontweight="bold",
                zorder=4,
            )

    def _name(self, point: str, x: float, y: float, ha: str = "left") -> None:
        """What other figures call the value that is here."""
        self.ax.text(x, y, point, ha=ha, va="center", color=self.theme.ink, style="italic", zorder=4)

    def _sum(self, x: float, y: float, name: str = "") -> None:
        off = bool(name) and self.seen.boxes[name].off
        self.ax.plot(
            [x],
            [y],
            marker="o",
            markersize=2 * ADD * _points(self.ax),
            color=self.theme.paper,
            zorder=4,
            markeredgecolor=self.theme.masked if off else self.theme.ink,
            markeredgewidth=self.line,
        )
        self.ax.text(x, y, "→" if off else "+", ha="center", va="center_baseline", zorder=5)
        if name in self.letters and not off:
            letter = self.letters[name]
            self.ax.text(x - 0.9, y - 1.1, letter, ha="right", va="center", color=self.theme.quiet, fontweight="bold")

    def _stream(self, begin: float, end: float, y: float, off: bool) -> None:
        colour = self.theme.faint if off else self.theme.ink
        self.ax.plot(
            [begin, end], [y, y], color=colour, linewidth=2 * self.line, linestyle=":" if off else "-", zorder=1
        )
        words = "no residual path: the branch replaces the stream" if off else "residual stream"
        if not off:
            words += f"  {self._leaves(self.seen.boxes['add_1'])}"
        self.ax.text((begin + end) / 2, y + 0.85, words, ha="center", va="center", color=self.theme.quiet)

    def _to(self, begin: tuple[float, float], end: tuple[float, float], colour: str, thick: bool = False) -> None:
        self._path([begin, end], colour, thick=thick)

    def _path(self, points: list[tuple[float, float]], colour: str, *, thick: bool = False, head: bool = True) -> None:
        line = self.line * (2 if thick else 0.8)
        if len(points) > 2 or not head:
            self.ax.plot(
                *zip(*(points if not head else points[:-1]), strict=True),
                color=colour,
                linewidth=line,
                zorder=1,
                solid_joinstyle="round",
            )
        if head:
            _draw.arrows(self.ax, points[-2:-1], points[-1:], colours=colour, width=line / self.line, zorder=2)  # type: ignore[arg-type]


def _points(ax: Axes) -> float:
    """Points of the paper per em of the page."""
    low, high = ax.get_ylim()
    return float(ax.get_window_extent().height / ax.figure.dpi * 72 / abs(high - low))
