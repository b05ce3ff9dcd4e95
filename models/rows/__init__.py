"""A chain of FPGAs as rows run through it: what FPDeep's plans do, event by event."""
