"""The report in a browser: no error, no request, nothing overlaps, all legible, on paper complete.

Each check is seen to fail on a copy of the page that is broken for it.
"""

from pathlib import Path

import pytest

from browser import Frame, look
from merp.tools.cli import main
from needed_tools import needs

pytestmark = needs("chromium")

CHECKS = ("overlaps", "outside", "faint", "unnamed")
BLOCKS = "h1, h2, h3, p, figure, div.table, ul.cards li, nav, .tabs > label"

# what breaks the page, and what sees it
BROKEN = {
    "overlaps": "h2 { margin-bottom: -3rem !important; }",
    "width": "main { width: 120vw; }",
    "faint": ".note { color: #999 !important; }",
    "outside": ".chart text { transform: translateX(400px); }",
    "letters": ".chart [id*=xtick] text { font-size: 14px !important; }",
    "unsaid": ".hint { display: none !important; }",
}
TABS_ON_PAPER = ".columns, .tabs, .tabs > .panel { display: block; }"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("page")
    assert main(["report", "alexnet", "-o", str(found / "report.html")]) == 0
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_on_a_phone_on_a_screen_and_on_paper(folder: Path, theme: str) -> None:
    widths = {"phone": 390, "screen": 1440, "paper": 1100}
    frames = {
        name: Frame(folder / "report.html", width, name == "paper")
        for name, width in widths.items()
    }
    found, log = look(frames, theme, BLOCKS)
    assert "CONSOLE" not in log
    for name, width in widths.items():
        seen = found[name]
        assert seen["asked"] == []
        assert seen["charts"] == 6
        assert {check: seen[check] for check in CHECKS} == {check: [] for check in CHECKS}
        assert len(seen["letters"]) == 1
        if name == "paper":
            assert seen["tables"] == seen["all_tables"] > 12
            continue
        assert seen["unsaid"] == []
        assert seen["width"] <= width
        assert seen["tables"] == seen["all_tables"] - 3  # of the four tabs one shows
        assert seen["page"] == ("rgb(255, 255, 255)" if theme == "light" else "rgb(20, 22, 26)")
        assert seen["columns"] == (2 if width == 1440 else 0)  # of a grid
    assert found["phone"]["scrolling"] > 5


def test_each_check_fails_on_a_page_that_is_broken_for_it(folder: Path) -> None:
    whole = (folder / "report.html").read_text(encoding="utf-8")
    pages = {key: whole.replace("</style>", f"{rule}</style>") for key, rule in BROKEN.items()}
    pages["unnamed"] = whole.replace("aria-label", "data-label")
    pages["paper"] = whole.replace(TABS_ON_PAPER, "")
    assert pages["paper"] != whole
    for key, text in pages.items():
        (folder / f"{key}.html").write_text(text, encoding="utf-8")
    frames = {key: Frame(folder / f"{key}.html", 390, key == "paper") for key in pages}
    seen, _ = look(frames, "light", BLOCKS)
    assert seen["width"]["width"] > 390
    assert len(seen["letters"]["letters"]) > 1
    assert seen["paper"]["tables"] < seen["paper"]["all_tables"]
    for key in (*CHECKS, "unsaid"):
        assert seen[key][key], key
