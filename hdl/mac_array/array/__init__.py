"""Multipliers and accumulators, and a second register rank for the sums of a finished tile."""
