"""A board of a chain by itself: a node, and its ends of the links."""
