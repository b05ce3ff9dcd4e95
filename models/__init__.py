"""Network descriptions, golden models, models of traffic and schedules: NumPy, no hardware."""
