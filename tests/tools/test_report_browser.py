"""The report in a browser: no error, no request, nothing overlaps, in both themes and widths."""

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

# Loads the page in a frame as wide as a screen and writes down what a reader would see.
LOOK = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">
<iframe id="frame" src="report.html" style="border:0;width:WIDTHpx;height:900px"></iframe>
<pre id="seen"></pre>
<script>
document.getElementById("frame").onload = ({target}) => {
  const page = target.contentDocument, view = target.contentWindow;
  const crossing = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const overlaps = [];
  const look = (name, boxes) => boxes.forEach(([text, box], index) =>
    boxes.slice(index + 1).forEach(([other, far]) => {
      if (crossing(box, far)) overlaps.push(`${name}: ${text} / ${other}`);
    }));
  const boxed = (found) => [...found].map((e) => [e.textContent.trim(), e.getBoundingClientRect()]);
  for (const chart of page.querySelectorAll("svg.chart")) {
    look(chart.getAttribute("aria-label"), boxed(chart.querySelectorAll("text")));
  }
  look("page", boxed(page.querySelectorAll("h1, h2, h3, p, figure, div.table, ul.cards li")));
  const outside = [...page.querySelectorAll("svg.chart")].filter((chart) => {
    const box = chart.getBoundingClientRect();
    return [...chart.querySelectorAll("text")].some((text) => {
      const own = text.getBoundingClientRect();
      return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1;
    });
  }).map((chart) => chart.getAttribute("aria-label"));
  const ink = (e) => view.getComputedStyle(e).color;
  document.getElementById("seen").textContent = JSON.stringify({
    width: page.documentElement.scrollWidth,
    charts: page.querySelectorAll("svg.chart").length,
    page: view.getComputedStyle(page.body).backgroundColor,
    ink: ink(page.body),
    overlaps, outside, asked: view.performance.getEntriesByType("resource").map((e) => e.name),
  });
};
</script></body>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("page")
    assert main(["report", "alexnet", "-o", str(found / "report.html")]) == 0
    return found


def look(folder: Path, width: int, theme: str) -> tuple[dict[str, Any], str]:
    """Open the page; return what was seen there, and the browser's log."""
    page = folder / f"look-{width}.html"
    page.write_text(LOOK.replace("WIDTH", str(width)))
    scheme = {"dark": 0, "light": 1}[theme]
    done = subprocess.run(
        [
            str(TOOLS["chromium"].path()), *FLAGS, f"--user-data-dir={folder / 'profile'}",
            f"--blink-settings=preferredColorScheme={scheme}",
            f"--window-size={width},1000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    seen = done.stdout.split('<pre id="seen">')[1].split("</pre>")[0]
    return json.loads(html.unescape(seen)), done.stderr


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_in_a_browser(folder: Path, width: int, theme: str) -> None:
    seen, log = look(folder, width, theme)
    assert "CONSOLE" not in log
    assert seen["asked"] == []
    assert seen["charts"] == 6
    assert seen["width"] <= width
    assert seen["overlaps"] == []
    assert seen["outside"] == []
    assert seen["page"] == ("rgb(255, 255, 255)" if theme == "light" else "rgb(20, 22, 26)")
    assert seen["ink"] != seen["page"]
