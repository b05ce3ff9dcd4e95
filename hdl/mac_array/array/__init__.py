"""Multipliers and accumulators, and the second rank that holds a tile's sums."""
