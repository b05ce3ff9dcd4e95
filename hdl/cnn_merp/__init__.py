"""The datapath of CNN-MERP: ports at the bottom, phases on top, and the blocks between them."""
