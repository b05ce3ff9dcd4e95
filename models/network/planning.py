"""Options of a plan of a network on a board."""

from __future__ import annotations

from typing import Final

GOALS: Final = ("bytes", "time")
"""Goals of the choice of tiles; the other goal decides between equal tiles."""

BEST: Final = "best"
SHIPPED: Final = "shipped"
FITS: Final = (BEST, SHIPPED)
"""``best``: designs are sized for the board; ``shipped``: those of the network file."""
