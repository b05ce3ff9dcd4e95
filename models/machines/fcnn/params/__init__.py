"""Parameters and registers of the streaming modules."""
