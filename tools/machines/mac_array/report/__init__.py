"""The report of the MAC array."""
