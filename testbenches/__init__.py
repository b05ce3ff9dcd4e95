"""What stands around a block: clocks, stream drivers, monitors, recorders."""
