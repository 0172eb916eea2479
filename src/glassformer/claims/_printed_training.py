"""What the source on training dynamics prints of its run: tables and attention rows, as it prints them."""

from dataclasses import dataclass

EXAMPLES, BATCH, EPOCHS, EPOCH_STEPS = 10_000, 32, 50, 312
RATE = 0.001


@dataclass(frozen=True)
class Epoch:
    """One row of its table."""

    epoch: int
    loss: float
    validation: float
    accuracy: float
    gradient: float | None


TABLE = tuple(
    Epoch(*row)
    for row in (
        (0, 3.00, 3.00, 0.05, None),
        (1, 2.87, 2.89, 0.08, 0.0067),
        (5, 1.95, 1.98, 0.22, 0.0051),
        (10, 1.42, 1.46, 0.35, 0.0045),
        (15, 0.87, 0.91, 0.55, 0.0036),
        (20, 0.52, 0.56, 0.72, 0.0028),
        (25, 0.35, 0.39, 0.79, 0.0021),
        (30, 0.28, 0.32, 0.82, 0.0018),
        (35, 0.18, 0.21, 0.88, 0.0012),
        (40, 0.11, 0.14, 0.92, 0.0007),
        (45, 0.07, 0.10, 0.94, 0.0004),
        (50, 0.05, 0.08, 0.95, 0.0003),
    )
)
AT = {row.epoch: row for row in TABLE}

# Accuracy by operation: at the end, and on the way, where Second and Last are said to be like First, Min like Max.
BY_OPERATION = {"First": 0.99, "Second": 0.98, "Last": 0.98, "Max": 0.92, "Min": 0.93}
ON_THE_WAY = {10: (0.65, 0.12), 20: (0.88, 0.48), 30: (0.96, 0.75)}  # epoch → (First, Max)

# Attention rows: (where it is said to be seen, the weights on the eight positions).
ROWS = (
    ("block 1, position 4, before training", (0.13, 0.12, 0.11, 0.14, 0.12, 0.13, 0.12, 0.13)),
    ("block 1, head 1, position 0, epoch 1", (0.13, 0.12, 0.11, 0.14, 0.12, 0.13, 0.12, 0.13)),
    ("block 1, head 1, position 0, epoch 5", (0.15, 0.11, 0.13, 0.10, 0.14, 0.11, 0.13, 0.13)),
    ("block 1, head 1, position 0, epoch 10", (0.19, 0.09, 0.15, 0.08, 0.18, 0.09, 0.14, 0.10)),
    ("block 1, head 1, position 0, Max", (0.78, 0.03, 0.02, 0.03, 0.02, 0.03, 0.02, 0.07)),
    ("block 1, head 1, position 0, First", (0.72, 0.04, 0.03, 0.04, 0.03, 0.04, 0.03, 0.07)),
    ("block 1, head 2, position 0, Max", (0.08, 0.05, 0.27, 0.06, 0.26, 0.06, 0.25, 0.07)),
    ("block 1, head 2, position 0, First", (0.12, 0.06, 0.64, 0.07, 0.03, 0.07, 0.03, 0.08)),
    ("block 1, head 3, position 1", (0.05, 0.82, 0.02, 0.03, 0.02, 0.03, 0.02, 0.01)),
    ("block 2, head 1, position 4, epoch 1", (0.13, 0.12, 0.11, 0.14, 0.12, 0.13, 0.12, 0.13)),
    ("block 2, head 1, position 4, epoch 10", (0.17, 0.09, 0.14, 0.08, 0.15, 0.09, 0.18, 0.10)),
    ("block 2, head 1, position 4, epoch 30", (0.08, 0.05, 0.27, 0.06, 0.26, 0.06, 0.25, 0.07)),
    ("block 2, head 1, position 4, epoch 50", (0.02, 0.01, 0.14, 0.02, 0.13, 0.02, 0.65, 0.01)),
)
FIRST_ROW, LAST_ROW = ROWS[0][1], ROWS[-1][1]

# The components it shows of two embeddings in the middle of training.
FIRST_EMBEDDING, MAX_EMBEDDING = (0.234, -0.543, 0.123, 0.678), (0.567, 0.234, -0.345, -0.123)

# Accuracy without a part, as a share; without residuals it says only: below 0.15, with a loss above 2.5.
FULL = 0.95
WITHOUT = {"attention": 0.42, "feed-forward": 0.68, "norm": 0.67, "block 2": 0.85, "positions": 0.87}
RESIDUALS_BELOW, RESIDUALS_LOSS = 0.15, 2.5
RANKED = ("attention", "residuals", "feed-forward", "norm", "block 2", "positions")

BY_SIZE = {1_000: 0.78, 5_000: 0.89, 10_000: 0.95, 50_000: 0.96}  # examples → accuracy
MOVES = {1: 0.0045, 10: 0.0028, 20: 0.0015, 30: 0.0008, 40: 0.0003, 50: 0.0001}  # epoch → mean change up to the next
