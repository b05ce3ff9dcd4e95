"""The MAC array's answers to a comparison, and what its paper prints."""
