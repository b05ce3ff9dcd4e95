"""Errors, files, formats and shapes that all models and the hardware share."""
