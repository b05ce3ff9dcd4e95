"""Bundles between the blocks of CNN-MERP."""
