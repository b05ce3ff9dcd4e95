"""What a point of a sweep is judged by, all the better the smaller."""

from __future__ import annotations

LOGIC = ("lut", "ff", "bram", "dsp")
"""Measured by Yosys."""

GOALS = {
    "time": "seconds of a training step of the layers that have a design, by the cycle model",
    "bytes": "memory traffic of a training step of all layers, count all",
    **{kind: f"{kind.upper()} of the design and phase that takes most, by Yosys" for kind in LOGIC},
}
"""All there are, and what they mean."""
