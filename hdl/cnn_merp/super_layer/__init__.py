"""ReLU, pooling and state behind the accumulators."""
