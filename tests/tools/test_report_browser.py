"""The report in a browser: no error, no request, nothing overlaps, all legible, on paper complete.

Each check is seen to fail on a copy of the page that is broken for it.
"""

from __future__ import annotations

import html
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from merp.tools.cli import main
from needed_tools import TOOLS, needs

pytestmark = needs("chromium")

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--allow-file-access-from-files",
    "--enable-logging=stderr", "--virtual-time-budget=3000",
]  # fmt: skip
LOOK = (Path(__file__).parent / "look.js").read_text(encoding="utf-8")

# what breaks the page, and what sees it
BROKEN = {
    "overlaps": "h2 { margin-bottom: -3rem !important; }",
    "width": "main { width: 120vw; }",
    "pale": ".note { color: #999 !important; }",
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


def frame(name: str, page: str, width: int) -> str:
    kind = "paper" if name.endswith("paper") else "screen"
    return (
        f'<iframe id="{name}" class="{kind}" src="{page}" '
        f'style="border:0;width:{width}px;height:900px"></iframe>'
    )


def look(folder: Path, theme: str, frames: list[str]) -> tuple[dict[str, dict[str, Any]], str]:
    """Open the pages; return what was seen on each, and the browser's log."""
    page = folder / "look.html"
    page.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">'
        f'{"".join(frames)}<pre id="seen"></pre><script>{LOOK}</script></body>',
        encoding="utf-8",
    )
    scheme = {"dark": 0, "light": 1}[theme]
    done = subprocess.run(
        [
            str(TOOLS["chromium"].path()), *FLAGS, f"--user-data-dir={folder / 'profile'}",
            f"--blink-settings=preferredColorScheme={scheme}",
            "--window-size=1500,1000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    seen = done.stdout.split('<pre id="seen">')[1].split("</pre>")[0]
    return json.loads(html.unescape(seen)), done.stderr


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_on_a_phone_on_a_screen_and_on_paper(folder: Path, theme: str) -> None:
    widths = {"phone": 390, "screen": 1440, "paper": 1100}
    found, log = look(
        folder, theme, [frame(name, "report.html", width) for name, width in widths.items()]
    )
    assert "CONSOLE" not in log
    for name, width in widths.items():
        seen = found[name]
        assert seen["asked"] == []
        assert seen["charts"] == 6
        assert seen["overlaps"] == []
        assert seen["outside"] == []
        assert seen["pale"] == []
        assert seen["nameless"] == []
        assert seen["unsaid"] == []
        assert seen["letters"] == 1
        if name == "paper":
            assert seen["tables"] == seen["allTables"] > 12
            continue
        assert seen["width"] <= width
        assert seen["tables"] == seen["allTables"] - 3  # of the four tabs one shows
        assert seen["page"] == ("rgb(255, 255, 255)" if theme == "light" else "rgb(20, 22, 26)")
        assert seen["columns"] == (2 if width == 1440 else 0)  # of a grid
    assert found["phone"]["scrolling"] > 5


def test_each_check_fails_on_a_page_that_is_broken_for_it(folder: Path) -> None:
    whole = (folder / "report.html").read_text(encoding="utf-8")
    pages = {key: whole.replace("</style>", f"{rule}</style>") for key, rule in BROKEN.items()}
    pages["nameless"] = whole.replace("aria-label", "data-label")
    pages["paper"] = whole.replace(TABS_ON_PAPER, "")
    assert pages["paper"] != whole
    for key, text in pages.items():
        (folder / f"{key}.html").write_text(text, encoding="utf-8")
    seen, _ = look(folder, "light", [frame(key, f"{key}.html", 390) for key in pages])
    assert seen["width"]["width"] > 390
    assert seen["letters"]["letters"] > 1
    assert seen["paper"]["tables"] < seen["paper"]["allTables"]
    for key in ("overlaps", "pale", "outside", "nameless", "unsaid"):
        assert seen[key][key], key
