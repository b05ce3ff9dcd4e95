"""ReLU, pooling and ReLU/pooling masks behind the accumulators."""
