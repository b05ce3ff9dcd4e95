"""The folder of the data files of the tools: networks, boards, templates."""

from __future__ import annotations

from pathlib import Path

from merp import tools

DATA = Path(tools.__path__[0]) / "data"
