"""A network as a pipeline of all its engines: the top, a batch in it, and its checks."""
