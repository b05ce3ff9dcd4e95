"""``merp sweep``."""
