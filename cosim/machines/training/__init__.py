"""Training steps in the hardware: undivided layers, or the passes of a plan."""
