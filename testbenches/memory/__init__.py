"""External memory in tests: a model with latency and errors, and the rules of AXI4."""
