"""Export and synthesis of converted blocks."""
