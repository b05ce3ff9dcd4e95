"""FPDeep: a network along a chain of FPGAs, each of which keeps its piece for all images."""
