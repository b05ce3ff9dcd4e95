"""``merp verify-float``: arithmetic units against files of vectors."""
