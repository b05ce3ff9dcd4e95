"""The MAC array in a comparison of architectures, and the printed numbers of its paper."""
