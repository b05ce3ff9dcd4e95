"""Bundles that CNN-MERP's rooms hand to each other."""
