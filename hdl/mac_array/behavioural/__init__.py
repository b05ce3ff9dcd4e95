"""Behavioural models of the blocks of the MAC array: simulation only."""
