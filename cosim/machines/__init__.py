"""The hardware halves of machines: how each runs and trains on an engine."""
