"""``merp system``."""
