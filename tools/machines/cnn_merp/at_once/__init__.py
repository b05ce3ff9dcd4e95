"""Concurrent engines: common parts of a pipeline and of a chain of boards."""
