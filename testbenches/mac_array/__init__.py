"""Benches of the MAC array and of its blocks."""
