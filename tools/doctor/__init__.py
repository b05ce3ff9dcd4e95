"""Find the requirements of merp that are installed or missing: ``merp doctor``."""
