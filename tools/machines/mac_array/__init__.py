"""The MAC array, as the verbs ask for it."""
