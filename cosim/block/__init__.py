"""Run single blocks in a simulator or a prover."""
