"""CNN-MERP, as the verbs ask for it."""
