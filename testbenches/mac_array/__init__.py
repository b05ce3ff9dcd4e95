"""Benches of the MAC array and its blocks."""
