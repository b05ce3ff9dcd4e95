"""Parameters and registers of CNN-MERP's designs."""
