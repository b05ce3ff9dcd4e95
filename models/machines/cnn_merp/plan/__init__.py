"""Plans of a network on a board: the passes of each layer and phase, and their cost."""
