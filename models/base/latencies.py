"""Latencies of streams, in cycles, that several packages use."""

from __future__ import annotations

CREDIT_RETURN = 3
"""From the push of a word to the reuse of its place: memory, head register, credit. If the decision
takes one more cycle, the caller adds it.
"""

MUL_LATENCY = 3
"""Cycles of a multiplier, by default."""

ADD_LATENCY = 4
"""Cycles of an adder, by default."""
