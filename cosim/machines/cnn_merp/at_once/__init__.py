"""Engines that all run at once: their step, their batch and their waits."""
