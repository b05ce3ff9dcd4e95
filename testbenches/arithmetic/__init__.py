"""Benches of arithmetic, and its operands."""
