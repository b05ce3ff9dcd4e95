"""``merp report``."""
