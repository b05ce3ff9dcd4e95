"""Prefixes of counter names for the two halves of a pass, by phase."""

PROPAGATION = "propagation"
"""Prefixes for a pass of both backward phases."""

FIRST = "first"
"""Prefix for the first of two fused layers."""
