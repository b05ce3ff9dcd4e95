"""The goals of a sweep, which are all minimised."""

from __future__ import annotations

LOGIC = ("lut", "ff", "bram", "dsp")
"""Goals that Yosys measures."""

GOALS = {
    "time": "seconds of a training step of the layers that have a design, by the cycle model",
    "bytes": "memory traffic of a training step of all layers, count all",
    **{kind: f"{kind.upper()} of the largest design and phase, by Yosys" for kind in LOGIC},
}
"""All goals with their descriptions."""
