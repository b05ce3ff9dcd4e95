"""Errors, files, formats and shapes: what all models and the hardware share."""
