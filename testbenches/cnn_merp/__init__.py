"""Benches of CNN-MERP's blocks, and test runs of its tops."""
