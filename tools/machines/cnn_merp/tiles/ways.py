"""Kinds of simulation of CNN-MERP besides undivided layers."""

from __future__ import annotations

from merp.tools.machines.cnn_merp.tiles.passes import passes

WAYS = {"board": passes}
"""The kinds, by the request field that selects them."""
