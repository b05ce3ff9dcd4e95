"""The machines that merp brings: designs, words, cycles, plans."""
