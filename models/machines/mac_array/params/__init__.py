"""The fixed-point MAC array: its design, its passes, its numbers."""
