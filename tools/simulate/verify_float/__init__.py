"""``merp verify-float``: check arithmetic units against files of vectors."""
