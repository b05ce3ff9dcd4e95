"""Latencies of streams that more than one tree relies on, in cycles."""

from __future__ import annotations

CREDIT_RETURN = 3
"""From the push of a word to the reuse of its place: memory, head register, credit. Whoever
decides in a further cycle adds it."""

MUL_LATENCY = 3
"""Cycles of a multiplier, where nothing else is asked for."""

ADD_LATENCY = 4
"""Cycles of an adder, where nothing else is asked for."""
