"""``merp simulate``."""
