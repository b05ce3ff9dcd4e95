"""A top behind AXI4-Lite registers and AXI4-Streams."""
