"""The tops: forward propagation, delta propagation, kernel update."""
