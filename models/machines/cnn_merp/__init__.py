"""CNN-MERP: designs, schedules, words, cycles, memories and planner."""
