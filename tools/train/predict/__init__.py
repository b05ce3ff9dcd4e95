"""Predict with trained parameters, in the golden model or in simulated hardware."""
