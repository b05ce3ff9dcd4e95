"""The chain of boards: its hardware half."""
