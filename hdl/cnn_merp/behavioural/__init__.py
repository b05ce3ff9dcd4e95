"""Behavioural twins of the arrays: the same bits in the same cycle, in NumPy."""
