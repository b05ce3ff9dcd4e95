"""Other programs: how they start and end, where they write, and what is kept of their work."""
