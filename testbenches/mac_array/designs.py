"""Designs for tests of the MAC array's blocks."""

from __future__ import annotations

from typing import Any

from merp.models.machines.mac_array.params.design import ArrayDesign


def small_design(pox: int = 4, poy: int = 4, pof: int = 4, **choices: Any) -> ArrayDesign:
    """Return a design of few MACs; ``choices`` override its parameters."""
    sizes = {
        "max_kernel": 5, "kernel_words": 256, "map_words": 256, "delta_words": 64,
        "max_size": 64, "max_maps": 32, "mask_words": 1024,
    }  # fmt: skip
    return ArrayDesign(pox=pox, poy=poy, pof=pof, **sizes | choices)
