"""Bundles of signals between the parts of the MAC array."""
