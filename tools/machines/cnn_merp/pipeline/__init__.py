"""The pipeline: its hardware half."""
