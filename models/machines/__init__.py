"""The machines that merp contains: designs, words, cycles, plans."""
