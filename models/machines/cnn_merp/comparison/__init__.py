"""CNN-MERP's answers to a comparison."""
