"""Deltas brought to a larger resolution: un-pooling, dilation."""
