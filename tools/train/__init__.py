"""``merp train``."""
