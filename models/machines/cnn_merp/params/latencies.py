"""Latencies of the CNN-MERP datapath, in cycles, that several packages use.

The hardware has these latencies, and the cycle models and benches calculate with them. A block's
own latency is defined with its parameters (``Design``, ``row``). A test of every phase compares the
cycle models with the hardware, exactly.
"""

from __future__ import annotations

SLOT = 2
"""From the issue of a slot to the slot at the array."""

GRADIENT_READ = 3
"""From the read of a gradient to its element: memory, tap, CU."""

GRADIENT_CHOICE = 1
"""Between the elements of kernels and of biases."""

GRADIENT_GEAR = 4
"""From a read's elements to their beat, if the update processes several per cycle: memory, head
register, gear, the beat's register.
"""

UPDATE_ENTRY = 1
"""In this case, from a beat to the arithmetic."""

DELTA_ARRIVAL = 2
"""From the last delta word that a slot needs to its first possible slot."""

DELTA_LEAD = 2
"""Cycles by which deltas are read before maps, whose registers are set up first."""

DELTA_RELEASE = 3
"""From the issue of the last slot that reads a place of deltas to the place's reuse."""

ORIGIN_READ = 3
"""From the issue of a slot that starts a sum to the reuse of the place of its start, minus the
latency of a CU.
"""

LEAVE = 2
"""From the end of the update's pipeline to the output stream of a word."""
