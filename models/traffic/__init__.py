"""Memory traffic on the ports, by formula and by walking the schedule."""
