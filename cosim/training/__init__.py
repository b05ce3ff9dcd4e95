"""Training steps in the hardware: layers in one piece, or in the passes of a plan."""
