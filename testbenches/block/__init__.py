"""Record and replay the trace of one block under test."""
