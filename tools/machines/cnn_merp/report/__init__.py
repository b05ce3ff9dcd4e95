"""The report of CNN-MERP."""
