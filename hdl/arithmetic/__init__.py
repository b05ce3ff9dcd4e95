"""Floating-point units, each for one IEEE 754 operation."""
