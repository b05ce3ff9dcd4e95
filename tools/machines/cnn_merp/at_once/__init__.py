"""Engines that all run at once: what a pipeline and a chain of boards share."""
