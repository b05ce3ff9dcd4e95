"""Expansion of deltas to a larger resolution: un-pooling, dilation."""
