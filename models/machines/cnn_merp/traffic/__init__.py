"""CNN-MERP's traffic, counted by walking its schedule."""
