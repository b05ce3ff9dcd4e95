"""Phases of the MAC array: the inputs and the expected outputs of its passes."""
