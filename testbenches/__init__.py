"""Test benches of blocks: clocks, stream drivers, monitors and recorders."""
