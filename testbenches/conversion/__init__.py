"""Small blocks that a converter may get wrong."""
