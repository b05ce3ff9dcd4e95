"""Floating-point units: one IEEE 754 operation each."""
