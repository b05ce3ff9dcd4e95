"""Event simulation of FPDeep's plans: rows of maps move through a chain of FPGAs."""
