"""Contact sheets show what two commits draw, and say how much of each picture differs."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from making import contact_sheets as sheets


def picture(path: Path, black: int) -> Path:
    """A white picture of 10 × 10 pixels, the first few of them black."""
    pixels = np.full((100, 3), 255, np.uint8)
    pixels[:black] = 0
    Image.fromarray(pixels.reshape(10, 10, 3)).save(path)
    return path


def test_the_share_of_changed_pixels_is_counted(tmp_path):
    white, some = picture(tmp_path / "white.png", 0), picture(tmp_path / "some.png", 7)
    wide = tmp_path / "wide.png"
    Image.new("RGB", (20, 10), "white").save(wide)
    assert [sheets.changed(white, other) for other in (white, some, wide, None)] == [0, 0.07, 1, 1]
    assert sheets.describe(0.07, white, some) == "7.0% of the pixels differ"
    assert sheets.describe(0, white, white) == "same pixels"
    assert sheets.describe(1, white, None) == "only on the left"


def test_a_sheet_has_the_old_picture_left_and_the_new_one_right(tmp_path):
    white, black = picture(tmp_path / "white.png", 0), picture(tmp_path / "black.png", 100)
    page = np.asarray(sheets.sheet([("loss", 1.0, white, black)], "title"))
    middle = page.shape[0] - sheets.MARGIN - sheets.WIDTH // 2
    assert page[middle, sheets.MARGIN + sheets.WIDTH // 2].tolist() == [255, 255, 255]
    assert page[middle, -sheets.MARGIN - sheets.WIDTH // 2].tolist() == [0, 0, 0]


def test_a_commit_draws_with_its_own_code(tmp_path, capsys):
    if not (sheets.ROOT / ".git").exists():
        pytest.skip("this is not a git checkout")
    sheets.main(["HEAD", "--runs", "rule", "--figures", "loss", "--out", str(tmp_path)])
    assert "rule: 1 figures" in capsys.readouterr().out
    (page,) = tmp_path.glob("*-working-tree/index.html")
    assert "rule_01.png" in page.read_text("utf-8")
    with Image.open(page.with_name("rule_01.png")) as sheet:
        assert sheet.width == 2 * sheets.WIDTH + 3 * sheets.MARGIN
