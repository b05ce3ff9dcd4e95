"""Parameters of the blocks between the streams of an engine and its external memory."""
