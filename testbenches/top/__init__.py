"""Any top under test: clock, streams, monitors, runs."""
