"""The documentation site, built and looked at in a browser: landing page, a block, the API."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from browser import Frame, look
from clean_copy import clean_copy
from needed_tools import needs

pytestmark = [pytest.mark.full, needs("mkdocs", "nbclient")]

BLOCKS = "article > *"
CHECKS = ("overlaps", "outside", "faint", "unnamed")
PAGES = {
    "index.html": 1,
    "blocks/cnn_merp/cu_array/cu_array.html": 0,
    "blocks/cnn_merp/phases/delta.html": 1,
    "api.html": 0,
    "notebooks/layer.html": 0,
}
"""Pages that are looked at, and how many diagrams each has."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = clean_copy(tmp_path_factory.mktemp("site") / "copy")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"],
        cwd=copy, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    return copy / "build" / "site"


def looked(page: Path, width: int, theme: str) -> tuple[dict[str, Any], str]:
    seen, log = look({"page": Frame(page, width)}, theme, BLOCKS)
    return seen["page"], log


def test_every_box_of_a_diagram_leads_to_a_page(site: Path) -> None:
    text = (site / "index.html").read_text()
    drawn = text[text.index('class="diagram"') :].partition("</svg>")[0]
    links = drawn.split('<a href="')[1:]
    assert len(links) > 20
    assert [link for link in links if not (site / link.partition('"')[0]).is_file()] == []


def test_the_theme_follows_the_system_until_the_reader_switches(site: Path) -> None:
    switches = re.findall(r'<input [^>]*name="__palette"', (site / "index.html").read_text())
    asked = [re.search(r'data-md-color-media="([^"]*)"', each) for each in switches]
    assert [found and found[1] for found in asked] == [
        "(prefers-color-scheme)",
        "(prefers-color-scheme: light)",
        "(prefers-color-scheme: dark)",
    ]


@needs("chromium")
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_in_a_browser(site: Path, page: str, width: int, theme: str) -> None:
    seen, log = looked(site / page, width, theme)
    assert "CONSOLE" not in log
    assert [name for name in seen["asked"] if not name.startswith("file:")] == []
    assert seen["charts"] == PAGES[page]
    assert seen["width"] <= width
    assert {check: seen[check] for check in CHECKS} == {check: [] for check in CHECKS}
    assert seen["page"] == ("rgb(255, 255, 255)" if theme == "light" else "rgb(30, 33, 41)")


@needs("chromium")
@pytest.mark.parametrize(
    ("check", "place", "put"),
    [
        ("overlaps", "</svg></div>", '<text x="30" y="30">one</text><text x="32" y="31">2</text>'),
        ("outside", "</svg></div>", '<text x="-60" y="30">beyond</text>'),
        ("faint", "<h2", '<p style="color: #8a8a8a">faint</p>'),
        ("faint", "</svg></div>", '<rect width="99" height="99"/><text x="9" y="20">dark</text>'),
        ("unnamed", "<h2", '<img src="data:," width="9" height="9">'),
        ("overlaps", "<h2", '<p style="margin-bottom: -3em">one<br>two</p>'),
    ],
)  # fmt: skip
def test_a_broken_page_is_told(site: Path, check: str, place: str, put: str) -> None:
    page = site / f"broken-{check}.html"
    whole = (site / "index.html").read_text()
    assert place in whole
    page.write_text(whole.replace(place, put + place, 1))
    assert looked(page, 1440, "light")[0][check] != []


@needs("chromium")
def test_a_page_that_is_too_wide_is_told(site: Path) -> None:
    page = site / "broken-wide.html"
    whole = (site / "index.html").read_text()
    page.write_text(whole.replace("<h2", '<div style="width: 2000px">wide</div><h2', 1))
    assert looked(page, 390, "light")[0]["width"] >= 2000


@needs("chromium")
def test_colours_that_do_not_follow_the_theme_are_told(site: Path) -> None:
    shutil.copytree(site, site.with_name("plain"))
    sheet = site.with_name("plain") / "site.css"
    sheet.write_text(sheet.read_text().replace(".diagram text {", ".nothing {"))
    seen, _ = looked(site.with_name("plain") / "index.html", 1440, "dark")
    assert seen["faint"] != []
