"""``merp resources``."""
