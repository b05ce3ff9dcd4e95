"""Latencies of the CNN-MERP datapath that more than one tree relies on, in cycles.

The hardware keeps them, the cycle models and benches count with them; a block's own latency stands
with its parameters (``Design``, ``row``). A test of every phase compares the cycle models with the
hardware, exactly.
"""

from __future__ import annotations

SLOT = 2
"""From the issue of a slot to the slot at the array."""

GRADIENT_READ = 3
"""From the read of a gradient to its element: memory, tap, CU."""

GRADIENT_CHOICE = 1
"""Between the elements of kernels and of biases."""

GRADIENT_GEAR = 4
"""From a read's elements, where the update takes several per cycle, to their beat: memory, head
register, gear, the beat's register."""

UPDATE_ENTRY = 1
"""There, from a beat to the arithmetic."""

DELTA_ARRIVAL = 2
"""From the last delta word that a slot needs to its first possible slot."""

DELTA_LEAD = 2
"""By how much deltas are taken before maps, whose registers are set up first."""

DELTA_RELEASE = 3
"""From the issue of the last slot that reads a place of deltas to the place's reuse."""

ORIGIN_READ = 3
"""From the issue of a slot that starts a sum to the reuse of the place that it starts at, less the
latency of a CU."""

LEAVE = 2
"""From a word's end in the pipeline of the update to its stream."""
