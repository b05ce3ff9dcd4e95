"""A network as a pipeline of all its engines: the top, a batch in it, and what is checked of it."""
