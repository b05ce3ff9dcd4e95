"""Schemas of the files that users write, for their editors."""
