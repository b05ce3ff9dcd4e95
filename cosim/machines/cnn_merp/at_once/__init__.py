"""Engines that run concurrently: their step, their batch and their waits."""
