"""What a reader sees of a page: opened in Chromium at a width and in a theme, and looked over.

A page is looked at within a frame, so that its width is that of the frame and not of a window.
"""

from __future__ import annotations

import html
import json
import subprocess
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

SCRIPT = (Path(__file__).parent / "browser.js").read_text()
LOOK = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">
<iframe id="frame" src="{page}" style="border:0;width:{width}px;height:900px"></iframe>
<pre id="seen"></pre>
<script>const LEAST = {least}, BLOCKS = {blocks};
{script}</script></body>"""


def look(page: Path, width: int, theme: str, blocks: str) -> tuple[dict[str, Any], str]:
    """Open a page; what was seen there, and the browser's log.

    Args:
        page: a file.
        width: of the frame, in pixels.
        theme: what the system prefers: ``light`` or ``dark``.
        blocks: selects the parts of the page that may not cross each other.

    Returns:
        seen: ``width`` of what can be scrolled to; ``charts``; ``page`` and ``ink``, the body's
            colours; ``overlaps`` of letters in a chart and of blocks; ``outside``, charts with
            letters beyond their edge; ``faint``, text with too little contrast; ``unnamed``,
            pictures without words; ``asked``, what was loaded.
    """
    frame = page.with_name(f"look-{page.stem}-{width}-{theme}.html")
    frame.write_text(
        LOOK.format(
            page=page.name, width=width, least=LEAST_CONTRAST, blocks=json.dumps(blocks),
            script=SCRIPT,
        )
    )  # fmt: skip
    scheme = {"dark": 0, "light": 1}[theme]
    done = subprocess.run(
        [
            str(TOOLS["chromium"].path()), *FLAGS, f"--user-data-dir={page.parent / 'profile'}",
            f"--blink-settings=preferredColorScheme={scheme}",
            f"--window-size={width},1000", "--dump-dom", frame.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    seen = done.stdout.split('<pre id="seen">')[1].split("</pre>")[0]
    return json.loads(html.unescape(seen)), done.stderr
