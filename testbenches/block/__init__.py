"""One block under test: its trace, and the trace replayed."""
