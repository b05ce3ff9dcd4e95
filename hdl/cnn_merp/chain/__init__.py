"""A chain of boards: nodes with shares of layers, and the links between them (FPDeep)."""
