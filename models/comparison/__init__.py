"""Five architectures on one network: what a plan of each costs on a board, in one form."""
