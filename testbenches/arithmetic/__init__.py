"""Benches of arithmetic units, and their operands."""
