"""Streaming modules of F-CNN: maps stream through them, the images of a batch innermost."""
