"""Descriptions, golden models, traffic and schedule models; NumPy only, no hardware."""
