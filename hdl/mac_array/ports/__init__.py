"""Bundles of signals between the rooms of the MAC array."""
