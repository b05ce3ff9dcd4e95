"""A layer in passes over parts of its maps, each pass run and audited."""
