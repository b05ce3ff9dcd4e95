"""Choose, show and write the points of a search."""
