"""Behavioural models of the arrays in NumPy: the same bits in the same cycle."""
