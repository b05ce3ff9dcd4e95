"""Memory traffic: what crosses the ports, by formula and by walking the schedule."""
