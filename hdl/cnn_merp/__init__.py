"""The datapath of CNN-MERP: ports at the bottom, phases on top, rooms of blocks between."""
