"""Halves of passes that two engines share: what names their counters, by phase."""

PROPAGATION = "propagation"
"""Of a pass for both backward phases."""

FIRST = "first"
"""Of two layers: the one that comes first."""
