"""The page of a comparison in a browser: on a phone, on a screen, on paper, in both themes."""

from pathlib import Path

import pytest

from browser import Frame, look
from merp.tools.cli import main
from needed_tools import needs

pytestmark = needs("chromium")

CHECKS = ("overlaps", "outside", "faint", "unnamed")
BLOCKS = "h1, h2, h3, p, figure, div.table, ul.cards li, nav, .tabs > label"
WIDTHS = {"phone": 390, "screen": 1440, "paper": 1100}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("page")
    assert main(["compare", "lenet5", "-o", str(found / "compare.html")]) == 0
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_on_a_phone_on_a_screen_and_on_paper(folder: Path, theme: str) -> None:
    frames = {
        name: Frame(folder / "compare.html", width, name == "paper")
        for name, width in WIDTHS.items()
    }
    found, log = look(frames, theme, BLOCKS)
    assert "CONSOLE" not in log
    for name, width in WIDTHS.items():
        seen = found[name]
        assert seen["asked"] == []
        assert seen["charts"] == 5
        assert {check: seen[check] for check in CHECKS} == {check: [] for check in CHECKS}
        assert len(seen["letters"]) == 1
        if name == "paper":
            assert seen["tables"] == seen["all_tables"]
        else:
            assert seen["unsaid"] == []
            assert seen["width"] <= width
