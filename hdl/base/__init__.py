"""Signals, delays, memories and counters that all other parts of the hardware use."""
