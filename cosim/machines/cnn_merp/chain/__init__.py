"""A network on a chain of nodes: the top, a batch in it, and what is checked of it."""
