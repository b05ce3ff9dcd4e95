"""Other programs: how they start and end, where they write, and which results are cached."""
