"""Ways of simulating that CNN-MERP has beside layers in one piece."""

from __future__ import annotations

from merp.tools.machines.cnn_merp.tiles.passes import passes

WAYS = {"board": passes}
"""By the field of the request that asks for it."""
