"""Arithmetic in NumPy for the behavioural models; never converted."""
