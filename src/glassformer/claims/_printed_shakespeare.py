"""What source S2 prints: its counts, the log of its three trainings, and its likeliest tokens."""

from dataclasses import dataclass

CHARACTERS, DISTINCT, ENTRIES, TOKENS = 1_115_394, 65, 500, 447_717
TOP = (
    (",", 19846), ("s", 11828), (":", 10316), (".", 7885), ("I", 6699), ("d", 6224), ('":', 6187), ("t", 5916),
    ("a", 5567), ("the", 5540), ("to", 4688), ("p", 4598), ("c", 4516), ("in", 4238), ("and", 4179), ("e", 4117),
    ("er", 3800), (";", 3628), ("of", 3617), ("be", 3568),
)  # fmt: skip
CUT = {"duke", "richard", "queen"}  # of the hundred commonest words, those it says are no single tokens
BATCH = 512
PATIENCE, STOP_AFTER = 1, 1  # epochs: the scheduler waits for more than so many bad ones, the training for so many
SCALE = 2.0**16  # the loss scale with which mixed precision begins
NAMED = ("I", "O", "The", "What")  # said to hold most of the chance after a speaker's name
AFTER = {
    "MENENIUS:": {"I": 0.065, "O": 0.056, "The": 0.049, "What": 0.049, "'": 0.046},
    "BRUTUS:": {"I": 0.070, "O": 0.059, "B": 0.059, "No": 0.042, "What": 0.039},
    "CORIOLANUS:": {"I": 0.138, "A": 0.086, "O": 0.058, "The": 0.041, "What": 0.041},
}


@dataclass(frozen=True)
class Log:
    """One training, epoch by epoch, and what its table makes of it."""

    experiment: str
    train: tuple[float, ...]
    validation: tuple[float, ...]
    best: float  # perplexity
    epoch: int  # of the best


BASE = Log(
    "shakespeare_bpe",
    (4.5704, 3.8179, 3.5484, 3.4100, 3.3231, 3.2484, 3.2001),
    (4.3575, 4.2060, 4.1325, 4.1099, 4.0966, 4.0943, 4.0975),
    60.00,
    6,
)
LONG = Log(
    "shakespeare_bpe_long",
    (4.5639, 3.8534, 3.5720, 3.4319, 3.3468, 3.2738),
    (4.3754, 4.2349, 4.1681, 4.1550, 4.1470, 4.1547),
    63.24,
    5,
)
WIDE = Log(
    "shakespeare_bpe_wide",
    (4.7878, 4.0482, 3.8194, 3.6719, 3.5668, 3.4725, 3.4116, 3.3635, 3.3178, 3.2885, 3.2635),
    (4.4770, 4.3134, 4.2193, 4.1709, 4.1302, 4.1029, 4.0886, 4.0804, 4.0700, 4.0665, 4.0668),
    58.35,
    10,
)
LOGS = (BASE, LONG, WIDE)
