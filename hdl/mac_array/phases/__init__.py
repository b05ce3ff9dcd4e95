"""The array with everything around it."""
