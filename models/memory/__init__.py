"""External memory: walks over tensors, and the bursts of the bus."""
