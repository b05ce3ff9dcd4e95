"""The package of the MAC array."""
