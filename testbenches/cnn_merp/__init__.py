"""Benches of CNN-MERP's blocks, and runs of its tops."""
