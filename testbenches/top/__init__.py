"""Benches that run on any top-level block: clock, streams, monitors and runs."""
