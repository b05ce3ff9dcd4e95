"""Golden models of the arithmetic, on raw bit patterns."""
