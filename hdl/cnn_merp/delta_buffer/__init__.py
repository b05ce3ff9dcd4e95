"""Deltas on their way to the gradient arrays, kept for positions or rows."""
