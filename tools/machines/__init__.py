"""The hardware halves of merp's machines, loaded by name."""
