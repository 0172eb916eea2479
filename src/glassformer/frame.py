"""The page of a run in a notebook: a frame that shows itself, can be saved and opened; and the same as a widget."""

import html
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer import given, notebook, report
from glassformer.errors import Error, MissingError
from glassformer.words import shown

if TYPE_CHECKING:
    from glassformer.run import Run

HEIGHT = 900  # pixels; fixed, as a frame that follows its content grows or shrinks for ever in some notebooks
LEAST, MOST = 200, 10_000
STEPS, SIZE = 400, 7.0  # kept steps and megabytes of a cell: a saved notebook holds them, and marimo shows up to 8 MB
SANDBOX = "allow-scripts allow-downloads"  # its own script, and files that a person saves; nothing of the notebook


class Page:
    """A run's page, opened where one wants: shows itself in a notebook; `save` writes it, `show` opens a browser."""

    def __init__(self, run: "Run", step: int, link: str, height: int) -> None:
        self.run, self.step, self.link = run.unedited, step, link
        self.height = given.whole("height", height, LEAST, MOST)

    @cached_property
    def html(self) -> str:
        """The whole page, with as many kept steps as a cell should hold."""
        return self._made(STEPS, SIZE).html

    def save(self, path: str | Path | None = None) -> Path:
        """Write the page with as many kept steps as `glassformer report` puts in, and say where.

        Without a name it is reports/RUN.html, or the next one that is free; nothing is written over.
        """
        out = None if path is None else Path(path)
        report.check(out)
        return report.put(self._made(), out)

    def show(self) -> Path:
        """Save it in reports/ and open it in a browser, where there is one."""
        from glassformer import terminal

        path = self.save()
        terminal.show_page(path)
        return path

    def _made(self, steps: int | None = None, size: float | None = None) -> report.Made:
        from glassformer.report.payload import Wish

        return report.made([self.run], Wish(steps=steps, size=size, always=((self.step,),)), self.link)

    def __repr__(self) -> str:
        return f"<Page of {shown(self.run.name)}{shown(self.link)}>"

    def _repr_html_(self) -> str:
        return frame(self.html, self.run.name, self.height)


def frame(page: str, name: str, height: int) -> str:
    """A page inside another, shut off from it."""
    # In ASCII alone: a page around it that is not read as UTF-8 would change the scripts, which their hashes forbid.
    quoted = html.escape(page).encode("ascii", "xmlcharrefreplace").decode("ascii")
    return (
        f'<iframe sandbox="{SANDBOX}" allow="clipboard-write" title="{notebook.text(name)}" '
        f'style="width:100%;height:{height}px;border:0" srcdoc="{quoted}"></iframe>'
    )


def displayed(run: "Run", summary: str) -> str:
    """What a run shows of itself: its page under one line with the summary; without a page, the summary and why."""
    try:
        page = run.page()._repr_html_()
    except Error as problem:
        return f"{summary}<p><small>{notebook.text(problem)}</small></p>"
    return notebook.details(repr(run).removeprefix("<Run ").removesuffix(">"), summary) + page


def widget(page: Page) -> Any:
    """The page as a widget of a notebook: `link`, `step`, `input` and `edits` follow it, and it follows them."""
    from glassformer.report.link import fields
    from glassformer.report.link import link as linked

    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingError("a widget needs anywidget; `pip install 'glassformer[notebook]'` brings it") from None

    class Widget(anywidget.AnyWidget):  # type: ignore[misc]
        """One page. What its link does not say is as on a page that nobody has touched."""

        _esm = (resources.files("glassformer") / "web" / "widget.js").read_text("utf-8")
        page = traitlets.Unicode().tag(sync=True)
        title = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int().tag(sync=True)
        sandbox = traitlets.Unicode(SANDBOX).tag(sync=True)
        link = traitlets.Unicode().tag(sync=True)
        step = traitlets.Int(-1)
        input = traitlets.Unicode("")
        edits = traitlets.Unicode("")

        @traitlets.observe("link")
        def _follow(self, _change: Any) -> None:
            said = fields(self.link)
            step = said.get("step", "")
            self.step = int(step) if step.isdecimal() else -1
            self.input, self.edits = said.get("input", ""), said.get("edits", "")

        @traitlets.observe("step", "input", "edits")
        def _lead(self, change: Any) -> None:
            said = fields(self.link) | {change.name: str(change.new)}
            if said.get("step") == "-1":
                del said["step"]
            self.link = linked(**said)

    return Widget(page=page.html, title=page.run.name, height=page.height, link=page.link)
