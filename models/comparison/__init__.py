"""Five architectures on one network: the cost of a plan of each on a board, in one form."""
