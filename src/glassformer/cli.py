"""Where a command begins, `glassformer` or `python -m glassformer`: Ctrl-C is answered before the rest is loaded."""

from glassformer import stopping


def main() -> None:
    """Run the command of `sys.argv`; anything wrong is one sentence and an exit code."""
    stopping.loading()
    from glassformer.app import run

    run()
