"""The inputs and the expected outputs of a pass of each phase."""
