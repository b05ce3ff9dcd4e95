"""Phases of the MAC array: what its passes send and must give back."""
