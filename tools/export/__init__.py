"""``merp export``."""
