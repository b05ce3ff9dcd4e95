"""The search for CNN-MERP's designs."""
