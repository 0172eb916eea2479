"""What is said of a token that was written, expected or read: one list of verdicts for arrays, figures and films."""

from collections.abc import Sequence

VERDICTS = {  # what each means; their order is their code in arrays
    "none": "given, or no token",
    "unconstrained": "the rule leaves it free",
    "right": "the rule allows it",
    "wrong": "the rule forbids it",
    "not_in_view": "the rule speaks, but what is in view does not settle the answer",
}
NONE = "none"
SAID = {None: "unconstrained", True: "right", False: "wrong"}  # by what a task verifies
CODES = {verdict: code for code, verdict in enumerate(VERDICTS)}
UNIT = ", ".join(f"{code} {verdict}" for verdict, code in CODES.items())  # of an array of codes


def judged(verdicts: Sequence[str]) -> list[int]:
    """The places with an answer to check."""
    return [k for k, each in enumerate(verdicts) if each in ("right", "wrong")]


def read(verdicts: Sequence[str]) -> list[int]:
    """The places where an answer is read at all."""
    return [k for k, each in enumerate(verdicts) if each != NONE]


def verdict(code: float) -> str:
    """The verdict of a code."""
    return tuple(VERDICTS)[int(code)]
