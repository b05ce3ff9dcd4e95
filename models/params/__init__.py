"""Parameters and formats: the one part of the models that the hardware shares."""
