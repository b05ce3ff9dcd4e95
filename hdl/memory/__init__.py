"""Between the streams of an engine and external memory: walks, bursts, reads and writes."""
