"""Computational units of the kernel update and their gradient memories."""
