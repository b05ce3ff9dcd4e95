"""Where the files stand that come with the tools: networks, templates."""

from __future__ import annotations

from pathlib import Path

from merp import tools

DATA = Path(tools.__path__[0]) / "data"
