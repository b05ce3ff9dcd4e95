"""Names of labelled images."""

DIGITS = "digits"
"""The data set that needs no file."""
