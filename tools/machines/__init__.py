"""The hardware halves of our machines; they are loaded by their names."""
