"""CNN-MERP's parts for the commands."""
