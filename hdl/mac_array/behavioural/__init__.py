"""Behavioural twins of the MAC array's blocks: simulation only."""
