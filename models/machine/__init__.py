"""Machines: what each brings, and which are installed."""
