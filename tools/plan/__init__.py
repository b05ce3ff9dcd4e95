"""``merp plan``."""
