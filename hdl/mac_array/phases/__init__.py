"""The complete array with its supply, output and control."""
