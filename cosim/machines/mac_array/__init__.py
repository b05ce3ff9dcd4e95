"""The MAC array on an engine: its phases and its training."""
