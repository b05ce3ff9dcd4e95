"""What a reader sees of a page: opened in Chromium at a width and in a theme, and looked over.

A page is looked at within a frame, so that its width is that of the frame and not of a window;
many pages in one go.
"""

import html
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from needed_tools import TOOLS

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--allow-file-access-from-files",
    "--enable-logging=stderr", "--virtual-time-budget=3000",
]  # fmt: skip

LEAST_CONTRAST = 4.5
"""Of text and what is behind it: WCAG 2, level AA."""

SCRIPT = (Path(__file__).parent / "browser.js").read_text(encoding="utf-8")
LOOK = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">
{frames}<pre id="seen"></pre>
<script>const LEAST = {least}, BLOCKS = {blocks};
{script}</script></body>"""


@dataclass(frozen=True)
class Frame:
    """A page as it is looked at: a file, a width in pixels, and whether as on paper."""

    page: Path
    width: int
    paper: bool = False

    def html(self, name: str) -> str:
        """The element that shows it."""
        kind = "paper" if self.paper else "screen"
        return (
            f'<iframe id="{name}" class="{kind}" src="{self.page.name}" '
            f'style="border:0;width:{self.width}px;height:900px"></iframe>'
        )


def look(
    frames: Mapping[str, Frame], theme: str, blocks: str
) -> tuple[dict[str, dict[str, Any]], str]:
    """Open pages of one folder; what was seen on each, and the browser's log.

    Args:
        frames: by name.
        theme: what the system prefers: ``light`` or ``dark``.
        blocks: selects the parts of a page that may not cross each other.

    Returns:
        seen, for every name: ``width`` of what can be scrolled to; ``charts``, ``tables`` and
            ``columns`` that show, and ``all_tables``; ``page``, the body's colour; ``letters``,
            the sizes of charts' letters; ``scrolling``, how many tables do; ``overlaps`` of letters
            in a chart and of blocks; ``outside``, charts with letters beyond their edge; ``faint``,
            text with too little contrast; ``unnamed``, pictures without words; ``unsaid``, tables
            that scroll without a hint; ``asked``, what was loaded.
    """
    folder = next(iter(frames.values())).page.parent
    page = folder / f"look-{theme}.html"
    page.write_text(
        LOOK.format(
            frames="".join(frame.html(name) for name, frame in frames.items()),
            least=LEAST_CONTRAST, blocks=json.dumps(blocks), script=SCRIPT,
        ),
        encoding="utf-8",
    )  # fmt: skip
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
