"""A network on a chain of nodes: the top, a batch in it, and its checks."""
