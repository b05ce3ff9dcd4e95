"""Random numbers and truths: one kind of expression a module, and the choice among all."""
