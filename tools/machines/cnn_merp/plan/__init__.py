"""Plans of CNN-MERP on a board."""
