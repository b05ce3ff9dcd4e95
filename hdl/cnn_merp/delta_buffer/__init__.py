"""Buffers for deltas in front of the gradient arrays, by positions or by rows."""
