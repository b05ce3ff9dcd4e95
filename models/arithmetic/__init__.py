"""Golden arithmetic on raw bit patterns."""
