"""A network on a board: the passes that each layer and phase is cut into, and what they cost."""
