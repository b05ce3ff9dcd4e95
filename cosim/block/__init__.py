"""Single blocks in a simulator or a prover."""
