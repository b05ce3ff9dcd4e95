"""Sequencers: the order of the windows, and the decision to issue a slot."""
