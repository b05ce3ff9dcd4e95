"""What a plan of a network on a board is asked for."""

from __future__ import annotations

from typing import Final

GOALS: Final = ("bytes", "time")
"""What tiles are chosen for; the other one decides between equals."""

BEST: Final = "best"
SHIPPED: Final = "shipped"
FITS: Final = (BEST, SHIPPED)
"""``best``: designs are sized for the board; ``shipped``: those of the network file."""
