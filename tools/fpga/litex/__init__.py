"""A LiteX system that trains by itself: its files, its simulation and its bitstream."""
