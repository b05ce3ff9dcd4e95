"""``merp cluster``."""
