"""A single board of a chain: a node and its ends of the links."""
