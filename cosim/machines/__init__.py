"""The hardware halves of machines: how each machine runs and trains on an engine."""
