"""Arithmetic in NumPy for the behavioural twins; never converted."""
