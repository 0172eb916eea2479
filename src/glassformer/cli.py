"""Where a command begins, `glassformer` or `python -m glassformer`: Ctrl-C is answered before the rest is loaded."""

# What `signal` rests on is there from the start; `signal` itself would have to be loaded first.
import _signal as signal  # type: ignore[import-not-found]
import os


def main() -> None:
    """Run the command of `sys.argv`; anything wrong is one sentence and an exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # neither ignored nor somebody else's
        try:  # noqa: SIM105
            signal.signal(signal.SIGINT, _stopped)
        except ValueError:  # called in a thread
            pass
    from glassformer.app import run

    run()


def _stopped(*_: object) -> None:
    """Nothing has been done yet, so nothing is to be tidied up."""
    try:
        os.write(2, b"\nglassformer: stopped before it had begun\n")
    finally:
        os._exit(1)
