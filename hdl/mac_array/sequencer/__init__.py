"""What is computed when: a slot in every cycle, or the reason why there is none."""
