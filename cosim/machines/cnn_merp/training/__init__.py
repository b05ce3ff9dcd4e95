"""Training on CNN-MERP: layer by layer, and all layers concurrently."""
