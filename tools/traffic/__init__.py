"""``merp traffic``."""
