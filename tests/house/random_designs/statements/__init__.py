"""Random statements: one kind a module, and the choice among all."""
