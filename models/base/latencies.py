"""Latencies of streams that more than one tree relies on, in cycles."""

from __future__ import annotations

CREDIT_RETURN = 3
"""From the push of a word to the reuse of its place: memory, head register, credit. Whoever
decides in a further cycle adds it."""
