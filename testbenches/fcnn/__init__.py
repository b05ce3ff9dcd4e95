"""Benches of the streaming modules of F-CNN."""
