"""``merp layout``."""
