"""CNN-MERP's engines on a chain of boards: shares of layers, cycles."""
