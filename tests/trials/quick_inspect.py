"""``inspect`` that answers MyHDL quickly."""

from __future__ import annotations

import inspect
import sys
from types import FrameType
from typing import Any

DEEPEST = 6  # frames that MyHDL looks at


class QuickInspect:
    """``inspect`` for MyHDL, which asks for the whole stack at every block instance.

    With the sources of each frame, that is most of the time of elaborating a block under pytest.
    """

    @staticmethod
    def stack() -> list[tuple[Any, str, int, str]]:
        """Frames from the caller outwards: frame, file, line, function."""
        frame: FrameType | None = sys._getframe(1)
        frames: list[tuple[Any, str, int, str]] = []
        while frame is not None and len(frames) < DEEPEST:
            code = frame.f_code
            frames.append((frame, code.co_filename, frame.f_lineno, code.co_name))
            frame = frame.f_back
        return frames

    def __getattr__(self, name: str) -> Any:
        """Everything else is as it was."""
        return getattr(inspect, name)
