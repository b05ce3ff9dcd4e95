"""Which window is computed when."""
